//! What it costs to keep decisions: a scenario with the decision log on, next to the same without.

use std::fmt::Write as _;

use serde::Serialize;

use super::table::two;
use super::{beside, of, paired, rate_ratio};
use crate::load::Kept;
use crate::run::Series;
use crate::statistics::{Summary, median, of_cost, of_rate};
use crate::transport::Transport;

/// One scenario with the log on, and the same with it off.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Logged {
    /// The scenario.
    pub(super) scenario: &'static str,
    /// The same with the log off.
    pub(super) unlogged: &'static str,
    /// Whether nobody is answered before their decision is kept.
    pub(super) is_required: bool,
    /// The way.
    pub(super) transport: Transport,
    /// Requests under way.
    pub(super) connections: usize,
    /// Requests per second, as a part of those without the log.
    pub(super) rate: Summary,
    /// Processor time that a request takes more, in microseconds: from the first request until
    /// every decision was kept or dropped.
    pub(super) added_cpu_us: Summary,
    /// The latency that 99 of 100 requests did not exceed, in microseconds.
    pub(super) p99_us: f64,
    /// The same without the log.
    pub(super) unlogged_p99_us: f64,
    /// The part of the decisions of all rounds that was kept.
    pub(super) kept_share: f64,
    /// Decisions kept in a second, from the first request until all were kept or dropped.
    pub(super) kept_per_second: Summary,
    /// How long it took after the last answer until all were kept or dropped, in milliseconds.
    pub(super) after_ms: f64,
}

/// Every scenario with the log on that the same without it was measured beside.
pub(super) fn all(series: &[Series]) -> Vec<Logged> {
    let of_one = |one: &Series| -> Option<Logged> {
        let unlogged = beside(series, one, one.compared.unlogged?)?;
        let kept: Vec<Kept> = one.rounds.iter().filter_map(|s| s.kept).collect();
        let answered: u64 = one.rounds.iter().map(|s| s.answered).sum();
        let written: u64 = kept.iter().map(|k| k.counts.written).sum();
        let of_kept = |value: fn(&Kept) -> f64| kept.iter().map(value).collect::<Vec<f64>>();
        let least_cpu = |series| of_cost(&of(series, |s| s.whole_cpu_us)).best;
        Some(Logged {
            scenario: one.scenario,
            unlogged: unlogged.scenario,
            is_required: one.scenario.ends_with("-required"),
            transport: one.transport,
            connections: one.connections,
            rate: rate_ratio(one, unlogged),
            added_cpu_us: Summary {
                median: paired(one, unlogged, |s| s.whole_cpu_us, |one, other| one - other),
                best: least_cpu(one) - least_cpu(unlogged),
            },
            p99_us: median(&of(one, |s| s.p99_us)),
            unlogged_p99_us: median(&of(unlogged, |s| s.p99_us)),
            kept_share: written as f64 / answered as f64,
            kept_per_second: of_rate(&of_kept(|k| k.counts.written as f64 / k.seconds)),
            after_ms: median(&of_kept(|k| k.after_seconds * 1e3)),
        })
    };
    series.iter().filter_map(of_one).collect()
}

/// The block of the report.
pub(super) fn write(text: &mut String, all: &[Logged]) {
    let _ = writeln!(
        text,
        "\n{:<29}{:>9}  {:<14}{:>17}{:>19}{:>9}{:>11}{:>10}{:>17}{:>10}",
        "Decision log",
        "under way",
        "compared with",
        "rate, part",
        "CPU added us",
        "p99 us",
        "p99 off us",
        "kept %",
        "kept/s",
        "after ms",
    );
    for one in all {
        let _ = writeln!(
            text,
            "{:<8}{:<21}{:>9}  {:<14}{:>17}{:>19}{:>9.0}{:>11.0}{:>10.2}{:>17}{:>10.0}",
            one.transport.name(),
            one.scenario,
            one.connections,
            one.unlogged,
            two(one.rate, 2),
            two(one.added_cpu_us, 1),
            one.p99_us,
            one.unlogged_p99_us,
            one.kept_share * 100.0,
            two(one.kept_per_second, 0),
            one.after_ms,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::super::tests::{report, series};
    use super::*;
    use crate::ledger::Counts;
    use crate::scenario::{CEILING, Compared};

    /// Rounds of 100 requests in one second, of which so many were kept in the end.
    fn logged(scenario: &'static str, rounds: &[(f64, f64)], written: &[u64]) -> Series {
        let mut one = series(scenario, rounds);
        one.compared = Compared {
            unlogged: Some("validating"),
            ..one.compared
        };
        for (sample, written) in one.rounds.iter_mut().zip(written) {
            sample.answered = 100;
            sample.kept = Some(Kept {
                counts: Counts {
                    written: *written,
                    dropped: 100 - written,
                },
                seconds: 2.0,
                after_seconds: 1.0,
            });
        }
        one
    }

    #[test]
    fn a_logged_round_is_compared_with_the_unlogged_one_of_the_same_round() {
        let off = series("validating", &[(100.0, 50.0), (40.0, 90.0), (110.0, 50.0)]);
        let on = logged(
            "validating-kept",
            &[(90.0, 60.0), (36.0, 100.0), (88.0, 75.0)],
            &[100, 50, 90],
        );
        let found = all(&[off, on.clone()]);
        let one = found.first().unwrap();
        assert!((one.rate.median - 0.9).abs() < 1e-9, "{one:?}");
        assert!((one.added_cpu_us.median - 10.0).abs() < 1e-9, "{one:?}");
        assert!((one.kept_share - 0.8).abs() < 1e-9, "{one:?}");
        assert!((one.kept_per_second.median - 45.0).abs() < 1e-9, "{one:?}");
        assert!((one.after_ms - 1_000.0).abs() < 1e-9, "{one:?}");
        assert!(all(&[on]).is_empty(), "nothing to compare with");
    }

    #[test]
    fn what_was_dropped_is_said_in_the_table_and_beside_the_aim() {
        let report = report(vec![
            series(CEILING, &[(300.0, 10.0)]),
            series("validating", &[(100.0, 50.0)]),
            logged("validating-kept", &[(90.0, 60.0)], &[75]),
            logged("validating-required", &[(30.0, 60.0)], &[100]),
        ]);
        let text = table(&report);
        let (_, block) = text.split_once("\nDecision log").unwrap();
        let line = |name: &str| block.lines().find(|line| line.contains(name)).unwrap();
        let kept = line("validating-kept");
        assert!(
            kept.contains("0.90 (0.90)") && kept.contains(" 75.00 "),
            "{kept}"
        );
        assert!(line("validating-required").contains(" 100.00 "), "{block}");
        let aims: Vec<(&str, bool)> = report
            .aims
            .iter()
            .filter(|aim| aim.what.starts_with("rate by"))
            .map(|aim| (aim.what.as_str(), aim.is_met))
            .collect();
        let expected = "rate by validating's, validating-kept, unix, 16 under way, 75.0 % kept";
        assert_eq!(aims, [(expected, true)]);
    }
}
