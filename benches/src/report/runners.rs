//! How jobs leave the queue, for people.

use std::fmt::Write as _;

use crate::jobs::runners::{Polls, Queue, Runners};

/// The blocks of the report.
pub(super) fn write(text: &mut String, runners: &Runners) {
    let _ = writeln!(
        text,
        "\n{:<30}{:>9}{:>9}{:>10}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}",
        "runners that poll",
        "backlog",
        "runners",
        "polls",
        "polls/s",
        "p50 us",
        "p99 us",
        "max us",
        "CPU us",
        "database",
        "client",
        "others",
    );
    for one in &runners.found {
        polls(text, one, "hit", &one.hits);
        polls(text, one, "miss", &one.misses);
    }
    let _ = writeln!(
        text,
        "\n{:<30}{:>9}{:>9}{:>10}{:>12}{:>12}{:>12}{:>12}{:>12}{:>9}{:>10}{:>14}",
        "runners that wait",
        "backlog",
        "runners",
        "jobs",
        "pending p50",
        "p99 us",
        "max us",
        "submit p50",
        "p99 us",
        "CPU us",
        "idle CPUs",
        "registered/s",
    );
    for one in &runners.found {
        let waiting = &one.waiting;
        let _ = writeln!(
            text,
            "{:<30}{:>9}{:>9}{:>10}{:>12.0}{:>12.0}{:>12.0}{:>12.0}{:>12.0}{:>9.0}{:>10.3}{:>14.0}",
            name(one, ""),
            one.backlog,
            waiting.runners,
            waiting.jobs,
            waiting.pending_p50_us,
            waiting.pending_p99_us,
            waiting.pending_max_us,
            waiting.submit_p50_us,
            waiting.submit_p99_us,
            waiting.cpu_us,
            waiting.idle_processors,
            one.registered_per_second,
        );
    }
}

fn name(queue: &Queue, what: &str) -> String {
    let build = if queue.is_before { "older build" } else { "" };
    format!("{:<10}{what:<6}{build}", queue.database.name())
}

fn polls(text: &mut String, queue: &Queue, what: &str, polls: &Polls) {
    let _ = writeln!(
        text,
        "{:<30}{:>9}{:>9}{:>10}{:>10.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>8.0}{:>8.2}",
        name(queue, what),
        queue.backlog,
        queue.runners,
        polls.polls,
        polls.per_second,
        polls.p50_us,
        polls.p99_us,
        polls.max_us,
        polls.cpu_us,
        polls.database_cpu_us,
        polls.own_cpu_us,
        polls.others,
    );
}
