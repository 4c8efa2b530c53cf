//! Where lists and objects begin and end, so that readers can pass over them.

use std::sync::Arc;

/// One list or object of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Container {
    /// Where its bracket opens.
    pub(crate) start: u32,
    /// Behind where it closes.
    pub(crate) end: u32,
    /// The place in the index of the first container that begins behind it.
    pub(crate) next: u32,
}

/// All lists and objects of a text, in the order in which they begin.
#[derive(Debug, Clone, Default)]
pub struct Index {
    containers: Arc<[Container]>,
}

impl Index {
    pub(super) fn new(containers: Vec<Container>) -> Self {
        Self {
            containers: containers.into(),
        }
    }

    pub(crate) fn get(&self, place: u32) -> Option<Container> {
        self.containers.get(usize::try_from(place).ok()?).copied()
    }

    /// Behind the end of the list or object that begins there.
    pub fn end_of(&self, start: usize) -> Option<usize> {
        let container = self.get(self.at(u32::try_from(start).ok()?)?)?;
        usize::try_from(container.end).ok()
    }

    /// The place of the container that begins there.
    pub(crate) fn at(&self, start: u32) -> Option<u32> {
        let place = self
            .containers
            .binary_search_by_key(&start, |container| container.start)
            .ok()?;
        u32::try_from(place).ok()
    }
}
