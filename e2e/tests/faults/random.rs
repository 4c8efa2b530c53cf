//! Random numbers from a seed, so that a run can be repeated.

use std::env;
use std::time::Duration;

/// The seed of this run: `FAULTS_SEED`, or one that differs from run to run.
pub(crate) fn seed() -> u64 {
    let given = env::var("FAULTS_SEED").ok();
    let given = given.map(|text| text.parse().expect("FAULTS_SEED is a number"));
    given.unwrap_or_else(|| {
        let now = portcullis_testing::tokens::from_now(0).unsigned_abs();
        now << 20 | u64::from(std::process::id())
    })
}

/// The generator `SplitMix64`.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Numbers of their own for each of the threads of a run.
    pub(crate) fn new(seed: u64, thread: u64) -> Self {
        let mut random = Self(seed ^ thread.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A time between these, in milliseconds.
    pub(crate) fn time(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.next() % (to - from))
    }
}
