//! What a plug-in is: a name, the operations it handles, and two halves.
//!
//! `admit` may change the object, `validate` may not. All `admit` halves run before the first
//! `validate`. A plug-in says no by [`Outcome::Deny`]; it says that it could not decide by a
//! [`PluginError`], and the chain's failure mode says what that means.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::attributes::{Attributes, Operation};
use crate::document::DocumentError;
use crate::verdict::Denial;

/// One named judge in the chain.
pub trait Plugin: Send + Sync {
    /// Whether it handles this operation; the chain skips it otherwise.
    fn handles(&self, operation: Operation) -> bool;

    /// The halves it has.
    fn phases(&self) -> Phases;

    /// How it must be run.
    fn runs(&self) -> Runs {
        Runs::Inline
    }

    /// Judges, and may change the object.
    fn admit(&self, request: &mut Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        let _ = (request, notes);
        Ok(Outcome::Pass)
    }

    /// Judges the object as all `admit` halves left it.
    fn validate(&self, request: &Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        let _ = (request, notes);
        Ok(Outcome::Pass)
    }
}

/// The halves a plug-in has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// It may change objects.
    pub admit: bool,
    /// It judges finished objects.
    pub validate: bool,
}

impl Phases {
    /// Changes only.
    pub const ADMIT: Self = Self {
        admit: true,
        validate: false,
    };
    /// Judges only.
    pub const VALIDATE: Self = Self {
        admit: false,
        validate: true,
    };
    /// Both.
    pub const BOTH: Self = Self {
        admit: true,
        validate: true,
    };
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.admit, self.validate) {
            (true, true) => "admit, validate",
            (true, false) => "admit",
            (false, true) => "validate",
            (false, false) => "none",
        })
    }
}

/// How a plug-in must be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// In place: it computes, never waits, and always comes to an end.
    Inline,
    /// On a thread of its own, which is left behind when the time is up.
    Detached,
}

/// What a plug-in says of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Not its business, and why.
    NotApplicable(Cow<'static, str>),
    /// No objection.
    Pass,
    /// No.
    Deny(Denial),
}

impl Outcome {
    /// Not its business, because of `why`.
    pub fn not_applicable(why: &'static str) -> Self {
        Self::NotApplicable(Cow::Borrowed(why))
    }
}

/// A plug-in that could not decide.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PluginError {
    /// Something it needs failed.
    #[error("{0}")]
    Failed(String),
    /// It gave up after this long.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
}

impl From<DocumentError> for PluginError {
    fn from(e: DocumentError) -> Self {
        Self::Failed(e.to_string())
    }
}

/// What a plug-in says besides yes and no.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    pub(crate) warnings: Vec<String>,
    pub(crate) annotations: Vec<(Cow<'static, str>, String)>,
    pub(crate) policy: Option<String>,
}

impl Notes {
    /// Tells the person who asked.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Tells the auditor. A later value of a key replaces an earlier one.
    pub fn annotate(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.annotations.push((key.into(), value.into()));
    }

    /// Names the policy that decided, for plug-ins that hold several.
    pub fn decided_by(&mut self, policy: impl Into<String>) {
        self.policy = Some(policy.into());
    }

    /// The warnings so far.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The annotations so far.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.annotations
            .iter()
            .map(|(k, v)| (k.as_ref(), v.as_str()))
    }
}

/// A set of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operations(&'static [Operation]);

impl Operations {
    /// All four.
    pub const ALL: Self = Self(&Operation::ALL);
    /// CREATE and UPDATE.
    pub const WRITES: Self = Self(&[Operation::Create, Operation::Update]);
    /// CREATE.
    pub const CREATE: Self = Self(&[Operation::Create]);

    /// Whether the operation is one of them.
    pub fn contains(self, operation: Operation) -> bool {
        self.0.contains(&operation)
    }

    /// The operations one by one.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        self.0.iter().copied()
    }
}
