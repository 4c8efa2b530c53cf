//! Connections to the store for requests: a few, on threads that may block.

use std::sync::Arc;

use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_store::{Location, Mode, Store, StoreError};
use tokio::sync::Semaphore;

/// Connections at the same time; more wait.
const MOST: usize = 4;

/// A few connections to the store.
#[derive(Debug, Clone)]
pub(crate) struct StorePool {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    mode: Mode,
    place: Mutex<Place>,
    turns: Arc<Semaphore>,
}

#[derive(Debug)]
struct Place {
    location: Option<Location>,
    /// Open, and not in use.
    idle: Vec<Store>,
    /// Raised when the location changes: what was opened before is not put back.
    generation: u64,
}

/// Why the store was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PoolFailure {
    /// There is no store.
    #[error("no store is configured")]
    NoStore,
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The thread is gone.
    #[error("the thread ended")]
    Ended,
}

impl StorePool {
    pub(crate) fn new(location: Option<Location>, mode: Mode) -> Self {
        let place = Place {
            location,
            idle: Vec::new(),
            generation: 0,
        };
        Self {
            inner: Arc::new(Inner {
                mode,
                place: Mutex::new(place),
                turns: Arc::new(Semaphore::new(MOST)),
            }),
        }
    }

    /// Uses another store from now on.
    pub(crate) fn move_to(&self, location: Option<Location>) {
        let mut place = self.inner.lock();
        if place.location != location {
            place.location = location;
            place.generation += 1;
            let closed = std::mem::take(&mut place.idle);
            drop(place);
            close(closed);
        }
    }

    pub(crate) fn location(&self) -> Option<Location> {
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
    ) -> Result<T, PoolFailure> {
        self.in_turn(move |inner| inner.read(work)).await
    }

    /// Writes something, once: it is not known whether a failed write took effect.
    ///
    /// # Errors
    ///
    /// When there is no store, or it doesn't answer.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, PoolFailure> {
        self.in_turn(move |inner| inner.write(work)).await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, PoolFailure> + Send + 'static,
    ) -> Result<T, PoolFailure> {
        let turns = Arc::clone(&self.inner.turns);
        let turn = turns
            .acquire_owned()
            .await
            .map_err(|_| PoolFailure::Ended)?;
        let inner = Arc::clone(&self.inner);
        // The turn ends with the work, whether or not the caller still waits for it.
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&inner)
        });
        done.await.unwrap_or(Err(PoolFailure::Ended))
    }
}

/// Closing a connection blocks, and this may be a thread that must not.
fn close(connections: Vec<Store>) {
    if !connections.is_empty() {
        std::thread::spawn(move || drop(connections));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let place = self.place.get_mut();
        close(std::mem::take(&mut place.idle));
    }
}

impl Inner {
    fn read<T>(
        &self,
        work: impl Fn(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, PoolFailure> {
        let (mut store, generation) = self.take()?;
        // A connection that rested may have been lost; it is made again by the next question.
        let result = match work(&mut store) {
            Err(error) if error.is_temporary() => work(&mut store)?,
            result => result?,
        };
        self.put_back(store, generation);
        Ok(result)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, PoolFailure> {
        let (mut store, generation) = self.take()?;
        // A connection that rested may have been lost: that is found out before anything is written.
        if let Err(error) = store.check()
            && error.is_temporary()
        {
            store.check()?;
        }
        let result = work(&mut store)?;
        self.put_back(store, generation);
        Ok(result)
    }

    fn put_back(&self, store: Store, generation: u64) {
        let mut place = self.lock();
        if place.generation == generation && place.idle.len() < MOST {
            place.idle.push(store);
        }
    }

    fn take(&self) -> Result<(Store, u64), PoolFailure> {
        let (location, generation) = {
            let mut place = self.lock();
            let generation = place.generation;
            if let Some(store) = place.idle.pop() {
                return Ok((store, generation));
            }
            (place.location.clone(), generation)
        };
        let location = location.ok_or(PoolFailure::NoStore)?;
        Ok((Store::open(&location, self.mode)?, generation))
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock()
    }
}
