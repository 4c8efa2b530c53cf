//! The figures, compared with each other in the same round; as JSON and as a table.

mod aims;
mod archive;
mod decision_log;
mod evaluation;
mod graph;
mod jobs;
mod peers;
mod roles;
mod runners;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

use self::aims::Aim;
use self::decision_log::Logged;
use self::evaluation::Evaluation;
use self::peers::Comparison;
pub(crate) use self::table::table;
use crate::archive::Archive;
use crate::clock;
use crate::graph::Graphs;
use crate::jobs::Jobs;
use crate::jobs::runners::Runners;
use crate::load::Sample;
use crate::proc::{Machine, Memory};
use crate::roles::Roles;
use crate::run::{Effort, Measured, Series};
use crate::start::Start;
use crate::statistics::{Summary, median, of_cost, of_rate};

/// Everything one run found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// When, in seconds since 1970.
    pub(crate) time: u64,
    /// Where.
    pub(crate) machine: Machine,
    /// With how much effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effort: Option<Effort>,
    /// Throughput, latency and cost.
    pub(crate) figures: Vec<Figures>,
    /// What the policies alone cost.
    pub(crate) evaluations: Vec<Evaluation>,
    /// What the decision log costs.
    pub(crate) decision_log: Vec<Logged>,
    /// Next to other programs.
    pub(crate) peers: Vec<Comparison>,
    /// Memory of the servers after the load.
    pub(crate) memory_after_load: BTreeMap<String, Memory>,
    /// Times to start, and memory at rest.
    pub(crate) starts: Vec<Start>,
    /// What decisions take on disk, and how fast they are replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archive: Option<Archive>,
    /// What roles cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) roles: Option<Roles>,
    /// What the relationship graph costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) graph: Option<Graphs>,
    /// What the admission of CI jobs costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jobs: Option<Jobs>,
    /// What runners cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runners: Option<Runners>,
    /// What was aimed at, and what was found.
    pub(crate) aims: Vec<Aim>,
}

/// What one scenario costs over one transport.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figures {
    #[serde(flatten)]
    series: Series,
    per_second: Summary,
    cpu_us: Summary,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    /// The most memory of the server in any round, in MiB.
    peak_mib: f64,
    /// Processors others kept busy.
    others: f64,
    /// Requests per second, as a part of the ceiling's.
    rate_ratio: Summary,
    /// Processor time for a request, as a multiple of the ceiling's.
    cpu_ratio: Summary,
}

impl Report {
    /// A report without figures yet.
    pub(crate) fn new() -> Self {
        Self {
            time: clock::unix_seconds(),
            machine: Machine::look(),
            effort: None,
            figures: Vec::new(),
            evaluations: Vec::new(),
            decision_log: Vec::new(),
            peers: Vec::new(),
            memory_after_load: BTreeMap::new(),
            starts: Vec::new(),
            archive: None,
            roles: None,
            graph: None,
            jobs: None,
            runners: None,
            aims: Vec::new(),
        }
    }

    /// Adds what was measured under load.
    pub(crate) fn add(&mut self, measured: Measured, effort: Effort) {
        self.effort = Some(effort);
        self.memory_after_load = measured.memory;
        let all = &measured.series;
        self.evaluations = evaluation::all(all);
        self.decision_log = decision_log::all(all);
        self.peers = peers::all(all);
        self.figures = all
            .iter()
            .filter_map(|series| {
                let ceiling = beside(all, series, series.compared.ceiling)?;
                Some(Figures::new(series.clone(), ceiling))
            })
            .collect();
    }

    /// Compares with what was aimed at, when all the rest is there.
    pub(crate) fn conclude(&mut self) {
        self.aims = aims::all(self);
    }
}

/// The series of that name that was measured the same way.
fn beside<'a>(all: &'a [Series], series: &Series, name: &str) -> Option<&'a Series> {
    let is_beside = |other: &&Series| {
        other.scenario == name
            && other.transport == series.transport
            && other.connections == series.connections
    };
    all.iter().find(is_beside)
}

/// One figure of all rounds.
fn of(series: &Series, value: fn(&Sample) -> f64) -> Vec<f64> {
    series.rounds.iter().map(value).collect()
}

/// The median of what two figures of the same round say together: what disturbs one round disturbs
/// both.
fn paired(
    one: &Series,
    other: &Series,
    value: fn(&Sample) -> f64,
    together: fn(f64, f64) -> f64,
) -> f64 {
    let pairs = of(one, value).into_iter().zip(of(other, value));
    let all: Vec<f64> = pairs.map(|(one, other)| together(one, other)).collect();
    median(&all)
}

/// A rate as a multiple of another's: round by round, and the best with the best.
pub(crate) fn rate_ratio(one: &Series, other: &Series) -> Summary {
    let best = |series| of_rate(&of(series, |s| s.per_second)).best;
    Summary {
        median: paired(one, other, |s| s.per_second, |one, other| one / other),
        best: best(one) / best(other),
    }
}

/// A cost as a multiple of another's: round by round, and the best with the best.
pub(crate) fn cost_ratio(one: &Series, other: &Series, value: fn(&Sample) -> f64) -> Summary {
    let best = |series| of_cost(&of(series, value)).best;
    Summary {
        median: paired(one, other, value, |one, other| one / other),
        best: best(one) / best(other),
    }
}

impl Figures {
    fn new(series: Series, ceiling: &Series) -> Self {
        let most = |value| of(&series, value).into_iter().fold(0.0, f64::max);
        Self {
            per_second: of_rate(&of(&series, |s| s.per_second)),
            cpu_us: of_cost(&of(&series, |s| s.cpu_us)),
            p50_us: median(&of(&series, |s| s.p50_us)),
            p99_us: median(&of(&series, |s| s.p99_us)),
            max_us: most(|s| s.max_us),
            peak_mib: most(|s| s.peak_kib as f64 / 1024.0),
            others: median(&of(&series, |s| s.others)),
            rate_ratio: rate_ratio(&series, ceiling),
            cpu_ratio: cost_ratio(&series, ceiling, |s| s.cpu_us),
            series,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::scenario::{CEILING, Compared};
    use crate::transport::Transport;

    /// A series with these rates and processor times.
    pub(crate) fn series(scenario: &'static str, rounds: &[(f64, f64)]) -> Series {
        let sample = |(per_second, cpu_us): &(f64, f64)| Sample {
            requests: 1,
            per_second: *per_second,
            cpu_us: *cpu_us,
            p50_us: 10.0,
            p99_us: 1e6 / per_second,
            max_us: 30.0,
            others: 0.0,
            peak_kib: 20 << 10,
            answered: 2,
            whole_cpu_us: *cpu_us,
            kept: None,
        };
        let rounds = rounds.iter().map(sample).collect();
        Series {
            scenario,
            transport: Transport::Unix,
            connections: 16,
            request_bytes: 1,
            answer_bytes: 1,
            compared: Compared::with(CEILING),
            rounds,
        }
    }

    /// A report of these.
    pub(crate) fn report(series: Vec<Series>) -> Report {
        let mut report = Report::new();
        let effort = Effort {
            seconds: 1.0,
            rounds: 1,
        };
        let measured = Measured {
            series,
            memory: BTreeMap::new(),
        };
        report.add(measured, effort);
        report.conclude();
        report
    }

    #[test]
    fn rounds_are_compared_with_the_ceiling_of_the_same_round() {
        // The second round was disturbed: both fell to a third, and the ratio stayed.
        let ceiling = series(CEILING, &[(300.0, 10.0), (100.0, 30.0), (310.0, 10.0)]);
        let own = series("AlwaysAdmit", &[(270.0, 11.0), (90.0, 33.0), (248.0, 12.0)]);
        let figures = Figures::new(own, &ceiling);
        assert!((figures.rate_ratio.median - 0.9).abs() < 1e-9);
        assert!((figures.cpu_ratio.median - 1.1).abs() < 1e-9);
        assert!((figures.rate_ratio.best - 270.0 / 310.0).abs() < 1e-9);
        assert!((figures.cpu_ratio.best - 1.1).abs() < 1e-9);
    }

    #[test]
    fn only_what_was_measured_the_same_way_is_compared() {
        let busy = Series {
            connections: 64,
            ..series(CEILING, &[(500.0, 5.0)])
        };
        let own = series("AlwaysAdmit", &[(250.0, 10.0)]);
        assert!(report(vec![busy.clone(), own.clone()]).figures.len() == 1);
        let calm = series(CEILING, &[(250.0, 10.0)]);
        let report = report(vec![busy, calm, own]);
        let line = report.figures.last().unwrap();
        assert_eq!(line.series.scenario, "AlwaysAdmit");
        assert!((line.rate_ratio.median - 1.0).abs() < 1e-9);
    }
}
