//! Collects the faults of subjects and rules.

use portcullis_document::Fault;

use super::captures::CaptureNames;
use super::template::{Template, TemplateFault};
use crate::fault::known_kind;
use crate::kinds::Kinds;
use crate::vertex::KindId;

/// Faults so far.
pub(super) struct Faults<'a>(pub(super) &'a mut Vec<Fault>);

impl Faults<'_> {
    pub(super) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault::at(path, message));
    }

    /// A fault with what would be right: what the list is of, what was written, the list.
    pub(super) fn add_known<'k>(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        of: &str,
        written: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let fault = Fault::at(path, message).with_known(of, written, known);
        self.0.push(fault);
    }

    /// What came out, or a fault.
    pub(super) fn note<T>(&mut self, path: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(path, message)).ok()
    }

    /// A template, or a fault.
    pub(super) fn template(
        &mut self,
        path: &str,
        text: &str,
        names: &CaptureNames,
    ) -> Option<Template> {
        match Template::parse(text, names) {
            Ok(template) => Some(template),
            Err(TemplateFault::Braces(message)) => {
                self.add(path, message);
                None
            }
            Err(TemplateFault::Unknown(name)) => {
                let message = format!("no subject captures `{{{name}}}`");
                self.add_known(path, message, "names in braces", &name, names.iter());
                None
            }
        }
    }

    /// The kind of this name, or a fault.
    pub(super) fn kind(&mut self, path: &str, name: &str, kinds: &Kinds) -> Option<KindId> {
        known_kind(kinds, name, path, self.0)
    }
}
