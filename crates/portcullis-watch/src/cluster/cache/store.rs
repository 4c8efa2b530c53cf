//! The objects of one kind, as texts.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What an object takes besides its text and its name: its nodes in the maps, and the counters of its text.
const OVERHEAD: usize = 96;

#[derive(Debug, Default)]
pub(super) struct Store {
    /// By namespace, then by name.
    objects: BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<str>>>,
    bytes: usize,
    /// Whether all objects were listed once.
    pub(super) is_synced: bool,
    /// Whether they were given up, because they take too much memory.
    pub(super) is_too_large: bool,
}

fn weight(name: &str, text: &str) -> usize {
    name.len() + text.len() + OVERHEAD
}

impl Store {
    pub(super) fn insert(&mut self, namespace: &str, name: &str, text: Arc<str>) {
        self.bytes += weight(name, &text);
        let of_namespace = match self.objects.get_mut(namespace) {
            Some(found) => found,
            None => self.objects.entry(namespace.into()).or_default(),
        };
        if let Some(before) = of_namespace.insert(name.into(), text) {
            self.bytes = self.bytes.saturating_sub(weight(name, &before));
        }
    }

    pub(super) fn remove(&mut self, namespace: &str, name: &str) {
        let Some(of_namespace) = self.objects.get_mut(namespace) else {
            return;
        };
        if let Some(before) = of_namespace.remove(name) {
            self.bytes = self.bytes.saturating_sub(weight(name, &before));
        }
        if of_namespace.is_empty() {
            self.objects.remove(namespace);
        }
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<str>> {
        self.objects.get(namespace)?.get(name).map(Arc::clone)
    }

    pub(super) fn list(&self, namespace: Option<&str>) -> Vec<Arc<str>> {
        match namespace {
            Some(namespace) => {
                let found = self.objects.get(namespace).into_iter();
                found.flat_map(|all| all.values().cloned()).collect()
            }
            None => {
                let all = self.objects.values();
                all.flat_map(|all| all.values().cloned()).collect()
            }
        }
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(&str, &str) -> bool) {
        let mut dropped = 0;
        for (namespace, objects) in &mut self.objects {
            objects.retain(|name, text| {
                let is_kept = is_kept(namespace, name);
                if !is_kept {
                    dropped += weight(name, text);
                }
                is_kept
            });
        }
        self.objects.retain(|_, objects| !objects.is_empty());
        self.bytes = self.bytes.saturating_sub(dropped);
    }

    /// Forgets all objects: they take too much memory.
    pub(super) fn give_up(&mut self) {
        *self = Self {
            is_synced: self.is_synced,
            is_too_large: true,
            ..Self::default()
        };
    }

    pub(super) fn len(&self) -> usize {
        self.objects.values().map(BTreeMap::len).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
