//! What a door hands over after it decided. Nothing here is masked yet.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::json::Index;
use portcullis_core::{Access, AccessVerdict, Attributes, Door, Opinion, Verdict};

use crate::action::Action;
use crate::input::Webhook;

/// A decision with all of its input.
#[derive(Debug)]
pub struct Material {
    /// The body of the request: strict JSON. Of an action nothing is read of it or kept.
    pub body: Body,
    /// Where the lists and objects of the body are, if that is known.
    pub index: Option<Index>,
    /// When it came.
    pub received: SystemTime,
    /// The digest of everything that judged.
    pub gate: Arc<str>,
    /// The trace it belongs to, as W3C has it.
    pub traceparent: Option<String>,
    /// What was decided.
    pub decided: Decided,
}

impl Material {
    /// That of an action, which needs no body.
    pub fn of_action(
        action: Action,
        received: SystemTime,
        gate: Arc<str>,
        traceparent: Option<String>,
    ) -> Self {
        Self {
            body: Body::none(),
            index: None,
            received,
            gate,
            traceparent,
            decided: Decided::Action(Box::new(action)),
        }
    }
}

/// What was decided.
#[derive(Debug)]
pub enum Decided {
    /// May this object come to be, and in what form?
    Admission(Box<Admission>),
    /// May this user do this?
    Authorization(Box<Authorization>),
    /// May this caller of the API do this?
    Action(Box<Action>),
}

impl Decided {
    /// The door at which it was.
    pub fn door(&self) -> Door {
        match self {
            Self::Admission(admission) => admission.attributes.door,
            Self::Authorization(_) => Door::Authorization,
            Self::Action(_) => Door::Api,
        }
    }

    /// Whether it was allowed.
    pub fn is_allowed(&self) -> bool {
        match self {
            Self::Admission(admission) => admission.verdict.is_allowed(),
            Self::Authorization(access) => access.is_allowed(),
            Self::Action(action) => action.allowed,
        }
    }
}

/// A body that others may still hold.
#[derive(Clone)]
pub struct Body(pub Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Body {
    /// No body.
    pub(crate) fn none() -> Self {
        Self(Arc::new([]))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.0.as_ref().as_ref().len())
    }
}

/// A decision on admission.
#[derive(Debug)]
pub struct Admission {
    /// What was asked.
    pub attributes: Attributes,
    /// What was answered.
    pub verdict: Verdict,
    /// The way in, for reviews.
    pub webhook: Option<Webhook>,
    /// The digest of the policy that decided.
    pub digest: Option<Arc<str>>,
}

/// A decision on authorization.
#[derive(Debug)]
pub struct Authorization {
    /// What was asked.
    pub access: Access,
    /// What was answered.
    pub verdict: AccessVerdict,
    /// The chain that was asked.
    pub chain: String,
}

impl Authorization {
    /// Whether it was allowed.
    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self.verdict.opinion, Opinion::Allow(_))
    }
}
