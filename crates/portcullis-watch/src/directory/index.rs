//! Which files have which objects, and which of them counts.
//!
//! Of two files with one object the later name counts. The object of the other is kept, so that it can
//! count again when the later goes, whatever has become of its file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use portcullis_graph::SourceId;
use serde_json::Value;

/// What identifies an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) source: SourceId,
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
}

/// What a look found out about an object.
#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    /// This counts.
    Counts(Value),
    /// A later file has it too.
    Shadowed,
}

/// The objects of all files.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Files that have an object, by name: the last one counts.
    files: HashMap<Arc<Key>, Vec<Arc<Path>>>,
    /// Objects of each file; with the object if it doesn't count.
    objects: BTreeMap<Arc<Path>, HashMap<Arc<Key>, Option<Value>>>,
    /// Objects that lost the file that counted, and were not reported since.
    open: BTreeSet<Arc<Key>>,
    /// Objects that don't count any more, and the file they are in.
    overtaken: BTreeSet<(Arc<Path>, Arc<Key>)>,
}

impl Index {
    /// Whether a file has any object.
    pub(super) fn has(&self, file: &Path) -> bool {
        self.objects.get(file).is_some_and(|all| !all.is_empty())
    }

    /// How many objects there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// A file has this object.
    pub(super) fn put(&mut self, file: &Arc<Path>, key: Key, value: Value) -> Standing {
        let key = match self.files.get_key_value(&key) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::new(key),
        };
        let files = self.files.entry(Arc::clone(&key)).or_default();
        let place = files.partition_point(|other| other < file);
        if files.get(place) != Some(file) {
            files.insert(place, Arc::clone(file));
        }
        let counts = place + 1 == files.len();
        if let (true, Some(before)) = (counts, place.checked_sub(1)) {
            let before = files.get(before).map(Arc::clone);
            self.overtaken
                .extend(before.map(|before| (before, Arc::clone(&key))));
        }
        let objects = self.objects.entry(Arc::clone(file)).or_default();
        if counts {
            objects.insert(Arc::clone(&key), None);
            self.open.remove(&key);
            return Standing::Counts(value);
        }
        objects.insert(key, Some(value));
        Standing::Shadowed
    }

    /// A file has just these objects of those that it had.
    pub(super) fn keep_only(&mut self, file: &Path, kept: impl Fn(&Key) -> bool) {
        let Some(objects) = self.objects.get_mut(file) else {
            return;
        };
        let gone: Vec<_> = objects.keys().filter(|key| !kept(key)).cloned().collect();
        for key in gone {
            objects.remove(&key);
            let Some(files) = self.files.get_mut(&key) else {
                continue;
            };
            if files.last().is_some_and(|last| **last == *file) {
                self.open.insert(Arc::clone(&key));
            }
            files.retain(|other| **other != *file);
            if files.is_empty() {
                self.files.remove(&key);
            }
        }
        if objects.is_empty() {
            self.objects.remove(file);
        }
    }

    /// Objects whose file that counted is gone: what counts now, or nothing.
    pub(super) fn settle(&mut self) -> Vec<(Arc<Key>, Option<Value>)> {
        let mut settled = Vec::new();
        for key in std::mem::take(&mut self.open) {
            let last = self.files.get(&key).and_then(|files| files.last());
            let objects = last.and_then(|file| self.objects.get_mut(file));
            let value = objects.and_then(|objects| objects.get_mut(&key)?.take());
            settled.push((key, value));
        }
        settled
    }

    /// Objects that a later file took over since the last call, and that are not kept yet, by file.
    pub(super) fn overtaken(&mut self) -> BTreeMap<Arc<Path>, BTreeSet<Arc<Key>>> {
        let mut by_file = BTreeMap::<_, BTreeSet<_>>::new();
        for (file, key) in std::mem::take(&mut self.overtaken) {
            let known = self.objects.get(&file).and_then(|all| all.get(&key));
            if matches!(known, Some(None)) {
                by_file.entry(file).or_default().insert(key);
            }
        }
        by_file
    }

    /// Keeps an object that doesn't count.
    pub(super) fn keep(&mut self, file: &Path, key: &Key, value: Value) {
        let objects = self.objects.get_mut(file);
        if let Some(kept) = objects.and_then(|objects| objects.get_mut(key)) {
            *kept = Some(value);
        }
    }
}
