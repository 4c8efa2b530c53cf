//! The store for asynchronous callers: one thread writes, a few read.

mod readers;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portcullis_store::{
    JobsError, JobsReader, JobsTransaction, JobsWriter, Location, Mode, Store, WillChange,
};
use tokio::sync::oneshot;

use self::readers::Readers;
use crate::error::{CiError, OpenError};
use crate::known::KnownSurroundings;

/// Operations that wait for the writer, at most.
const MOST_WAITING: usize = 4096;

/// How long the store may take. One that stands still keeps its connections, and would let callers wait forever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The store.
#[derive(Clone)]
pub(crate) struct Database {
    location: Location,
    /// What in the settings of the database would lose jobs, when it was opened.
    pub(crate) durability_risk: Option<String>,
    writer: Arc<JobsWriter>,
    readers: Arc<Readers>,
    known: Arc<KnownSurroundings>,
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
            let mut store = Store::open(&location, Mode::ReadWrite)?;
            let durability_risk = store.durability_risk()?;
            let writer = JobsWriter::start(store, MOST_WAITING).map_err(thread)?;
            let readers = Readers::start(&location).map_err(thread)?;
            Ok(Self {
                location,
                durability_risk,
                writer: Arc::new(writer),
                readers: Arc::new(readers),
                known: Arc::default(),
            })
        });
        open.await
            .map_err(|error| OpenError::Other(error.to_string()))?
    }

    /// What is known of controllers, runners and exemptions.
    pub(crate) fn known(&self) -> &Arc<KnownSurroundings> {
        &self.known
    }

    /// Runs an operation in a transaction, and waits until what it did is durable. It may run several times; the
    /// last time counts. If the store doesn't answer in time, an operation that has not begun is not run any more;
    /// one that has may still take effect.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        self.write_to(WillChange::default(), work).await
    }

    /// The same for an operation that knows what it will change, which is loaded for many of them at once.
    pub(crate) async fn write_to<T: Send + 'static>(
        &self,
        changes: WillChange,
        mut work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let is_given_up = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_given_up);
        let work = move |transaction: &mut JobsTransaction<'_>| match seen.load(Ordering::Relaxed) {
            true => Err(silent()),
            false => {
                let done = work(transaction)?;
                Ok((done, transaction.changes_surroundings()))
            }
        };
        let (sender, receiver) = oneshot::channel();
        let known = Arc::clone(&self.known);
        let reply = move |result: Result<(T, bool), CiError>| {
            if matches!(result, Ok((_, true))) {
                known.forget();
            }
            // The caller may be gone.
            let _ = sender.send(result.map(|(done, _)| done));
        };
        self.writer.submit(changes, work, reply)?;
        let stopped = |_| CiError::from(JobsError::Stopped);
        match tokio::time::timeout(PATIENCE, receiver).await {
            Ok(answer) => answer.map_err(stopped)?,
            Err(_) => {
                is_given_up.store(true, Ordering::Relaxed);
                Err(silent())
            }
        }
    }

    /// Does something that takes longer, with a connection of its own.
    pub(crate) async fn maintain<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let location = self.location.clone();
        let maintain = tokio::task::spawn_blocking(move || {
            let mut store = Store::open(&location, Mode::ReadWrite).map_err(JobsError::from)?;
            work(&mut store)
        });
        maintain
            .await
            .map_err(|error| CiError::Unavailable(error.to_string()))?
    }

    /// Reads what is committed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobsReader<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let read = tokio::time::timeout(PATIENCE, self.readers.read(work));
        read.await.unwrap_or_else(|_| Err(silent()))
    }
}

fn silent() -> CiError {
    CiError::Unavailable(format!("the store did not answer within {PATIENCE:?}"))
}
