//! The reason of an answer. Where nothing allows: upstream's wording, and where a path is missing, its
//! ends. The reason of an allow is in `allowed`.

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;

use super::decision::{AgentRequest, MissReason, Outcome};
use super::rules::{AccessRules, Resource, ResourceKeyRef, Rule};
use super::subjects::Recognized;
use crate::engine::Named;
use crate::names::{clip, printable_name};
use crate::spec::OnMiss;
use crate::vertex::VertexRef;

impl AccessRules {
    /// The opinion that an outcome is; `path` is the path that allowed it, if it is known.
    pub(crate) fn opinion(
        &self,
        outcome: Outcome,
        request: &AgentRequest<'_>,
        target: &ResourceTarget,
        path: Option<&[Named]>,
    ) -> Opinion {
        let subject = request.subject;
        match outcome {
            Outcome::Allowed(place, how) => {
                Opinion::Allow(self.allowed(place, how, request, target, path))
            }
            Outcome::NoRule => match self.on_miss {
                OnMiss::NoOpinion => Opinion::NoOpinion(String::new()),
                OnMiss::Deny => Opinion::Deny(format!(
                    "no rule covers `{}`",
                    printable_name(&target.resource)
                )),
            },
            Outcome::Missed(number, why) => {
                let rule = self.rules.get(number);
                let reason = rule.map(|rule| self.reason(rule, why, subject, target));
                let reason = reason.unwrap_or_default();
                match rule.and_then(|rule| rule.on_miss).unwrap_or(self.on_miss) {
                    OnMiss::NoOpinion => Opinion::NoOpinion(reason),
                    OnMiss::Deny => Opinion::Deny(reason),
                }
            }
        }
    }

    fn reason(
        &self,
        rule: &Rule,
        why: MissReason,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
    ) -> String {
        match why {
            MissReason::Namespace => match &rule.namespace_reason {
                Some(reason) => reason.to_string(),
                None => {
                    let all = rule.namespaces.iter().flatten();
                    only("namespaces", all.map(|n| n.expand(subject)).collect())
                }
            },
            MissReason::Subresource => only("subresources", rule.subresources.clone()),
            MissReason::Verb => match &rule.verb_reason {
                Some(reason) => reason.to_string(),
                None => only("verbs", rule.verbs.names()),
            },
            MissReason::Selector => {
                let mut text = format!(
                    "must specify field or label selector for name {}: ",
                    printable_name(&subject.name)
                );
                match rule.named_selectors().as_slice() {
                    [] => text.push_str("no selector allows this list, name one object"),
                    all => {
                        let all: Vec<_> = all.iter().map(|one| one.in_words(subject)).collect();
                        text.push_str(&all.join(", or "));
                    }
                }
                text
            }
            MissReason::NoName => "No Object name found".to_owned(),
            MissReason::Name => {
                let names = rule.named.iter().map(|(_, name)| name.expand(subject));
                only("names", names.collect())
            }
            MissReason::Scope(mismatch) => {
                let resource = &target.resource;
                let words = mismatch.words(clip(resource), clip(&target.namespace));
                format!("no relationship found: {words}")
            }
            MissReason::Unknown | MissReason::NoPath => self.missing(why, subject, target),
        }
    }

    /// Which relationship is missing.
    fn missing(
        &self,
        why: MissReason,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
    ) -> String {
        let mut text = String::with_capacity(160);
        text.push_str("no relationship found: ");
        match self.object(target) {
            Some(from) => self.write(&mut text, from),
            None => text.push_str(&printable_name(&target.resource)),
        }
        if why == MissReason::Unknown {
            text.push_str(" is unknown, so it");
        }
        text.push_str(" does not lead to ");
        self.write(&mut text, subject.stands_for());
        text
    }

    /// The vertex of the object that a request names, if there can be one.
    pub(crate) fn object<'a>(&self, target: &'a ResourceTarget) -> Option<VertexRef<'a>> {
        self.resource(target)?.vertex(target).ok().flatten()
    }

    /// What there is about a resource.
    pub(super) fn resource(&self, target: &ResourceTarget) -> Option<&Resource> {
        self.resources.get(&ResourceKeyRef {
            group: &target.group,
            resource: &target.resource,
        })
    }

    /// Writes a vertex as people write it.
    pub(super) fn write(&self, text: &mut String, vertex: VertexRef<'_>) {
        text.push_str(self.kinds.name(vertex.kind));
        text.push(':');
        if !vertex.namespace.is_empty() {
            text.push_str(&printable_name(vertex.namespace));
            text.push('/');
        }
        text.push_str(&printable_name(vertex.name));
    }
}

fn only<T: AsRef<str> + Ord>(what: &str, mut allowed: Vec<T>) -> String {
    allowed.sort_unstable();
    allowed.dedup();
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    let allowed = allowed.join(" ");
    format!("only the following {what} are allowed for this resource type: [{allowed}]")
}
