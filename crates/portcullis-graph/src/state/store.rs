//! What is remembered of objects: names, kept fields, who depends on whom, and what is due when.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use portcullis_core::sync::RwLock;
use serde_json::{Value, json};

use crate::sources::SourceId;

/// Namespace and name in one, apart by a letter that neither has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(Arc<str>);

impl Key {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self(format!("{namespace}\0{name}").into())
    }

    /// Namespace and name.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.0.split_once('\0').unwrap_or(("", &self.0))
    }
}

/// An object of a source.
pub(super) type ObjectId = (SourceId, Key);

/// One object.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Whether it counts: others can find it.
    pub(super) is_there: bool,
    /// The list in which it was seen last.
    pub(super) list: u64,
    /// Fields that others may look up, as text.
    pub(super) kept: Option<Box<str>>,
    /// What is needed to look at it again.
    pub(super) reevaluation: Option<Box<Reevaluation>>,
}

/// What is needed to look at an object again, and when that is.
#[derive(Debug)]
pub(super) struct Reevaluation {
    /// What its source's expressions look at, as text.
    pub(super) object: Box<str>,
    /// When one of these changes.
    pub(super) depends: Vec<ObjectId>,
    /// At this time.
    pub(super) until: Option<SystemTime>,
}

/// The objects of one source. Any thread reads; only the holder of the [`ChangeQueue`] changes it.
#[derive(Debug, Default)]
pub(super) struct ObjectTable {
    entries: RwLock<BTreeMap<Key, Entry>>,
    /// How many of them count.
    there: AtomicUsize,
}

impl ObjectTable {
    /// Reads an entry.
    pub(super) fn read<R>(&self, key: &Key, read: impl FnOnce(&Entry) -> R) -> Option<R> {
        let entries = self.entries.read();
        entries.get(key).map(read)
    }

    /// Sets an entry, and returns the one that was there.
    pub(super) fn set(&self, key: Key, entry: Option<Entry>) -> Option<Entry> {
        let mut entries = self.entries.write();
        let is_there = entry.as_ref().is_some_and(|entry| entry.is_there);
        let old = match entry {
            Some(entry) => entries.insert(key, entry),
            None => entries.remove(&key),
        };
        match (old.as_ref().is_some_and(|old| old.is_there), is_there) {
            (false, true) => self.there.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.there.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        old
    }

    /// How many objects count.
    pub(super) fn len(&self) -> usize {
        self.there.load(Ordering::Relaxed)
    }

    /// A few keys behind this one, of entries that were last seen before this list, and where to go on.
    pub(super) fn older(&self, list: u64, behind: Option<&Key>) -> (Vec<Key>, Option<Key>) {
        const AT_ONCE: usize = 256;
        let entries = self.entries.read();
        let begin = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let some = entries
            .range::<Key, _>((begin, Bound::Unbounded))
            .take(AT_ONCE);
        let mut last = None;
        let mut older = Vec::new();
        for (key, entry) in some {
            last = Some(key);
            if entry.list < list {
                older.push(key.clone());
            }
        }
        (older, last.cloned())
    }

    /// What others may look up, if the object is there.
    pub(super) fn find(&self, key: &Key) -> Option<Value> {
        let kept = self.read(key, |entry| (entry.is_there, entry.kept.clone()));
        let (is_there, kept) = kept?;
        if !is_there {
            return None;
        }
        let kept = kept.and_then(|kept| serde_json::from_str(&kept).ok());
        let (namespace, name) = key.parts();
        Some(kept.unwrap_or_else(|| match namespace.is_empty() {
            true => json!({"metadata": {"name": name}}),
            false => json!({"metadata": {"name": name, "namespace": namespace}}),
        }))
    }
}

/// The order of changes: its holder changes one object.
#[derive(Debug, Default)]
pub(super) struct ChangeQueue {
    dependents: HashMap<ObjectId, BTreeSet<ObjectId>>,
    timers: BTreeSet<(SystemTime, ObjectId)>,
    due: VecDeque<ObjectId>,
    is_due: HashSet<ObjectId>,
    /// The number of the newest list of each source.
    pub(super) lists: HashMap<SourceId, u64>,
}

impl ChangeQueue {
    /// What the object depended on is of no interest any more.
    pub(super) fn forget(&mut self, id: &ObjectId, reevaluation: &Reevaluation) {
        for on in &reevaluation.depends {
            if let Some(dependents) = self.dependents.get_mut(on) {
                dependents.remove(id);
                if dependents.is_empty() {
                    self.dependents.remove(on);
                }
            }
        }
        if let Some(until) = reevaluation.until {
            self.timers.remove(&(until, id.clone()));
        }
    }

    /// The object depends on these.
    pub(super) fn remember(&mut self, id: &ObjectId, reevaluation: &Reevaluation) {
        for on in &reevaluation.depends {
            let dependents = self.dependents.entry(on.clone()).or_default();
            dependents.insert(id.clone());
        }
        if let Some(until) = reevaluation.until {
            self.timers.insert((until, id.clone()));
        }
    }

    /// The object changed: those that depend on it are due.
    pub(super) fn changed(&mut self, id: &ObjectId) {
        let dependents = self.dependents.get(id).into_iter().flatten();
        for dependent in dependents {
            if self.is_due.insert(dependent.clone()) {
                self.due.push_back(dependent.clone());
            }
        }
    }

    /// Those whose time has come are due. Returns the next time.
    pub(super) fn now(&mut self, now: SystemTime) -> Option<SystemTime> {
        while let Some((until, id)) = self.timers.pop_first() {
            if until > now {
                self.timers.insert((until, id));
                return Some(until);
            }
            if self.is_due.insert(id.clone()) {
                self.due.push_back(id);
            }
        }
        None
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<SystemTime> {
        self.timers.first().map(|(until, _)| *until)
    }

    /// An object to look at again.
    pub(super) fn take(&mut self) -> Option<ObjectId> {
        let id = self.due.pop_front()?;
        self.is_due.remove(&id);
        Some(id)
    }

    /// How many objects are to be looked at again.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.due.len()
    }

    /// The number of the newest list of a source.
    pub(super) fn list(&self, source: SourceId) -> u64 {
        self.lists.get(&source).copied().unwrap_or_default()
    }
}
