//! The Test Anything Protocol, version 14: one test for each document.
//!
//! How many tests there are comes before them, so their text is put aside until all are known.

use std::fmt::Write;
use std::io;

use super::outcome::{JudgeResult, Outcome};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::plain::printable;
use crate::commands::text::spool::Spool;
use portcullis_core::PolicyOutcome;

/// The tests, as far as they are written.
#[derive(Debug, Default)]
pub(super) struct Tap {
    tests: Spool,
    count: usize,
}

impl Writer for Tap {
    fn add(&mut self, outcome: &Outcome, _: &mut String) {
        self.count += 1;
        let mut text = String::new();
        test(self.count, outcome, &mut text);
        self.tests.push(&text);
    }

    fn end(&mut self, totals: &Totals, out: &mut dyn io::Write) -> io::Result<()> {
        let head = format!("TAP version 14\n1..{}\n", totals.outcomes());
        out.write_all(head.as_bytes())?;
        self.tests.copy(out)
    }
}

/// Writes one test.
fn test(number: usize, outcome: &Outcome, text: &mut String) {
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

/// A description, in which `#` would begin a directive.
fn described(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('#', "\\#")
}
