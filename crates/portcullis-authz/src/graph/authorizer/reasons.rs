//! What is said where nothing allows: upstream's words, and where a path is missing, between what.

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;

use super::decision::{Outcome, Why};
use super::rules::{KeyRef, Resource, Rule, Rules};
use super::subjects::Recognized;
use crate::graph::profile::spec::OnMiss;
use crate::graph::vertex::VertexRef;

/// Names are repeated up to this length: a name of the API is never longer.
const LONGEST: usize = 253;

impl Rules {
    /// The opinion that an outcome is.
    pub(super) fn opinion(
        &self,
        outcome: Outcome,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
    ) -> Opinion {
        match outcome {
            Outcome::Allowed(..) => Opinion::Allow(String::new()),
            Outcome::NoRule => match self.on_miss {
                OnMiss::NoOpinion => Opinion::NoOpinion(String::new()),
                OnMiss::Deny => {
                    Opinion::Deny(format!("no rule is about `{}`", clip(&target.resource)))
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
            Why::Selector => format!(
                "must specify field or label selector for name {}",
                clip(&subject.name)
            ),
            Why::NoName => "No Object name found".to_owned(),
            Why::Name => {
                let names = rule.named.iter().map(|(_, name)| name.expand(subject));
                only("names", names.collect())
            }
            Why::Unknown | Why::NoPath => self.missing(why, subject, target),
        }
    }

    /// Which relationship is missing.
    fn missing(&self, why: Why, subject: &Recognized<'_>, target: &ResourceTarget) -> String {
        let mut text = String::with_capacity(160);
        text.push_str("no relationship found: ");
        let resource = self.resource(target);
        match resource.and_then(|resource| resource.vertex(target)) {
            Some(from) => {
                self.write(&mut text, from);
                if why == Why::Unknown {
                    text.push_str(" is not known, so it");
                }
                text.push_str(" does not lead to ");
            }
            None => {
                text.push_str(clip(&target.resource));
                text.push(' ');
                text.push_str(clip(&target.name));
                text.push_str(" without a namespace does not lead to ");
            }
        }
        self.write(&mut text, subject.stands_for());
        text
    }

    /// What there is about a resource.
    pub(super) fn resource(&self, target: &ResourceTarget) -> Option<&Resource> {
        self.resources.get(&KeyRef {
            group: &target.group,
            resource: &target.resource,
        })
    }

    fn write(&self, text: &mut String, vertex: VertexRef<'_>) {
        text.push_str(self.kinds.name(vertex.kind));
        text.push(':');
        if !vertex.namespace.is_empty() {
            text.push_str(clip(vertex.namespace));
            text.push('/');
        }
        text.push_str(clip(vertex.name));
    }
}

fn only<T: AsRef<str> + Ord>(what: &str, mut allowed: Vec<T>) -> String {
    allowed.sort_unstable();
    allowed.dedup();
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    let allowed = allowed.join(" ");
    format!("only the following {what} are allowed for this resource type: [{allowed}]")
}

/// The beginning of a text, if it is longer than any name.
fn clip(text: &str) -> &str {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
