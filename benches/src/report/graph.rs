//! What the relationship graph costs, for people.

use std::fmt::Write as _;

use super::table::two;
use crate::graph::{Agents, Asked, Graphs, Shape};

/// The blocks of the report.
pub(super) fn write(text: &mut String, graphs: &Graphs) {
    loaded(text, &graphs.shapes);
    let asked = graphs.shapes.iter();
    let asked = asked.filter_map(|shape| shape.asked.as_ref().map(|asked| (shape.name, asked)));
    for (name, asked) in asked {
        checks(text, name, asked);
        updates(text, asked);
    }
    agents(text, &graphs.agents);
}

/// Profile and rules included.
fn agents(text: &mut String, agents: &Agents) {
    let _ = writeln!(
        text,
        "\nprofile `gardener`: {} objects, {} vertices, {} edges, loaded in {:.0} ms",
        agents.objects, agents.vertices, agents.edges, agents.load_ms,
    );
    for one in &agents.checks {
        let answer = if one.is_allowed { "allowed" } else { "refused" };
        let what = format!("{}: {answer}", one.what);
        let _ = writeln!(text, "{what:<42}{:>11} ns", two(one.whole, 0));
    }
    let relist = &agents.relist;
    let _ = writeln!(
        text,
        "while all shoots are listed again ({:.0} ms): {} requests answered; p50 {:.1}, p99 {:.1}, longest {:.1} us",
        relist.took_ms, relist.answered, relist.p50_us, relist.p99_us, relist.max_us,
    );
}

fn loaded(text: &mut String, shapes: &[Shape]) {
    let _ = writeln!(
        text,
        "\n{:<40}{:>10}{:>10}{:>14}{:>14}{:>16}{:>12}",
        "graph", "vertices", "edges", "load ms", "load CPU ms", "resident MiB", "bytes/edge",
    );
    for shape in shapes {
        let loaded = &shape.loaded;
        let _ = writeln!(
            text,
            "{:<40}{:>10}{:>10}{:>14}{:>14}{:>16.1}{:>12.1}",
            shape.name,
            loaded.vertices,
            loaded.edges,
            two(loaded.load_ms, 0),
            two(loaded.load_cpu_ms, 0),
            loaded.resident_kib as f64 / 1024.0,
            loaded.bytes_per_edge,
        );
    }
}

fn checks(text: &mut String, name: &str, asked: &Asked) {
    let _ = writeln!(
        text,
        "\n{:<42}{:>11}{:>22}{:>24}\n{name:<42}{:>11}{:>11}{:>11}{:>12}{:>12}{:>20}{:>14}",
        "",
        "",
        "again and again, ns",
        "spread, ns",
        "questions",
        "path",
        "by names",
        "path",
        "by names",
        "plain search",
        "times faster",
    );
    for one in &asked.checks {
        let answer = if one.is_allowed { "allowed" } else { "refused" };
        let _ = writeln!(
            text,
            "{:<42}{:>11}{:>11}{:>11}{:>12}{:>12}{:>20}{:>14.0}",
            format!("{}: {answer}", one.what),
            one.questions,
            two(one.path, 0),
            two(one.whole, 0),
            two(one.path_spread, 0),
            two(one.whole_spread, 0),
            two(one.naive, 0),
            one.times,
        );
    }
    let rates = &asked.rates;
    let million = |rate: crate::statistics::Summary| {
        format!("{:.2} ({:.2})", rate.median / 1e6, rate.best / 1e6)
    };
    let (threads, updates) = (rates.threads, rates.updates_per_second);
    let _ = writeln!(
        text,
        "all of them, mixed, {threads} threads: {} million checks/s, {} with {updates} changes/s",
        million(rates.alone),
        million(rates.with_updates),
    );
}

fn updates(text: &mut String, asked: &Asked) {
    let _ = writeln!(
        text,
        "{:<46}{:>10}{:>14}{:>14}{:>14}",
        "change of one object", "changes", "p50 us", "p99 us", "longest us",
    );
    for one in &asked.updates {
        let _ = writeln!(
            text,
            "{:<46}{:>10}{:>14.1}{:>14.1}{:>14.1}",
            one.what, one.changes, one.p50_us, one.p99_us, one.max_us,
        );
    }
}
