//! What is collected while a configuration is checked: faults, warnings, and
//! the files to watch.

use std::{
    path::{self, Path, PathBuf},
    sync::Arc,
};

use super::{
    document::Document,
    fault::{Fault, Faults},
    source::{self, Source},
};

/// What a check has to say beside its result.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) faults: Vec<Fault>,
    pub(crate) warnings: Vec<String>,
    /// Absolute, each once, symbolic links not followed.
    pub(crate) files: Vec<PathBuf>,
}

impl Notes {
    /// Adds a fault.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The result, or nothing after its faults have been added.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Faults>) -> Option<T> {
        result.map_err(|faults| self.faults.extend(faults)).ok()
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Remembers a file as read or named.
    pub(crate) fn watch(&mut self, file: &Path) {
        let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    /// Resolves a file that the document names, and faults if it can't be read.
    pub(crate) fn named_file(&mut self, document: &Document, at: &str, named: &Path) -> PathBuf {
        let file = document.source.resolve(named);
        self.watch(&file);
        if let Err(reason) = source::open(&file) {
            self.fault(document.fault(at, cannot_read(&file, &reason)));
        }
        file
    }

    /// Reads a file that the document names, and faults if it can't be read.
    pub(crate) fn read_named(
        &mut self,
        document: &Document,
        at: &str,
        named: &Path,
    ) -> Option<Arc<Source>> {
        let file = document.source.resolve(named);
        self.watch(&file);
        match Source::read(&file) {
            Ok(source) => Some(source),
            Err(reason) => {
                self.fault(document.fault(at, cannot_read(&file, &reason)));
                None
            }
        }
    }
}

fn cannot_read(file: &Path, reason: &str) -> String {
    format!("cannot read `{}`: {reason}", file.display())
}
