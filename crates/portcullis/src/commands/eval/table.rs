//! The results for people.

use std::fmt::Write;

use portcullis_core::HostCallStep;

use super::outcome::{Evaluation, Judgement, Outcome, Part, Said, Unread, half};
use crate::commands::text::diff;
use crate::commands::text::plain::printable;

/// All results, one block for each object.
pub(super) fn write(evaluation: &Evaluation, explain: bool) -> String {
    let mut text = String::new();
    let judges = evaluation.judges.iter();
    let names = judges.map(|judge| judge.name.chars().count());
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
    // The default action is worth a line only if it decided.
    let is_told = |part: &&Part| part.is_listed || part.said == Said::Deny;
    for one in judged.parts.iter().filter(is_told) {
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
        if let Some(step) = &judged.asked {
            let took = microseconds(step.duration);
            let _ = writeln!(text, "  policies were asked for {took}");
        }
        let _ = writeln!(text, "  decided in {}", microseconds(verdict.duration));
    }
}

fn part(text: &mut String, part: &Part, width: usize, explain: bool) {
    let word = match part.said {
        Said::Deny if part.counts() => "DENY",
        Said::Error if part.counts() => "ERROR",
        other => other.as_str(),
    };
    // A warning is told in full below.
    let mut why = match part.said {
        Said::Warn => String::new(),
        _ => printable(&part.message).into_owned(),
    };
    let is_refusal = matches!(part.said, Said::Deny | Said::Error);
    if is_refusal && !part.counts() {
        why.push_str(&format!("  ({} only)", part.mode.as_str()));
    }
    // The frame of an error says it below.
    if let (Said::Deny, Some(place)) = (part.said, &part.place) {
        why.push_str(&format!("  ({})", printable(&place.written())));
    }
    let line = format!("  {word:<5}  {:<width$}  {why}", part.name);
    let _ = writeln!(text, "{}", line.trim_end());
    let frame = part.place.as_ref().and_then(|place| place.frame.as_ref());
    if let (Said::Error, Some(frame)) = (part.said, frame) {
        for line in frame.lines() {
            let _ = writeln!(text, "         {line}");
        }
    }
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
        for call in &part.host_calls {
            let _ = writeln!(text, "         {}", host_call(call));
        }
    }
}

/// `cosignVerify("key.pub") gave {...} in 812 µs`.
fn host_call(call: &HostCallStep) -> String {
    let arguments: Vec<String> = call.arguments.iter().map(ToString::to_string).collect();
    let answer = match (&call.result, &call.error) {
        (_, Some(error)) => format!("failed: {error}"),
        (Some(result), None) => format!("gave {result}"),
        (None, None) => "gave nothing".to_owned(),
    };
    let took = microseconds(call.duration);
    let all = format!("{}({}) {answer}", call.function, arguments.join(", "));
    format!("{} in {took}", printable(&all))
}

fn microseconds(duration: std::time::Duration) -> String {
    format!("{} µs", duration.as_micros())
}
