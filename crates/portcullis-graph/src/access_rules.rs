//! What agents may do: the subjects and rules of a profile, and how they decide a request.
//!
//! Rules are data, with expressions only in rare names, so that a check costs a few look-ups and one
//! query of the graph. They don't know where the graph is: the caller brings [`Paths`].

mod allowed;
mod captures;
mod compile;
mod decision;
mod explanation;
mod faults;
mod pattern;
mod reasons;
mod rules;
mod selectors;
mod subjects;
mod template;
mod verbs;

use std::sync::Arc;

use portcullis_core::UserInfo;

use crate::vertex::KindId;

pub(crate) use decision::{AgentRequest, AllowedBy, Outcome, Paths};
pub use explanation::Explanation;
pub(crate) use rules::AccessRules;
pub(crate) use subjects::{Recognition, Recognized};
pub(crate) use verbs::Verb;

/// Which answer is used where the safe one and upstream's differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The safe one: only positive selectors of a single value; an unknown object is not deleted unless the
    /// rule says so.
    #[default]
    Strict,
    /// Upstream's: a label requirement counts if an object with that one label would pass it; of several
    /// requirements (`all`) one is enough; an unknown object may be deleted; where selectors are not sent
    /// along, a list of one named object is open too if the rule has a selector on the name.
    Upstream,
}

/// Whether the API server forwards selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selectors {
    /// It does: lists need them.
    #[default]
    Forwarded,
    /// It can't: lists that would need one are open.
    NotForwarded,
}

/// An agent that was recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Which subject of the profile.
    pub id: Arc<str>,
    /// The kind it stands for.
    pub kind: KindId,
    /// The namespace of what it stands for.
    pub namespace: String,
    /// The name of what it stands for.
    pub name: String,
}

/// Who a user is to a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentIdentity {
    /// Not an agent.
    Other,
    /// A user that claims to be an agent, but which one can't be determined; why. It has none of an agent's
    /// permissions.
    Unclear(String),
    /// An agent.
    Agent(Subject),
}

impl AccessRules {
    /// Who this user is.
    pub fn identify(&self, user: &UserInfo) -> AgentIdentity {
        match self.subjects.recognize(user) {
            Recognition::Agent(subject) => AgentIdentity::Agent(Subject {
                id: Arc::clone(&subject.agent.id),
                kind: subject.agent.kind,
                namespace: subject.namespace.into_owned(),
                name: subject.name.into_owned(),
            }),
            Recognition::Unclear(why) => AgentIdentity::Unclear(why.into_owned()),
            Recognition::NotAnAgent => AgentIdentity::Other,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
