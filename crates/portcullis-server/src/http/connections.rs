//! How many connections may be open at once, over all listeners; changed while they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limit, shared by all accept loops.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    permits: Arc<Semaphore>,
    limit: AtomicUsize,
    /// Permits that are still out although the limit no longer has room for them.
    excess: AtomicUsize,
}

/// One of the connections that may be open.
#[derive(Debug)]
pub(crate) struct Admitted {
    permit: Option<OwnedSemaphorePermit>,
    connections: Connections,
}

impl Connections {
    pub(crate) fn new(limit: u32) -> Self {
        let limit = limit as usize;
        Self(Arc::new(Inner {
            permits: Arc::new(Semaphore::new(limit)),
            limit: AtomicUsize::new(limit),
            excess: AtomicUsize::new(0),
        }))
    }

    /// Waits until one more may be open; none when the server has ended.
    pub(crate) async fn admit(&self) -> Option<Admitted> {
        let permit = Arc::clone(&self.0.permits).acquire_owned().await.ok()?;
        Some(Admitted {
            permit: Some(permit),
            connections: self.clone(),
        })
    }

    /// Changes the limit. Connections beyond a smaller one stay, and make no room when they end.
    pub(crate) fn set_limit(&self, limit: u32) {
        let limit = limit as usize;
        let before = self.0.limit.swap(limit, Ordering::SeqCst);
        if limit >= before {
            let more = limit - before;
            let forgiven = self.take_excess(more);
            self.0.permits.add_permits(more - forgiven);
        } else {
            let fewer = before - limit;
            let forgotten = self.0.permits.forget_permits(fewer);
            self.0.excess.fetch_add(fewer - forgotten, Ordering::SeqCst);
        }
    }

    /// Waits until none is open. No more are admitted from then on.
    pub(crate) async fn finish(&self) {
        let all = self.0.limit.load(Ordering::SeqCst) + self.take_excess(usize::MAX);
        let _ = self
            .0
            .permits
            .acquire_many(u32::try_from(all).unwrap_or(u32::MAX))
            .await;
        self.0.permits.close();
    }

    /// Takes up to this much off the excess; returns how much.
    fn take_excess(&self, most: usize) -> usize {
        let less = |excess: usize| Some(excess.saturating_sub(most));
        let before = self
            .0
            .excess
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        before.unwrap_or_default().min(most)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.connections.take_excess(1) == 1
        {
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(connections: &Connections) -> usize {
        connections.0.permits.available_permits()
    }

    #[tokio::test]
    async fn a_smaller_limit_counts_once_the_others_are_gone() {
        let connections = Connections::new(8);
        let mut open = Vec::new();
        for _ in 0..6 {
            open.push(connections.admit().await.unwrap());
        }
        connections.set_limit(2);
        assert_eq!(free(&connections), 0);
        open.truncate(2);
        assert_eq!(free(&connections), 0);
        open.clear();
        assert_eq!(free(&connections), 2);
    }

    #[tokio::test]
    async fn a_larger_limit_counts_at_once() {
        let connections = Connections::new(4);
        let open = [
            connections.admit().await,
            connections.admit().await,
            connections.admit().await,
        ];
        connections.set_limit(1);
        connections.set_limit(5);
        assert_eq!(free(&connections), 2);
        drop(open);
        assert_eq!(free(&connections), 5);
    }

    #[tokio::test]
    async fn finishing_waits_for_all_of_them() {
        let connections = Connections::new(4);
        let open = [
            connections.admit().await,
            connections.admit().await,
            connections.admit().await,
        ];
        connections.set_limit(1);
        let waiting = tokio::spawn({
            let connections = connections.clone();
            async move { connections.finish().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(open);
        waiting.await.unwrap();
        assert!(connections.admit().await.is_none());
    }
}
