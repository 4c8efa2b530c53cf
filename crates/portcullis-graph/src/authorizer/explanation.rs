//! Why an answer is as it is, in words.

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;

use super::allowed::Spot;
use super::decision::{How, Outcome, Question, Why};
use super::rules::{Rule, Rules};
use super::subjects::Recognized;
use crate::engine::Graph;
use crate::vertex::{Vertex, VertexRef};

/// At most so many vertices are named that an object leads to instead.
const NEAREST: usize = 5;

/// Why an answer is as it is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The answer.
    pub opinion: Opinion,
    /// Which subject the user is, and what it stands for; none if the user is not an agent here.
    pub subject: Option<(String, Vertex)>,
    /// For who is not an agent: which subject the user nearly is, and what it lacks.
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
    pub(super) fn of(opinion: Opinion) -> Self {
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

impl Rules {
    /// Which rule an outcome comes from, and in words.
    pub(super) fn rule_in_words(
        &self,
        outcome: Outcome,
        question: &Question<'_>,
    ) -> Option<(String, String)> {
        let verb = question.verb.as_str();
        match outcome {
            Outcome::NoRule => None,
            Outcome::Allowed(place, how) => {
                let words = match how {
                    How::Static => format!("`{verb}` is allowed regardless of the graph"),
                    How::Shortcut(_) => format!("`{verb}` of this very object is always allowed"),
                    How::Always => format!("`{verb}` is always allowed"),
                    How::Named(_) => format!("`{verb}` of an object of this name is allowed"),
                    How::Selector(_) => format!("`{verb}` is allowed with this selector"),
                    How::NoSelectors => {
                        format!("`{verb}` is allowed because selectors are not forwarded")
                    }
                    How::UnknownDelete => "an unknown object may be deleted".to_owned(),
                    How::Path => format!("`{verb}` needs a path, and there is one"),
                };
                Some((Spot(place, how).to_string(), words))
            }
            Outcome::Missed(number, why) => {
                let words = match why {
                    Why::Namespace => "namespace does not match".to_owned(),
                    Why::Subresource => "subresource does not match".to_owned(),
                    Why::Verb => format!("it does not cover `{verb}`"),
                    Why::Selector => self.needed_selectors(number, question),
                    Why::NoName => format!("`{verb}` needs the name of an object"),
                    Why::Name => format!("`{verb}` is for objects with other names"),
                    Why::Scope(_) => {
                        format!("`{verb}` needs a path, and no object is in such a namespace")
                    }
                    Why::Unknown | Why::NoPath => {
                        format!("`{verb}` needs a path, and there is none")
                    }
                };
                Some((format!("rules[{number}]"), words))
            }
        }
    }

    /// The selectors that would open a list, as flags of the command line.
    fn needed_selectors(&self, number: usize, question: &Question<'_>) -> String {
        let verb = question.verb.as_str();
        let selectors = self.rules.get(number).map(Rule::named_selectors);
        match selectors.unwrap_or_default().as_slice() {
            [] => format!("`{verb}` needs the name of an object: no selector allows this list"),
            all => {
                let all: Vec<_> = all.iter().map(|s| s.as_flags(question.subject)).collect();
                let all = all.join(", or ");
                format!("`{verb}` of many objects needs a selector: {all}")
            }
        }
    }

    /// Adds what the graph knows of the object.
    pub(super) fn look_at_graph(
        &self,
        explanation: &mut Explanation,
        outcome: Outcome,
        subject: &Recognized<'_>,
        target: &ResourceTarget,
        graph: &Graph,
    ) {
        explanation.lacks_path = matches!(outcome, Outcome::Missed(_, Why::NoPath | Why::Unknown));
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
            Outcome::Allowed(_, How::Path) => {
                let path = graph.path(from, subject.stands_for()).unwrap_or_default();
                explanation.path = vertices(path);
            }
            Outcome::Missed(_, Why::NoPath) => {
                explanation.leads_to = vertices(graph.targets(from, NEAREST));
            }
            _ => {}
        }
    }
}
