//! What a check found: how it is, where, and what to do about it.

use std::fmt::Write;

use portcullis_document::Warning;
use serde_json::{Value, json};

use crate::commands::text::data::{self, Output};
use crate::commands::text::plain::{counted, printable};
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::wrapped;
use crate::output;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It works, and may not do so for long, or not as intended.
    Warning,
    /// It does not work.
    Problem,
    /// It could not be looked at.
    Skipped,
}

impl State {
    const ALL: [Self; 4] = [Self::Ok, Self::Warning, Self::Problem, Self::Skipped];

    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Skipped => "skipped",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::Warning => Tone::Odd,
            Self::Problem => Tone::Bad,
            Self::Skipped => Tone::Faint,
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The check, a word of a fixed list.
    pub(super) check: &'static str,
    pub(super) state: State,
    /// The file, address or object; empty if there is none.
    pub(super) place: String,
    /// What was found.
    pub(super) message: String,
    /// What to do about it.
    pub(super) fix: Option<String>,
}

impl Finding {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is shown is often made in the call"
    )]
    fn new(
        check: &'static str,
        state: State,
        place: impl ToString,
        message: impl ToString,
    ) -> Self {
        Self {
            check,
            state,
            place: place.to_string(),
            message: message.to_string(),
            fix: None,
        }
    }

    /// It is as it should be.
    pub(super) fn ok(check: &'static str, place: impl ToString, message: impl ToString) -> Self {
        Self::new(check, State::Ok, place, message)
    }

    /// It could not be looked at, and why.
    pub(super) fn skipped(
        check: &'static str,
        place: impl ToString,
        message: impl ToString,
    ) -> Self {
        Self::new(check, State::Skipped, place, message)
    }

    /// It works, but.
    pub(super) fn warning(
        check: &'static str,
        place: impl ToString,
        message: impl ToString,
        fix: impl ToString,
    ) -> Self {
        Self::new(check, State::Warning, place, message).with_fix(fix)
    }

    /// It does not work.
    pub(super) fn problem(
        check: &'static str,
        place: impl ToString,
        message: impl ToString,
        fix: impl ToString,
    ) -> Self {
        Self::new(check, State::Problem, place, message).with_fix(fix)
    }

    /// A warning of the configuration.
    pub(super) fn of_warning(check: &'static str, warning: &Warning, fix: &str) -> Self {
        Self::warning(check, "", warning, fix)
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is shown is often made in the call"
    )]
    fn with_fix(self, fix: impl ToString) -> Self {
        let fix = fix.to_string();
        Self {
            fix: Some(fix).filter(|fix| !fix.is_empty()),
            ..self
        }
    }

    fn value(&self) -> Value {
        json!({
            "check": self.check,
            "state": self.state.as_str(),
            "where": self.place,
            "what": self.message,
            "todo": self.fix,
        })
    }
}

/// Everything that was found, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.0.extend(findings);
    }

    /// Whether there is nothing to do.
    pub(super) fn are_fine(&self) -> bool {
        self.count(State::Problem) + self.count(State::Warning) == 0
    }

    fn count(&self, state: State) -> usize {
        self.0.iter().filter(|one| one.state == state).count()
    }

    pub(super) fn print(&self, format: Output) {
        let counts = State::ALL.map(|state| (state.as_str().to_owned(), self.count(state).into()));
        let value = json!({
            "findings": self.0.iter().map(Finding::value).collect::<Vec<_>>(),
            "summary": Value::Object(counts.into_iter().collect()),
        });
        output::data(&data::write(&value, format, || {
            self.table(Terminal::of_output())
        }));
        if format != Output::Table {
            return;
        }
        let (problems, warnings) = (self.count(State::Problem), self.count(State::Warning));
        output::hint(&match (problems, warnings) {
            (0, 0) => "nothing to do".to_owned(),
            _ => format!(
                "{}, {}",
                counted(problems, "problem", "problems"),
                counted(warnings, "warning", "warnings")
            ),
        });
    }

    /// A line for each finding, and below it what to do.
    fn table(&self, terminal: Terminal) -> String {
        let widest = self.0.iter().map(|one| one.check.len()).max().unwrap_or(0);
        let mut text = String::new();
        for finding in &self.0 {
            let state = finding.state.as_str();
            let word = terminal.word(state, finding.state.tone());
            let indent = 9 + widest + 2;
            let said = match finding.place.is_empty() {
                true => finding.message.clone(),
                false => format!("{}: {}", finding.place, finding.message),
            };
            let said = wrapped(&lines(&said), indent, terminal.width);
            let padding = 9 - state.len();
            let _ = writeln!(
                text,
                "{word}{:padding$}{:widest$}  {said}",
                "", finding.check
            );
            if let Some(fix) = &finding.fix {
                let fix = wrapped(&lines(fix), indent + 3, terminal.width);
                let _ = writeln!(text, "{:indent$}-> {fix}", "");
            }
        }
        text
    }
}

/// On one line, with nothing but text in it.
fn lines(text: &str) -> String {
    let all = text.lines().map(|line| printable(line.trim()).into_owned());
    all.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_what_to_do_below_each_finding() {
        let mut findings = Findings::default();
        findings.add(Finding::ok("clock", "", "as the API server's"));
        assert!(findings.are_fine());
        findings.add(Finding::skipped("cluster", "", "not looked at"));
        assert!(findings.are_fine());
        findings.add(Finding::problem(
            "store",
            "a.db",
            "gone\u{1b}[2J\nreally",
            "create it",
        ));
        assert!(!findings.are_fine());
        assert_eq!(
            findings.table(Terminal::default()),
            "ok       clock    as the API server's\n\
             skipped  cluster  not looked at\n\
             problem  store    a.db: gone\\u{1b}[2J really\n                  -> create it\n"
        );
    }

    #[test]
    fn warnings_are_something_to_do() {
        let mut findings = Findings::default();
        findings.add(Finding::warning("a", "b", "c", "d"));
        assert!(!findings.are_fine());
    }
}
