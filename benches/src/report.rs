//! The figures, compared with the ceiling of the same transport; as JSON and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::clock;
use crate::load::{Plan, Sample};
use crate::proc::{Machine, Memory};
use crate::run::{Measured, Series};
use crate::scenario::CEILING;
use crate::start::Start;
use crate::statistics::{Summary, median, of_cost, of_rate};

/// Everything one run found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// When, in seconds since 1970.
    pub(crate) time: u64,
    /// Where.
    pub(crate) machine: Machine,
    /// With how much load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<Plan>,
    /// Throughput, latency and cost.
    pub(crate) figures: Vec<Figures>,
    /// Memory of the servers after the load.
    pub(crate) memory_after_load: BTreeMap<&'static str, Memory>,
    /// Times to start, and memory at rest.
    pub(crate) starts: Vec<Start>,
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
            plan: None,
            figures: Vec::new(),
            memory_after_load: BTreeMap::new(),
            starts: Vec::new(),
        }
    }

    /// Adds what was measured.
    pub(crate) fn add(&mut self, measured: Measured, plan: Plan) {
        self.plan = Some(plan);
        self.memory_after_load = measured.memory;
        let ceilings: Vec<Series> = measured
            .series
            .iter()
            .filter(|s| s.scenario == CEILING)
            .cloned()
            .collect();
        self.figures = measured
            .series
            .into_iter()
            .filter_map(|series| {
                let ceiling = ceilings.iter().find(|c| c.transport == series.transport)?;
                Some(Figures::new(series, ceiling))
            })
            .collect();
    }
}

impl Figures {
    fn new(series: Series, ceiling: &Series) -> Self {
        let of = |series: &Series, value: fn(&Sample) -> f64| -> Vec<f64> {
            series.rounds.iter().map(value).collect()
        };
        let per_second = of_rate(&of(&series, |s| s.per_second));
        let cpu_us = of_cost(&of(&series, |s| s.cpu_us));
        // Rounds are compared with the ceiling of the same round, bests with the best.
        let ratio = |value: fn(&Sample) -> f64| -> f64 {
            let pairs = of(&series, value).into_iter().zip(of(ceiling, value));
            median(
                &pairs
                    .map(|(own, ceiling)| own / ceiling)
                    .collect::<Vec<_>>(),
            )
        };
        let rate_ratio = Summary {
            median: ratio(|s| s.per_second),
            best: per_second.best / of_rate(&of(ceiling, |s| s.per_second)).best,
        };
        let cpu_ratio = Summary {
            median: ratio(|s| s.cpu_us),
            best: cpu_us.best / of_cost(&of(ceiling, |s| s.cpu_us)).best,
        };
        Self {
            per_second,
            cpu_us,
            p50_us: median(&of(&series, |s| s.p50_us)),
            p99_us: median(&of(&series, |s| s.p99_us)),
            max_us: of(&series, |s| s.max_us).into_iter().fold(0.0, f64::max),
            others: median(&of(&series, |s| s.others)),
            rate_ratio,
            cpu_ratio,
            series,
        }
    }
}

/// The report for people.
pub(crate) fn table(report: &Report) -> String {
    let mut text = String::new();
    let machine = &report.machine;
    let _ = writeln!(
        text,
        "{} processors ({}), kernel {}, load {} before the run",
        machine.processors, machine.model, machine.kernel, machine.load,
    );
    if let Some(plan) = report.plan {
        let rounds = report.figures.first().map_or(0, |f| f.series.rounds.len());
        let _ = writeln!(
            text,
            "{} requests under way, {rounds} rounds of {} s; median and (best) of the rounds\n",
            plan.connections, plan.seconds,
        );
        loads(&mut text, &report.figures);
    }
    if !report.memory_after_load.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<22}{:>14}{:>14}{:>14}",
            "memory after the load", "RSS MiB", "own MiB", "peak MiB"
        );
        for (name, memory) in &report.memory_after_load {
            memory_line(&mut text, name, memory);
        }
    }
    if !report.starts.is_empty() {
        starts(&mut text, &report.starts);
    }
    text
}

fn loads(text: &mut String, figures: &[Figures]) {
    let _ = writeln!(
        text,
        "{:<8}{:<21}{:>17}{:>9}{:>9}{:>10}{:>17}{:>15}{:>15}{:>8}",
        "",
        "",
        "requests/s",
        "p50 us",
        "p99 us",
        "max us",
        "CPU us/request",
        "rate/ceiling",
        "CPU/ceiling",
        "others",
    );
    for figure in figures {
        let Summary {
            median: rate,
            best: best_rate,
        } = figure.per_second;
        let Summary {
            median: cpu,
            best: best_cpu,
        } = figure.cpu_us;
        let both = |s: Summary| format!("{:.2} ({:.2})", s.median, s.best);
        let _ = writeln!(
            text,
            "{:<8}{:<21}{:>17}{:>9.0}{:>9.0}{:>10.0}{:>17}{:>15}{:>15}{:>8.2}",
            figure.series.transport.name(),
            figure.series.scenario,
            format!("{rate:.0} ({best_rate:.0})"),
            figure.p50_us,
            figure.p99_us,
            figure.max_us,
            format!("{cpu:.1} ({best_cpu:.1})"),
            both(figure.rate_ratio),
            both(figure.cpu_ratio),
            figure.others,
        );
    }
}

fn starts(text: &mut String, starts: &[Start]) {
    let _ = writeln!(
        text,
        "\n{:<22}{:>14}{:>14}{:>14}",
        "start to ready", "median ms", "best ms", "worst ms"
    );
    for start in starts {
        let Start {
            name,
            ready_ms,
            worst_ms,
            ..
        } = start;
        let _ = writeln!(
            text,
            "{name:<22}{:>14.1}{:>14.1}{worst_ms:>14.1}",
            ready_ms.median, ready_ms.best
        );
    }
    let _ = writeln!(
        text,
        "\n{:<22}{:>14}{:>14}{:>14}",
        "memory at rest", "RSS MiB", "own MiB", "peak MiB"
    );
    for start in starts {
        memory_line(text, start.name, &start.memory);
    }
}

fn memory_line(text: &mut String, name: &str, memory: &Memory) {
    let mib = |kib: u64| kib as f64 / 1024.0;
    let (resident, own, peak) = (
        mib(memory.resident_kib),
        mib(memory.anonymous_kib),
        mib(memory.peak_kib),
    );
    let _ = writeln!(text, "{name:<22}{resident:>14.1}{own:>14.1}{peak:>14.1}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Transport;

    fn series(scenario: &'static str, rounds: &[(f64, f64)]) -> Series {
        let sample = |(per_second, cpu_us): &(f64, f64)| Sample {
            requests: 1,
            per_second: *per_second,
            cpu_us: *cpu_us,
            p50_us: 10.0,
            p99_us: 20.0,
            max_us: 30.0,
            others: 0.0,
        };
        let rounds = rounds.iter().map(sample).collect();
        Series {
            scenario,
            transport: Transport::Tcp,
            request_bytes: 1,
            answer_bytes: 1,
            rounds,
        }
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
    fn the_table_has_a_line_for_each_scenario() {
        let mut report = Report::new();
        let all = vec![
            series(CEILING, &[(300.0, 10.0)]),
            series("AlwaysAdmit", &[(270.0, 11.0)]),
        ];
        let plan = Plan {
            seconds: 1.0,
            connections: 16,
        };
        report.add(
            Measured {
                series: all,
                memory: BTreeMap::new(),
            },
            plan,
        );
        let text = table(&report);
        let line = text
            .lines()
            .find(|line| line.contains("AlwaysAdmit"))
            .unwrap();
        assert!(
            line.contains("270 (270)") && line.contains("0.90 (0.90)"),
            "{line}"
        );
        assert!(serde_json::to_string(&report).is_ok());
    }
}
