//! Records of one size in pages, found by number.
//!
//! Growing adds a page and moves nothing, so that no insertion takes long and no memory is used twice.
//! Numbers of deleted records are reused; vacant ones are chained through the records.

/// No record.
pub(super) const NONE: u32 = u32::MAX;

/// How many numbers a page has, as a power of two. The last of them is not given out, so that a page is a
/// little smaller than a power of two: allocators that keep sizes apart by such powers may need a few bytes
/// for alignment, and would take the next larger size.
const PAGE_BITS: u32 = 10;
const PAGE: u32 = 1 << PAGE_BITS;
const LAST: u32 = PAGE - 1;

/// What can be in a slab.
pub(super) trait Slot: Default {
    /// A place without a record, and the next such place.
    fn vacant(next: u32) -> Self;
    /// The next vacant place, if this is one.
    fn next_vacant(&self) -> Option<u32>;
}

/// Numbered records.
#[derive(Debug)]
pub(super) struct Slab<T> {
    pages: Vec<Box<[T]>>,
    /// How many numbers were ever given out.
    used: u32,
    /// The first vacant place.
    vacant: u32,
    len: u32,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            used: 0,
            vacant: NONE,
            len: 0,
        }
    }
}

impl<T: Slot> Slab<T> {
    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// One more than the largest number in use.
    pub(super) fn end(&self) -> u32 {
        self.used
    }

    /// The record, or what is in a vacant place.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let page = self.pages.get((number >> PAGE_BITS) as usize)?;
        page.get((number & LAST) as usize)
    }

    /// The record, or what is in a vacant place.
    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let page = self.pages.get_mut((number >> PAGE_BITS) as usize)?;
        page.get_mut((number & LAST) as usize)
    }

    /// Keeps a record and gives its number.
    pub(super) fn insert(&mut self, record: T) -> u32 {
        let number = match self.vacant {
            NONE => {
                let number = match self.used {
                    last if last & LAST == LAST => last.saturating_add(1),
                    number => number,
                };
                if number >> PAGE_BITS >= self.pages.len() as u32 {
                    self.pages.push((0..LAST).map(|_| T::default()).collect());
                }
                self.used = number.saturating_add(1);
                number
            }
            number => {
                let next = self.get(number).and_then(T::next_vacant);
                self.vacant = next.unwrap_or(NONE);
                number
            }
        };
        debug_assert_ne!(number, NONE, "no numbers left");
        if let Some(place) = self.get_mut(number) {
            *place = record;
            self.len += 1;
        }
        number
    }

    /// Takes a record out. All memory goes with the last one.
    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        let next = self.vacant;
        let place = self.get_mut(number)?;
        if place.next_vacant().is_some() {
            debug_assert!(false, "taken out twice");
            return None;
        }
        let record = std::mem::replace(place, T::vacant(next));
        self.vacant = number;
        self.len = self.len.saturating_sub(1);
        if self.len == 0 {
            *self = Self::default();
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::EdgeRecord;
    use super::*;

    fn edge(from: u32) -> EdgeRecord {
        EdgeRecord {
            from,
            ..EdgeRecord::default()
        }
    }

    #[test]
    fn numbers_are_given_out_again() {
        let mut slab = Slab::default();
        let numbers: Vec<u32> = (0..5000).map(|from| slab.insert(edge(from))).collect();
        assert_eq!(slab.len(), 5000);
        assert!(numbers.iter().all(|number| number & LAST != LAST));
        for (from, number) in (0..).zip(&numbers) {
            assert_eq!(slab.get(*number).map(|edge| edge.from), Some(from));
        }
        for number in &numbers[..4999] {
            assert!(slab.remove(*number).is_some());
        }
        let end = slab.end();
        for from in 0..4999 {
            assert!(slab.insert(edge(from)) < end);
        }
        assert_eq!((slab.len(), slab.end()), (5000, end));
    }
}
