//! Errors of reading typed values from a tree, in plain words.
//!
//! The place and the path are added from the inside out, while an error passes
//! through the levels of the tree.

use std::fmt;

use portcullis_core::text::shortened;
use serde::de::{self, Expected, Unexpected};

use super::{
    fault::Fault,
    path::{self, Segment},
    position::Position,
    source::Source,
    suggest,
};

/// Why a value could not be read.
#[derive(Debug)]
pub(crate) struct ReadError {
    position: Option<Position>,
    /// Innermost step first.
    steps: Vec<Segment>,
    message: String,
    suggestion: Option<String>,
    help: Option<String>,
    is_unknown_key: bool,
    missing: Option<&'static str>,
}

impl ReadError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            position: None,
            steps: Vec::new(),
            message: message.into(),
            suggestion: None,
            help: None,
            is_unknown_key: false,
            missing: None,
        }
    }

    /// The steps to the value, from the outside.
    pub(crate) fn steps(&self) -> Vec<Segment> {
        self.steps.iter().rev().cloned().collect()
    }

    /// Whether it is about a key that is not known.
    pub(crate) fn is_unknown_key(&self) -> bool {
        self.is_unknown_key
    }

    /// The key that is missing, if that is what it is about.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.missing
    }

    /// Sets the place, unless something further inside already did.
    pub(crate) fn at(mut self, position: Position) -> Self {
        self.position.get_or_insert(position);
        self
    }

    /// Says that it happened inside this step.
    pub(crate) fn inside(mut self, step: Segment) -> Self {
        self.steps.push(step);
        self
    }

    fn with_known(mut self, what: &str, written: &str, known: &'static [&'static str]) -> Self {
        self.suggestion = suggest::nearest(written, known.iter().copied());
        self.help = Some(format!("{what}: {}", suggest::list(known.iter().copied())));
        self
    }

    /// The same as a fault in a file.
    pub(crate) fn into_fault(self, source: &Source) -> Fault {
        let mut written = String::new();
        for step in self.steps.iter().rev() {
            path::push(&mut written, step);
        }
        Fault {
            suggestion: self.suggestion,
            help: self.help,
            ..source.fault(self.position, written, self.message)
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "expected {}, found {}",
            expectation(expected),
            finding(found)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self {
            is_unknown_key: true,
            ..Self::new("unknown key").with_known("known keys", field, expected)
        }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown value `{variant}`")).with_known(
            "known values",
            variant,
            expected,
        )
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            missing: Some(field),
            ..Self::new(format!("the key `{field}` is missing"))
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is given twice"))
    }
}

/// What was expected, without names of Rust types.
fn expectation(expected: &dyn Expected) -> String {
    let whole = |least: i128, most: i128| format!("a whole number from {least} to {most}");
    let text = expected.to_string();
    match text.as_str() {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "usize" => whole(0, u64::MAX.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX.into()),
        "i64" => whole(i64::MIN.into(), i64::MAX.into()),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if text.starts_with("struct ") => "a map".to_owned(),
        _ => text,
    }
}

/// What was found, with the value where it is short.
fn finding(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number `{value}`"),
        Unexpected::Signed(value) => format!("the number `{value}`"),
        Unexpected::Float(value) => format!("the number `{value}`"),
        Unexpected::Str(value) => format!("the text `{}`", shortened(value, 80)),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a map".to_owned(),
        _ => "nothing".to_owned(),
    }
}
