//! What policies aim at, and whether this run met it. Nothing fails when it did not.

use serde::Serialize;

use super::Report;
use super::decision_log::Logged;
use super::peers::Comparison;
use crate::graph::{Check, Shape};

/// The server with a hundred policies, in `starts` and among the servers.
const HUNDRED: &str = "100 policies";

/// One aim.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Aim {
    /// What is looked at.
    pub(super) what: String,
    /// What it should be.
    pub(super) aim: String,
    /// What it was.
    pub(super) found: f64,
    /// Whether that is good enough.
    pub(super) is_met: bool,
}

/// Every aim that this run says something about.
pub(super) fn all(report: &Report) -> Vec<Aim> {
    let mut aims = Vec::new();
    for one in report
        .evaluations
        .iter()
        .filter(|e| e.scenario == "validating")
    {
        let place = place(one.transport.name(), one.connections);
        let what = format!("processor time of an evaluation, {place}, us");
        aims.push(at_most(what, 60.0, one.evaluation_us.median));
    }
    for one in report
        .figures
        .iter()
        .filter(|f| f.series.scenario == "validating")
    {
        let place = place(one.series.transport.name(), one.series.connections);
        let what = format!("part of the ceiling's rate, {place}");
        aims.push(at_least(what, 0.5, one.rate_ratio.median));
    }
    for start in report
        .starts
        .iter()
        .filter(|s| s.name.ends_with(" policies"))
    {
        if let Some(first) = &start.first_ms {
            let what = format!("first review with {}, ms", start.name);
            aims.push(at_most(what, 5.0, first.summary.median));
        }
    }
    aims.extend(report.decision_log.iter().filter_map(with_log));
    let at_rest = report.starts.iter().find(|s| s.name == HUNDRED);
    let after_load = report.memory_after_load.get(HUNDRED);
    let memory = at_rest.map(|start| ("at rest", start.memory.resident_kib));
    let memory = memory
        .into_iter()
        .chain(after_load.map(|m| ("under load", m.peak_kib)));
    for (when, kib) in memory {
        let what = format!("memory with {HUNDRED} {when}, MiB");
        aims.push(at_most(what, 60.0, kib as f64 / 1024.0));
    }
    aims.extend(report.peers.iter().flat_map(next_to));
    aims.extend(report.roles.iter().map(|roles| {
        let what = "token seen before and role check, us".to_owned();
        at_most(what, 2.0, roles.checks.cached_and_check.median / 1_000.0)
    }));
    let shapes = report.graph.iter().flat_map(|graph| &graph.shapes);
    aims.extend(shapes.flat_map(of_graph));
    let agents = report.graph.iter().map(|graph| &graph.agents);
    aims.extend(agents.map(|agents| {
        let whole = agents.checks.iter().map(|check| check.whole.median);
        let what = "request of an agent, rules included, spread, ns".to_owned();
        at_most(what, 600.0, whole.fold(0.0, f64::max))
    }));
    aims
}

/// The slowest of all questions, and what the rest is measured by.
fn of_graph(shape: &Shape) -> Vec<Aim> {
    let name = |what: &str| format!("{}: {what}", shape.name);
    let mut aims = vec![
        at_most(name("load, s"), 2.0, shape.loaded.load_ms.median / 1e3),
        at_most(name("bytes for an edge"), 64.0, shape.loaded.bytes_per_edge),
    ];
    let Some(asked) = &shape.asked else {
        return aims;
    };
    let slowest = |of: fn(&Check) -> f64| asked.checks.iter().map(of).fold(0.0, f64::max);
    let updates = asked.updates.iter().map(|update| update.p50_us);
    aims.push(at_most(
        name("path part of a check, again and again, ns"),
        60.0,
        slowest(|check| check.path.median),
    ));
    aims.push(at_most(
        name("check by names, spread, ns"),
        600.0,
        slowest(|check| check.whole_spread.median),
    ));
    aims.push(at_most(
        name("change of an object, us"),
        20.0,
        updates.fold(0.0, f64::max),
    ));
    aims
}

/// Fast enough with the log on. Dropping decisions is one way to be fast, so what was kept is said.
fn with_log(one: &Logged) -> Option<Aim> {
    if one.is_required {
        return None;
    }
    let place = place(one.transport.name(), one.connections);
    let what = format!(
        "rate by {}'s, {}, {place}, {:.1} % kept",
        one.unlogged,
        one.scenario,
        one.kept_share * 100.0
    );
    Some(at_least(what, 0.8, one.rate.median))
}

fn next_to(one: &Comparison) -> Vec<Aim> {
    let place = place(one.transport.name(), one.connections);
    let rate = |times| {
        let what = format!("times the rate of {}, {place}", one.peer);
        at_least(what, times, one.rate.median)
    };
    let p99 = || {
        let what = format!("part of the p99 of {}, {place}", one.peer);
        at_most(what, 0.1, one.p99.median)
    };
    match (one.peer, one.connections) {
        ("acjs", 64) => vec![rate(10.0), p99()],
        ("acjs", _) => vec![rate(10.0)],
        ("opa", _) => vec![rate(4.0)],
        _ => Vec::new(),
    }
}

fn place(transport: &str, connections: usize) -> String {
    format!("{transport}, {connections} under way")
}

fn at_most(what: String, aim: f64, found: f64) -> Aim {
    Aim {
        what,
        aim: format!("<= {aim}"),
        found,
        is_met: found <= aim,
    }
}

fn at_least(what: String, aim: f64, found: f64) -> Aim {
    Aim {
        what,
        aim: format!(">= {aim}"),
        found,
        is_met: found >= aim,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, series};
    use crate::run::Series;
    use crate::scenario::{CEILING, Compared};

    fn compared(one: Series, baseline: Option<&'static str>, own: Option<&'static str>) -> Series {
        Series {
            connections: 64,
            compared: Compared {
                baseline,
                own,
                ..Compared::with(CEILING)
            },
            ..one
        }
    }

    #[test]
    fn aims_are_met_or_missed_on_their_own_side() {
        let all = vec![
            compared(series(CEILING, &[(1_000.0, 10.0)]), None, None),
            compared(series("AlwaysAdmit", &[(700.0, 20.0)]), None, None),
            compared(
                series("validating", &[(400.0, 70.0)]),
                Some("AlwaysAdmit"),
                None,
            ),
            compared(series("acjs", &[(20.0, 900.0)]), None, Some("validating")),
            compared(series("opa", &[(200.0, 90.0)]), None, Some("validating")),
        ];
        let aims = report(all).aims;
        let found: Vec<(&str, bool)> = aims.iter().map(|a| (a.what.as_str(), a.is_met)).collect();
        let expected = [
            (
                "processor time of an evaluation, unix, 64 under way, us",
                true,
            ),
            ("part of the ceiling's rate, unix, 64 under way", false),
            ("times the rate of acjs, unix, 64 under way", true),
            ("part of the p99 of acjs, unix, 64 under way", true),
            ("times the rate of opa, unix, 64 under way", false),
        ];
        assert_eq!(found, expected);
    }
}
