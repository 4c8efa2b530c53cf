//! The report for people.

use std::fmt::Write as _;

use super::aims::Aim;
use super::evaluation::Evaluation;
use super::peers::Comparison;
use super::{Figures, Report, archive, decision_log, graph, jobs, roles, runners};
use crate::proc::Memory;
use crate::start::Start;
use crate::statistics::{Summary, Times};

/// Everything that was found, in blocks.
pub(crate) fn table(report: &Report) -> String {
    let mut text = String::new();
    let machine = &report.machine;
    let _ = writeln!(
        text,
        "{} processors ({}), kernel {}, load {} before the run",
        machine.processors, machine.model, machine.kernel, machine.load,
    );
    if let Some(effort) = report.effort {
        let _ = writeln!(
            text,
            "{} rounds of {} s; median and (best) of the rounds\n",
            effort.rounds, effort.seconds,
        );
        loads(&mut text, &report.figures);
    }
    if !report.evaluations.is_empty() {
        evaluations(&mut text, &report.evaluations);
    }
    if !report.decision_log.is_empty() {
        decision_log::write(&mut text, &report.decision_log);
    }
    if !report.peers.is_empty() {
        peers(&mut text, &report.peers);
    }
    if !report.memory_after_load.is_empty() {
        memory_head(&mut text, "memory after the load");
        for (name, memory) in &report.memory_after_load {
            memory_line(&mut text, name, memory);
        }
    }
    if !report.starts.is_empty() {
        starts(&mut text, &report.starts);
    }
    if let Some(archive) = &report.archive {
        archive::write(&mut text, archive);
    }
    if let Some(found) = &report.roles {
        roles::write(&mut text, found);
    }
    if let Some(found) = &report.graph {
        graph::write(&mut text, found);
    }
    if let Some(found) = &report.jobs {
        jobs::write(&mut text, found);
    }
    if let Some(found) = &report.runners {
        runners::write(&mut text, found);
    }
    if !report.aims.is_empty() {
        aims(&mut text, &report.aims);
    }
    text
}

pub(super) fn two(summary: Summary, digits: usize) -> String {
    format!("{:.digits$} ({:.digits$})", summary.median, summary.best)
}

fn loads(text: &mut String, figures: &[Figures]) {
    let _ = writeln!(
        text,
        "{:<8}{:<21}{:>9}{:>17}{:>9}{:>9}{:>10}{:>17}{:>15}{:>17}{:>10}{:>8}",
        "",
        "",
        "under way",
        "requests/s",
        "p50 us",
        "p99 us",
        "max us",
        "CPU us/request",
        "rate/ceiling",
        "CPU/ceiling",
        "peak MiB",
        "others",
    );
    for figure in figures {
        let _ = writeln!(
            text,
            "{:<8}{:<21}{:>9}{:>17}{:>9.0}{:>9.0}{:>10.0}{:>17}{:>15}{:>17}{:>10.1}{:>8.2}",
            figure.series.transport.name(),
            figure.series.scenario,
            figure.series.connections,
            two(figure.per_second, 0),
            figure.p50_us,
            figure.p99_us,
            figure.max_us,
            two(figure.cpu_us, 1),
            two(figure.rate_ratio, 2),
            two(figure.cpu_ratio, 2),
            figure.peak_mib,
            figure.others,
        );
    }
}

fn evaluations(text: &mut String, all: &[Evaluation]) {
    let _ = writeln!(
        text,
        "\n{:<29}{:>9}{:>19}{:>19}{:>19}",
        "CPU per evaluation", "under way", "with policies us", "AlwaysAdmit us", "difference us",
    );
    for one in all {
        let _ = writeln!(
            text,
            "{:<8}{:<21}{:>9}{:>19}{:>19}{:>19}",
            one.transport.name(),
            one.scenario,
            one.connections,
            two(one.request_us, 1),
            two(one.baseline_us, 1),
            two(one.evaluation_us, 1),
        );
    }
}

fn peers(text: &mut String, all: &[Comparison]) {
    let _ = writeln!(
        text,
        "\n{:<29}{:>9}  {:<21}{:>17}{:>17}{:>17}",
        "Portcullis and peers",
        "under way",
        "compared with",
        "rate, times",
        "p99, part",
        "CPU, part",
    );
    for one in all {
        let _ = writeln!(
            text,
            "{:<8}{:<21}{:>9}  {:<21}{:>17}{:>17}{:>17}",
            one.transport.name(),
            one.own,
            one.connections,
            one.peer,
            two(one.rate, 1),
            two(one.p99, 3),
            two(one.cpu, 3),
        );
    }
}

fn starts(text: &mut String, starts: &[Start]) {
    times_head(text, "start to ready");
    for start in starts {
        times_line(text, start.name, &start.ready_ms);
    }
    times_head(text, "first review");
    for start in starts {
        if let Some(first) = &start.first_ms {
            times_line(text, start.name, first);
        }
    }
    memory_head(text, "memory at rest");
    for start in starts {
        memory_line(text, start.name, &start.memory);
    }
}

fn times_head(text: &mut String, name: &str) {
    let (median, best, worst) = ("median ms", "best ms", "worst ms");
    let _ = writeln!(text, "\n{name:<22}{median:>14}{best:>14}{worst:>14}");
}

fn times_line(text: &mut String, name: &str, times: &Times) {
    let Summary { median, best } = times.summary;
    let worst = times.worst;
    let _ = writeln!(text, "{name:<22}{median:>14.2}{best:>14.2}{worst:>14.2}");
}

fn memory_head(text: &mut String, name: &str) {
    let (resident, own, peak) = ("RSS MiB", "own MiB", "peak MiB");
    let _ = writeln!(text, "\n{name:<22}{resident:>14}{own:>14}{peak:>14}");
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

fn aims(text: &mut String, aims: &[Aim]) {
    let (aim, found) = ("aim", "found");
    let _ = writeln!(text, "\n{:<80}{aim:>10}{found:>12}", "aims");
    for Aim {
        what,
        aim,
        found,
        is_met,
    } in aims
    {
        let word = if *is_met { "met" } else { "missed" };
        let _ = writeln!(text, "{what:<80}{aim:>10}{found:>12.2}  {word}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, series};
    use super::*;
    use crate::scenario::{CEILING, Compared};

    #[test]
    fn the_table_has_a_line_for_each_scenario() {
        let mut own = series("validating", &[(270.0, 81.0)]);
        own.compared = Compared {
            baseline: Some("AlwaysAdmit"),
            ..own.compared
        };
        let report = report(vec![
            series(CEILING, &[(300.0, 10.0)]),
            series("AlwaysAdmit", &[(150.0, 11.0)]),
            own,
        ]);
        let text = table(&report);
        let line = |word: &str| text.lines().find(|line| line.contains(word)).unwrap();
        let admits = line("AlwaysAdmit  ");
        assert!(
            admits.contains("150 (150)") && admits.contains("0.50 (0.50)"),
            "{admits}"
        );
        let (_, evaluation) = text.split_once("CPU per evaluation").unwrap();
        assert!(evaluation.contains("70.0 (70.0)"), "{text}");
        assert!(
            line("processor time of an evaluation").ends_with("missed"),
            "{text}"
        );
        assert!(serde_json::to_string(&report).is_ok());
    }
}
