//! Searches in threads that may block, a few at once.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::error::HttpError;

/// Searches and exports that run at once.
const AT_ONCE: usize = 8;

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// A place among those who search.
pub(super) fn place() -> Result<SemaphorePermit<'static>, HttpError> {
    let place = PLACES.try_acquire();
    place.map_err(|_| HttpError::busy("too many graph requests at once"))
}

/// Runs a search where it blocks only its own caller.
pub(super) async fn search<T: Send + 'static>(
    what: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    let _place = place()?;
    let done = tokio::task::spawn_blocking(what).await;
    done.map_err(|_| HttpError::internal())
}
