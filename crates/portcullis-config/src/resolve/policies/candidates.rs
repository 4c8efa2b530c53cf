//! Policies in force with changes, by someone who is not the author of the configuration: some with another text or
//! mode, some added, some removed. No file is read.

use portcullis_core::PolicyMode;
use portcullis_js::PolicyCode;
use portcullis_script::Language;

use super::described;
use super::scripts::Scripts;
use super::texts::labelled;
use crate::matcher::Matcher;
use crate::model::{Policies, Policy, Written};
use crate::notes::Notes;
use portcullis_document::{Faults, Source};

/// A policy of a candidate set: one in force with changes, or a new one.
#[derive(Debug, Clone, Default)]
pub struct PolicyChange<'a> {
    /// Its name. One that is not in force is added as the last.
    pub name: &'a str,
    /// Its text; required for one that is not in force.
    pub text: Option<&'a str>,
    /// The language of one that is not in force.
    pub language: Language,
    /// What a denial means; by default as it is in force, or as the text says.
    pub mode: Option<PolicyMode>,
    /// What it applies to; by default as it is in force, or as the text says.
    pub matching: Option<Matcher>,
}

impl Policies {
    /// These with another text for the policy of this name.
    ///
    /// # Errors
    ///
    /// As those of [`Policies::with_changes`].
    pub fn with_text(&self, name: &str, text: &str) -> Result<Self, Faults> {
        let change = PolicyChange {
            name,
            text: Some(text),
            ..PolicyChange::default()
        };
        self.with_changes(&[change], &[])
    }

    /// These with some changed or added, and without those that are removed. Another text of a file may import what
    /// policies in force import, and describes itself; that of a policy of a list keeps what the list says of it. A
    /// new policy is like a file without imports.
    ///
    /// # Errors
    ///
    /// When a text can't be read, or a new policy has none. Whether it can be compiled is up to the engine.
    pub fn with_changes(
        &self,
        changes: &[PolicyChange<'_>],
        removed: &[&str],
    ) -> Result<Self, Faults> {
        let mut notes = Notes::default();
        let mut scripts = Scripts::resume(&self.modules);
        let mut list = self.list.clone();
        list.retain(|policy| !removed.contains(&policy.name.as_str()));
        for change in changes {
            let known = list.iter_mut().find(|policy| policy.name == change.name);
            match known {
                Some(policy) => {
                    if let Some(other) = changed(policy, change, &mut scripts, &mut notes) {
                        *policy = other;
                    }
                }
                None => list.extend(added(change, &mut scripts, &mut notes)),
            }
        }
        match Faults::from_list(notes.faults) {
            Some(faults) => Err(faults),
            None => Ok(Self {
                list,
                modules: scripts.finish().0,
                ..self.without_policies()
            }),
        }
    }
}

/// A policy in force with changes.
fn changed(
    policy: &Policy,
    change: &PolicyChange<'_>,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Option<Policy> {
    let policy = match change.text {
        Some(text) => with_text(policy, text, scripts, notes)?,
        None => policy.clone(),
    };
    Some(overridden(policy, change))
}

/// A new policy.
fn added(change: &PolicyChange<'_>, scripts: &mut Scripts, notes: &mut Notes) -> Option<Policy> {
    let text = labelled(change.name, change.text.unwrap_or_default());
    is_given(&text, notes)?;
    let read = scripts.alone(&text, change.language, notes)?;
    let policy = described(change.name.to_owned(), &text, read, notes)?;
    Some(overridden(policy, change))
}

/// A policy with what is said of it instead of what it says of itself.
fn overridden(policy: Policy, change: &PolicyChange<'_>) -> Policy {
    Policy {
        mode: change.mode.unwrap_or(policy.mode),
        matcher: change.matching.clone().unwrap_or(policy.matcher),
        ..policy
    }
}

/// A policy with another text.
fn with_text(
    policy: &Policy,
    text: &str,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Option<Policy> {
    is_given(&labelled(&policy.name, text), notes)?;
    let Some(file) = policy.text.path() else {
        let label = policy.text.label().to_owned();
        let place = policy.text.place().to_owned();
        let text = Source::part_of(label, text.to_owned(), place);
        let code = match (&policy.code, scripts.inline(&text, notes)?) {
            (PolicyCode::JsPolicy(_), PolicyCode::Body(code)) => PolicyCode::JsPolicy(code),
            (_, code) => code,
        };
        return Some(Policy {
            code,
            written: Written::whole(&text, None),
            text,
            ..policy.clone()
        });
    };
    let text = Source::file(file, text);
    let read = scripts.another(file, &text, notes)?;
    described(policy.name.clone(), &text, read, notes)
}

/// A text of nothing is a mistake.
fn is_given(text: &Source, notes: &mut Notes) -> Option<()> {
    if text.text().trim_ascii().is_empty() {
        notes.fault(text.fault(None, "", "the text is empty"));
        return None;
    }
    Some(())
}
