//! One program of all policies, and the way back from its lines to the authors' own.
//!
//! Every author's text begins at the start of a line, so columns need no translation.

use crate::compile::PolicySource;

/// Name of the program in stack traces.
pub(crate) const FILE: &str = "policies";

/// Names the program's function takes, in order.
const PARAMETERS: &str = "object, oldObject, req, ac, allow, deny, warn";

/// A place in an author's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which policy; none is the globals.
    pub(crate) policy: Option<usize>,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The program of a set of policies.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) text: String,
    /// First and last line of each author's text.
    segments: Vec<(Option<usize>, u32, u32)>,
}

impl Program {
    /// A function that makes the policies' functions anew at each call. The inner function lets
    /// globals declare names of their own in place of the parameters.
    pub(crate) fn new(globals: &str, policies: &[(PolicySource, bool)]) -> Self {
        let mut program = Self {
            text: format!("(function({PARAMETERS}) {{ return (function() {{\n"),
            segments: Vec::new(),
        };
        program.push(None, globals);
        program.text.push_str("\nreturn [");
        for (index, (policy, is_async)) in policies.iter().enumerate() {
            let keyword = if *is_async {
                "async function"
            } else {
                "function"
            };
            program.text.push_str(keyword);
            program.text.push_str("() {\n");
            program.push(Some(index), &policy.code);
            program.text.push_str("\n},\n");
        }
        program.text.push_str("];\n})() })");
        program
    }

    fn push(&mut self, policy: Option<usize>, text: &str) {
        let first = lines(&self.text);
        self.text.push_str(text);
        self.segments.push((policy, first, lines(&self.text)));
    }

    /// The place of a line of the program.
    pub(crate) fn place(&self, line: u32, column: u32) -> Option<Place> {
        let &(policy, first, _) = self
            .segments
            .iter()
            .find(|(_, first, last)| (*first..=*last).contains(&line))?;
        Some(Place {
            policy,
            line: line - first + 1,
            column,
        })
    }

    /// The innermost place of a stack trace that is in an author's text.
    pub(crate) fn place_of_trace(&self, trace: &str) -> Option<Place> {
        frames(trace)
            .filter(|(file, ..)| *file == FILE)
            .find_map(|(_, line, column)| self.place(line, column))
    }
}

fn lines(text: &str) -> u32 {
    let newlines = text.bytes().filter(|b| *b == b'\n').count();
    u32::try_from(newlines).unwrap_or(u32::MAX - 1) + 1
}

/// The frames of a stack trace: file, line, column.
pub(crate) fn frames(trace: &str) -> impl Iterator<Item = (&str, u32, u32)> {
    trace.lines().filter_map(|frame| {
        let (rest, column) = frame.trim_end_matches(')').rsplit_once(':')?;
        let (rest, line) = rest.rsplit_once(':')?;
        let file = rest.rsplit(['(', ' ']).next()?;
        Some((file, line.parse().ok()?, column.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_program_lead_back_to_the_authors_text() {
        let policy = |code: &str| {
            let source = PolicySource {
                name: "p".into(),
                code: code.into(),
            };
            (source, false)
        };
        let program = Program::new("g1\ng2", &[policy("a1"), policy("b1\nb2")]);
        for (needle, owner, wanted) in [
            ("g2", None, 2),
            ("a1", Some(0), 1),
            ("b1", Some(1), 1),
            ("b2", Some(1), 2),
        ] {
            let line = program.text.lines().position(|l| l == needle).unwrap() + 1;
            let place = program.place(u32::try_from(line).unwrap(), 7).unwrap();
            assert_eq!((place.policy, place.line), (owner, wanted), "{needle}");
        }
        assert_eq!(program.place(1, 1), None);
    }

    #[test]
    fn frames_are_read() {
        let trace = "    at f (policies:3:9)\n    at map (native)\n    at alone:1:2\n";
        let all: Vec<_> = frames(trace).collect();
        assert_eq!(all, [("policies", 3, 9), ("alone", 1, 2)]);
    }
}
