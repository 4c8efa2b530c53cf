//! One program of all policies, and the mapping from its lines to the authors' own.
//!
//! Every author's text begins at the start of a line, so columns need no translation.

use std::fmt::Write;
use std::ops::Range;

use crate::lent::Lent;
use crate::sources::{ModuleSource, PolicyCode, Sources};

/// Name of the program in stack traces.
pub(crate) const FILE: &str = "policies";

/// Names the program's function takes, in order.
const PARAMETERS: &str = "object, oldObject, req, ac, allow, deny, warn";

/// A text of an author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Globals,
    Policy(usize),
    Module(usize),
}

/// A position in an author's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    pub(crate) text: Text,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The program of a set of policies.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) text: String,
    /// First and last line of each author's text.
    segments: Vec<(Text, u32, u32)>,
}

impl Program {
    /// A function that starts an evaluation: it runs the globals and gives a function that makes
    /// the functions of policies and, numbered after them, of modules, by their numbers. The inner
    /// function lets globals declare names of their own in place of the parameters.
    pub(crate) fn new(sources: &Sources, is_async: &[bool], lent: &[Lent]) -> Self {
        let lends = lent.iter().any(|lent| !lent.is_empty());
        let more = match (sources.marks > 0, lends) {
            (false, false) => "",
            (true, false) => ", $cover",
            (_, true) => ", $cover, $lent",
        };
        let mut program = Self {
            text: format!("(function({PARAMETERS}{more}) {{ return (function() {{\n"),
            segments: Vec::new(),
        };
        program.push(Text::Globals, &sources.globals);
        program.text.push_str("\nreturn function($n) { return ");
        let count = sources.policies.len() + sources.modules.len();
        program.choose(sources, is_async, lent, 0..count);
        program.text.push_str("; };\n})() })");
        program
    }

    /// An expression that makes one of these functions, found by halving.
    fn choose(
        &mut self,
        sources: &Sources,
        is_async: &[bool],
        lent: &[Lent],
        Range {
            start: from,
            end: to,
        }: Range<usize>,
    ) {
        if to > from + 1 {
            let middle = from.midpoint(to);
            let _ = write!(self.text, "$n < {middle} ? ");
            self.choose(sources, is_async, lent, from..middle);
            self.text.push_str(" : ");
            self.choose(sources, is_async, lent, middle..to);
            return;
        }
        let names: Vec<&str> = lent.get(from).into_iter().flatten().copied().collect();
        if !names.is_empty() {
            let _ = write!(self.text, "(function({}) {{ return ", names.join(", "));
        }
        self.one(sources, is_async, from);
        if !names.is_empty() {
            let values: Vec<String> = names.iter().map(|n| format!("$lent('{n}')")).collect();
            let _ = write!(self.text, "; }})({})", values.join(", "));
        }
    }

    /// An expression that makes the function of this number.
    fn one(&mut self, sources: &Sources, is_async: &[bool], from: usize) {
        match sources.policies.get(from).map(|policy| &policy.code) {
            Some(PolicyCode::Body(code) | PolicyCode::JsPolicy(code)) => {
                let is_async = is_async.get(from).copied().unwrap_or_default();
                self.text.push_str(if is_async { "async " } else { "" });
                self.text.push_str("function() {\n");
                self.push(Text::Policy(from), code);
                self.text.push_str("\n}");
            }
            Some(PolicyCode::Module(_)) => self.text.push_str("undefined"),
            None => {
                let number = from - sources.policies.len();
                match sources.modules.get(number) {
                    Some(module) => self.module(number, module),
                    None => self.text.push_str("undefined"),
                }
            }
        }
    }

    fn module(&mut self, number: usize, module: &ModuleSource) {
        self.text.push_str("function($module) {\"use strict\";");
        self.text.push_str(&module.header);
        self.text.push('\n');
        self.push(Text::Module(number), &module.code);
        let _ = write!(self.text, "\n{}\n}}", module.footer);
    }

    fn push(&mut self, text: Text, code: &str) {
        let first = lines(&self.text);
        self.text.push_str(code);
        self.segments.push((text, first, lines(&self.text)));
    }

    /// The place of a line of the program. Imports and exports of a module are placed at its
    /// beginning and end.
    pub(crate) fn position(&self, line: u32, column: u32) -> Option<SourcePosition> {
        let owner = self
            .segments
            .iter()
            .find(|(_, first, last)| (*first..=*last).contains(&line));
        if let Some(&(text, first, _)) = owner {
            return Some(SourcePosition {
                text,
                line: line - first + 1,
                column,
            });
        }
        let mut modules = self
            .segments
            .iter()
            .filter(|(text, ..)| matches!(text, Text::Module(_)));
        let &(text, first, last) =
            modules.find(|(_, first, last)| line + 1 == *first || line == *last + 1)?;
        Some(SourcePosition {
            text,
            line: if line < first { 1 } else { last - first + 1 },
            column: 1,
        })
    }

    /// The innermost position of a stack trace that is in an author's text.
    pub(crate) fn position_of_trace(&self, trace: &str) -> Option<SourcePosition> {
        self.positions(trace).next()
    }

    /// The innermost position of a stack trace that is in this text.
    pub(crate) fn position_in(&self, text: Text, trace: &str) -> Option<SourcePosition> {
        self.positions(trace).find(|position| position.text == text)
    }

    fn positions(&self, trace: &str) -> impl Iterator<Item = SourcePosition> {
        frames(trace)
            .filter(|(file, ..)| *file == FILE)
            .filter_map(|(_, line, column)| self.position(line, column))
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
    use crate::sources::PolicySource;

    #[test]
    fn lines_of_the_program_lead_back_to_the_authors_text() {
        let module = |code: &str| ModuleSource {
            name: "m".into(),
            header: "header".into(),
            code: code.into(),
            footer: "footer".into(),
        };
        let sources = Sources {
            globals: "g1\ng2".into(),
            modules: vec![module("m1"), module("n1\nn2")],
            policies: vec![
                PolicySource::body("p", "a1"),
                PolicySource::body("q", "b1\nb2"),
            ],
            marks: 0,
        };
        let program = Program::new(&sources, &[false, false], &[]);
        for (needle, text, wanted) in [
            ("g2", Text::Globals, 2),
            ("a1", Text::Policy(0), 1),
            ("b1", Text::Policy(1), 1),
            ("b2", Text::Policy(1), 2),
            ("m1", Text::Module(0), 1),
            ("n2", Text::Module(1), 2),
        ] {
            let line = program.text.lines().position(|l| l == needle).unwrap() + 1;
            let position = program.position(u32::try_from(line).unwrap(), 7).unwrap();
            assert_eq!((position.text, position.line), (text, wanted), "{needle}");
        }
        assert_eq!(program.position(1, 1), None);
        let line = program.text.lines().position(|l| l == "n1").unwrap();
        let header = program.position(u32::try_from(line).unwrap(), 40).unwrap();
        assert_eq!(
            (header.text, header.line, header.column),
            (Text::Module(1), 1, 1)
        );
    }

    #[test]
    fn frames_are_read() {
        let trace = "    at f (policies:3:9)\n    at map (native)\n    at alone:1:2\n";
        let all: Vec<_> = frames(trace).collect();
        assert_eq!(all, [("policies", 3, 9), ("alone", 1, 2)]);
    }
}
