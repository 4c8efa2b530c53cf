//! Where values are on the vertical axis, and the sensible numbers beside it.

use super::HEIGHT;

/// Lines across a plot, beside the one at its bottom.
const LINES: u64 = 4;

/// A vertical axis from nothing to a round number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scale {
    top: u64,
    /// The lines across: their places in percent from the top, and what stands there.
    pub(crate) lines: Vec<(u64, String)>,
}

impl Scale {
    /// An axis that has room for this value, with numbers written like this.
    pub(crate) fn up_to(largest: u64, shown: impl Fn(&u64) -> String) -> Self {
        let step = round(largest.div_ceil(LINES).max(1));
        let count = largest.div_ceil(step).max(1);
        let top = step.saturating_mul(count);
        let lines = (1..=count).map(|line| {
            let value = step.saturating_mul(line);
            (100 - (100 * line) / count, shown(&value))
        });
        Self {
            top,
            lines: lines.collect(),
        }
    }

    /// Where a value is, from the top of what is drawn in.
    pub(crate) fn y(&self, value: u64) -> u64 {
        let share =
            u128::from(value.min(self.top)) * u128::from(HEIGHT) / u128::from(self.top.max(1));
        HEIGHT - u64::try_from(share).unwrap_or(HEIGHT)
    }
}

/// The next number of 1, 2, 5, 10, 20, 50 and so on.
fn round(least: u64) -> u64 {
    let mut unit: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = unit.saturating_mul(factor);
            if step >= least {
                return step;
            }
        }
        match unit.checked_mul(10) {
            Some(larger) => unit = larger,
            None => return least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_the_axis_are_round() {
        let numbers = |largest| {
            let scale = Scale::up_to(largest, u64::to_string);
            let lines = scale.lines.into_iter();
            lines.map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(numbers(0), ["1"]);
        assert_eq!(numbers(1), ["1"]);
        assert_eq!(numbers(7), ["2", "4", "6", "8"]);
        assert_eq!(numbers(83), ["50", "100"]);
        assert_eq!(numbers(1_000_000), ["500000", "1000000"]);
    }

    #[test]
    fn every_value_has_a_place_in_the_picture() {
        for largest in [0, 1, 9, 1234, u64::MAX / 2, u64::MAX] {
            let scale = Scale::up_to(largest, u64::to_string);
            assert_eq!(scale.y(0), HEIGHT);
            assert!(scale.y(largest) <= HEIGHT);
            assert!(scale.lines.len() <= 5, "{largest}");
        }
        assert_eq!(Scale::up_to(100, u64::to_string).y(50), HEIGHT / 2);
    }
}
