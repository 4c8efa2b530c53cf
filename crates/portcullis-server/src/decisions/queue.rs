//! Decisions on their way to the writer: bounded in number and in memory.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::{Condvar, Mutex, MutexGuard};
use portcullis_record::{Answer, Written};
use portcullis_store::Store;
use tokio::sync::{Notify, oneshot};

use super::settings::Settings;

/// Decisions that may wait.
const MOST: usize = 16_384;
/// Memory that they may take.
const MOST_BYTES: usize = 48 << 20;
/// The part of both that is kept free for denials, so that a flood of what is allowed can't push them out.
const RESERVED: usize = 4;

/// As many are named when they are lost.
pub(super) const NAMED: usize = 20;

/// What one decision takes besides its line, about.
const OVERHEAD: usize = 2 << 10;

/// A decision on its way: masked, and written as a line.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) written: Written,
    /// Notifies the request that waits until it is recorded.
    pub(super) kept: Option<oneshot::Sender<bool>>,
    /// Whether it is in the store already.
    pub(super) is_stored: bool,
}

impl Item {
    pub(super) fn new(written: Written) -> Self {
        Self {
            written,
            kept: None,
            is_stored: false,
        }
    }

    /// One that is in the store already.
    pub(super) fn stored(written: Written) -> Self {
        Self {
            is_stored: true,
            ..Self::new(written)
        }
    }

    pub(super) fn awaited(written: Written) -> (Self, oneshot::Receiver<bool>) {
        let (kept, receive) = oneshot::channel();
        let item = Self {
            written,
            kept: Some(kept),
            is_stored: false,
        };
        (item, receive)
    }

    fn bytes(&self) -> usize {
        self.written.line.capacity() + OVERHEAD
    }

    /// Whether it may take the room that is kept free for denials. So may a decision whose answer waits for it.
    fn is_preferred(&self) -> bool {
        self.kept.is_some() || self.written.summary.verdict == Answer::Deny
    }
}

/// What the writer finds.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) items: Vec<Item>,
    pub(super) change: Option<(Settings, Option<Store>)>,
    /// When the writer must have ended, once it must.
    pub(super) end: Option<Instant>,
}

/// What the writer has taken and not settled yet.
#[derive(Debug, Default)]
pub(super) struct InHand {
    pub(super) count: usize,
    /// The ids of the first ones.
    pub(super) ids: Vec<String>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    /// A request waits for one of them.
    is_urgent: bool,
    change: Option<(Settings, Option<Store>)>,
    end: Option<Instant>,
    /// What the writer has taken and not settled yet.
    in_hand: InHand,
    /// The writer has ended.
    is_over: bool,
}

/// Decisions on their way to the writer.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    over: Condvar,
    room: Notify,
}

/// How much the writer takes at once, and how long it gathers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gathering {
    pub(super) items: usize,
    pub(super) bytes: usize,
    pub(super) time: Duration,
    /// How long to wait for the first.
    pub(super) idle: Duration,
}

impl Queue {
    /// Puts a decision in, or gives it back when there is no room.
    pub(super) fn offer(&self, item: Item) -> Result<(), Box<Item>> {
        let mut state = self.lock();
        let (most, most_bytes) = match item.is_preferred() {
            true => (MOST, MOST_BYTES),
            false => (MOST - MOST / RESERVED, MOST_BYTES - MOST_BYTES / RESERVED),
        };
        if state.items.len() >= most
            || state.bytes + item.bytes() > most_bytes
            || state.end.is_some()
        {
            return Err(Box::new(item));
        }
        let was_empty = state.items.is_empty();
        let turns_urgent = item.kept.is_some() && !state.is_urgent;
        state.bytes += item.bytes();
        state.is_urgent |= turns_urgent;
        state.items.push_back(item);
        // A writer that gathers looks at the clock, not at each arrival.
        let wake = was_empty || turns_urgent || state.items.len() == WAKE_AT;
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Puts a decision in as soon as there is room.
    pub(super) async fn put(&self, item: Item) {
        let mut item = item;
        loop {
            let room = self.room.notified();
            match self.offer(item) {
                Ok(()) => return,
                Err(back) => item = *back,
            }
            room.await;
        }
    }

    /// What to do from now on.
    pub(super) fn change(&self, settings: Settings, store: Option<Store>) {
        self.lock().change = Some((settings, store));
        self.arrived.notify_one();
    }

    /// What to do from now on, if that has changed.
    pub(super) fn take_change(&self) -> Option<(Settings, Option<Store>)> {
        self.lock().change.take()
    }

    /// Nothing more is taken in, and the writer ends at the deadline; an earlier one wins.
    pub(super) fn end(&self, deadline: Instant) {
        let mut state = self.lock();
        state.end = Some(state.end.map_or(deadline, |end| end.min(deadline)));
        drop(state);
        self.arrived.notify_one();
        self.over.notify_all();
    }

    /// The writer has ended.
    pub(super) fn is_over(&self) {
        self.lock().is_over = true;
        self.over.notify_all();
    }

    /// Waits until the writer has ended, or its time to end is over by so much; says whether it has.
    pub(super) fn wait_until_over(&self, patience: Duration) -> bool {
        let mut state = self.lock();
        while !state.is_over {
            let now = clock::monotonic();
            let last = state.end.unwrap_or(now) + patience;
            let left = last.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            (state, _) = self.over.wait_timeout(state, left);
        }
        true
    }

    /// Takes everything that is left, at the end, and what the writer has in hand.
    pub(super) fn drain(&self) -> (Vec<Item>, InHand) {
        let mut state = self.lock();
        state.bytes = 0;
        let in_hand = std::mem::take(&mut state.in_hand);
        (state.items.drain(..).collect(), in_hand)
    }

    /// What the writer had in hand is settled; gives the number of those that wait.
    pub(super) fn settled(&self) -> usize {
        let mut state = self.lock();
        state.in_hand.count = 0;
        state.in_hand.ids.clear();
        state.items.len()
    }

    /// How many wait, those that the writer has in hand included.
    pub(super) fn waiting(&self) -> usize {
        let state = self.lock();
        state.items.len() + state.in_hand.count
    }

    /// Waits so long, but not after the end has come nearer or there are other settings.
    pub(super) fn pause(&self, time: Duration) {
        let state = self.lock();
        let end = state.end;
        let goes_on = |state: &mut State| state.end == end && state.change.is_none();
        let _ = self.arrived.wait_timeout_while(state, time, goes_on);
    }

    /// When the writer must have ended, once it must.
    pub(super) fn ends_at(&self) -> Option<Instant> {
        self.lock().end
    }

    /// Waits for decisions, and gathers a while so that many can be kept at once.
    pub(super) fn take(&self, gathering: Gathering) -> Taken {
        let mut state = self.lock();
        let nothing = |s: &mut State| s.items.is_empty() && s.change.is_none() && s.end.is_none();
        (state, _) = self
            .arrived
            .wait_timeout_while(state, gathering.idle, nothing);
        let until = clock::monotonic() + gathering.time;
        let is_enough = |state: &State| {
            state.is_urgent
                || state.items.len() >= gathering.items
                || state.bytes >= gathering.bytes
                || state.end.is_some()
                || state.items.is_empty()
        };
        while !is_enough(&state) {
            let left = until.saturating_duration_since(clock::monotonic());
            if left.is_zero() {
                break;
            }
            (state, _) = self.arrived.wait_timeout(state, left);
        }
        let mut taken = Taken {
            change: state.change.take(),
            end: state.end,
            items: Vec::with_capacity(state.items.len().min(gathering.items)),
        };
        let mut bytes = 0;
        while taken.items.len() < gathering.items && bytes < gathering.bytes {
            let Some(item) = state.items.pop_front() else {
                break;
            };
            bytes += item.bytes();
            taken.items.push(item);
        }
        state.bytes -= bytes;
        state.in_hand.count = taken.items.len();
        let ids = taken.items.iter().take(NAMED);
        state.in_hand.ids = ids.map(|one| one.written.summary.id.clone()).collect();
        state.is_urgent &= !state.items.is_empty();
        drop(state);
        self.room.notify_waiters();
        taken
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// So many decisions wake a writer that gathers.
pub(super) const WAKE_AT: usize = 512;

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use portcullis_core::Door;
    use portcullis_record::{Answer, Summary};

    use super::*;

    fn written(length: usize) -> Written {
        let text = String::new;
        Written {
            is_truncated: false,
            line: " ".repeat(length),
            summary: Summary {
                id: text(),
                time: text(),
                door: Door::Api,
                operation: text(),
                kind: text(),
                namespace: text(),
                name: text(),
                user: text(),
                verdict: Answer::Allow,
                mutated: false,
                message: text(),
                plugin: None,
                policy: None,
                digest: None,
                gate: None,
                duration_us: 0,
                warnings: Vec::new(),
                concerned: Vec::new(),
                traceparent: None,
            },
        }
    }

    pub(in super::super) fn item(length: usize) -> Item {
        Item::new(written(length))
    }

    fn gathering(items: usize) -> Gathering {
        Gathering {
            items,
            bytes: MOST_BYTES,
            time: Duration::from_secs(3600),
            idle: Duration::ZERO,
        }
    }

    fn refusal(length: usize) -> Item {
        let mut item = item(length);
        item.written.summary.verdict = Answer::Deny;
        item
    }

    #[test]
    fn a_full_queue_gives_back_what_finds_no_room() {
        let queue = Queue::default();
        let large = MOST_BYTES / 4;
        assert!(queue.offer(item(large)).is_ok());
        assert!(queue.offer(item(large)).is_ok());
        assert!(
            queue.offer(item(large)).is_err(),
            "the rest is for refusals"
        );
        assert!(queue.offer(refusal(large)).is_ok());
        assert!(queue.offer(refusal(large)).is_err());
        assert!(queue.offer(refusal(10)).is_ok());
        assert_eq!(queue.take(gathering(3)).items.len(), 3);
        assert!(queue.offer(item(large)).is_ok());
        assert_eq!(queue.take(gathering(2)).items.len(), 2);
        assert!(queue.take(gathering(1)).items.is_empty());
        let most = MOST.min(MOST_BYTES / OVERHEAD);
        for _ in 0..most - most / RESERVED {
            assert!(queue.offer(item(0)).is_ok());
        }
        assert!(queue.offer(item(0)).is_err());
        for _ in 0..most / RESERVED {
            assert!(queue.offer(refusal(0)).is_ok());
        }
        assert!(queue.offer(refusal(0)).is_err());
    }

    #[test]
    fn one_that_somebody_waits_for_is_not_gathered() {
        let queue = Queue::default();
        queue.offer(item(0)).unwrap();
        let (item, mut kept) = Item::awaited(written(0));
        queue.offer(item).unwrap();
        // Gathering would take an hour.
        let taken = queue.take(gathering(512));
        assert_eq!(taken.items.len(), 2);
        for item in taken.items {
            if let Some(kept) = item.kept {
                kept.send(true).unwrap();
            }
        }
        assert_eq!(kept.try_recv(), Ok(true));
    }

    #[tokio::test]
    async fn who_must_get_in_waits_for_room() {
        let queue = Arc::new(Queue::default());
        queue.offer(item(MOST_BYTES / 2)).unwrap();
        let waiting = Arc::clone(&queue);
        let put = tokio::spawn(async move {
            waiting.put(item(MOST_BYTES / 2)).await;
        });
        tokio::task::yield_now().await;
        assert!(!put.is_finished());
        assert_eq!(queue.take(gathering(1)).items.len(), 1);
        put.await.unwrap();
        assert_eq!(queue.take(gathering(1)).items.len(), 1);
    }

    #[test]
    fn nothing_is_taken_in_after_the_end() {
        let queue = Queue::default();
        queue.offer(item(0)).unwrap();
        queue.end(clock::monotonic());
        assert!(queue.offer(item(0)).is_err());
        let taken = queue.take(gathering(512));
        assert_eq!((taken.items.len(), taken.end.is_some()), (1, true));
    }
}
