//! Findings as compilers print them: the place, the line with a caret, the fix.

use std::fmt::Write;

use portcullis_gate::linting::LintFinding;

use crate::commands::text::plain::{self, printable};
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::wrapped;

/// All findings, with an empty line between them.
pub(super) fn write(findings: &[LintFinding], terminal: Terminal) -> String {
    let each: Vec<String> = findings.iter().map(|one| finding(one, terminal)).collect();
    each.join("\n")
}

fn finding(finding: &LintFinding, terminal: Terminal) -> String {
    let position = finding.position;
    let file = printable(finding.file.label());
    let place = format!("{file}:{}:{}:", position.line, position.column);
    let rule = finding.rule.as_str();
    let fits = |columns| plain::width(&place) + 1 + plain::width(rule) <= columns;
    let gap = match terminal.width.is_none_or(fits) {
        true => " ",
        false => "\n  ",
    };
    let mut text = wrapped(&place, 0, terminal.width);
    let _ = write!(text, "{gap}{}", terminal.word(rule, Tone::Odd));
    let message = printable(&finding.message);
    let _ = writeln!(text, "\n  {}", wrapped(&message, 2, terminal.width));
    let (line, column) = (
        position.line.try_into().ok(),
        position.column.try_into().ok(),
    );
    if let Some(frame) = plain::frame(&finding.file, line, column) {
        let _ = writeln!(text, "{}", plain::fitted_frame(&frame, terminal.width));
    }
    if !finding.fix.is_empty() {
        let fix = format!("fix: {}", printable(&finding.fix));
        let _ = writeln!(text, "  {}", wrapped(&fix, 2, terminal.width));
    }
    text
}
