//! Medians and bests of a few rounds.

use serde::Serialize;

/// What several rounds say of one figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The middle one.
    pub(crate) median: f64,
    /// The one on a quiet machine: the largest rate, the smallest cost.
    pub(crate) best: f64,
}

/// Times of something that happened a few times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Times {
    /// The middle one and the shortest.
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// The longest.
    pub(crate) worst: f64,
    /// Every one.
    pub(crate) all: Vec<f64>,
}

impl Times {
    /// What these times say.
    pub(crate) fn of(all: Vec<f64>) -> Self {
        Self {
            summary: of_cost(&all),
            worst: all.iter().copied().fold(f64::NAN, f64::max),
            all,
        }
    }
}

/// The value in the middle; of an even number, the mean of the two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => at(middle),
        _ => f64::midpoint(at(middle - 1), at(middle)),
    }
}

/// Of a figure that is better when larger.
pub(crate) fn of_rate(values: &[f64]) -> Summary {
    let best = values.iter().copied().fold(f64::NAN, f64::max);
    Summary {
        median: median(values),
        best,
    }
}

/// Of a figure that is better when smaller.
pub(crate) fn of_cost(values: &[f64]) -> Summary {
    let best = values.iter().copied().fold(f64::NAN, f64::min);
    Summary {
        median: median(values),
        best,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_order_and_outliers() {
        assert_eq!(median(&[3.0, 1.0, 1_000.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn times_keep_the_longest() {
        let times = Times::of(vec![2.0, 9.0, 4.0]);
        assert_eq!(
            (times.summary.best, times.summary.median, times.worst),
            (2.0, 4.0, 9.0)
        );
    }

    #[test]
    fn the_best_of_a_rate_is_high_and_of_a_cost_low() {
        assert_eq!(
            of_rate(&[2.0, 5.0, 3.0]),
            Summary {
                median: 3.0,
                best: 5.0
            }
        );
        assert_eq!(
            of_cost(&[2.0, 5.0, 3.0]),
            Summary {
                median: 3.0,
                best: 2.0
            }
        );
    }
}
