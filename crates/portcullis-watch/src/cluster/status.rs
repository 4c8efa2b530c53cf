//! The status of the watches, for messages and metrics.

use std::time::{Duration, Instant, SystemTime};

use portcullis_core::clock;
use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_core::text::printable;
use portcullis_graph::{SourceId, VertexKind};

/// What a watch is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// All objects are being asked for.
    Listing,
    /// Changes are being received.
    Watching,
    /// The API server knows no such resource; it is asked again and again.
    NotServed,
    /// Something is wrong; it is tried again and again.
    Failing,
}

/// How the watch of a kind is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindStatus {
    /// The kind.
    pub kind: String,
    /// Its resource with the group, like `shoots.core.gardener.cloud`.
    pub resource: String,
    /// What its watch is doing.
    pub phase: Phase,
    /// Since when.
    pub since: SystemTime,
    /// Whether all objects were listed and applied at least once.
    pub listed: bool,
    /// When objects were last received: a whole list, or the change of one.
    pub last_event: Option<SystemTime>,
    /// How many objects could not be used, or only in part, since the start.
    pub malformed: u64,
    /// Why it failed last, if it hasn't worked since.
    pub error: Option<String>,
    /// For how long it has not been known to be up to date.
    pub lag: Duration,
}

#[derive(Debug)]
struct Entry {
    shown: KindStatus,
    /// When it was last known to be up to date, or when it began.
    good: Instant,
}

/// The states of all kinds of a profile.
#[derive(Debug)]
pub(super) struct Board {
    name: String,
    entries: Mutex<Vec<Entry>>,
}

impl Board {
    pub(super) fn new(name: &str, kinds: &[(SourceId, VertexKind)]) -> Self {
        let entry = |(_, kind): &(SourceId, VertexKind)| Entry {
            shown: KindStatus {
                kind: kind.name.clone(),
                resource: match kind.group.as_str() {
                    "" => kind.resource.clone(),
                    group => format!("{}.{group}", kind.resource),
                },
                phase: Phase::Listing,
                since: clock::wall(),
                listed: false,
                last_event: None,
                malformed: 0,
                error: None,
                lag: Duration::ZERO,
            },
            good: clock::monotonic(),
        };
        Self {
            name: name.to_owned(),
            entries: Mutex::new(kinds.iter().map(entry).collect()),
        }
    }

    pub(super) fn all(&self) -> Vec<KindStatus> {
        let entries = self.lock();
        let shown = |entry: &Entry| KindStatus {
            lag: match entry.shown.phase {
                Phase::Watching | Phase::NotServed => Duration::ZERO,
                Phase::Listing | Phase::Failing => {
                    clock::monotonic().saturating_duration_since(entry.good)
                }
            },
            ..entry.shown.clone()
        };
        entries.iter().map(shown).collect()
    }

    /// A kind is being listed. What is wrong stays wrong until that has worked.
    pub(super) fn listing(&self, index: usize) {
        self.change(index, |entry| {
            if entry.shown.phase == Phase::Watching {
                entry.enter(Phase::Listing);
            }
        });
    }

    /// A kind is watched.
    pub(super) fn watching(&self, index: usize) {
        self.change(index, |entry| {
            if entry.shown.error.take().is_some() {
                let kind = &entry.shown.kind;
                tracing::info!(profile = self.name, kind, "watched again");
            }
            entry.enter(Phase::Watching);
        });
    }

    /// The API server knows no such kind.
    pub(super) fn not_served(&self, index: usize) {
        self.change(index, |entry| {
            if entry.shown.phase != Phase::NotServed {
                let resource = &entry.shown.resource;
                tracing::warn!(
                    profile = self.name,
                    resource,
                    "the API server has no such resource"
                );
            }
            entry.shown.error = None;
            entry.enter(Phase::NotServed);
        });
    }

    /// What a kind does failed. Told in the log when it is news.
    pub(super) fn failed(&self, index: usize, words: &str) {
        self.change(index, |entry| {
            if entry.shown.error.as_deref() != Some(words) {
                let kind = &entry.shown.kind;
                tracing::warn!(profile = self.name, kind, "can't watch: {words}");
                entry.shown.error = Some(words.to_owned());
            }
            entry.enter(Phase::Failing);
        });
    }

    /// A kind was reported to be up to date.
    pub(super) fn is_good(&self, index: usize) {
        self.change(index, |entry| entry.good = clock::monotonic());
    }

    /// The change of an object of a kind was received.
    pub(super) fn changed(&self, index: usize) {
        self.change(index, |entry| entry.shown.last_event = Some(clock::wall()));
    }

    /// All objects of a kind were applied.
    pub(super) fn listed(&self, index: usize) {
        self.change(index, |entry| {
            entry.shown.listed = true;
            entry.shown.last_event = Some(clock::wall());
            entry.good = clock::monotonic();
        });
    }

    /// An object could not be used, or only in part.
    pub(super) fn malformed(&self, index: usize, words: &str) {
        self.change(index, |entry| {
            entry.shown.malformed += 1;
            let (kind, words) = (&entry.shown.kind, printable(words));
            tracing::debug!(profile = self.name, kind, "an object is malformed: {words}");
        });
    }

    fn change(&self, index: usize, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.lock().get_mut(index) {
            change(entry);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock()
    }
}

impl Entry {
    fn enter(&mut self, phase: Phase) {
        if matches!(self.shown.phase, Phase::Watching | Phase::NotServed)
            || matches!(phase, Phase::Watching)
        {
            self.good = clock::monotonic();
        }
        if self.shown.phase != phase {
            self.shown.phase = phase;
            self.shown.since = clock::wall();
        }
    }
}
