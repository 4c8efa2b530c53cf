//! A finding, and the list that rules add to.

use std::ops::Range;

use crate::rule::Rule;

/// Something that can't be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that finds it.
    pub rule: Rule,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub fix: String,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line and a column of the text, from 1, in characters.
    Text {
        /// The line.
        line: u32,
        /// The column.
        column: u32,
    },
    /// A key below `match`, like `kinds[0]`.
    Match(String),
}

/// What rules found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) in_text: Vec<(Range<usize>, Rule, String, String)>,
    pub(crate) in_match: Vec<Finding>,
}

impl Report {
    /// Adds a finding at a place of the text.
    pub(crate) fn at(
        &mut self,
        place: Range<usize>,
        rule: Rule,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let found = (place, rule, message.into(), fix.into());
        self.in_text.push(found);
    }

    /// Adds a finding at a key below `match`.
    pub(crate) fn at_match(
        &mut self,
        key: String,
        rule: Rule,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.in_match.push(Finding {
            rule,
            place: Place::Match(key),
            message: message.into(),
            fix: fix.into(),
        });
    }
}
