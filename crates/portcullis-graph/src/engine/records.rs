//! What is kept of a vertex and of an edge: 32 bytes each.

use super::slab::{NONE, Slot};

/// The bit of `VertexRecord::size` that says that the object is there.
const OBJECT: u16 = 1 << 15;

/// A vertex.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexRecord {
    pub(super) kind: u16,
    /// Size of the name as `names` knows it, and whether the object is there.
    size: u16,
    /// Number of the namespace; `NONE` marks a vacant place.
    pub(super) namespace: u32,
    /// Place of the name.
    pub(super) name: u32,
    /// First of the edges that begin here.
    pub(super) first_out: u32,
    /// First of the edges that end here.
    pub(super) first_in: u32,
    /// First of the edges that the object contributed.
    pub(super) first_owned: u32,
    /// The targets it leads to.
    pub(super) reach: Targets,
}

/// The targets that a vertex leads to without passing another target. In a vertex of the target kind:
/// its own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Targets {
    number: u32,
    count: u32,
}

/// The same, to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leading {
    Nowhere,
    /// To one target, over so many edges.
    One(u32, u32),
    /// To several: the number of the set.
    Several(u32),
}

impl Targets {
    pub(super) const NOWHERE: Self = Self {
        number: NONE,
        count: 0,
    };

    pub(super) fn one(number: u32, count: u32) -> Self {
        Self { number, count }
    }

    pub(super) fn several(set: u32) -> Self {
        Self {
            number: set,
            count: 0,
        }
    }

    #[inline]
    pub(super) fn look(self) -> Leading {
        match (self.number, self.count) {
            (NONE, _) => Leading::Nowhere,
            (set, 0) => Leading::Several(set),
            (number, count) => Leading::One(number, count),
        }
    }

    /// The number of the target, in a vertex of the target kind.
    #[inline]
    pub(super) fn own_number(self) -> u32 {
        self.number
    }
}

impl VertexRecord {
    pub(super) fn new(kind: u16, namespace: u32, size: u16, name: u32) -> Self {
        Self {
            kind,
            size: size & !OBJECT,
            namespace,
            name,
            first_out: NONE,
            first_in: NONE,
            first_owned: NONE,
            reach: Targets::NOWHERE,
        }
    }

    /// Size of the name as `names` knows it.
    pub(super) fn size(&self) -> u16 {
        self.size & !OBJECT
    }

    /// Whether the object is there.
    pub(super) fn is_object(&self) -> bool {
        self.size & OBJECT != 0
    }

    pub(super) fn set_object(&mut self, is_there: bool) {
        self.size = self.size() | if is_there { OBJECT } else { 0 };
    }

    /// Whether nothing needs this vertex any more.
    pub(super) fn is_unused(&self) -> bool {
        !self.is_object() && self.first_out == NONE && self.first_in == NONE
    }
}

impl Default for VertexRecord {
    fn default() -> Self {
        Self::vacant(NONE)
    }
}

impl Slot for VertexRecord {
    fn vacant(next: u32) -> Self {
        Self {
            first_out: next,
            ..Self::new(0, NONE, 0, NONE)
        }
    }

    fn next_vacant(&self) -> Option<u32> {
        (self.namespace == NONE).then_some(self.first_out)
    }
}

/// An edge with its places in three lists: the edges that begin where it begins, those that end where it
/// ends, and those of its owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeRecord {
    /// Where it begins; `NONE` marks a vacant place.
    pub(super) from: u32,
    pub(super) to: u32,
    /// The object that contributed it.
    pub(super) owner: u32,
    pub(super) next_out: u32,
    pub(super) prev_out: u32,
    pub(super) next_in: u32,
    pub(super) prev_in: u32,
    pub(super) next_owned: u32,
}

impl Default for EdgeRecord {
    fn default() -> Self {
        Self::vacant(NONE)
    }
}

impl Slot for EdgeRecord {
    fn vacant(next: u32) -> Self {
        Self {
            from: NONE,
            to: NONE,
            owner: NONE,
            next_out: NONE,
            prev_out: NONE,
            next_in: NONE,
            prev_in: NONE,
            next_owned: next,
        }
    }

    fn next_vacant(&self) -> Option<u32> {
        (self.from == NONE).then_some(self.next_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_size_that_was_counted_on() {
        assert_eq!(size_of::<VertexRecord>(), 32);
        assert_eq!(size_of::<EdgeRecord>(), 32);
    }
}
