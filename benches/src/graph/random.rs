//! Numbers that look like chance and are the same in every run.

/// A generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// One that begins here.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below this one, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or_default()
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).copied()
    }
}

/// Places of which the first ones are taken far more often (Zipf's law).
#[derive(Debug, Clone)]
pub(super) struct Skew {
    sums: Vec<f64>,
}

impl Skew {
    /// So many places; the larger the exponent, the more the first ones have.
    pub(super) fn new(places: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=places).map(|rank| (rank as f64).powf(-exponent));
        let sums = weights.map(|weight| {
            sum += weight;
            sum
        });
        Self {
            sums: sums.collect(),
        }
    }

    /// A place.
    pub(super) fn pick(&self, random: &mut Random) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let at = (random.next() >> 11) as f64 / (1_u64 << 53) as f64 * all;
        let place = self.sums.partition_point(|sum| *sum <= at);
        place.min(self.sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_taken_more_often() {
        let (skew, mut random) = (Skew::new(100, 0.8), Random::new(1));
        let mut counts = [0_usize; 100];
        (0..100_000).for_each(|_| counts[skew.pick(&mut random)] += 1);
        assert!(counts[0] > 5 * counts[50] && counts[99] > 0, "{counts:?}");
    }
}
