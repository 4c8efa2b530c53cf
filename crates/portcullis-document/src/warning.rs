//! Warnings: what is odd about a configuration, but not wrong.

use std::{fmt, ops::Deref};

use super::fault::Fault;

/// One thing that is odd: a text, and its place in a file where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    text: String,
    fault: Option<Box<Fault>>,
}

impl Warning {
    /// File, line, column, key and message apart, if it has a place.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

impl From<String> for Warning {
    fn from(text: String) -> Self {
        Self { text, fault: None }
    }
}

impl From<&str> for Warning {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Fault> for Warning {
    fn from(fault: Fault) -> Self {
        Self {
            text: fault.to_string(),
            fault: Some(Box::new(fault)),
        }
    }
}

impl Deref for Warning {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl PartialEq<&str> for Warning {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}
