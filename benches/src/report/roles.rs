//! What roles cost, for people.

use std::fmt::Write as _;

use super::table::two;
use crate::roles::{Checks, Cost, Growth, Roles};

/// The blocks of the report.
pub(super) fn write(text: &mut String, roles: &Roles) {
    checks(text, &roles.checks);
    requests(text, &roles.requests);
    growth(text, &roles.growth);
}

fn checks(text: &mut String, found: &Checks) {
    let title = format!("{0} rules, {0} roles, in process", found.rules);
    let _ = writeln!(
        text,
        "\n{title:<46}{:>18}{:>20}{:>14}",
        "ns", "plain loop ns", "times faster"
    );
    for one in &found.checks {
        let _ = writeln!(
            text,
            "{:<46}{:>18}{:>20}{:>14.1}",
            format!("{}: {}", one.rules, one.what),
            two(one.library, 0),
            two(one.naive, 0),
            one.times,
        );
    }
    let mut line = |what: &str, time| {
        let _ = writeln!(text, "{what:<46}{:>18}", two(time, 0));
    };
    line("token seen before", found.cached);
    line("token seen before, and a check", found.cached_and_check);
    for (algorithm, time) in &found.uncached {
        line(&format!("new token, {algorithm}"), *time);
    }
}

fn requests(text: &mut String, all: &[Cost]) {
    let _ = writeln!(
        text,
        "\n{:<6}{:<22}{:>11}{:>16}{:>9}{:>9}{:>16}{:>10}{:>10}{:>8}{:>8}",
        "",
        "with roles",
        "connections",
        "requests/s",
        "p50 us",
        "p99 us",
        "CPU us/request",
        "rate/info",
        "CPU/info",
        "kept %",
        "others",
    );
    for one in all {
        let kept = one
            .kept
            .map_or_else(String::new, |share| format!("{:.1}", share * 100.0));
        let _ = writeln!(
            text,
            "{:<6}{:<22}{:>11}{:>16}{:>9.0}{:>9.0}{:>16}{:>10.2}{:>10.2}{:>8}{:>8.2}",
            one.transport.name(),
            one.name,
            one.connections,
            two(one.per_second, 0),
            one.p50_us,
            one.p99_us,
            two(one.cpu_us, 1),
            one.rate_ratio,
            one.cpu_ratio,
            kept,
            one.others,
        );
    }
}

fn growth(text: &mut String, all: &[Growth]) {
    let _ = writeln!(
        text,
        "\n{:<52}{:>8}{:>12}{:>12}{:>12}{:>16}",
        "memory, MiB", "passes", "before", "first pass", "last pass", "KiB per pass",
    );
    let mib = |kib: u64| kib as f64 / 1024.0;
    for one in all {
        let of = |kib: Option<&u64>| mib(kib.copied().unwrap_or_default());
        let _ = writeln!(
            text,
            "{:<52}{:>8}{:>12.1}{:>12.1}{:>12.1}{:>16.1}",
            one.what,
            one.passes_kib.len(),
            mib(one.before_kib),
            of(one.passes_kib.first()),
            of(one.passes_kib.last()),
            one.per_pass_kib,
        );
    }
}
