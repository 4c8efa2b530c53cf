//! The queue of what is to be sent: bounded, and adding to it never blocks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_core::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

/// Spans or log records, as they are sent.
#[derive(Debug)]
pub(crate) struct Queue {
    items: Mutex<Vec<Vec<u8>>>,
    grown: Notify,
    capacity: usize,
    batch: usize,
    delay: Duration,
    dropped: AtomicU64,
}

impl Queue {
    pub(crate) fn new(capacity: usize, batch: usize, delay: Duration) -> Self {
        Self {
            items: Mutex::default(),
            grown: Notify::new(),
            capacity,
            batch: batch.min(capacity),
            delay,
            dropped: AtomicU64::new(0),
        }
    }

    fn items(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.items.lock()
    }

    /// Puts all of these in, or none.
    pub(crate) fn push(&self, items: impl ExactSizeIterator<Item = Vec<u8>>) {
        let mut waiting = self.items();
        let before = waiting.len();
        if before + items.len() > self.capacity {
            drop(waiting);
            self.count_dropped(items.len() as u64);
            return;
        }
        waiting.extend(items);
        let after = waiting.len();
        drop(waiting);
        if before == 0 || (before < self.batch && after >= self.batch) {
            self.grown.notify_one();
        }
    }

    /// So many will never be sent.
    pub(crate) fn count_dropped(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.items().len()
    }

    /// The next batch: as soon as it is full, or when the first of it has waited long enough, or at
    /// the end. None when there will be no more.
    pub(crate) async fn next<T>(
        &self,
        ending: &mut watch::Receiver<Option<T>>,
    ) -> Option<Vec<Vec<u8>>> {
        let mut timer = None;
        let mut is_due = false;
        loop {
            let waiting = self.len();
            let is_ending = ending.borrow().is_some();
            if is_ending && waiting == 0 {
                return None;
            }
            if waiting > 0 && (waiting >= self.batch || is_ending || is_due) {
                let mut items = self.items();
                let count = items.len().min(self.batch);
                return Some(items.drain(..count).collect());
            }
            if waiting > 0 {
                timer.get_or_insert_with(|| Box::pin(sleep(self.delay)));
            }
            let waited = async {
                match timer.as_mut() {
                    Some(timer) => timer.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.grown.notified() => {}
                () = waited => is_due = true,
                changed = ending.changed() => {
                    if changed.is_err() {
                        return None;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: u8) -> impl ExactSizeIterator<Item = Vec<u8>> {
        (0..count).map(|n| vec![n])
    }

    #[tokio::test]
    async fn what_does_not_fit_is_dropped_as_a_whole_and_counted() {
        let queue = Queue::new(4, 2, Duration::from_secs(3600));
        queue.push(items(3));
        queue.push(items(2));
        assert_eq!((queue.len(), queue.dropped()), (3, 2));
        queue.push(items(1));
        assert_eq!((queue.len(), queue.dropped()), (4, 2));
        let (end, mut ending) = watch::channel(None);
        assert_eq!(queue.next(&mut ending).await.unwrap(), [[0], [1]]);
        assert_eq!(queue.next(&mut ending).await.unwrap().len(), 2);
        end.send_replace(Some(()));
        assert_eq!(queue.next(&mut ending).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_is_not_full_waits_for_a_while() {
        let queue = Queue::new(4, 3, Duration::from_secs(5));
        queue.push(items(1));
        let (end, mut ending) = watch::channel(None);
        assert_eq!(queue.next(&mut ending).await.unwrap().len(), 1);
        queue.push(items(2));
        end.send_replace(Some(()));
        assert_eq!(queue.next(&mut ending).await.unwrap().len(), 2);
        assert_eq!(queue.next(&mut ending).await, None);
    }
}
