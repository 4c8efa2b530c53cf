//! Sets of target numbers in which every member has a count.
//!
//! A few members are in the set itself, which is one cache line; some more are a sorted list. Many are a
//! hash table of counts and, as long as members are dense enough, a bitmap, so that two large sets are
//! compared word by word.

use hashbrown::HashTable;

use super::slab::{NONE, Slot};

/// The most members within the set itself.
const MOST_IN_LINE: usize = 12;
/// The most members of a list, and the fewest.
const MOST_IN_LIST: usize = 64;
const FEWEST_IN_LIST: usize = 8;
/// The fewest members of a table.
const FEWEST_IN_TABLE: usize = 32;
/// By how much a list grows.
const STEP: usize = 8;

/// A member and its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) count: u32,
}

/// A set.
#[derive(Debug)]
#[repr(align(64))]
pub(super) enum Set {
    /// The first `len` are members.
    Line {
        numbers: [u32; MOST_IN_LINE],
        counts: [u8; MOST_IN_LINE],
        len: u8,
    },
    /// Sorted by number.
    List(Vec<Member>),
    Many(Many),
    /// No set: a vacant place.
    Vacant(u32),
}

/// A large set.
#[derive(Debug, Default)]
pub(super) struct Many {
    /// A bit for every member, or empty: at most two words per member.
    bits: Vec<u64>,
    counts: Box<HashTable<Member>>,
}

/// Numbers are dense and given out here, so that mixing them a little is enough.
#[inline]
fn hash(number: u32) -> u64 {
    u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn place(number: u32) -> (usize, u64) {
    ((number / 64) as usize, 1 << (number % 64))
}

impl Default for Set {
    fn default() -> Self {
        Self::Line {
            numbers: [NONE; MOST_IN_LINE],
            counts: [0; MOST_IN_LINE],
            len: 0,
        }
    }
}

impl Slot for Set {
    fn vacant(next: u32) -> Self {
        Self::Vacant(next)
    }

    fn next_vacant(&self) -> Option<u32> {
        match self {
            Self::Line { .. } | Self::List(_) | Self::Many(_) => None,
            Self::Vacant(next) => Some(*next),
        }
    }
}

impl Set {
    /// A set of these members.
    pub(super) fn of(members: &[Member]) -> Self {
        let mut set = Self::default();
        let small = |member: &Member| u8::try_from(member.count).is_ok();
        if let Self::Line {
            numbers,
            counts,
            len,
        } = &mut set
            && members.len() <= MOST_IN_LINE
            && members.iter().all(small)
        {
            for ((number, count), member) in numbers.iter_mut().zip(counts).zip(members) {
                *number = member.number;
                *count = u8::try_from(member.count).unwrap_or(u8::MAX);
            }
            *len = u8::try_from(members.len()).unwrap_or(0);
            return set;
        }
        let mut list = members.to_vec();
        list.sort_unstable_by_key(|member| member.number);
        Self::List(list)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Line { len, .. } => usize::from(*len),
            Self::List(list) => list.len(),
            Self::Many(many) => many.counts.len(),
            Self::Vacant(_) => 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a member.
    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        match self {
            // Places without a member hold no number that is asked for.
            Self::Line { numbers, .. } => numbers.contains(&number),
            Self::List(list) => list
                .binary_search_by_key(&number, |member| member.number)
                .is_ok(),
            Self::Many(many) => many.contains(number),
            Self::Vacant(_) => false,
        }
    }

    /// Whether there is a member of both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        if let (Self::Many(a), Self::Many(b)) = (self, other)
            && !a.bits.is_empty()
            && !b.bits.is_empty()
        {
            return a.bits.iter().zip(&b.bits).any(|(a, b)| a & b != 0);
        }
        let (small, large) = if self.len() <= other.len() {
            (self, other)
        } else {
            (other, self)
        };
        small.iter().any(|member| large.contains(member.number))
    }

    /// All members, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Member> {
        let (mut line, mut list, mut table) = (None, None, None);
        match self {
            Self::Line {
                numbers,
                counts,
                len,
            } => line = Some(numbers.iter().zip(counts).take(usize::from(*len))),
            Self::List(members) => list = Some(members),
            Self::Many(many) => table = Some(&*many.counts),
            Self::Vacant(_) => {}
        }
        let line = line.into_iter().flatten().map(|(number, count)| Member {
            number: *number,
            count: u32::from(*count),
        });
        let list = list.into_iter().flatten().copied();
        line.chain(list).chain(table.into_iter().flatten().copied())
    }

    /// The only member, if there is just one.
    pub(super) fn only(&self) -> Option<Member> {
        self.iter().next().filter(|_| self.len() == 1)
    }

    /// Counts a member once more. Whether it is new.
    pub(super) fn add(&mut self, number: u32) -> bool {
        match self {
            Self::Line {
                numbers,
                counts,
                len,
            } => {
                let at = numbers.iter().position(|other| *other == number);
                let is_new = at.is_none();
                let at = at.unwrap_or(usize::from(*len));
                if let (Some(place), Some(count)) = (numbers.get_mut(at), counts.get_mut(at))
                    && *count < u8::MAX
                {
                    *place = number;
                    *count += 1;
                    *len += u8::from(is_new);
                    return is_new;
                }
                // No room for the member, or for its count.
                let mut list: Vec<Member> = Vec::with_capacity(MOST_IN_LINE + STEP);
                list.extend(self.iter());
                list.sort_unstable_by_key(|member| member.number);
                *self = Self::List(list);
                self.add(number)
            }
            Self::List(list) => {
                let at = match list.binary_search_by_key(&number, |member| member.number) {
                    Ok(at) => {
                        if let Some(member) = list.get_mut(at) {
                            member.count = member.count.saturating_add(1);
                        }
                        return false;
                    }
                    Err(at) => at,
                };
                if list.len() < MOST_IN_LIST {
                    if list.len() == list.capacity() {
                        list.reserve_exact(STEP);
                    }
                    list.insert(at, Member { number, count: 1 });
                } else {
                    let mut many = Many::of(list);
                    many.add(number);
                    *self = Self::Many(many);
                }
                true
            }
            Self::Many(many) => many.add(number),
            Self::Vacant(_) => false,
        }
    }

    /// Counts a member once less. Whether it is gone now.
    pub(super) fn sub(&mut self, number: u32) -> bool {
        match self {
            Self::Line {
                numbers,
                counts,
                len,
            } => {
                let at = numbers.iter().position(|other| *other == number);
                let last = usize::from(len.saturating_sub(1));
                let Some(at) = at.filter(|_| number != NONE) else {
                    debug_assert!(false, "not a member");
                    return false;
                };
                if let Some(count) = counts.get_mut(at).filter(|count| **count > 1) {
                    *count -= 1;
                    return false;
                }
                numbers.swap(at, last);
                counts.swap(at, last);
                if let (Some(place), Some(count)) = (numbers.get_mut(last), counts.get_mut(last)) {
                    (*place, *count) = (NONE, 0);
                }
                *len = len.saturating_sub(1);
                true
            }
            Self::List(list) => {
                let Ok(at) = list.binary_search_by_key(&number, |member| member.number) else {
                    debug_assert!(false, "not a member");
                    return false;
                };
                if let Some(member) = list.get_mut(at).filter(|member| member.count > 1) {
                    member.count -= 1;
                    return false;
                }
                list.remove(at);
                if list.len() < FEWEST_IN_LIST {
                    *self = Self::of(list);
                }
                true
            }
            Self::Many(many) => {
                let gone = many.sub(number);
                if many.counts.len() < FEWEST_IN_TABLE {
                    let list: Vec<Member> = self.iter().collect();
                    *self = Self::of(&list);
                }
                gone
            }
            Self::Vacant(_) => false,
        }
    }
}

impl Many {
    fn of(list: &[Member]) -> Self {
        let mut many = Self::default();
        for member in list {
            let hash_of = |member: &Member| hash(member.number);
            many.counts
                .insert_unique(hash(member.number), *member, hash_of);
        }
        many
    }

    #[inline]
    fn contains(&self, number: u32) -> bool {
        if self.bits.is_empty() {
            let found = self
                .counts
                .find(hash(number), |member| member.number == number);
            return found.is_some();
        }
        let (word, bit) = place(number);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    fn add(&mut self, number: u32) -> bool {
        let is_it = |member: &Member| member.number == number;
        if let Some(member) = self.counts.find_mut(hash(number), is_it) {
            member.count = member.count.saturating_add(1);
            return false;
        }
        let member = Member { number, count: 1 };
        self.counts
            .insert_unique(hash(number), member, |member| hash(member.number));
        let (word, bit) = place(number);
        if !self.bits.is_empty() && word >= self.bits.len() {
            if word < self.counts.len().saturating_mul(2) {
                self.bits.resize(word + 1, 0);
            } else {
                self.bits = Vec::new();
            }
        }
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        } else if self.counts.len().is_power_of_two() || self.counts.len() == MOST_IN_LIST + 1 {
            self.draw();
        }
        true
    }

    /// Makes the bitmap if it is small enough.
    fn draw(&mut self) {
        let largest = self.counts.iter().map(|member| member.number).max();
        let (last, _) = place(largest.unwrap_or(NONE));
        if last < self.counts.len() {
            self.bits = vec![0; last + 1];
            for member in &*self.counts {
                let (word, bit) = place(member.number);
                if let Some(word) = self.bits.get_mut(word) {
                    *word |= bit;
                }
            }
        }
    }

    fn sub(&mut self, number: u32) -> bool {
        let is_it = |member: &Member| member.number == number;
        let Ok(mut entry) = self.counts.find_entry(hash(number), is_it) else {
            debug_assert!(false, "not a member");
            return false;
        };
        if entry.get().count > 1 {
            entry.get_mut().count -= 1;
            return false;
        }
        entry.remove();
        let (word, bit) = place(number);
        if let Some(word) = self.bits.get_mut(word) {
            *word &= !bit;
        }
        if self.bits.len() > self.counts.len().saturating_mul(2) {
            self.bits = Vec::new();
        }
        if self.counts.len() < self.counts.capacity() / 8 {
            let room = self.counts.len() * 2;
            self.counts.shrink_to(room, |member| hash(member.number));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = u32> {
        prop_oneof![4 => 0..40_u32, 2 => 0..2000_u32, 1 => 0..100_000_u32]
    }

    proptest! {
        #[test]
        fn a_set_is_what_was_put_in(steps in prop::collection::vec((numbers(), 0..3_u8), 0..800), probe in numbers()) {
            let (mut set, mut model) = (Set::default(), BTreeMap::<u32, u32>::new());
            for (number, step) in steps {
                // Takes out what is there, so that sets shrink as well.
                let number = if step == 0 { model.range(number..).next().map_or(number, |(n, _)| *n) } else { number };
                if step == 0 {
                    if let Some(count) = model.get_mut(&number) {
                        *count -= 1;
                        let gone = *count == 0;
                        if gone { model.remove(&number); }
                        prop_assert_eq!(set.sub(number), gone);
                    }
                } else {
                    let count = model.entry(number).or_default();
                    *count += 1;
                    prop_assert_eq!(set.add(number), *count == 1);
                }
                prop_assert_eq!(set.len(), model.len());
                prop_assert!(set.contains(number) == model.contains_key(&number));
            }
            let found: BTreeMap<u32, u32> = set.iter().map(|member| (member.number, member.count)).collect();
            prop_assert_eq!(set.contains(probe), model.contains_key(&probe));
            for number in (0..2000).chain(model.keys().copied()) {
                prop_assert_eq!(set.contains(number), model.contains_key(&number));
            }
            prop_assert_eq!(found, model);
        }

        #[test]
        fn sets_meet_when_they_share_a_member(
            a in prop::collection::btree_set(numbers(), 0..100),
            b in prop::collection::btree_set(numbers(), 0..100),
        ) {
            let (mut one, mut other) = (Set::default(), Set::default());
            a.iter().for_each(|number| { one.add(*number); });
            b.iter().for_each(|number| { other.add(*number); });
            prop_assert_eq!(one.meets(&other), !a.is_disjoint(&b));
            prop_assert_eq!(other.meets(&one), !a.is_disjoint(&b));
        }
    }

    #[test]
    fn a_set_is_a_cache_line() {
        assert_eq!(size_of::<Set>(), 64);
    }

    #[test]
    fn counts_may_be_large_in_small_sets() {
        let mut set = Set::default();
        for _ in 0..1000 {
            set.add(7);
        }
        set.add(8);
        assert!(set.sub(8));
        let only = Member {
            number: 7,
            count: 1000,
        };
        assert_eq!(set.only(), Some(only));
        for left in (0..1000).rev() {
            assert_eq!(set.sub(7), left == 0);
        }
        assert!(set.is_empty());
    }

    #[test]
    fn a_dense_set_has_a_bitmap_and_a_thin_one_has_none() {
        let dense = |set: &Set| matches!(set, Set::Many(many) if !many.bits.is_empty());
        let mut set = Set::default();
        (0..1000).for_each(|number| {
            set.add(number);
        });
        assert!(dense(&set));
        (100..1000).for_each(|number| {
            set.sub(number);
        });
        assert!(dense(&set));
        set.add(1_000_000);
        assert!(!dense(&set));
        assert!(set.contains(1_000_000) && set.contains(99) && !set.contains(100));
    }
}
