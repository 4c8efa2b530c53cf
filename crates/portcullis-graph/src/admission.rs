//! The admission half of a profile: what is required of the objects that agents write.
//!
//! Pure: it looks objects up through [`Lookups`], and says what must be read first. The caller reads it
//! and asks again. Everything that can't be computed is a denial.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::UserInfo;
use serde_json::Value;

use crate::access_rules::Subject;
use crate::kinds::{Kinds, VertexKind};
use crate::lookups::{LookupResult, Lookups};
use crate::vertex::Vertex;
use resource::ResourceName;
use rule::Rule;
use template::{Template, bounded};

mod compile;
mod evaluate;
mod resource;
mod rule;
mod template;
#[cfg(test)]
mod tests;

/// The compiled admission rules of a profile.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    kinds: Arc<Kinds>,
    skip_existing: bool,
    other_resources: Option<Refusal>,
    other_operations: Option<Refusal>,
    /// In the order of the profile.
    rules: Vec<Rule>,
    /// Numbers of the rules about a resource, in order.
    by_resource: HashMap<ResourceName, Vec<usize>>,
}

/// How a denial is worded.
#[derive(Debug)]
struct Refusal {
    code: u16,
    message: Template,
    /// Its place in the profile.
    place: String,
}

/// One request for admission, as expressions see it.
#[derive(Debug, Clone)]
pub struct AdmissionRequest<'a> {
    /// CREATE, UPDATE, DELETE or CONNECT.
    pub operation: &'a str,
    /// API group of the resource.
    pub group: &'a str,
    /// Resource, like `pods`.
    pub resource: &'a str,
    /// Part of the object, like `status`; empty for the object itself.
    pub subresource: &'a str,
    /// Namespace.
    pub namespace: &'a str,
    /// Name; may be empty on CREATE, then the object's counts.
    pub name: &'a str,
    /// The user.
    pub user: &'a UserInfo,
    /// The object as it shall be.
    pub object: Option<&'a Value>,
    /// The object as it is.
    pub old_object: Option<&'a Value>,
    /// Options of the operation.
    pub options: Option<&'a Value>,
}

/// What is said of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The user is not an agent of this profile, or the profile has no rule for the request.
    NotApplicable,
    /// No objection.
    Pass,
    /// No objection, because the object is there already: the API server will reject the CREATE itself.
    AlreadyExists,
    /// No: HTTP status and words.
    Refuse {
        /// HTTP status.
        code: u16,
        /// Why.
        message: String,
        /// Which rule, like `admission.rules[3].cases[0].require[1]`.
        rule: String,
    },
    /// These must be read first.
    Needs(Vec<Vertex>),
    /// It can't be decided, and why; deny.
    Failed(String),
}

impl Judgement {
    /// No, because the user claims to be an agent, but which can't be determined.
    pub fn unclear(why: String) -> Self {
        Self::Refuse {
            code: 403,
            message: why,
            rule: "subjects".to_owned(),
        }
    }
}

impl AdmissionRequest<'_> {
    /// The name, or that of the object where the request has none.
    fn effective_name(&self) -> &str {
        if self.name.is_empty() {
            return member(self.object, "name");
        }
        self.name
    }

    /// Why it contradicts itself, if it does.
    fn contradiction(&self) -> Option<&'static str> {
        if !matches!(self.operation, "CREATE" | "UPDATE") {
            return None;
        }
        if !self.object.is_some_and(Value::is_object) {
            return Some("there is no object");
        }
        let differs = |ours: &str, its: &str| !ours.is_empty() && !its.is_empty() && ours != its;
        if !self.subresource.is_empty() {
            return None;
        }
        if differs(self.name, member(self.object, "name")) {
            return Some("its name is not that of the request");
        }
        if differs(self.namespace, member(self.object, "namespace")) {
            return Some("its namespace is not that of the request");
        }
        None
    }
}

/// A string of the object's metadata; empty if it is missing or not a string.
fn member<'a>(object: Option<&'a Value>, key: &str) -> &'a str {
    let metadata = object.and_then(|object| object.get("metadata"));
    let value = metadata.and_then(|metadata| metadata.get(key));
    value.and_then(Value::as_str).unwrap_or_default()
}

impl Admission {
    /// What is said of a request of this agent.
    pub(crate) fn judge(
        &self,
        subject: &Subject,
        request: &AdmissionRequest<'_>,
        lookups: &dyn Lookups,
        now: SystemTime,
    ) -> Judgement {
        let judgement = self.check(subject, request, lookups, now);
        match judgement {
            Judgement::Refuse { .. } | Judgement::Failed(_) if self.skip_existing => {
                self.unless_existing(request, lookups, judgement)
            }
            other => other,
        }
    }

    fn check(
        &self,
        subject: &Subject,
        request: &AdmissionRequest<'_>,
        lookups: &dyn Lookups,
        now: SystemTime,
    ) -> Judgement {
        let about: Vec<&Rule> = self.rules_about(subject, request).collect();
        let inputs = evaluate::Inputs::new(subject, request, &self.kinds);
        if about.is_empty() {
            return inputs.refusal(self.other_resources.as_ref());
        }
        let mut about = about.into_iter();
        let Some(rule) = about.find(|rule| rule.has_operation(request.operation)) else {
            return inputs.refusal(self.other_operations.as_ref());
        };
        if let Some(why) = self.contradiction(request) {
            return Judgement::Refuse {
                code: 400,
                message: format!("cannot check the object: {why}"),
                rule: rule.place.clone(),
            };
        }
        rule.judge(&inputs, lookups, now)
    }

    /// The kind of what a request is about, if the profile has it.
    fn kind(&self, request: &AdmissionRequest<'_>) -> Option<&VertexKind> {
        let kind = self.kinds.of_resource(request.group, request.resource);
        kind.and_then(|kind| self.kinds.get(kind))
    }

    /// Why a request contradicts itself, or what its resource is, if it does.
    fn contradiction(&self, request: &AdmissionRequest<'_>) -> Option<String> {
        if let Some(why) = request.contradiction() {
            return Some(why.to_owned());
        }
        let kind = self.kind(request)?;
        let mismatch = kind.scope().namespace(request.namespace).err()?;
        let namespace = bounded(request.namespace);
        Some(mismatch.words(&kind.full_resource(), &namespace))
    }

    /// The rules about a resource that are for this agent.
    fn rules_about<'a>(
        &'a self,
        subject: &'a Subject,
        request: &AdmissionRequest<'_>,
    ) -> impl Iterator<Item = &'a Rule> {
        let exact = ResourceName::new(request.group, request.resource, request.subresource);
        let is_part = !request.subresource.is_empty();
        let any_part = is_part.then(|| ResourceName::new(request.group, request.resource, "*"));
        let names = std::iter::once(exact).chain(any_part);
        let numbers = names.filter_map(|name| self.by_resource.get(&name));
        let rules = numbers
            .flatten()
            .filter_map(|&number| self.rules.get(number));
        rules.filter(|rule| rule.is_for(&subject.id))
    }

    /// What would be denied passes if the object is there already. It is asked last, so that the usual
    /// request costs no reading, and nothing passes for it that the rules would not deny.
    fn unless_existing(
        &self,
        request: &AdmissionRequest<'_>,
        lookups: &dyn Lookups,
        judgement: Judgement,
    ) -> Judgement {
        let name = request.effective_name();
        let is_creation = request.operation == "CREATE"
            && request.subresource.is_empty()
            && request.contradiction().is_none();
        let Some(kind) = self
            .kind(request)
            .filter(|_| is_creation && !name.is_empty())
        else {
            return judgement;
        };
        let Ok(namespace) = kind.scope().namespace(request.namespace) else {
            return judgement;
        };
        let wanted = Vertex {
            kind: kind.name.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        match lookups.find_now(&wanted) {
            LookupResult::Object(_) => Judgement::AlreadyExists,
            LookupResult::Unread => Judgement::Needs(vec![wanted]),
            LookupResult::Absent | LookupResult::Failed(_) => judgement,
        }
    }
}
