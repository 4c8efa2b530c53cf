//! The results for people.

use std::borrow::Cow;
use std::fmt::Write;

use super::diff;
use super::outcome::{Evaluation, Judgement, Outcome, Part, Said, Unread, half};

/// All results, one block for each object.
pub(super) fn write(evaluation: &Evaluation, explain: bool) -> String {
    let mut text = String::new();
    let names = evaluation.plugins.iter().map(|name| name.chars().count());
    let width = names.max().unwrap_or(0);
    for (number, outcome) in evaluation.outcomes.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        match outcome {
            Outcome::Judged(judged) => {
                let _ = writeln!(
                    text,
                    "{}   {} by {}   {}:{}",
                    title(judged),
                    evaluation.operation,
                    printable(&evaluation.user),
                    printable(&judged.file),
                    judged.line,
                );
                object(&mut text, judged, width, explain);
            }
            Outcome::Unread(unread) => unreadable(&mut text, unread),
        }
    }
    text
}

/// `Pod default/web`: what an object is called in tables and reports.
pub(super) fn title(judged: &Judgement) -> String {
    let manifest = &judged.manifest;
    let metadata = manifest.object.get("metadata");
    let generated = metadata.and_then(|m| m.get("generateName")?.as_str());
    let name = match (manifest.name.as_str(), generated) {
        ("", Some(prefix)) => format!("{prefix}*"),
        ("", None) => "(no name)".to_owned(),
        (name, _) => name.to_owned(),
    };
    let slash = if manifest.namespace.is_empty() {
        ""
    } else {
        "/"
    };
    let title = format!("{} {}{slash}{name}", manifest.kind.kind, manifest.namespace);
    printable(&title).into_owned()
}

fn unreadable(text: &mut String, unread: &Unread) {
    let file = printable(&unread.file);
    let _ = writeln!(text, "(unreadable)   {file}:{}", unread.line);
    let _ = writeln!(text, "  ERROR  {}", unread.fault);
    for line in unread.fault.frame().iter().flat_map(|frame| frame.lines()) {
        let _ = writeln!(text, "         {line}");
    }
}

fn object(text: &mut String, judged: &Judgement, width: usize, explain: bool) {
    for one in &judged.parts {
        part(text, one, width, explain);
    }
    let verdict = &judged.verdict;
    for warning in &verdict.warnings {
        let _ = writeln!(text, "  warning: {}", printable(warning));
    }
    if let (Some(original), false) = (&judged.original, verdict.patch.is_empty()) {
        text.push_str("  patch:\n");
        for line in diff::lines(original, &verdict.patch) {
            let _ = writeln!(text, "    {}", printable(&line));
        }
    }
    if explain {
        for (key, value) in &verdict.annotations {
            let _ = writeln!(text, "  annotation {key}: {}", printable(value));
        }
        let _ = writeln!(text, "  decided in {}", microseconds(verdict.duration));
    }
}

fn part(text: &mut String, part: &Part, width: usize, explain: bool) {
    let word = match part.said {
        Said::Deny => "DENY",
        Said::Error => "ERROR",
        other => other.as_str(),
    };
    // A warning is told in full below.
    let why = match part.said {
        Said::Warn => "",
        _ => part.message.as_str(),
    };
    let line = format!("  {word:<5}  {:<width$}  {}", part.name, printable(why));
    let _ = writeln!(text, "{}", line.trim_end());
    if explain {
        for step in &part.steps {
            let outcome = format!("{:?}", step.outcome).to_lowercase();
            let why = match step.detail.as_deref() {
                Some(detail) if part.steps.len() > 1 => format!(": {}", printable(detail)),
                _ => String::new(),
            };
            let took = microseconds(step.duration);
            let _ = writeln!(
                text,
                "         {} {outcome} in {took}{why}",
                half(step.phase)
            );
        }
    }
}

fn microseconds(duration: std::time::Duration) -> String {
    format!("{} µs", duration.as_micros())
}

/// What the user wrote may hold anything, but a terminal gets one line of text.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}
