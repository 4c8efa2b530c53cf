//! Namespaces, each kept once while a vertex is in it.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::index::Index;
use super::slab::{NONE, Slab, Slot};

/// All namespaces.
#[derive(Debug)]
pub(super) struct Namespaces {
    hasher: DefaultHashBuilder,
    index: Index,
    all: Slab<Namespace>,
}

/// The longest name that is kept in place.
const SHORT: usize = 56;

#[derive(Debug)]
#[repr(align(64))]
enum Namespace {
    /// One of the usual length: a cache line.
    Short {
        name: [u8; SHORT],
        size: u8,
        /// How many vertices are in it.
        vertices: [u8; 4],
    },
    /// A longer one.
    Long {
        name: Box<[u8]>,
        vertices: u32,
    },
    Vacant(u32),
}

impl Namespace {
    fn new(name: &str) -> Self {
        let mut short = [0; SHORT];
        match (short.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(place), Ok(size)) => {
                place.copy_from_slice(name.as_bytes());
                Self::Short {
                    name: short,
                    size,
                    vertices: [0; 4],
                }
            }
            _ => Self::Long {
                name: name.as_bytes().into(),
                vertices: 0,
            },
        }
    }

    #[inline]
    fn name(&self) -> &[u8] {
        match self {
            Self::Short { name, size, .. } => name.get(..usize::from(*size)).unwrap_or_default(),
            Self::Long { name, .. } => name,
            Self::Vacant(_) => &[],
        }
    }

    /// Changes how many vertices are in it, and gives the number.
    fn count(&mut self, change: impl FnOnce(u32) -> u32) -> u32 {
        match self {
            Self::Short { vertices, .. } => {
                let changed = change(u32::from_ne_bytes(*vertices));
                *vertices = changed.to_ne_bytes();
                changed
            }
            Self::Long { vertices, .. } => {
                *vertices = change(*vertices);
                *vertices
            }
            Self::Vacant(_) => 0,
        }
    }
}

impl Namespaces {
    pub(super) fn new(hasher: DefaultHashBuilder) -> Self {
        Self {
            hasher,
            index: Index::default(),
            all: Slab::default(),
        }
    }

    /// The number of a namespace.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name.as_bytes());
        self.index
            .find(hash, |number| self.get(number) == name.as_bytes())
    }

    /// The namespace of this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u8] {
        self.all
            .get(number)
            .map(Namespace::name)
            .unwrap_or_default()
    }

    /// One more vertex is in this namespace: its number.
    pub(super) fn enter(&mut self, name: &str) -> u32 {
        let number = self.find(name).unwrap_or_else(|| {
            let number = self.all.insert(Namespace::new(name));
            let Self { hasher, index, all } = self;
            index.insert(hasher.hash_one(name.as_bytes()), number, |number| {
                hash_of(hasher, all, number)
            });
            number
        });
        if let Some(namespace) = self.all.get_mut(number) {
            namespace.count(|vertices| vertices.saturating_add(1));
        }
        number
    }

    /// A vertex left this namespace.
    pub(super) fn leave(&mut self, number: u32) {
        let Some(namespace) = self.all.get_mut(number) else {
            return;
        };
        if namespace.count(|vertices| vertices.saturating_sub(1)) == 0 {
            let hash = self.hasher.hash_one(namespace.name());
            let Self { hasher, index, all } = self;
            index.remove(hash, number, |number| hash_of(hasher, all, number));
            all.remove(number);
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

fn hash_of(hasher: &DefaultHashBuilder, all: &Slab<Namespace>, number: u32) -> u64 {
    all.get(number)
        .map_or(0, |namespace| hasher.hash_one(namespace.name()))
}

impl Default for Namespace {
    fn default() -> Self {
        Self::Vacant(NONE)
    }
}

impl Slot for Namespace {
    fn vacant(next: u32) -> Self {
        Self::Vacant(next)
    }

    fn next_vacant(&self) -> Option<u32> {
        match self {
            Self::Short { .. } | Self::Long { .. } => None,
            Self::Vacant(next) => Some(*next),
        }
    }
}
