//! A policy that is given as text, by someone who is not the author of the configuration, alone. No file is read.

use std::sync::Arc;

use portcullis_core::PolicyMode;
use portcullis_script::Language;

use super::described;
use super::scripts::Scripts;
use crate::{
    matcher::Matcher,
    model::{About, Policies, Policy, Written},
    notes::Notes,
};
use portcullis_document::{Faults, Source};

/// A policy that is given as text.
#[derive(Debug, Clone, Copy)]
pub struct PolicyText<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// The body of a function, or a module without imports, which may describe itself.
    pub text: &'a str,
    /// Its language.
    pub language: Language,
    /// What a denial means; by default what it says of itself, or else `enforce`.
    pub mode: Option<PolicyMode>,
    /// Whether it is to say which of its lines ran.
    pub is_covered: bool,
}

impl Policies {
    /// These without their policies: what a single policy is added to.
    pub fn without_policies(&self) -> Self {
        Self {
            globals: Arc::clone(&self.globals),
            list: Vec::new(),
            modules: Vec::new(),
            marks: Vec::new(),
            default_action: self.default_action,
            names_links: self.names_links,
            host: self.host.clone(),
        }
    }

    /// The same globals and host calls with one policy for CI jobs, given as text: the body of a function, or a
    /// module without imports.
    ///
    /// # Errors
    ///
    /// When the text can't be read. Whether it can be compiled is up to the engine.
    pub fn with_job_policy(&self, name: &str, code: &str) -> Result<Self, Faults> {
        let text = labelled(name, code);
        self.with_one(false, |scripts, notes| {
            let code = scripts.inline(&text, notes)?;
            Some(Policy {
                name: name.to_owned(),
                matcher: Matcher::default(),
                mode: PolicyMode::Enforce,
                code,
                written: Written::whole(&text, None),
                text,
                about: About::default(),
            })
        })
    }

    /// The same globals and host calls with this policy alone, which is for CI jobs too.
    ///
    /// # Errors
    ///
    /// When the text can't be read. Whether it can be compiled is up to the engine.
    pub fn with_only(&self, given: &PolicyText<'_>) -> Result<Self, Faults> {
        let text = labelled(given.name, given.text);
        self.with_one(given.is_covered, |scripts, notes| {
            let read = scripts.alone(&text, given.language, notes)?;
            let mut policy = described(given.name.to_owned(), &text, read, notes)?;
            policy.mode = given.mode.unwrap_or(policy.mode);
            Some(policy)
        })
    }

    fn with_one(
        &self,
        is_covered: bool,
        read: impl FnOnce(&mut Scripts, &mut Notes) -> Option<Policy>,
    ) -> Result<Self, Faults> {
        let mut notes = Notes::default();
        let mut scripts = Scripts::new(is_covered);
        let policy = read(&mut scripts, &mut notes);
        if let Some(faults) = Faults::from_list(notes.faults) {
            return Err(faults);
        }
        let mut list: Vec<Policy> = policy.into_iter().collect();
        for policy in &mut list {
            policy.matcher.also_for_jobs();
        }
        let (modules, marks) = scripts.finish();
        Ok(Self {
            list,
            modules,
            marks,
            ..self.without_policies()
        })
    }
}

pub(super) fn labelled(name: &str, text: &str) -> Arc<Source> {
    Source::text_named(format!("policy `{name}`"), text)
}
