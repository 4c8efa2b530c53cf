//! The reason of an answer. Where nothing allows: upstream's words, and where a path is missing, between
//! what. The reason of an allow is in `allowed`.

use std::borrow::Cow;

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;
use portcullis_core::text::printable;

use super::decision::{Outcome, Question, Why};
use super::rules::{KeyRef, Resource, Rule, Rules};
use super::subjects::Recognized;
use crate::engine::Named;
use crate::profile::spec::OnMiss;
use crate::vertex::VertexRef;

/// Names are repeated up to this length: a name of the API is never longer.
const LONGEST: usize = 253;

impl Rules {
    /// The opinion that an outcome is; `path` is the path that allowed it, if it is known.
    pub(super) fn opinion(
        &self,
        outcome: Outcome,
        question: &Question<'_>,
        target: &ResourceTarget,
        path: Option<&[Named]>,
    ) -> Opinion {
        let subject = question.subject;
        match outcome {
            Outcome::Allowed(place, how) => {
                Opinion::Allow(self.allowed(place, how, question, target, path))
            }
            Outcome::NoRule => match self.on_miss {
                OnMiss::NoOpinion => Opinion::NoOpinion(String::new()),
                OnMiss::Deny => {
                    Opinion::Deny(format!("no rule covers `{}`", name(&target.resource)))
                }
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
        why: Why,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
    ) -> String {
        match why {
            Why::Namespace => match &rule.namespace_reason {
                Some(reason) => reason.to_string(),
                None => {
                    let all = rule.namespaces.iter().flatten();
                    only("namespaces", all.map(|n| n.expand(subject)).collect())
                }
            },
            Why::Subresource => only("subresources", rule.subresources.clone()),
            Why::Verb => match &rule.verb_reason {
                Some(reason) => reason.to_string(),
                None => only("verbs", rule.verbs.names()),
            },
            Why::Selector => {
                let mut text = format!(
                    "must specify field or label selector for name {}: ",
                    name(&subject.name)
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
            Why::NoName => "No Object name found".to_owned(),
            Why::Name => {
                let names = rule.named.iter().map(|(_, name)| name.expand(subject));
                only("names", names.collect())
            }
            Why::Scope(mismatch) => {
                let resource = &target.resource;
                let words = mismatch.words(clip(resource), clip(&target.namespace));
                format!("no relationship found: {words}")
            }
            Why::Unknown | Why::NoPath => self.missing(why, subject, target),
        }
    }

    /// Which relationship is missing.
    fn missing(&self, why: Why, subject: &Recognized<'_>, target: &ResourceTarget) -> String {
        let mut text = String::with_capacity(160);
        text.push_str("no relationship found: ");
        match self.object(target) {
            Some(from) => self.write(&mut text, from),
            None => text.push_str(&name(&target.resource)),
        }
        if why == Why::Unknown {
            text.push_str(" is unknown, so it");
        }
        text.push_str(" does not lead to ");
        self.write(&mut text, subject.stands_for());
        text
    }

    /// The vertex of the object that a request names, if there can be one.
    pub(super) fn object<'a>(&self, target: &'a ResourceTarget) -> Option<VertexRef<'a>> {
        self.resource(target)?.vertex(target).ok().flatten()
    }

    /// What there is about a resource.
    pub(super) fn resource(&self, target: &ResourceTarget) -> Option<&Resource> {
        self.resources.get(&KeyRef {
            group: &target.group,
            resource: &target.resource,
        })
    }

    /// Writes a vertex as people write it.
    pub(super) fn write(&self, text: &mut String, vertex: VertexRef<'_>) {
        text.push_str(self.kinds.name(vertex.kind));
        text.push(':');
        if !vertex.namespace.is_empty() {
            text.push_str(&name(vertex.namespace));
            text.push('/');
        }
        text.push_str(&name(vertex.name));
    }
}

fn only<T: AsRef<str> + Ord>(what: &str, mut allowed: Vec<T>) -> String {
    allowed.sort_unstable();
    allowed.dedup();
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    let allowed = allowed.join(" ");
    format!("only the following {what} are allowed for this resource type: [{allowed}]")
}

/// A name as far as it can be one, on one line.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    printable(clip(text))
}

/// The beginning of a text, if it is longer than any name.
pub(super) fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST))
        .unwrap_or(text)
}
