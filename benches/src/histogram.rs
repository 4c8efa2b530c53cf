//! A histogram of durations with a bounded error: each power of two is cut into equal parts.

use std::time::Duration;

/// Parts of a power of two; values are known to within 1 part in this many.
const PARTS: u64 = 64;
/// Its logarithm.
const PARTS_LOG2: u32 = PARTS.trailing_zeros();
/// Enough for every value of 64 bits.
const BUCKETS: usize = ((64 - PARTS_LOG2 + 1) as usize) * PARTS as usize;

/// Counts of durations, in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            total: 0,
            max: 0,
        }
    }
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn record(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(nanos)) {
            *count += 1;
        }
        self.total += 1;
        self.max = self.max.max(nanos);
    }

    /// Counts what another has counted.
    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    /// How many durations were counted.
    pub(crate) fn len(&self) -> u64 {
        self.total
    }

    /// The longest duration, exactly.
    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// The duration that this share (0 to 1) of all durations does not exceed; zero without any.
    ///
    /// It is the upper end of its bucket, so it errs to the long side, by less than 1 in 64.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let wanted = ((self.total as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper_end(index).min(self.max));
            }
        }
        self.max()
    }
}

/// The bucket of a value.
fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(PARTS_LOG2 + 1);
    // Below `2 * PARTS` buckets hold one value each; above, the leading bits choose the bucket.
    let index = u64::from(shift) * PARTS + (value >> shift);
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The largest value of a bucket.
fn upper_end(index: usize) -> u64 {
    let index = index as u64;
    let shift = (index / PARTS).saturating_sub(1);
    let start = index - shift * PARTS;
    u64::try_from((u128::from(start + 1) << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(Duration::from_micros(value));
        }
        histogram
    }

    #[test]
    fn every_value_is_in_the_bucket_that_says_so() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in edges.chain([u64::MAX, 12_345, 987_654_321]) {
            let index = bucket(value);
            assert!(index < BUCKETS, "{value}");
            assert!(value <= upper_end(index), "{value}");
            assert!(index == 0 || value > upper_end(index - 1), "{value}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list_within_the_error() {
        let histogram = micros(1..=10_000);
        for (share, exact) in [(0.0, 1.0), (0.5, 5_000.0), (0.99, 9_900.0), (1.0, 10_000.0)] {
            let found = histogram.quantile(share).as_secs_f64() * 1e6;
            assert!(
                found >= exact && found <= exact * (1.0 + 1.0 / 64.0),
                "{share}: {found}"
            );
        }
        assert_eq!(histogram.max(), Duration::from_millis(10));
        assert_eq!(histogram.len(), 10_000);
    }

    #[test]
    fn one_slow_answer_is_seen_in_the_maximum_only() {
        let histogram = micros((0..999).map(|_| 100).chain([50_000]));
        assert!(histogram.quantile(0.99) < Duration::from_micros(102));
        assert_eq!(histogram.quantile(1.0), Duration::from_millis(50));
    }

    #[test]
    fn two_together_are_as_one() {
        let mut together = micros(1..=10);
        together.add(&micros(11..=20));
        assert_eq!(together.len(), 20);
        assert_eq!(together.max(), Duration::from_micros(20));
        assert_eq!(together.quantile(0.75), micros(1..=20).quantile(0.75));
    }

    #[test]
    fn nothing_counted_is_zero() {
        assert_eq!(Histogram::default().quantile(0.5), Duration::ZERO);
    }
}
