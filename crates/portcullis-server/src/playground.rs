//! Where policies are tried that are not in force: in processes of their own, a few at once.
//!
//! Whatever is tried there is bounded in size, time and number, and touches nothing that judges requests.

use std::sync::Arc;

use portcullis_gate::playground::Unanswered;
use portcullis_gate::policies::WorkerCommand;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::error::HttpError;

/// Policies that are tried at once.
const AT_ONCE: usize = 4;
/// Sets of policies that replay at once.
const REPLAYS: usize = 1;
/// Recorded decisions that are decided again at once by what is in force.
const DECISIONS: usize = 2;
/// Seconds after which to ask again.
const AGAIN: u64 = 1;
const AGAIN_LATER: u64 = 10;

/// Places for those who try something.
#[derive(Debug)]
pub(crate) struct Playground {
    command: Option<WorkerCommand>,
    tries: Arc<Semaphore>,
    replays: Arc<Semaphore>,
    decisions: Arc<Semaphore>,
}

impl Playground {
    /// Nothing is tried yet. Without a command nothing can be.
    pub(crate) fn new(command: Option<WorkerCommand>) -> Self {
        Self {
            command,
            tries: Arc::new(Semaphore::new(AT_ONCE)),
            replays: Arc::new(Semaphore::new(REPLAYS)),
            decisions: Arc::new(Semaphore::new(DECISIONS)),
        }
    }

    /// How to start a process.
    pub(crate) fn command(&self) -> Result<WorkerCommand, HttpError> {
        let none = || HttpError::busy("this server can start no processes to evaluate policies");
        self.command.clone().ok_or_else(none)
    }

    /// A place for a policy that is tried, until it is dropped.
    pub(crate) fn for_policy(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        place(&self.tries, "too many policies are being tried", AGAIN)
    }

    /// A place for a set of policies that replays.
    pub(crate) fn for_replay(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        let message = "another replay is running: one runs at a time";
        place(&self.replays, message, AGAIN_LATER)
    }

    /// A place for a decision that is decided again by what is in force.
    pub(crate) fn for_decision(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        place(
            &self.decisions,
            "too many decisions are being replayed",
            AGAIN,
        )
    }
}

fn place(
    places: &Arc<Semaphore>,
    message: &str,
    again: u64,
) -> Result<OwnedSemaphorePermit, HttpError> {
    let place = Arc::clone(places).try_acquire_owned();
    place.map_err(|_| HttpError::too_many_requests(message, again))
}

/// Runs what blocks, in its place, whether or not the caller still waits for it; and gives the place back to a caller
/// that does.
pub(crate) async fn in_place<T: Send + 'static>(
    place: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<(OwnedSemaphorePermit, T), HttpError> {
    let done = tokio::task::spawn_blocking(move || (place, work()));
    done.await.map_err(|_| HttpError::internal())
}

impl From<Unanswered> for HttpError {
    fn from(why: Unanswered) -> Self {
        tracing::error!("{why}");
        Self::busy("no process can be started to evaluate the policy")
    }
}
