//! The decision log: every decision is recorded, masked, off the path of the request.
//!
//! ```text
//! door ──Material──> intake: mask ──> queue ──> writer ──> JSON lines, store ──> feed ──> event streams
//!                                                                       └──> reader ──> lists, single ones
//! ```
//!
//! INVARIANT: what gets into the queue has been masked. A decision that can't be masked, or finds the
//! queue full, is dropped and counted; only where decisions are required its answer waits, and is a
//! denial if it could not be recorded.

mod counts;
mod feed;
mod intake;
mod json_lines;
mod lost;
mod queue;
mod settings;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use portcullis_record::{Masker, Material, Written};
use portcullis_store::Mode;

use crate::store_pool::StorePool;

pub(crate) use counts::DecisionCounts;
pub(crate) use feed::{Feed, Missed, Subscription};
pub(crate) use settings::{Settings, location, open_first};

use counts::STORE;
use intake::Intake;
use lost::Lost;
use queue::{Item, Queue};
use writer::Writer;

/// What the writer gets for what it has begun when the time to end is over.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

/// Keeps decisions.
#[derive(Debug)]
pub(crate) struct DecisionLog {
    intake: Arc<Intake>,
    is_on: AtomicBool,
    is_required: AtomicBool,
    has_lines: AtomicBool,
    store: Arc<Mutex<StoreState>>,
    reader: StorePool,
    feed: Feed,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How the store is.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoreState {
    /// Why it can't take decisions now, if it can't.
    pub(crate) fault: Option<String>,
    /// Whether it could once.
    pub(crate) was_open: bool,
}

/// A decision that had to be kept and was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotKept;

impl DecisionLog {
    /// Starts the writer. The store is given if it could be opened already.
    pub(crate) fn start(
        settings: Settings,
        store: Option<portcullis_store::Store>,
        counts: DecisionCounts,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let state = Arc::new(Mutex::new(StoreState::default()));
        let reader = StorePool::new(settings.location.clone(), Mode::ReadOnly);
        let feed = Feed::default();
        let log = Self {
            intake: Arc::new(Intake::new(Arc::clone(&queue), counts.clone())),
            is_on: AtomicBool::new(settings.is_on()),
            is_required: AtomicBool::new(settings.asked.required),
            has_lines: AtomicBool::new(settings.asked.json_lines.is_some()),
            store: Arc::clone(&state),
            reader,
            feed: feed.clone(),
            thread: Mutex::new(None),
        };
        let writer = Writer::new(queue, settings, store, counts, state, feed);
        let thread = std::thread::Builder::new()
            .name("decisions".to_owned())
            .spawn(move || writer.run())?;
        *log.thread.lock() = Some(thread);
        Ok(log)
    }

    /// Whether decisions are kept anywhere.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Whether decisions must be kept.
    pub(crate) fn is_required(&self) -> bool {
        self.is_required.load(Ordering::Relaxed)
    }

    /// Keeps a decision, and goes on at once. One that finds no room is dropped.
    pub(crate) fn keep(&self, material: Material, masker: Arc<Masker>) {
        self.intake.take(material, masker);
    }

    /// Keeps a decision, and waits until it is kept.
    ///
    /// # Errors
    ///
    /// When it could not be kept before the deadline.
    pub(crate) async fn keep_surely(
        &self,
        material: &Material,
        masker: &Masker,
        deadline: Instant,
    ) -> Result<(), NotKept> {
        let written = self.intake.write(material, masker).ok_or(NotKept)?;
        let (item, kept) = Item::awaited(written);
        let keep = async {
            self.intake.queue.put(item).await;
            kept.await
        };
        let left = deadline.saturating_duration_since(clock::monotonic());
        match tokio::time::timeout(left, keep).await {
            Ok(Ok(true)) => Ok(()),
            _ => {
                self.intake.counts.dropped_unkept();
                Err(NotKept)
            }
        }
    }

    /// The record of a decision that is stored elsewhere, together with what was decided; none if it can't be masked.
    pub(crate) fn write(&self, material: &Material, masker: &Masker) -> Option<Written> {
        self.intake.write(material, masker)
    }

    /// Whether records go to a file or to standard output too.
    pub(crate) fn has_lines(&self) -> bool {
        self.has_lines.load(Ordering::Relaxed)
    }

    /// A record was stored elsewhere. Given again, it goes where lines go.
    pub(crate) fn stored(&self, record: Option<Written>) {
        self.intake.counts.written(STORE, 1);
        self.feed.stored();
        if let Some(written) = record
            && self.intake.queue.offer(Item::stored(written)).is_err()
        {
            self.intake.counts.dropped_full();
        }
    }

    /// Goes on with other settings; the store is given if it is another one.
    pub(crate) fn change(&self, settings: Settings, store: Option<portcullis_store::Store>) {
        self.is_on.store(settings.is_on(), Ordering::Relaxed);
        self.is_required
            .store(settings.asked.required, Ordering::Relaxed);
        self.has_lines
            .store(settings.asked.json_lines.is_some(), Ordering::Relaxed);
        self.reader.move_to(settings.location.clone());
        self.intake.queue.change(settings, store);
    }

    /// The store, if decisions are kept there.
    pub(crate) fn location(&self) -> Option<portcullis_store::Location> {
        self.reader.location()
    }

    /// Reads what is kept.
    pub(crate) fn reader(&self) -> &StorePool {
        &self.reader
    }

    /// Tells what is kept as it comes.
    pub(crate) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// How the store is.
    pub(crate) fn store_state(&self) -> StoreState {
        self.store.lock().clone()
    }

    /// Keeps what is in the queue, as far as there is time, and ends. What could not be kept is counted,
    /// named and logged. Called again, it ends sooner if there is less time now.
    pub(crate) fn finish(&self, grace: Duration) {
        let deadline = clock::monotonic() + grace;
        self.intake.settle(deadline);
        self.intake.queue.end(deadline);
        // A writer that is stuck, at a pipe without a reader, must not keep the server from ending.
        let is_over = self.intake.queue.wait_until_over(LAST_MOMENTS);
        // Held until the end: the process may end when the last of those who call this returns, and what is lost is
        // told before.
        let mut thread = self.thread.lock();
        let Some(thread) = thread.take() else {
            return;
        };
        if is_over {
            let _ = thread.join();
        } else {
            tracing::warn!("decisions are not recorded: the writer does not stop");
            self.lose_all();
        }
    }

    /// Counts and names what a writer that is stuck will not keep.
    fn lose_all(&self) {
        let (items, in_hand) = self.intake.queue.drain();
        let counts = &self.intake.counts;
        counts.dropped_unstored(items.len() + in_hand.count);
        let mut lost = Lost::default();
        lost.add_ids(in_hand.count, in_hand.ids);
        lost.add(&items, false);
        lost.tell();
    }
}
