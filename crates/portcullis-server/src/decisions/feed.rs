//! Sends new decisions to event streams.
//!
//! Decisions that other servers wrote into the same store are sent too: the store is polled when this
//! server has stored something and once in a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use portcullis_record::Summary;
use portcullis_store::{Filter, Mark};
use tokio::sync::{Notify, broadcast};

use crate::store_pool::{PoolFailure, StorePool};

/// Decisions that a slow stream may be behind.
const BEHIND: usize = 4096;
/// Decisions that are read at once.
const AT_ONCE: usize = 1000;
/// How often the store is asked without a reason.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Streams at the same time.
const STREAMS: usize = 256;

/// Tells what is kept, as it comes.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    news: broadcast::Sender<Arc<Summary>>,
    stored: Arc<Notify>,
    is_reading: Arc<AtomicBool>,
}

/// So many decisions a slow stream has missed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Missed(pub(crate) u64);

/// One stream's part of the feed.
#[derive(Debug)]
pub(crate) struct Subscription(broadcast::Receiver<Arc<Summary>>);

impl Default for Feed {
    fn default() -> Self {
        Self {
            news: broadcast::Sender::new(BEHIND),
            stored: Arc::default(),
            is_reading: Arc::default(),
        }
    }
}

impl Feed {
    /// Something was stored.
    pub(super) fn stored(&self) {
        self.stored.notify_one();
    }

    /// Everything that is stored from now on; nothing when there are too many streams.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub(crate) async fn subscribe(
        &self,
        reader: &StorePool,
    ) -> Result<Option<Subscription>, PoolFailure> {
        if self.news.receiver_count() >= STREAMS {
            return Ok(None);
        }
        let subscription = Subscription(self.news.subscribe());
        if !self.is_reading.swap(true, Ordering::SeqCst) {
            let mark = match reader.read(portcullis_store::Store::newest).await {
                Ok(mark) => mark,
                Err(failure) => {
                    self.is_reading.store(false, Ordering::SeqCst);
                    return Err(failure);
                }
            };
            let (feed, reader) = (self.clone(), reader.clone());
            tokio::spawn(async move { feed.read_on(&reader, mark).await });
        }
        Ok(Some(subscription))
    }

    /// Reads what is new as long as there are subscribers.
    async fn read_on(&self, reader: &StorePool, mut mark: Mark) {
        loop {
            let _ = tokio::time::timeout(LOOK_EVERY, self.stored.notified()).await;
            if self.news.receiver_count() == 0 {
                self.is_reading.store(false, Ordering::SeqCst);
                // A new subscriber may have seen a reader that is about to end.
                if self.news.receiver_count() == 0 || self.is_reading.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            let since = mark;
            let read = reader.read(move |store| store.after(since, &Filter::default(), AT_ONCE));
            let Ok((summaries, next)) = read.await else {
                continue;
            };
            mark = next;
            let may_be_more = summaries.len() >= AT_ONCE;
            for summary in summaries {
                let _ = self.news.send(Arc::new(summary));
            }
            if may_be_more {
                self.stored.notify_one();
            }
        }
    }
}

impl Subscription {
    /// The next one; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Arc<Summary>, Missed>> {
        match self.0.recv().await {
            Ok(summary) => Some(Ok(summary)),
            Err(broadcast::error::RecvError::Lagged(count)) => Some(Err(Missed(count))),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
