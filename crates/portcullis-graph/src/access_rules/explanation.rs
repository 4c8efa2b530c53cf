//! The explanation of an answer.

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;

use super::allowed::RulePath;
use super::decision::{AgentRequest, AllowedBy, MissReason, Outcome};
use super::rules::{AccessRules, Rule};
use super::subjects::Recognized;
use crate::engine::Graph;
use crate::vertex::{Vertex, VertexRef};

/// At most so many vertices are named that an object leads to instead.
const NEAREST: usize = 5;

/// The human-readable explanation of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The answer.
    pub opinion: Opinion,
    /// Which subject the user is, and what it stands for; none if the user is not an agent here.
    pub subject: Option<(String, Vertex)>,
    /// If the user is not an agent: the nearest subject, and what is missing.
    pub near_miss: Option<String>,
    /// The rule that decided, like `rules[7]`, and in words.
    pub rule: Option<(String, String)>,
    /// The path that was found.
    pub path: Vec<Vertex>,
    /// Without a path: what the object leads to instead, at most a few, nearest first.
    pub leads_to: Vec<Vertex>,
    /// The object that the request names, if it names one that can be.
    pub object: Option<Vertex>,
    /// Whether the object's vertex is there.
    pub is_known: Option<bool>,
    /// Whether it was not allowed for want of a path: further objects might change the answer.
    pub lacks_path: bool,
}

impl Explanation {
    /// Nothing but an answer.
    pub(crate) fn of(opinion: Opinion) -> Self {
        Self {
            opinion,
            subject: None,
            near_miss: None,
            rule: None,
            path: Vec::new(),
            leads_to: Vec::new(),
            object: None,
            is_known: None,
            lacks_path: false,
        }
    }
}

impl AccessRules {
    /// Which rule an outcome comes from, and in words.
    pub(crate) fn rule_in_words(
        &self,
        outcome: Outcome,
        request: &AgentRequest<'_>,
    ) -> Option<(String, String)> {
        let verb = request.verb.as_str();
        match outcome {
            Outcome::NoRule => None,
            Outcome::Allowed(place, how) => {
                let words = match how {
                    AllowedBy::Static => format!("`{verb}` is allowed regardless of the graph"),
                    AllowedBy::Shortcut(_) => {
                        format!("`{verb}` of this very object is always allowed")
                    }
                    AllowedBy::Always => format!("`{verb}` is always allowed"),
                    AllowedBy::Named(_) => format!("`{verb}` of an object of this name is allowed"),
                    AllowedBy::Selector(_) => format!("`{verb}` is allowed with this selector"),
                    AllowedBy::NoSelectors => {
                        format!("`{verb}` is allowed because selectors are not forwarded")
                    }
                    AllowedBy::UnknownDelete => "an unknown object may be deleted".to_owned(),
                    AllowedBy::Path => format!("`{verb}` needs a path, and there is one"),
                };
                Some((RulePath(place, how).to_string(), words))
            }
            Outcome::Missed(number, why) => {
                let words = match why {
                    MissReason::Namespace => "namespace does not match".to_owned(),
                    MissReason::Subresource => "subresource does not match".to_owned(),
                    MissReason::Verb => format!("it does not cover `{verb}`"),
                    MissReason::Selector => self.needed_selectors(number, request),
                    MissReason::NoName => format!("`{verb}` needs the name of an object"),
                    MissReason::Name => format!("`{verb}` is for objects with other names"),
                    MissReason::Scope(_) => {
                        format!("`{verb}` needs a path, and no object is in such a namespace")
                    }
                    MissReason::Unknown | MissReason::NoPath => {
                        format!("`{verb}` needs a path, and there is none")
                    }
                };
                Some((format!("rules[{number}]"), words))
            }
        }
    }

    /// The selectors that would open a list, as flags of the command line.
    fn needed_selectors(&self, number: usize, request: &AgentRequest<'_>) -> String {
        let verb = request.verb.as_str();
        let selectors = self.rules.get(number).map(Rule::named_selectors);
        match selectors.unwrap_or_default().as_slice() {
            [] => format!("`{verb}` needs the name of an object: no selector allows this list"),
            all => {
                let all: Vec<_> = all.iter().map(|s| s.as_flags(request.subject)).collect();
                let all = all.join(", or ");
                format!("`{verb}` of many objects needs a selector: {all}")
            }
        }
    }

    /// Adds what the graph knows of the object.
    pub(crate) fn look_at_graph(
        &self,
        explanation: &mut Explanation,
        outcome: Outcome,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
        graph: &Graph,
    ) {
        explanation.lacks_path = matches!(
            outcome,
            Outcome::Missed(_, MissReason::NoPath | MissReason::Unknown)
        );
        let Some(from) = self.object(target) else {
            return;
        };
        explanation.object = Some(self.kinds.vertex(from));
        explanation.is_known = Some(graph.contains(from));
        let vertices = |all: Vec<(crate::KindId, String, String)>| -> Vec<Vertex> {
            let vertex = |(kind, namespace, name): &(_, String, String)| {
                self.kinds.vertex(VertexRef {
                    kind: *kind,
                    namespace,
                    name,
                })
            };
            all.iter().map(vertex).collect()
        };
        match outcome {
            Outcome::Allowed(_, AllowedBy::Path) => {
                let path = graph.path(from, subject.stands_for()).unwrap_or_default();
                explanation.path = vertices(path);
            }
            Outcome::Missed(_, MissReason::NoPath) => {
                explanation.leads_to = vertices(graph.targets(from, NEAREST));
            }
            _ => {}
        }
    }
}
