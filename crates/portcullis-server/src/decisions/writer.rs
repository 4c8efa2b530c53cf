//! The thread that keeps decisions: writes them where they go, and deletes the old ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_store::{Entry, Mode, Store, StoreError};

use super::StoreState;
use super::counts::DecisionCounts;
use super::feed::Feed;
use super::json_lines::LineSink;
use super::queue::{Gathering, Item, Queue, WAKE_AT};
use super::settings::Settings;

const GATHERING: Gathering = Gathering {
    items: WAKE_AT,
    bytes: 8 << 20,
    time: Duration::from_millis(100),
    idle: Duration::from_secs(5),
};
/// How often old decisions are looked for.
const PRUNE_EVERY: Duration = Duration::from_secs(30);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);
/// A fault that stays is told again after this long.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Keeps decisions until told to end.
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
            sink: settings.json_lines.clone().map(LineSink::new),
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
        loop {
            let taken = self.queue.take(GATHERING);
            if let Some((settings, store)) = taken.change {
                self.change(settings, store);
            }
            let is_last = taken.items.is_empty();
            let mut ready = taken.items;
            // Lines are made by many at once: followers want them as they were decided.
            ready.sort_by(|one, other| one.written.summary.id.cmp(&other.written.summary.id));
            self.write_lines(&ready);
            if self.settings.location.is_some() {
                self.store_all(&mut ready);
            }
            for one in ready {
                if let Some(kept) = one.kept {
                    let _ = kept.send(true);
                }
            }
            match taken.end {
                Some(_) if is_last => return,
                Some(deadline) if clock::monotonic() >= deadline => {
                    tracing::warn!("some decisions were not kept in time");
                    return;
                }
                Some(_) => {}
                None => self.prune_if_due(),
            }
        }
    }

    fn change(&mut self, settings: Settings, store: Option<Store>) {
        if self.settings.json_lines != settings.json_lines {
            self.sink = settings.json_lines.clone().map(LineSink::new);
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
            (Some(_), None) => {}
        }
        self.settings = settings;
        self.pruned_at = None;
    }

    fn write_lines(&mut self, ready: &[Item]) {
        let Some(sink) = &mut self.sink else {
            return;
        };
        if ready.is_empty() {
            return;
        }
        match sink.write(ready.iter().map(|one| one.written.line.as_str())) {
            Ok(()) => self.counts.written("json_lines", ready.len()),
            Err(error) => {
                self.counts.failed("json_lines");
                self.tell(&format!("decisions could not be written as lines: {error}"));
            }
        }
    }

    /// Keeps all of them, however long it takes. Those that nobody waits for any more though they
    /// had to be kept were refused meanwhile, and are left out.
    fn store_all(&mut self, ready: &mut Vec<Item>) {
        let mut pause = RETRY_FIRST;
        while !ready.is_empty() {
            match self.try_store(ready) {
                Ok(()) => {
                    self.set_fault(None);
                    self.counts.written("store", ready.len());
                    self.feed.stored();
                    return;
                }
                Err(error) => {
                    self.counts.failed("store");
                    self.set_fault(Some(error.to_string()));
                    self.tell(&format!("decisions could not be stored: {error}"));
                    if !error.is_temporary() {
                        self.store = None;
                    }
                }
            }
            if self
                .queue
                .ends_at()
                .is_some_and(|end| clock::monotonic() + pause >= end)
            {
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(RETRY_LAST);
            ready.retain(|one| one.kept.as_ref().is_none_or(|kept| !kept.is_closed()));
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
        let retention = self.settings.retention;
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
                self.tell(&format!("old decisions could not be deleted: {error}"));
            }
        }
    }

    fn set_fault(&self, fault: Option<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
