//! Two builds of the program beside each other: every case is measured with the one and the other in
//! the same round, so that what disturbs the machine disturbs both.
//!
//! The older build is started with the configuration of this benchmark: it can be compared as long as it
//! understands that.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::cases::Case;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report::{cost_ratio, rate_ratio};
use crate::run::{self, Effort, Programs, Series, Stand};
use crate::scenario::Subject;
use crate::statistics::{Summary, median};
use crate::transport::Transport;

/// One case with both builds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    scenario: &'static str,
    transport: Transport,
    connections: usize,
    /// Requests per second of the older build.
    before_per_second: f64,
    /// Requests per second of the newer one.
    after_per_second: f64,
    /// The newer rate as a multiple of the older one: above 1 is faster.
    rate: Summary,
    /// The newer processor time for a request, all work after the answer included, as a multiple of the
    /// older one: below 1 is cheaper.
    cpu: Summary,
    /// The latency that 99 of 100 requests did not exceed, in microseconds.
    before_p99_us: f64,
    after_p99_us: f64,
    /// The most memory in any round, in MiB.
    before_peak_mib: f64,
    after_peak_mib: f64,
}

impl Line {
    fn new(before: &Series, after: &Series) -> Self {
        let all = |series: &Series, value: fn(&crate::load::Sample) -> f64| {
            series.rounds.iter().map(value).collect::<Vec<f64>>()
        };
        let most = |series: &Series| {
            all(series, |s| s.peak_kib as f64 / 1024.0)
                .into_iter()
                .fold(0.0, f64::max)
        };
        Self {
            scenario: after.scenario,
            transport: after.transport,
            connections: after.connections,
            before_per_second: median(&all(before, |s| s.per_second)),
            after_per_second: median(&all(after, |s| s.per_second)),
            rate: rate_ratio(after, before),
            cpu: cost_ratio(after, before, |s| s.whole_cpu_us),
            before_p99_us: median(&all(before, |s| s.p99_us)),
            after_p99_us: median(&all(after, |s| s.p99_us)),
            before_peak_mib: most(before),
            after_peak_mib: most(after),
        }
    }
}

/// Measures every case with both programs, in turns.
pub(crate) fn run(
    before: &Path,
    after: Programs<'_>,
    cases: &[Case],
    effort: Effort,
) -> Result<Vec<Line>> {
    let is_ours = |case: &&Case| matches!(case.scenario.subject, Subject::Portcullis(..));
    let cases: Vec<Case> = cases.iter().filter(is_ours).cloned().collect();
    let older = Programs {
        portcullis: before,
        ..after
    };
    let mut stands = [
        Stand::build(older, &cases, effort)?,
        Stand::build(after, &cases, effort)?,
    ];
    for round in 0..effort.rounds {
        output::tell(&format!("round {} of {}", round + 1, effort.rounds));
        for index in run::turns(cases.len(), round) {
            // Who is asked first changes from round to round.
            for which in run::turns(stands.len(), round) {
                if let Some(stand) = stands.get_mut(which) {
                    stand.measure(index, effort)?;
                }
            }
        }
    }
    let [older, newer] = stands;
    let (older, newer) = (older.into_measured()?, newer.into_measured()?);
    if older.series.len() != newer.series.len() {
        return Err(Failure::new("the builds were not asked the same"));
    }
    let pairs = older.series.iter().zip(&newer.series);
    Ok(pairs
        .map(|(before, after)| Line::new(before, after))
        .collect())
}

/// The comparison as a table.
pub(crate) fn table(lines: &[Line], effort: Effort) -> String {
    let mut text = format!(
        "{} rounds of {} s; after/before, median and (best) of the rounds\n\n",
        effort.rounds, effort.seconds,
    );
    let _ = writeln!(
        text,
        "{:<8}{:<24}{:>9}{:>10}{:>10}{:>15}{:>15}{:>9}{:>9}{:>9}{:>9}",
        "",
        "",
        "under way",
        "before/s",
        "after/s",
        "rate",
        "CPU",
        "p99 us",
        "after",
        "peak MiB",
        "after",
    );
    for line in lines {
        let two = |s: Summary| format!("{:.2} ({:.2})", s.median, s.best);
        let _ = writeln!(
            text,
            "{:<8}{:<24}{:>9}{:>10.0}{:>10.0}{:>15}{:>15}{:>9.0}{:>9.0}{:>9.1}{:>9.1}",
            line.transport.name(),
            line.scenario,
            line.connections,
            line.before_per_second,
            line.after_per_second,
            two(line.rate),
            two(line.cpu),
            line.before_p99_us,
            line.after_p99_us,
            line.before_peak_mib,
            line.after_peak_mib,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::series;

    #[test]
    fn a_faster_build_is_above_one_and_a_cheaper_one_below() {
        let before = series("validating", &[(100.0, 20.0), (50.0, 40.0), (110.0, 20.0)]);
        let after = series("validating", &[(120.0, 10.0), (60.0, 20.0), (132.0, 10.0)]);
        let line = Line::new(&before, &after);
        assert!((line.rate.median - 1.2).abs() < 1e-9);
        assert!((line.cpu.median - 0.5).abs() < 1e-9);
        let text = table(
            &[line],
            Effort {
                seconds: 1.0,
                rounds: 3,
            },
        );
        assert!(
            text.contains("1.20 (1.20)") && text.contains("0.50 (0.50)"),
            "{text}"
        );
    }
}
