//! What a plug-in is: a name, the operations it handles, and two halves.
//!
//! `admit` may change the object, `validate` may not. All `admit` halves run before the first
//! `validate`. A plug-in says no by [`Outcome::Deny`]; it says that it could not decide by a
//! [`PluginError`], and the chain's failure mode says what that means.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::attributes::{Attributes, Operation};
use crate::document::DocumentError;
use crate::policy_step::{HostCallStep, PolicyStep};
use crate::verdict::{Denial, Phase};

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

    /// What it has an opinion on, as API group and resource, with the subresource as in `pods/resize`; none if that may
    /// be anything. Registrations of webhooks are made of it: what is missing here is never sent to it.
    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        None
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

    /// Begins to judge elsewhere; for plug-ins that are [`Runs::Deferred`], in place of the other
    /// two. What it begins comes to an end by itself, soon after `deadline` at the latest.
    fn begin(&self, phase: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let _ = (phase, request, deadline);
        let outcome = Err(PluginError::Failed("it can't be deferred".to_owned()));
        Box::pin(std::future::ready(Finished {
            outcome,
            notes: Notes::default(),
            object: None,
        }))
    }
}

/// Work that was begun elsewhere.
pub type Pending = Pin<Box<dyn Future<Output = Finished> + Send>>;

/// The end of work that was begun elsewhere.
#[derive(Debug)]
pub struct Finished {
    /// What the plug-in says.
    pub outcome: Result<Outcome, PluginError>,
    /// What it says besides.
    pub notes: Notes,
    /// The object as it shall be, if it is to be changed.
    pub object: Option<Value>,
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
    /// On threads of the plug-in's own, which keeps the time itself: see [`Plugin::begin`].
    Deferred,
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
    /// No, for the only reason that it could not decide; its own failure mode has been applied.
    Undecided(Denial),
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
    pub(crate) policies: Vec<PolicyStep>,
    pub(crate) host_calls: Vec<HostCallStep>,
    /// What of the plug-in that is asked failed, and was passed over by itself.
    pub(crate) passed_over: Vec<String>,
    /// Everything that failed and was passed over so far, by plug-in.
    pub(crate) failed_open: Vec<String>,
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

    /// Says what each policy did, for plug-ins that hold several.
    pub fn policies(&mut self, steps: Vec<PolicyStep>) {
        self.policies = steps;
    }

    /// Reports the host calls of policies.
    pub fn host_calls(&mut self, calls: Vec<HostCallStep>) {
        self.host_calls = calls;
    }

    /// Names the policies that could not decide and were passed over, for plug-ins that hold several
    /// and fail open.
    pub fn passed_over(&mut self, policies: Vec<String>) {
        self.passed_over = policies;
    }

    /// Adds what was said elsewhere.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        self.annotations.extend(other.annotations);
        self.policy = other.policy.or(self.policy.take());
        self.policies = other.policies;
        self.host_calls = other.host_calls;
        self.passed_over = other.passed_over;
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
    /// CREATE, UPDATE and DELETE.
    pub const WRITES_AND_DELETE: Self =
        Self(&[Operation::Create, Operation::Update, Operation::Delete]);
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
