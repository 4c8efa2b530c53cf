//! The results as a table.

use std::fmt::Write;

use portcullis_core::{HostCallStep, PolicyOutcome};

use super::outcome::{Evaluation, JudgeResult, Judgement, Outcome, Unread};
use crate::commands::text::diff;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::wrapped;

/// Where everything that belongs to a line of the table begins.
const BELOW: usize = 9;

/// All results, one block for each document.
pub(super) fn write(evaluation: &Evaluation, explain: bool, terminal: Terminal) -> String {
    let judges = evaluation.judges.iter();
    let names = judges.map(|judge| judge.name.chars().count());
    let mut table = Table {
        text: String::new(),
        width: names.max().unwrap_or(0),
        explain,
        terminal,
    };
    for outcome in &evaluation.outcomes {
        let is_told = !matches!(outcome, Outcome::Unread(unread) if unread.is_file);
        if is_told && !table.text.is_empty() {
            table.text.push('\n');
        }
        match outcome {
            Outcome::Judged(judged) => table.judged(judged),
            Outcome::Unread(unread) if is_told => table.unreadable(unread),
            Outcome::Unread(_) => {}
        }
    }
    table.text
}

struct Table {
    text: String,
    /// Of the longest name of those who judge.
    width: usize,
    explain: bool,
    terminal: Terminal,
}

impl Table {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}", text.trim_end());
    }

    /// A text of any length behind something that ends in a column.
    fn long(&mut self, before: &str, column: usize, text: &str) {
        let text = wrapped(text, column, self.terminal.width);
        self.line(&format!("{before}{text}"));
    }

    fn judged(&mut self, judged: &Judgement) {
        let title = self.terminal.heading(&judged.title);
        let action = printable(&judged.action);
        let (file, line) = (printable(&judged.spot.file), judged.spot.line);
        self.line(&format!("{title}   {action}   {file}:{line}"));
        // The default action is worth a line only if it decided.
        let is_told = |part: &&JudgeResult| part.is_listed || part.said == PolicyOutcome::Deny;
        let ruling = &judged.ruling;
        for one in judged.parts.iter().filter(is_told) {
            self.part(one, &ruling.warnings);
        }
        for warning in &ruling.warnings {
            let word = self.terminal.word("warning:", Tone::Odd);
            self.long(&format!("  {word} "), 11, &printable(warning));
        }
        if let (Some(original), false) = (&judged.original, ruling.patch.is_empty()) {
            self.line("  patch:");
            for line in diff::lines(original, &ruling.patch) {
                self.long("    ", 6, &printable(&line));
            }
        }
        if self.explain {
            for (key, value) in &ruling.annotations {
                let text = format!("annotation {key}: {}", printable(value));
                self.long("  ", 4, &text);
            }
            if let Some(step) = &judged.asked {
                let took = microseconds(step.duration);
                self.line(&format!("  policies were asked for {took}"));
            }
            let took = microseconds(ruling.duration);
            self.line(&format!("  decided in {took}"));
        }
    }

    fn unreadable(&mut self, unread: &Unread) {
        let (file, line) = (printable(&unread.spot.file), unread.spot.line);
        self.line(&format!("(unreadable)   {file}:{line}"));
        let word = self.terminal.word("ERROR", Tone::Bad);
        self.long(&format!("  {word}  "), BELOW, &unread.fault.to_string());
        self.frame(unread.fault.frame().as_deref());
    }

    fn part(&mut self, part: &JudgeResult, warnings: &[String]) {
        let (word, tone) = match part.said {
            PolicyOutcome::Deny if part.counts() => ("DENY", Tone::Bad),
            PolicyOutcome::Error if part.counts() => ("ERROR", Tone::Bad),
            PolicyOutcome::Deny | PolicyOutcome::Error | PolicyOutcome::Warn => {
                (part.said.as_str(), Tone::Odd)
            }
            PolicyOutcome::Pass | PolicyOutcome::Allow => (part.said.as_str(), Tone::Good),
            PolicyOutcome::Skip => (part.said.as_str(), Tone::Faint),
        };
        // A warning is shown in full below, unless it came after a denial.
        let is_below = |warning: &String| {
            warning.contains(&part.message) || part.message.contains(warning.as_str())
        };
        let mut why = match part.said {
            PolicyOutcome::Warn if warnings.iter().any(is_below) => String::new(),
            _ => printable(&part.message).into_owned(),
        };
        let is_refusal = matches!(part.said, PolicyOutcome::Deny | PolicyOutcome::Error);
        if is_refusal && !part.counts() {
            why.push_str(&format!("  ({} only)", part.mode.as_str()));
        }
        // The frame of an error says it below.
        if let (PolicyOutcome::Deny, Some(place)) = (part.said, &part.place) {
            why.push_str(&format!("  ({})", printable(&place.written())));
        }
        let (width, name) = (self.width, &part.name);
        let word = self.terminal.word(&format!("{word:<5}"), tone);
        let column = BELOW + width.max(name.chars().count()) + 2;
        self.long(&format!("  {word}  {name:<width$}  "), column, &why);
        let frame = part.place.as_ref().and_then(|place| place.frame.as_deref());
        self.frame(frame.filter(|_| part.said == PolicyOutcome::Error));
        if self.explain {
            self.steps(part);
        }
    }

    fn steps(&mut self, part: &JudgeResult) {
        let gap = " ".repeat(BELOW);
        for step in &part.steps {
            let outcome = format!("{:?}", step.outcome).to_lowercase();
            let why = match step.detail.as_deref() {
                Some(detail) if part.steps.len() > 1 => format!(": {}", printable(detail)),
                _ => String::new(),
            };
            let (half, took) = (step.phase.as_str(), microseconds(step.duration));
            self.long(&gap, BELOW, &format!("{half} {outcome} in {took}{why}"));
        }
        for call in &part.host_calls {
            self.long(&gap, BELOW, &host_call(call));
        }
    }

    /// The line of a text with a caret, below what is said of it.
    fn frame(&mut self, frame: Option<&str>) {
        for line in frame.iter().flat_map(|frame| frame.lines()) {
            self.line(&format!("{}{line}", " ".repeat(BELOW)));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::outcome::{DocumentPosition, Ruling};
    use super::*;

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let long = "a reason that goes on and on ".repeat(20);
        let part = |said| JudgeResult {
            said,
            message: long.clone(),
            ..JudgeResult::new("a-policy")
        };
        let judgement = Judgement {
            spot: DocumentPosition {
                file: "a.yaml".to_owned(),
                index: 0,
                line: 1,
            },
            title: "Pod default/a".to_owned(),
            action: "CREATE by zoe".to_owned(),
            kind: "Pod".to_owned(),
            namespace: "default".to_owned(),
            name: "a".to_owned(),
            ruling: Ruling {
                warnings: vec![long.clone()],
                patch: portcullis_core::patch::diff(&json!({}), &json!({"a": &long})),
                annotations: [("key".to_owned(), long.clone())].into(),
                ..Ruling::default()
            },
            object: None,
            original: Some(json!({})),
            parts: vec![
                part(PolicyOutcome::Deny),
                part(PolicyOutcome::Skip),
                part(PolicyOutcome::Error),
            ],
            written: Vec::new(),
            asked: None,
        };
        let evaluation = Evaluation {
            judges: Vec::new(),
            inputs: Vec::new(),
            outcomes: vec![Outcome::Judged(Box::new(judgement))],
        };
        let terminal = |width| Terminal {
            width,
            has_colours: false,
        };
        for width in [60, 80, 120] {
            let text = write(&evaluation, true, terminal(Some(width)));
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        // Programs get whole lines.
        let text = write(&evaluation, true, terminal(None));
        assert_eq!(
            text.lines()
                .filter(|line| line.contains(long.trim_end()))
                .count(),
            6
        );
    }
}
