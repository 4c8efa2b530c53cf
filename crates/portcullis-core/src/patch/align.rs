//! Which elements of two lists belong together, in order.
//!
//! A longest common subsequence of labels. Finding it takes O(m log n) for m pairs of equal labels;
//! where there are too many, elements that occur often are paired in their order of occurrence, so
//! that the time is never more than O(n log n). The result is then a common subsequence that may
//! be shorter than the longest.

use std::collections::HashMap;
use std::hash::Hash;

/// The most pairs of equal elements that are all considered.
const MOST_CANDIDATES: usize = 200_000;

/// The most pairs of elements that are compared with each other.
const FEW_PAIRS: usize = 64;

/// A pair of places, and the pair before it in the longest sequence that ends here.
struct Link {
    old: usize,
    new: usize,
    before: Option<usize>,
}

/// Places (in `olds`, in `news`) of elements with equal labels, both rising. Elements without a
/// label belong to nothing.
pub(super) fn align<L: Hash + Eq>(olds: &[Option<L>], news: &[Option<L>]) -> Vec<(usize, usize)> {
    let mut numbers = Numbers::for_pairs(olds.len().saturating_mul(news.len()));
    let mut all_places: Vec<Places> = Vec::new();
    for (place, label) in labelled(news) {
        let number = numbers.of(label);
        if number == all_places.len() {
            all_places.push(Places::default());
        }
        if let Some(places) = all_places.get_mut(number) {
            places.news.push(place);
        }
    }
    let mut known_olds = Vec::new();
    for (place, label) in labelled(olds) {
        let number = numbers.known(label);
        if let Some((number, places)) = number.and_then(|n| Some((n, all_places.get_mut(n)?))) {
            places.olds += 1;
            known_olds.push((place, number));
        }
    }
    let candidates = all_places
        .iter()
        .map(|p| p.olds.saturating_mul(p.news.len()));
    let all = candidates.fold(0_usize, usize::saturating_add) <= MOST_CANDIDATES;

    let mut chains = Chains::default();
    for (old, number) in known_olds {
        let Some(places) = all_places.get_mut(number) else {
            continue;
        };
        if all {
            // From the right, so that one old element is in no chain twice.
            for new in places.news.iter().rev() {
                chains.extend(old, *new);
            }
        } else if let Some(new) = places.news.get(places.used) {
            places.used += 1;
            chains.extend(old, *new);
        }
    }
    chains.longest()
}

fn labelled<L>(list: &[Option<L>]) -> impl Iterator<Item = (usize, &L)> {
    let places = list.iter().enumerate();
    places.filter_map(|(place, label)| Some((place, label.as_ref()?)))
}

/// Numbers for labels, counted from 0. Few are compared with each other: most differ early, while a
/// hash takes all of both.
enum Numbers<'a, L> {
    Few(Vec<&'a L>),
    Many(HashMap<&'a L, usize>),
}

impl<'a, L: Hash + Eq> Numbers<'a, L> {
    fn for_pairs(pairs: usize) -> Self {
        match pairs {
            0..=FEW_PAIRS => Self::Few(Vec::new()),
            _ => Self::Many(HashMap::new()),
        }
    }

    /// The number of a label, which is the next one if it is new.
    fn of(&mut self, label: &'a L) -> usize {
        match self {
            Self::Few(labels) => {
                let place = labels.iter().position(|known| *known == label);
                place.unwrap_or_else(|| {
                    labels.push(label);
                    labels.len() - 1
                })
            }
            Self::Many(labels) => {
                let next = labels.len();
                *labels.entry(label).or_insert(next)
            }
        }
    }

    /// The number of a label that has one.
    fn known(&self, label: &L) -> Option<usize> {
        match self {
            Self::Few(labels) => labels.iter().position(|known| *known == label),
            Self::Many(labels) => labels.get(label).copied(),
        }
    }
}

/// Where a label occurs.
#[derive(Default)]
struct Places {
    olds: usize,
    news: Vec<usize>,
    /// How many of `news` have been paired, where not all pairs are considered.
    used: usize,
}

/// The best chains of each length found so far.
#[derive(Default)]
struct Chains {
    links: Vec<Link>,
    /// At n, the chain of n + 1 pairs that ends leftmost in the new list: that place, and its last link.
    ends: Vec<(usize, usize)>,
}

impl Chains {
    /// Takes a pair whose old place is not left of those taken before.
    fn extend(&mut self, old: usize, new: usize) {
        let length = self.ends.partition_point(|(end, _)| *end < new);
        let shorter = length.checked_sub(1).and_then(|n| self.ends.get(n));
        let before = shorter.map(|(_, link)| *link);
        let end = (new, self.links.len());
        match self.ends.get_mut(length) {
            Some((known, _)) if *known == new => return,
            Some(known) => *known = end,
            None => self.ends.push(end),
        }
        self.links.push(Link { old, new, before });
    }

    /// The pairs of the longest chain.
    fn longest(self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(self.ends.len());
        let mut last = self.ends.last().map(|(_, link)| *link);
        while let Some(link) = last.and_then(|link| self.links.get(link)) {
            pairs.push((link.old, link.new));
            last = link.before;
        }
        pairs.reverse();
        pairs
    }
}
