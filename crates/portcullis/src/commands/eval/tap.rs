//! The Test Anything Protocol, version 14: one test for each document.

use std::fmt::Write;

use super::outcome::{Evaluation, JudgeResult, Outcome};
use crate::commands::text::plain::printable;
use portcullis_core::PolicyOutcome;

/// All results.
pub(super) fn write(evaluation: &Evaluation) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", evaluation.outcomes.len());
    for (number, outcome) in (1..).zip(&evaluation.outcomes) {
        match outcome {
            Outcome::Judged(judged) => {
                let ruling = &judged.ruling;
                let is_fine = if ruling.is_allowed { "ok" } else { "not ok" };
                let (file, line) = (&judged.spot.file, judged.spot.line);
                let title = described(&format!("{} ({file}:{line})", judged.title));
                let skip = match ruling.is_allowed && !ruling.is_judged {
                    true => " # SKIP no policy or plug-in applied",
                    false => "",
                };
                let _ = writeln!(text, "{is_fine} {number} - {title}{skip}");
                let is_told = |part: &&JudgeResult| {
                    matches!(
                        part.said,
                        PolicyOutcome::Deny | PolicyOutcome::Error | PolicyOutcome::Warn
                    )
                };
                for part in judged.parts.iter().filter(is_told) {
                    let said = part.said.as_str();
                    let why = format!("{said} {}: {}", part.name, part.message);
                    let _ = writeln!(text, "# {}", printable(&why));
                }
            }
            Outcome::Unread(unread) => {
                let title = described(&format!("{}:{}", unread.spot.file, unread.spot.line));
                let _ = writeln!(text, "not ok {number} - {title}");
                let _ = writeln!(text, "# error {}", printable(&unread.fault.to_string()));
            }
        }
    }
    text
}

/// A description, in which `#` would begin a directive.
fn described(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('#', "\\#")
}
