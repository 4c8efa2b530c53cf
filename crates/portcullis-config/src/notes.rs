//! What is collected while a configuration is checked: faults, warnings, and
//! the files to watch.

use std::{
    path::{self, Path, PathBuf},
    sync::Arc,
};

use portcullis_files::Use;

use portcullis_document::{Document, Fault, Faults, Source, Warning};

/// What a check has to say beside its result.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) faults: Vec<Fault>,
    pub(crate) warnings: Vec<Warning>,
    /// Key files that others can read.
    pub(crate) exposed: Vec<Warning>,
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
    pub(crate) fn warn(&mut self, warning: impl Into<Warning>) {
        self.warnings.push(warning.into());
    }

    /// Remembers a file as read or named.
    pub(crate) fn watch(&mut self, file: &Path) {
        let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    /// Resolves a file that the document names, and faults if it can't be read, is empty, or can be
    /// written by others.
    pub(crate) fn named_file(&mut self, document: &Document, at: &str, named: &Path) -> PathBuf {
        self.named(document, at, named, Use::Data)
    }

    /// The same for a file with a secret in it; warns if others can read it.
    pub(crate) fn named_key(&mut self, document: &Document, at: &str, named: &Path) -> PathBuf {
        self.named(document, at, named, Use::Key)
    }

    fn named(&mut self, document: &Document, at: &str, named: &Path, used: Use) -> PathBuf {
        let file = document.source.resolve(named);
        self.watch(&file);
        let opened = portcullis_files::open(&file)
            .and_then(|opened| opened.metadata().map_err(|error| error.to_string()));
        match opened {
            Ok(metadata) if metadata.len() == 0 => {
                self.fault(document.fault(at, cannot_read(&file, "it is empty")));
            }
            Ok(_) => match portcullis_files::check_named(&file, used) {
                Ok(None) => {}
                Ok(Some(odd)) => {
                    let fault = document.fault(at, about(&file, &odd));
                    self.exposed.push(fault.into());
                }
                Err(reason) => self.fault(document.fault(at, about(&file, &reason))),
            },
            Err(reason) => self.fault(document.fault(at, cannot_read(&file, &reason))),
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
        match crate::read_source(&file) {
            Ok(source) => Some(source),
            Err(reason) => {
                self.fault(document.fault(at, cannot_read(&file, &reason)));
                None
            }
        }
    }
}

fn about(file: &Path, reason: &str) -> String {
    format!("`{}`: {reason}", file.display())
}

fn cannot_read(file: &Path, reason: &str) -> String {
    format!("cannot read `{}`: {reason}", file.display())
}

/// A file that a flag names, and that can't be read.
pub(crate) fn unreadable(path: &Path, reason: &str) -> Fault {
    Source::named(path.display().to_string()).fault(
        None,
        "",
        format!("cannot read the file: {reason}"),
    )
}
