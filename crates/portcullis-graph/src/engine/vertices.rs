//! Vertices by number and by name.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use super::index::Index;
use super::names::Names;
use super::namespaces::Namespaces;
use super::records::VertexRecord;
use super::slab::Slab;
use crate::vertex::{KindId, VertexRef};

/// All vertices.
#[derive(Debug)]
pub(super) struct Vertices {
    hasher: DefaultHashBuilder,
    index: Index,
    pub(super) names: Names,
    pub(super) namespaces: Namespaces,
    pub(super) records: Slab<VertexRecord>,
}

/// The hash of a vertex, made of its parts without joining them. The builder is keyed at random: names are
/// chosen by others.
#[inline]
pub(super) fn hash(hasher: &DefaultHashBuilder, vertex: VertexRef<'_>) -> u64 {
    let (namespace, name) = (vertex.namespace.as_bytes(), vertex.name.as_bytes());
    hash_parts(hasher, vertex.kind.0, namespace, name)
}

#[inline]
fn hash_parts(hasher: &DefaultHashBuilder, kind: u16, namespace: &[u8], name: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write_u64(u64::from(kind) | ((namespace.len() as u64) << 16));
    state.write(namespace);
    state.write(name);
    state.finish()
}

impl Vertices {
    pub(super) fn new(hasher: DefaultHashBuilder) -> Self {
        Self {
            namespaces: Namespaces::new(hasher.clone()),
            hasher,
            index: Index::default(),
            names: Names::default(),
            records: Slab::default(),
        }
    }

    /// The number of a vertex whose hash is known.
    #[inline]
    pub(super) fn find(&self, hash: u64, vertex: VertexRef<'_>) -> Option<u32> {
        self.index.find(hash, |number| {
            self.records.get(number).is_some_and(|record| {
                record.kind == vertex.kind.0
                    && self.is_named(record, vertex.name)
                    && self.namespaces.get(record.namespace) == vertex.namespace.as_bytes()
            })
        })
    }

    /// Adds a vertex that isn't there yet.
    pub(super) fn insert(&mut self, hash: u64, vertex: VertexRef<'_>) -> u32 {
        let namespace = self.namespaces.enter(vertex.namespace);
        let (size, name) = self.names.insert(vertex.name);
        let record = VertexRecord::new(vertex.kind.0, namespace, size, name);
        let number = self.records.insert(record);
        self.change_index(|index, hash_of| index.insert(hash, number, hash_of));
        number
    }

    /// Takes a vertex out, with its name.
    pub(super) fn remove(&mut self, number: u32) {
        let Some(record) = self.records.get(number).copied() else {
            return;
        };
        let hash = self.hash_of(number);
        self.change_index(|index, hash_of| index.remove(hash, number, hash_of));
        self.names.remove(record.size(), record.name);
        self.namespaces.leave(record.namespace);
        self.records.remove(number);
    }

    fn hash_of(&self, number: u32) -> u64 {
        let Self {
            hasher,
            names,
            namespaces,
            records,
            ..
        } = self;
        hash_of(hasher, names, namespaces, records, number)
    }

    fn change_index(&mut self, change: impl FnOnce(&mut Index, &dyn Fn(u32) -> u64)) {
        let Self {
            hasher,
            index,
            names,
            namespaces,
            records,
        } = self;
        change(index, &|number| {
            hash_of(hasher, names, namespaces, records, number)
        });
    }

    /// Whether a vertex has this name.
    #[inline]
    pub(super) fn is_named(&self, record: &VertexRecord, name: &str) -> bool {
        self.names.get(record.size(), record.name) == name.as_bytes()
    }

    /// The name of a vertex.
    pub(super) fn name(&self, record: &VertexRecord) -> Cow<'_, str> {
        text(self.names.get(record.size(), record.name))
    }

    /// The namespace of a vertex.
    pub(super) fn namespace(&self, record: &VertexRecord) -> Cow<'_, str> {
        text(self.namespaces.get(record.namespace))
    }

    /// Kind, namespace and name of a vertex, if it is there.
    pub(super) fn named(&self, number: u32) -> Option<(KindId, String, String)> {
        let record = self.records.get(number)?;
        Some((
            KindId(record.kind),
            self.namespace(record).into_owned(),
            self.name(record).into_owned(),
        ))
    }

    /// How many numbers the index has room for.
    #[cfg(test)]
    pub(super) fn index_capacity(&self) -> usize {
        self.index.capacity()
    }
}

/// What is kept was a text. Quicker than `from_utf8_lossy`, which looks at each character.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

fn hash_of(
    hasher: &DefaultHashBuilder,
    names: &Names,
    namespaces: &Namespaces,
    records: &Slab<VertexRecord>,
    number: u32,
) -> u64 {
    records.get(number).map_or(0, |record| {
        let namespace = namespaces.get(record.namespace);
        let name = names.get(record.size(), record.name);
        hash_parts(hasher, record.kind, namespace, name)
    })
}
