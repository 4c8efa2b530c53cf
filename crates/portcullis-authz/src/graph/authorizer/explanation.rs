//! Why an answer is as it is, in words.

use portcullis_core::Opinion;
use portcullis_core::access::ResourceTarget;

use super::decision::{How, Outcome, Place, Question, Why};
use super::rules::Rules;
use super::subjects::Recognized;
use crate::graph::engine::Graph;
use crate::graph::vertex::{Vertex, VertexRef};

/// At most so many vertices are named that an object leads to instead.
const NEAREST: usize = 5;

/// Why an answer is as it is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The answer.
    pub opinion: Opinion,
    /// Which subject the user is, and what it stands for; none if the user is no agent here.
    pub subject: Option<(String, Vertex)>,
    /// The rule that decided, like `rules[7]`, and in words.
    pub rule: Option<(String, String)>,
    /// The path that was found.
    pub path: Vec<Vertex>,
    /// Without a path: what the object leads to instead, at most a few, nearest first.
    pub leads_to: Vec<Vertex>,
    /// Whether the object's vertex is there.
    pub is_known: Option<bool>,
}

impl Explanation {
    /// Nothing but an answer.
    pub(super) fn of(opinion: Opinion) -> Self {
        Self {
            opinion,
            subject: None,
            rule: None,
            path: Vec::new(),
            leads_to: Vec::new(),
            is_known: None,
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
            Outcome::Allowed(Place::Static(number), _) => Some((
                format!("static[{number}]"),
                format!("`{verb}` is allowed whatever the graph says"),
            )),
            Outcome::Allowed(Place::Rule(number), how) => {
                let (part, words) = match how {
                    How::Shortcut(i) => (
                        format!(".shortcuts[{i}]"),
                        format!("`{verb}` of this very object is always allowed"),
                    ),
                    How::Always => (".always".to_owned(), format!("`{verb}` is always allowed")),
                    How::Named(i) => (
                        format!(".named[{i}]"),
                        format!("`{verb}` of an object of this name is allowed"),
                    ),
                    How::Selector(i) => (
                        format!(".selectors[{i}]"),
                        format!("`{verb}` is allowed with this selector"),
                    ),
                    How::NoSelectors => (
                        ".selectors".to_owned(),
                        format!("`{verb}` is allowed because selectors are not sent along"),
                    ),
                    How::UnknownDelete => (
                        ".path".to_owned(),
                        "an object that is not known may be deleted".to_owned(),
                    ),
                    How::Path | How::Static => (
                        ".path".to_owned(),
                        format!("`{verb}` needs a path, and there is one"),
                    ),
                };
                Some((format!("rules[{number}]{part}"), words))
            }
            Outcome::Missed(number, why) => {
                let words = match why {
                    Why::Namespace => "it is for other namespaces".to_owned(),
                    Why::Subresource => "it is not about this subresource".to_owned(),
                    Why::Verb => format!("it is not about `{verb}`"),
                    Why::Selector => format!("`{verb}` of many objects needs a selector"),
                    Why::NoName => format!("`{verb}` needs the name of an object"),
                    Why::Name => format!("`{verb}` is for objects of other names"),
                    Why::Unknown | Why::NoPath => {
                        format!("`{verb}` needs a path, and there is none")
                    }
                };
                Some((format!("rules[{number}]"), words))
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
        let Some(from) = self
            .resource(target)
            .and_then(|resource| resource.vertex(target))
        else {
            return;
        };
        explanation.is_known = Some(graph.contains(from));
        let vertices = |all: Vec<(crate::graph::KindId, String, String)>| -> Vec<Vertex> {
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
