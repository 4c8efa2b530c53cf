//! What policies alone cost: a request with them, less the same request with nobody to ask.

use serde::Serialize;

use super::{beside, of, paired};
use crate::run::Series;
use crate::statistics::{Summary, of_cost};
use crate::transport::Transport;

/// The cost of an evaluation in one scenario.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Evaluation {
    /// The scenario.
    pub(super) scenario: &'static str,
    /// The way.
    pub(super) transport: Transport,
    /// Requests under way.
    pub(super) connections: usize,
    /// Processor time of a whole request, in microseconds.
    pub(super) request_us: Summary,
    /// The same without policies.
    pub(super) baseline_us: Summary,
    /// The difference: the median of the rounds' own, and that of the bests.
    pub(super) evaluation_us: Summary,
}

/// Every scenario that has a baseline beside it.
pub(super) fn all(series: &[Series]) -> Vec<Evaluation> {
    let of_one = |one: &Series| -> Option<Evaluation> {
        let baseline = beside(series, one, one.compared.baseline?)?;
        let cost = |series| of_cost(&of(series, |s| s.cpu_us));
        let (request_us, baseline_us) = (cost(one), cost(baseline));
        Some(Evaluation {
            scenario: one.scenario,
            transport: one.transport,
            connections: one.connections,
            request_us,
            baseline_us,
            evaluation_us: Summary {
                median: paired(one, baseline, |s| s.cpu_us, |one, other| one - other),
                best: request_us.best - baseline_us.best,
            },
        })
    };
    series.iter().filter_map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::series;
    use super::*;
    use crate::scenario::Compared;

    #[test]
    fn an_evaluation_is_what_the_request_costs_more_in_the_same_round() {
        let mut own = series("validating", &[(1.0, 60.0), (1.0, 190.0), (1.0, 70.0)]);
        own.compared = Compared {
            baseline: Some("AlwaysAdmit"),
            ..own.compared
        };
        let admits = series("AlwaysAdmit", &[(1.0, 20.0), (1.0, 140.0), (1.0, 25.0)]);
        let found = all(&[own.clone(), admits]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].evaluation_us,
            Summary {
                median: 45.0,
                best: 40.0
            }
        );
        assert!(all(&[own]).is_empty(), "nothing to compare with");
    }
}
