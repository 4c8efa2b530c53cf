//! The results as a table.

use std::fmt::Write;
use std::io;

use portcullis_config::About;
use portcullis_core::{HostCallStep, PolicyOutcome};
use portcullis_gate::offline::Judge;

use super::outcome::{JudgeResult, Judgement, Outcome, Unread};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::diff;
use crate::commands::text::plain::{fitted_frame, printable, width};
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::{hanging, wrapped};

/// Where everything that belongs to a line of the table begins.
const BELOW: usize = 9;

/// The results, one block for each document. Nothing is kept.
pub(super) struct Table {
    /// The block that is written.
    text: String,
    judges: Vec<Judge>,
    /// Of the longest name of those who judge.
    width: usize,
    explain: bool,
    terminal: Terminal,
    is_begun: bool,
}

impl Writer for Table {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        // What counts as no object is said on standard error.
        if matches!(outcome, Outcome::Unread(unread) if unread.is_apart()) {
            return;
        }
        if std::mem::replace(&mut self.is_begun, true) {
            out.push('\n');
        }
        match outcome {
            Outcome::Judged(judged) => self.judged(judged),
            Outcome::Unread(unread) => self.unreadable(unread),
        }
        out.push_str(&std::mem::take(&mut self.text));
    }

    fn end(&mut self, _: &Totals, _: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

impl Table {
    /// Nothing yet.
    pub(super) fn new(judges: &[Judge], explain: bool, terminal: Terminal) -> Self {
        let names = judges.iter().map(|judge| judge.name.chars().count());
        Self {
            text: String::new(),
            judges: judges.to_vec(),
            width: names.max().unwrap_or(0),
            explain,
            terminal,
            is_begun: false,
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}", text.trim_end());
    }

    /// A text of any length behind something that ends in a column.
    fn long(&mut self, before: &str, column: usize, text: &str) {
        let text = wrapped(text, column, self.terminal.width);
        self.line(&format!("{before}{text}"));
    }

    fn judged(&mut self, judged: &Judgement) {
        // Authorizers are known only when they are asked.
        let listed = judged.parts.iter().filter(|part| part.is_listed);
        let names = listed.map(|part| part.name.chars().count());
        self.width = self.width.max(names.max().unwrap_or(0));
        self.heading(judged);
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

    /// What is judged, and where it stands: on one line, if it fits.
    fn heading(&mut self, judged: &Judgement) {
        let action = printable(&judged.action);
        let place = format!("{}:{}", printable(&judged.spot.file), judged.spot.line);
        let terminal = self.terminal;
        let fits = |text: &str| terminal.width.is_none_or(|columns| width(text) <= columns);
        let head = format!("{}   {action}", judged.title);
        let shown = match fits(&head) {
            true => format!("{}   {action}", terminal.heading(&judged.title)),
            false => hanging(&head, 4, terminal.width),
        };
        if fits(&format!("{head}   {place}")) {
            self.line(&format!("{shown}   {place}"));
        } else {
            self.line(&shown);
            self.line(&hanging(&format!("  {place}"), 2, terminal.width));
        }
    }

    fn unreadable(&mut self, unread: &Unread) {
        let place = format!("{}:{}", printable(&unread.spot.file), unread.spot.line);
        self.line(&hanging(
            &format!("(unreadable)   {place}"),
            2,
            self.terminal.width,
        ));
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
        let about = self.judges.iter().find(|judge| judge.name == part.name);
        let about = about.map(|judge| judge.about.clone()).unwrap_or_default();
        let is_finding = is_refusal || part.said == PolicyOutcome::Warn;
        let severity = about.severity.filter(|_| is_finding);
        let severity = severity.map_or_else(String::new, |one| format!(" [{}]", one.as_str()));
        let (columns, name) = (self.width, &format!("{}{severity}", part.name));
        let word = self.terminal.word(&format!("{word:<5}"), tone);
        let column = BELOW + columns.max(name.chars().count()) + 2;
        self.long(&format!("  {word}  {name:<columns$}  "), column, &why);
        let frame = part.place.as_ref().and_then(|place| place.frame.as_deref());
        self.frame(frame.filter(|_| part.said == PolicyOutcome::Error));
        if self.explain {
            if is_finding {
                self.about(&about);
            }
            self.steps(part);
        }
    }

    /// What the author of a policy says of it.
    fn about(&mut self, about: &About) {
        let texts = [
            ("description", &about.description),
            ("category", &about.category),
            ("link", &about.link),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                let text = format!("{key}: {}", printable(text));
                self.long(&" ".repeat(BELOW), BELOW, &text);
            }
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
        let columns = self.terminal.indented(BELOW).width;
        let frame = frame.map(|frame| fitted_frame(frame, columns));
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
                file: "a.yaml".into(),
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
        let outcome = Outcome::Judged(Box::new(judgement));
        let write = |terminal| {
            let mut text = String::new();
            Table::new(&[], true, terminal).add(&outcome, &mut text);
            text
        };
        let terminal = |width| Terminal {
            width,
            has_colours: false,
        };
        for width in [60, 80, 120] {
            let text = write(terminal(Some(width)));
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        // Programs get whole lines.
        let text = write(terminal(None));
        assert_eq!(
            text.lines()
                .filter(|line| line.contains(long.trim_end()))
                .count(),
            6
        );
    }
}
