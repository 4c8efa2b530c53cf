//! Names in pages: slots of 8, 16, 24 ... bytes, each size in pages of its own.
//!
//! A slot that becomes free is used again by the next name of that size, so that vertices may come and go
//! for years without memory growing. Names longer than any Kubernetes name are kept one by one.

use super::slab::{NONE, Slab, Slot};

/// Places are multiples of this.
const STEP: usize = 8;
/// The longest name in a page.
const LONGEST: usize = 256;
/// How many places a page has, as a power of two.
const PAGE_BITS: u32 = 8;
const PAGE: u32 = 1 << PAGE_BITS;
/// The size that stands for a name on its own.
const LONG: u16 = 0x7fff;

/// All names.
#[derive(Debug)]
pub(super) struct Names {
    classes: Vec<Class>,
    long: Slab<Long>,
}

/// Names of one size.
#[derive(Debug)]
struct Class {
    pages: Vec<Box<[u8]>>,
    /// Bytes of a place.
    width: usize,
    used: u32,
    /// The first free place; the next one is written in it.
    free: u32,
    len: u32,
}

/// A name on its own.
#[derive(Debug)]
enum Long {
    Name(Box<[u8]>),
    Vacant(u32),
}

impl Default for Names {
    fn default() -> Self {
        let widths = (0..=LONGEST / STEP).map(|class| class * STEP);
        Self {
            classes: widths.map(Class::new).collect(),
            long: Slab::default(),
        }
    }
}

impl Names {
    /// Keeps a name: its size and its place.
    pub(super) fn insert(&mut self, name: &str) -> (u16, u32) {
        let name = name.as_bytes();
        let size = u16::try_from(name.len()).unwrap_or(LONG);
        match self.classes.get_mut(name.len().div_ceil(STEP)) {
            Some(class) => (size, class.insert(name)),
            None => (LONG, self.long.insert(Long::Name(name.into()))),
        }
    }

    /// The name of this size at this place.
    #[inline]
    pub(super) fn get(&self, size: u16, place: u32) -> &[u8] {
        let found = if size == LONG {
            match self.long.get(place) {
                Some(Long::Name(name)) => Some(&**name),
                Some(Long::Vacant(_)) | None => None,
            }
        } else {
            let size = usize::from(size);
            let class = self.classes.get(size.div_ceil(STEP));
            class.and_then(|class| class.get(place)?.get(..size))
        };
        found.unwrap_or_default()
    }

    /// Forgets a name.
    pub(super) fn remove(&mut self, size: u16, place: u32) {
        if size == LONG {
            self.long.remove(place);
        } else if let Some(class) = self.classes.get_mut(usize::from(size).div_ceil(STEP)) {
            class.remove(place);
        }
    }

    /// How many names there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let short = self.classes.iter().map(|class| class.len as usize);
        short.sum::<usize>() + self.long.len()
    }

    /// How many pages there are.
    #[cfg(test)]
    pub(super) fn pages(&self) -> usize {
        self.classes.iter().map(|class| class.pages.len()).sum()
    }
}

impl Class {
    fn new(width: usize) -> Self {
        Self {
            pages: Vec::new(),
            width,
            used: 0,
            free: NONE,
            len: 0,
        }
    }

    #[inline]
    fn get(&self, place: u32) -> Option<&[u8]> {
        let page = self.pages.get((place >> PAGE_BITS) as usize)?;
        let start = (place & (PAGE - 1)) as usize * self.width;
        page.get(start..start + self.width)
    }

    fn get_mut(&mut self, place: u32) -> Option<&mut [u8]> {
        let page = self.pages.get_mut((place >> PAGE_BITS) as usize)?;
        let start = (place & (PAGE - 1)) as usize * self.width;
        page.get_mut(start..start + self.width)
    }

    fn insert(&mut self, name: &[u8]) -> u32 {
        self.len += 1;
        if self.width == 0 {
            return 0;
        }
        let place = if self.free == NONE {
            let place = self.used;
            if place >> PAGE_BITS >= self.pages.len() as u32 {
                let bytes = vec![0; PAGE as usize * self.width];
                self.pages.push(bytes.into());
            }
            self.used = place.saturating_add(1);
            place
        } else {
            let place = self.free;
            let link = self.get(place).and_then(|bytes| bytes.first_chunk());
            self.free = link.map_or(NONE, |link| u32::from_ne_bytes(*link));
            place
        };
        let bytes = self.get_mut(place);
        if let Some(bytes) = bytes.and_then(|bytes| bytes.get_mut(..name.len())) {
            bytes.copy_from_slice(name);
        }
        place
    }

    fn remove(&mut self, place: u32) {
        self.len = self.len.saturating_sub(1);
        if self.len == 0 {
            *self = Self::new(self.width);
            return;
        }
        let link = self.free;
        let bytes = self.get_mut(place);
        if let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk_mut()) {
            *bytes = link.to_ne_bytes();
            self.free = place;
        }
    }
}

impl Default for Long {
    fn default() -> Self {
        Self::Vacant(NONE)
    }
}

impl Slot for Long {
    fn vacant(next: u32) -> Self {
        Self::Vacant(next)
    }

    fn next_vacant(&self) -> Option<u32> {
        match self {
            Self::Name(_) => None,
            Self::Vacant(next) => Some(*next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_sizes_come_back_and_leave_nothing() {
        let mut names = Names::default();
        let texts: Vec<String> = (0..600)
            .map(|n| "ä".repeat(n / 2) + &"b".repeat(n % 2))
            .collect();
        let mut places: Vec<_> = texts.iter().map(|text| names.insert(text)).collect();
        for (text, (size, place)) in texts.iter().zip(&places) {
            assert_eq!(names.get(*size, *place), text.as_bytes());
        }
        for (size, place) in places.drain(..) {
            names.remove(size, place);
        }
        assert_eq!((names.len(), names.pages()), (0, 0));
    }

    #[test]
    fn a_place_is_used_again() {
        let mut names = Names::default();
        names.insert("stays");
        for round in 0..10_000 {
            let (size, place) = names.insert(&format!("n{round}"));
            names.remove(size, place);
        }
        assert_eq!((names.len(), names.pages()), (1, 1));
    }
}
