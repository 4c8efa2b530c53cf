//! Reads what is kept, on threads that may block.

use std::sync::{Arc, Mutex, PoisonError};

use portcullis_store::{Location, Mode, Store, StoreError};
use tokio::sync::Semaphore;

/// Readers at the same time; more wait.
const READERS: usize = 4;

/// Reads what is kept.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Mutex<Place>,
    turns: Semaphore,
}

#[derive(Debug)]
struct Place {
    location: Option<Location>,
    /// Open, and nobody reads from them now.
    idle: Vec<Store>,
    /// Raised when the location changes: what was opened before is not put back.
    generation: u64,
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFailure {
    /// Decisions are not kept in a store.
    #[error("decisions are not kept in a store here")]
    NotKept,
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The thread is gone.
    #[error("the reader ended")]
    Ended,
}

impl Reader {
    pub(super) fn new(location: Option<Location>) -> Self {
        let place = Place {
            location,
            idle: Vec::new(),
            generation: 0,
        };
        Self {
            inner: Arc::new(Inner {
                place: Mutex::new(place),
                turns: Semaphore::new(READERS),
            }),
        }
    }

    /// Reads from another store from now on.
    pub(super) fn move_to(&self, location: Option<Location>) {
        let mut place = self.inner.lock();
        if place.location != location {
            place.location = location;
            place.generation += 1;
            let closed = std::mem::take(&mut place.idle);
            drop(place);
            // Closing a connection blocks, and this may be a thread that must not.
            if !closed.is_empty() {
                std::thread::spawn(move || drop(closed));
            }
        }
    }

    pub(super) fn location(&self) -> Option<Location> {
        self.inner.lock().location.clone()
    }

    /// Reads something.
    ///
    /// # Errors
    ///
    /// When there is no store, or it doesn't answer.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ReadFailure> {
        let turn = self.inner.turns.acquire().await;
        let _turn = turn.map_err(|_| ReadFailure::Ended)?;
        let inner = Arc::clone(&self.inner);
        let read = tokio::task::spawn_blocking(move || inner.read(work));
        read.await.unwrap_or(Err(ReadFailure::Ended))
    }
}

impl Inner {
    fn read<T>(
        &self,
        work: impl Fn(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, ReadFailure> {
        let (mut store, generation) = self.take()?;
        // A connection that rested may have been lost; it is made again by the next question.
        let result = match work(&mut store) {
            Err(error) if error.is_temporary() => work(&mut store)?,
            result => result?,
        };
        let mut place = self.lock();
        if place.generation == generation && place.idle.len() < READERS {
            place.idle.push(store);
        }
        Ok(result)
    }

    fn take(&self) -> Result<(Store, u64), ReadFailure> {
        let (location, generation) = {
            let mut place = self.lock();
            let generation = place.generation;
            if let Some(store) = place.idle.pop() {
                return Ok((store, generation));
            }
            (place.location.clone(), generation)
        };
        let location = location.ok_or(ReadFailure::NotKept)?;
        Ok((Store::open(&location, Mode::ReadOnly)?, generation))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
