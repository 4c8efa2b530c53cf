//! What would change, as a table.

use std::fmt::Write;

use portcullis_gate::replay::{ChangeKind, Example, Group, Report};
use serde_json::Value;

use crate::commands::text::plain::printable;
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::{hanging, wrapped};

/// Steps of a patch that are shown of one decision.
const STEPS: usize = 8;

/// Counts, then what changes and what is unknown.
pub(super) fn write(report: &Report, terminal: Terminal) -> String {
    let mut text = String::new();
    let mut count = |name: &str, count: u64| {
        let _ = writeln!(text, "{name:<15}{count:>8}");
    };
    count("same", report.same);
    for kind in ChangeKind::ALL {
        count(kind.as_str(), report.count(kind));
    }
    count("can't tell", report.unknown());
    if report.not_judged > 0 {
        count("not judged", report.not_judged);
    }
    if report.passed_over > 0 {
        count("passed over", report.passed_over);
    }
    report
        .groups()
        .for_each(|one| group(&mut text, one, terminal));
    if report.unknown() > 0 {
        let _ = writeln!(text, "\ncan't tell: {}", report.unknown());
    }
    for (why, unclear) in report.reasons() {
        let why = wrapped(&printable(why), 10, terminal.width);
        let _ = writeln!(text, "  {:>6}  {why}", unclear.count);
        if let Some(id) = unclear.ids.first() {
            let _ = writeln!(text, "          such as {}", printable(id));
        }
    }
    text
}

fn group(text: &mut String, group: &Group, terminal: Terminal) {
    let (kind, by) = (group.kind, printable(&group.by));
    let whose = match kind {
        ChangeKind::NewlyDenied => format!(" by {by}"),
        ChangeKind::NewlyAllowed => format!(", then denied by {by}"),
        ChangeKind::PatchDiffers => format!(" by {by}"),
    };
    let line = hanging(
        &format!("{kind}{whose}: {}", group.count),
        2,
        terminal.width,
    );
    let _ = writeln!(text, "\n{}", terminal.word(&line, tone(kind)));
    let mut shown = 0;
    for example in group.examples() {
        one(text, example, terminal);
        shown += 1;
    }
    if group.count > shown {
        let _ = writeln!(text, "  and {} more", group.count - shown);
    }
}

fn one(text: &mut String, example: &Example, terminal: Terminal) {
    let summary = &example.summary;
    let name = match summary.namespace.is_empty() {
        true => summary.name.clone(),
        false => format!("{}/{}", summary.namespace, summary.name),
    };
    let what = format!(
        "{} {} {} by {}",
        summary.operation, summary.kind, name, summary.user
    );
    let (was, now) = (&example.change.was, &example.change.now);
    let said = match example.change.kind {
        ChangeKind::NewlyDenied => format!("now: denied{}", because(&now.message)),
        ChangeKind::NewlyAllowed => format!("then: denied{}", because(&was.message)),
        ChangeKind::PatchDiffers => String::new(),
    };
    let line = format!("  {}  {what}   {said}", summary.id);
    let line = hanging(&printable(line.trim_end()), 4, terminal.width);
    let _ = writeln!(text, "{line}");
    if example.change.kind == ChangeKind::PatchDiffers {
        let (then, now) = example.patch_difference();
        steps(text, "then", &then, terminal);
        steps(text, "now", &now, terminal);
        if then.is_empty() && now.is_empty() {
            text.push_str("      the same steps in another order\n");
        }
    }
    if let Some(remark) = &example.change.remark {
        let _ = writeln!(
            text,
            "      {}",
            wrapped(&printable(remark), 6, terminal.width)
        );
    }
}

/// How a change is seen at a glance.
fn tone(kind: ChangeKind) -> Tone {
    match kind {
        ChangeKind::NewlyDenied => Tone::Bad,
        ChangeKind::NewlyAllowed => Tone::Good,
        ChangeKind::PatchDiffers => Tone::Odd,
    }
}

fn because(message: &str) -> String {
    match message.is_empty() {
        true => String::new(),
        false => format!(": {message}"),
    }
}

fn steps(text: &mut String, when: &str, steps: &[&Value], terminal: Terminal) {
    for step in steps.iter().take(STEPS) {
        let part = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let sign = match part("op") {
            "add" => "+",
            "remove" => "-",
            _ => "~",
        };
        let value = step
            .get("value")
            .map_or(String::new(), |v| format!(": {v}"));
        let line = format!("      {when:<4}  {sign} {}{value}", part("path"));
        let line = hanging(&printable(&line), 8, terminal.width);
        let _ = writeln!(text, "{line}");
    }
    if steps.len() > STEPS {
        let _ = writeln!(text, "      {when:<4}  and {} more", steps.len() - STEPS);
    }
}
