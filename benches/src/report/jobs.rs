//! What CI jobs cost, for people.

use std::fmt::Write as _;

use super::table::two;
use crate::jobs::{Filled, Jobs, Line, Read, Sample};
use crate::statistics::{Summary, median, of_cost, of_rate};

/// The blocks of the report.
pub(super) fn write(text: &mut String, jobs: &Jobs) {
    let _ = writeln!(
        text,
        "\nCI jobs, {} s each; median and (best) of the rounds",
        jobs.seconds,
    );
    lines(text, &jobs.lines, |line| &line.rounds);
    if jobs.lines.iter().any(|line| !line.before.is_empty()) {
        text.push_str("\nthe same with the older build\n");
        lines(text, &jobs.lines, |line| &line.before);
        ratios(text, &jobs.lines);
    }
    filled(text, &jobs.filled);
    reads(text, &jobs.reads);
}

fn build(is_before: bool) -> &'static str {
    match is_before {
        true => "older build",
        false => "",
    }
}

fn filled(text: &mut String, all: &[Filled]) {
    let _ = writeln!(
        text,
        "\n{:<22}{:>10}{:>16}{:>19}",
        "stores filled", "jobs", "jobs/s", "start to ready ms",
    );
    for one in all {
        let _ = writeln!(
            text,
            "{:<10}{:<12}{:>10}{:>16.0}{:>19.1}",
            one.database.name(),
            build(one.is_before),
            one.jobs,
            one.jobs_per_second,
            one.ready_ms,
        );
    }
}

fn reads(text: &mut String, all: &[Read]) {
    let _ = writeln!(
        text,
        "\n{:<48}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "read, one at a time", "backlog", "p50 us", "p99 us", "max us", "CPU us", "database",
    );
    for one in all {
        let _ = writeln!(
            text,
            "{:<10}{:<12}{:<26}{:>10}{:>10.0}{:>10.0}{:>10.0}{:>10.0}{:>10.0}",
            one.database.name(),
            build(one.is_before),
            one.what,
            one.backlog,
            one.p50_us,
            one.p99_us,
            one.max_us,
            one.cpu_us,
            one.database_cpu_us,
        );
    }
}

fn name(line: &Line) -> String {
    let case = &line.case;
    format!(
        "{:<9}{:<9}{:<8}{:<4}{:>8}{:>6}",
        case.database.name(),
        case.submission.name(),
        case.admission.name(),
        case.log.name(),
        line.backlog,
        case.connections,
    )
}

const NAMES: &str = "store    submit   admit   log  backlog  conn";

fn of(rounds: &[Sample], value: impl Fn(&Sample) -> f64) -> Vec<f64> {
    rounds.iter().map(value).collect()
}

fn lines(text: &mut String, all: &[Line], rounds: fn(&Line) -> &Vec<Sample>) {
    let _ = writeln!(
        text,
        "\n{NAMES}{:>17}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>14}{:>9}{:>8}{:>8}{:>8}{:>7}{:>9}{:>8}",
        "jobs/s",
        "acked/s",
        "after ms",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "max us",
        "CPU us/job",
        "database",
        "client",
        "KiB/job",
        "kept %",
        "calls",
        "peak MiB",
        "others",
    );
    for line in all {
        let rounds = rounds(line);
        let middle = |value: fn(&Sample) -> f64| median(&of(rounds, value));
        let most = |value: fn(&Sample) -> f64| of(rounds, value).into_iter().fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "{}{:>17}{:>8.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>14}{:>9.0}{:>8.0}{:>8.1}{:>8}{:>7.2}{:>9.1}{:>8.2}",
            name(line),
            two(of_rate(&of(rounds, |s| s.jobs_per_second)), 0),
            middle(|s| s.acknowledged_per_second),
            middle(|s| s.after_seconds * 1e3),
            middle(|s| s.p50_us),
            middle(|s| s.p99_us),
            middle(|s| s.p999_us),
            most(|s| s.max_us),
            two(of_cost(&of(rounds, |s| s.cpu_us)), 0),
            middle(|s| s.database_cpu_us),
            middle(|s| s.own_cpu_us),
            middle(|s| s.written_bytes.unwrap_or(f64::NAN) / 1024.0),
            kept(rounds),
            middle(|s| s.calls),
            most(|s| s.peak_kib as f64 / 1024.0),
            middle(|s| s.others),
        );
    }
}

/// The share of decisions that was kept.
fn kept(rounds: &[Sample]) -> String {
    let share = |sample: &Sample| {
        let kept = sample.kept?;
        Some(kept.written as f64 * 100.0 / (kept.written + kept.dropped) as f64)
    };
    let shares: Vec<f64> = rounds.iter().filter_map(share).collect();
    match shares.is_empty() {
        true => String::new(),
        false => format!("{:.1}", median(&shares)),
    }
}

fn ratios(text: &mut String, all: &[Line]) {
    let _ = writeln!(
        text,
        "\nafter/before, round by round\n{NAMES}{:>15}{:>15}{:>15}{:>15}{:>15}",
        "rate", "CPU", "database CPU", "p50", "p99",
    );
    for line in all.iter().filter(|line| !line.before.is_empty()) {
        let ratio = |value: fn(&Sample) -> f64, best: fn(&[f64]) -> Summary| {
            let (after, before) = (of(&line.rounds, value), of(&line.before, value));
            let pairs = after.iter().zip(&before);
            let rounds: Vec<f64> = pairs.map(|(after, before)| after / before).collect();
            Summary {
                median: median(&rounds),
                best: best(&after).best / best(&before).best,
            }
        };
        let _ = writeln!(
            text,
            "{}{:>15}{:>15}{:>15}{:>15}{:>15}",
            name(line),
            two(ratio(|s| s.jobs_per_second, of_rate), 2),
            two(ratio(|s| s.cpu_us, of_cost), 2),
            two(ratio(|s| s.database_cpu_us, of_cost), 2),
            two(ratio(|s| s.p50_us, of_cost), 2),
            two(ratio(|s| s.p99_us, of_cost), 2),
        );
    }
}
