//! A text that faults point into: a file, the built-in configuration, or just
//! the name of a flag or variable.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{fault::Fault, position::Position};

/// Where a text comes from, and the text.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Where the text stands, if it is a part of another file.
    written_at: Option<String>,
    label: String,
    path: Option<PathBuf>,
    text: String,
}

impl Source {
    /// A text without a file.
    pub fn text_named(label: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            written_at: None,
            label: label.into(),
            path: None,
            text: text.into(),
        })
    }

    /// A text that stands inside another file, like a policy in a configuration.
    pub fn part_of(label: String, text: String, written_at: String) -> Arc<Self> {
        Arc::new(Self {
            written_at: Some(written_at),
            label,
            path: None,
            text,
        })
    }

    /// `portcullis.yaml:12` for a part of a file, or the file itself.
    pub fn place(&self) -> &str {
        self.written_at.as_deref().unwrap_or(&self.label)
    }

    /// A flag or environment variable, which has no lines.
    pub fn named(label: impl Into<String>) -> Arc<Self> {
        Self::text_named(label, "")
    }

    /// The text of a file.
    pub fn file(path: &Path, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            written_at: None,
            label: path.display().to_string(),
            path: Some(path.to_owned()),
            text: text.into(),
        })
    }

    /// The name a fault begins with.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is nothing in it.
    pub fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// A path named here: relative ones are relative to this file's folder.
    pub fn resolve(&self, named: &Path) -> PathBuf {
        match self.path.as_deref().and_then(Path::parent) {
            Some(folder) => folder.join(named),
            None => named.to_owned(),
        }
    }

    /// A fault at a place of this text.
    pub fn fault(
        &self,
        position: Option<Position>,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Fault {
        self.locate_at(position, Fault::at(path, message))
    }

    /// A fault at a place of this text, and with its file.
    pub fn locate_at(&self, position: Option<Position>, fault: Fault) -> Fault {
        let written_at = self.written_at.as_ref().map(|at| format!("in {at}"));
        let line = position.and_then(|at| self.line(at.line));
        Fault {
            file: self.label.clone(),
            position,
            help: fault.help.or(written_at),
            source_line: line.map(str::to_owned),
            ..fault
        }
    }

    fn line(&self, number: u64) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.text.lines().nth(index)
    }

    /// The plain scalar that is written at a place, up to where it must end.
    pub fn word_at(&self, position: Position) -> Option<&str> {
        let line = self.line(position.line)?;
        let skipped = usize::try_from(position.column).ok()?.checked_sub(1)?;
        let (start, _) = line.char_indices().nth(skipped)?;
        let rest = line.get(start..)?;
        rest.split([',', '}', ']', '#', ' ', '\t']).next()
    }
}
