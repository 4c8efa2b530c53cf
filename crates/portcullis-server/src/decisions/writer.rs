//! The thread that records decisions: writes them to their destinations, and deletes the old ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use portcullis_net::Backoff;
use portcullis_store::{Entry, Mode, Store, StoreError};

use super::StoreState;
use super::counts::{DecisionCounts, STORE};
use super::feed::Feed;
use super::json_lines::LineSink;
use super::lost::Lost;
use super::queue::{Gathering, Item, Queue, WAKE_AT};
use super::settings::Settings;

const GATHERING: Gathering = Gathering {
    items: WAKE_AT,
    bytes: 8 << 20,
    time: Duration::from_millis(100),
    idle: Duration::from_secs(5),
};
/// So often a store may reject a batch before its decisions are tried one by one.
const REFUSALS: u32 = 5;
/// How often old decisions are looked for.
const PRUNE_EVERY: Duration = Duration::from_secs(30);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);
/// A persistent fault is logged again after this long.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Wakes those who wait for the end of the writer, however it ended.
struct Over(Arc<Queue>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.is_over();
    }
}

/// Records decisions until it is stopped.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Arc<Queue>,
    settings: Settings,
    store: Option<Store>,
    sink: Option<LineSink>,
    counts: DecisionCounts,
    state: Arc<Mutex<StoreState>>,
    feed: Feed,
    pruned_at: Option<Instant>,
    told_at: Option<Instant>,
}

impl Writer {
    pub(super) fn new(
        queue: Arc<Queue>,
        settings: Settings,
        store: Option<Store>,
        counts: DecisionCounts,
        state: Arc<Mutex<StoreState>>,
        feed: Feed,
    ) -> Self {
        let writer = Self {
            sink: settings.asked.json_lines.clone().map(LineSink::new),
            queue,
            settings,
            store,
            counts,
            state,
            feed,
            pruned_at: None,
            told_at: None,
        };
        let is_missing = writer.settings.location.is_some() && writer.store.is_none();
        writer.set_fault(is_missing.then(|| "it does not answer yet".to_owned()));
        writer
    }

    pub(super) fn run(mut self) {
        let _over = Over(Arc::clone(&self.queue));
        let mut lost = Lost::default();
        loop {
            let taken = self.queue.take(GATHERING);
            if let Some((settings, store)) = taken.change {
                self.change(settings, store);
            }
            let is_last = taken.items.is_empty();
            let mut ready = taken.items;
            // Lines are made by many at once: followers want them as they were decided.
            ready.sort_by(|one, other| one.written.summary.id.cmp(&other.written.summary.id));
            let are_written = self.write_lines(&ready);
            ready.retain(|one| !one.is_stored);
            let are_kept = match self.settings.location {
                Some(_) => self.store_all(&mut ready),
                None => are_written,
            };
            if !are_kept {
                self.count_lost(&ready);
                if self.queue.ends_at().is_some() {
                    lost.add(&ready, are_written);
                }
            }
            for one in ready {
                if let Some(kept) = one.kept {
                    let _ = kept.send(are_kept);
                }
            }
            match taken.end {
                Some(_) if is_last => {
                    lost.tell();
                    return;
                }
                Some(_) => {}
                None if self.queue.ends_at().is_some() => {}
                None => self.prune_if_due(),
            }
            self.counts.waiting(self.queue.settled());
        }
    }

    /// Counts what is given up, by where it should have gone.
    fn count_lost(&self, given_up: &[Item]) {
        match self.settings.location {
            Some(_) => self.counts.dropped_unstored(given_up.len()),
            None if self.sink.is_some() => self.counts.dropped_unwritten(given_up.len()),
            None => {}
        }
    }

    fn change(&mut self, settings: Settings, store: Option<Store>) {
        if self.settings.asked.json_lines != settings.asked.json_lines {
            self.sink = settings.asked.json_lines.clone().map(LineSink::new);
        }
        match (&settings.location, store) {
            (None, _) => {
                self.store = None;
                self.set_fault(None);
            }
            (Some(_), Some(store)) => {
                self.store = Some(store);
                self.set_fault(None);
            }
            // Another one that doesn't answer yet: nothing more goes to the one before.
            (location, None) if *location != self.settings.location => {
                self.store = None;
                self.set_fault(Some("it does not answer yet".to_owned()));
            }
            (Some(_), None) => {}
        }
        self.settings = settings;
        self.pruned_at = None;
    }

    /// Writes them as lines, if configured; returns whether they are written.
    fn write_lines(&mut self, ready: &[Item]) -> bool {
        let Some(sink) = &mut self.sink else {
            return false;
        };
        if ready.is_empty() {
            return true;
        }
        match sink.write(ready.iter().map(|one| one.written.line.as_str())) {
            Ok(()) => {
                self.counts.written("json_lines", ready.len());
                true
            }
            Err(error) => {
                self.counts.failed("json_lines");
                self.tell(&format!("cannot write decisions to jsonLines: {error}"));
                false
            }
        }
    }

    /// Stores all of them, however long it takes; false if the server ends first. Required decisions
    /// whose requests no longer wait were denied meanwhile, and are left out; so are those that
    /// the store rejects repeatedly.
    fn store_all(&mut self, ready: &mut Vec<Item>) -> bool {
        let mut backoff = Backoff::new(RETRY_FIRST, RETRY_LAST);
        let mut refusals = 0;
        while !ready.is_empty() {
            if self.is_too_late() {
                return false;
            }
            match self.try_store(ready) {
                Ok(()) => {
                    self.set_fault(None);
                    self.counts.written(STORE, ready.len());
                    self.feed.stored();
                    return true;
                }
                Err(error) => {
                    self.counts.failed("store");
                    self.set_fault(Some(error.to_string()));
                    self.tell(&format!("cannot store decisions: {error}"));
                    if !error.is_temporary() {
                        self.store = None;
                        refusals += 1;
                    }
                }
            }
            if refusals >= REFUSALS {
                // One that can't be stored must not keep the others from it.
                refusals = 0;
                ready.retain_mut(|one| self.is_storable(one));
                continue;
            }
            self.counts.waiting(self.queue.waiting());
            self.queue.pause(self.until_end(backoff.pause()));
            if let Some((settings, store)) = self.queue.take_change() {
                self.change(settings, store);
            }
            if self.settings.location.is_none() {
                return false;
            }
            ready.retain(|one| one.kept.as_ref().is_none_or(|kept| !kept.is_closed()));
        }
        true
    }

    /// Whether the time to end is over.
    fn is_too_late(&self) -> bool {
        let end = self.queue.ends_at();
        end.is_some_and(|end| clock::monotonic() >= end)
    }

    /// So much of a pause as there is time for.
    fn until_end(&self, pause: Duration) -> Duration {
        match self.queue.ends_at() {
            Some(end) => pause.min(end.saturating_duration_since(clock::monotonic())),
            None => pause,
        }
    }

    /// Stores one alone. It is given up if the store is there and rejects it.
    fn is_storable(&mut self, one: &mut Item) -> bool {
        match self.try_store(std::slice::from_ref(one)) {
            Err(error) if !error.is_temporary() => {
                self.counts.dropped_unstored(1);
                if let Some(kept) = one.kept.take() {
                    let _ = kept.send(false);
                }
                false
            }
            // What is stored already is not stored twice.
            _ => true,
        }
    }

    fn try_store(&mut self, ready: &[Item]) -> Result<(), StoreError> {
        let entries: Vec<Entry<'_>> = ready
            .iter()
            .map(|one| Entry {
                summary: &one.written.summary,
                line: &one.written.line,
            })
            .collect();
        match self.open()? {
            Some(store) => store.append(&entries),
            None => Ok(()),
        }
    }

    /// The store, opened now if it was not before.
    fn open(&mut self) -> Result<Option<&mut Store>, StoreError> {
        if self.store.is_none()
            && let Some(location) = &self.settings.location
        {
            self.store = Some(Store::open(location, Mode::ReadWrite)?);
        }
        Ok(self.store.as_mut())
    }

    /// Deletes what is too old or too much, and tidies the rest.
    fn prune_if_due(&mut self) {
        let now = clock::monotonic();
        if self
            .pruned_at
            .is_some_and(|at| now.saturating_duration_since(at) < PRUNE_EVERY)
        {
            return;
        }
        self.pruned_at = Some(now);
        let retention = self.settings.asked.retention;
        let pruned = match self.open() {
            Ok(Some(store)) => {
                let pruned = store.prune(&retention, clock::wall());
                // What was stored in small pieces takes less room together.
                pruned.and_then(|pruned| store.consolidate(clock::wall()).map(|_| pruned))
            }
            Ok(None) => return,
            Err(error) => Err(error),
        };
        match pruned {
            Ok(pruned) => {
                self.set_fault(None);
                self.counts.pruned(pruned.decisions);
            }
            Err(error) => {
                self.counts.failed("store");
                self.set_fault(Some(error.to_string()));
                self.tell(&format!("cannot delete old decisions: {error}"));
            }
        }
    }

    fn set_fault(&self, fault: Option<String>) {
        let mut state = self.state.lock();
        state.was_open |= fault.is_none();
        state.fault = fault;
    }

    /// Logs a fault, but not over and over.
    fn tell(&mut self, what: &str) {
        let now = clock::monotonic();
        let is_fresh = |at: Instant| now.saturating_duration_since(at) < TELL_EVERY;
        if !self.told_at.is_some_and(is_fresh) {
            self.told_at = Some(now);
            tracing::error!("{what}");
        }
    }
}
