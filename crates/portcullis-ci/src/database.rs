//! The store for asynchronous callers: one thread writes, a few read.

mod readers;

use std::fmt;
use std::sync::Arc;

use portcullis_store::{JobsError, JobsReader, JobsTransaction, JobsWriter, Location, Mode, Store};
use tokio::sync::oneshot;

use self::readers::Readers;
use crate::error::{CiError, OpenError};

/// Operations that wait for the writer, at most.
const MOST_WAITING: usize = 4096;

/// The store.
#[derive(Clone)]
pub(crate) struct Database {
    location: Location,
    writer: Arc<JobsWriter>,
    readers: Arc<Readers>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({})", self.location)
    }
}

impl Database {
    /// Opens it, and brings its tables up to date.
    pub(crate) async fn open(location: &Location) -> Result<Self, OpenError> {
        let location = location.clone();
        let open = tokio::task::spawn_blocking(move || {
            let thread = |error| OpenError::Other(format!("can't start a thread: {error}"));
            let store = Store::open(&location, Mode::ReadWrite)?;
            let writer = JobsWriter::start(store, MOST_WAITING).map_err(thread)?;
            let readers = Readers::start(&location).map_err(thread)?;
            Ok(Self {
                location,
                writer: Arc::new(writer),
                readers: Arc::new(readers),
            })
        });
        open.await
            .map_err(|error| OpenError::Other(error.to_string()))?
    }

    /// Runs an operation in a transaction, and waits until what it did is durable. It may run several times; the
    /// last time counts.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let (sender, receiver) = oneshot::channel();
        let reply = move |result| {
            // The caller may be gone.
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
        self.readers.read(work).await
    }
}
