//! The store for asynchronous callers: one thread writes, a few connections read.

use std::fmt;
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_store::{JobsError, JobsReader, JobsTransaction, JobsWriter, Location, Mode, Store};
use tokio::sync::{Semaphore, oneshot};

use crate::error::{CiError, OpenError};

/// Operations that wait for the writer, at most.
const MOST_WAITING: usize = 4096;
/// Connections for reading.
const READERS: usize = 2;

/// The store.
#[derive(Clone)]
pub(crate) struct Database {
    writer: Arc<JobsWriter>,
    readers: Arc<Readers>,
}

struct Readers {
    location: Location,
    idle: Mutex<Vec<Store>>,
    turns: Semaphore,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({})", self.readers.location)
    }
}

impl Database {
    /// Opens it, and brings its tables up to date.
    pub(crate) async fn open(location: &Location) -> Result<Self, OpenError> {
        let at = location.clone();
        let opened = tokio::task::spawn_blocking(move || Store::open(&at, Mode::ReadWrite)).await;
        let store = opened.map_err(|error| OpenError::Other(error.to_string()))??;
        let writer = JobsWriter::start(store, MOST_WAITING)
            .map_err(|error| OpenError::Other(format!("can't start a thread: {error}")))?;
        Ok(Self {
            writer: Arc::new(writer),
            readers: Arc::new(Readers {
                location: location.clone(),
                idle: Mutex::new(Vec::new()),
                turns: Semaphore::new(READERS),
            }),
        })
    }

    /// Runs an operation in a transaction, and waits until what it did is durable. It may run several times; the
    /// last time counts.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let (sender, receiver) = oneshot::channel();
        let reply = move |result| {
            // Whoever asked may be gone.
            let _ = sender.send(result);
        };
        self.writer.submit(work, reply)?;
        let stopped = |_| CiError::from(JobsError::Stopped);
        receiver.await.map_err(stopped)?
    }

    /// Reads what is committed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobsReader<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let gone = |_| CiError::Unavailable("the store is closed".to_owned());
        let _turn = self.readers.turns.acquire().await.map_err(gone)?;
        let readers = Arc::clone(&self.readers);
        let read = tokio::task::spawn_blocking(move || {
            let idle = readers.idle.lock().pop();
            let mut store = match idle {
                Some(store) => store,
                // The writer has opened it, so its tables are there.
                None => Store::open(&readers.location, Mode::ReadOnly).map_err(JobsError::from)?,
            };
            let result = store.read_jobs(work);
            // A connection that failed may be broken: the next reader opens another.
            if !matches!(result, Err(CiError::Unavailable(_))) {
                readers.idle.lock().push(store);
            }
            result
        });
        let failed = |error: tokio::task::JoinError| CiError::Unavailable(error.to_string());
        read.await.map_err(failed)?
    }
}
