//! Who may do what: subjects, rules, and the answer to one request.
//!
//! Rules are data without expressions but for rare names, so that a check costs a few look-ups and one
//! question to the graph.

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

use portcullis_core::access::ResourceTarget;
use portcullis_core::clock::Stopwatch;
use portcullis_core::{Access, Authorizer, AuthorizerError, Opinion, Target, UserInfo};

use super::engine::{Graph, Named, Reach};
use super::kinds::KindId;
use super::observer::Observer;
use super::state::State;
use super::vertex::VertexRef;
use decision::{How, Outcome, Paths, Question};
use subjects::{Recognized, Who};
use verbs::Verb;

pub use explanation::Explanation;
pub(crate) use rules::Rules;

/// The path of an allow is looked for among so many edges: an answer doesn't wait for more.
const PATH_EDGES: usize = 128;

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
pub enum Identity {
    /// Not an agent.
    Other,
    /// Somebody who claims to be an agent, but which can't be determined; why. Nothing that an agent may do
    /// or write is theirs.
    Unclear(String),
    /// An agent.
    Agent(Subject),
}

impl Rules {
    /// Who this user is.
    pub fn identify(&self, user: &UserInfo) -> Identity {
        match self.subjects.recognize(user) {
            Who::Agent(subject) => Identity::Agent(Subject {
                id: Arc::clone(&subject.agent.id),
                kind: subject.agent.kind,
                namespace: subject.namespace.into_owned(),
                name: subject.name.into_owned(),
            }),
            Who::Unclear(why) => Identity::Unclear(why.into_owned()),
            Who::Nobody => Identity::Other,
        }
    }
}

/// Answers requests by a profile and what is known of its objects.
#[derive(Debug, Clone)]
pub struct GraphAuthorizer {
    state: Arc<State>,
    compat: Compat,
    selectors: Selectors,
}

impl GraphAuthorizer {
    /// Answers from this state.
    pub fn new(state: Arc<State>, compat: Compat, selectors: Selectors) -> Self {
        Self {
            state,
            compat,
            selectors,
        }
    }

    /// The state.
    pub fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// The answer with everything that led to it.
    ///
    /// # Errors
    ///
    /// When the graph has not caught up, or an expression failed.
    pub fn explain(&self, access: &Access) -> Result<Explanation, AuthorizerError> {
        let rules = self.rules();
        let subject = match rules.subjects.recognize(&access.user) {
            Who::Agent(subject) => subject,
            Who::Unclear(why) => {
                return Ok(Explanation::of(Opinion::NoOpinion(why.into_owned())));
            }
            Who::Nobody => {
                let mut explanation = Explanation::of(Opinion::NoOpinion(String::new()));
                explanation.near_miss = rules.subjects.nearest(&access.user);
                return Ok(explanation);
            }
        };
        let question = self.question(access, &subject);
        let outcome = self.outcome(access, &question)?;
        let mut explanation = Explanation::of(self.opinion(outcome, access, &question));
        let stands_for = rules.kinds.vertex(subject.stands_for());
        explanation.subject = Some((subject.agent.id.to_string(), stands_for));
        explanation.rule = rules.rule_in_words(outcome, &question);
        let graph = self.state.graph(subject.agent.kind);
        if let (Target::Resource(target), Some(graph)) = (&access.target, graph) {
            rules.look_at_graph(&mut explanation, outcome, &subject, target, graph);
        }
        Ok(explanation)
    }

    fn rules(&self) -> &Rules {
        &self.state.profile().rules
    }

    fn question<'a>(&self, access: &'a Access, subject: &'a Recognized<'a>) -> Question<'a> {
        Question {
            subject,
            verb: Verb::new(&access.verb),
            compat: match self.rules().upstream_is_looser {
                true => self.compat,
                false => Compat::Strict,
            },
            selectors: self.selectors,
        }
    }

    fn outcome(
        &self,
        access: &Access,
        question: &Question<'_>,
    ) -> Result<Outcome, AuthorizerError> {
        if !self.state.is_caught_up() {
            return Err(AuthorizerError(
                "the graph has not caught up with its objects yet".to_owned(),
            ));
        }
        match &access.target {
            Target::Resource(target) => {
                let live = Live {
                    graph: self.state.graph(question.subject.agent.kind),
                    observer: self.state.observer(),
                };
                self.rules().decide(question, target, &live)
            }
            Target::Path(path) => Ok(self.rules().decide_path(question, path)),
        }
    }

    /// What is said of an outcome. Paths that are not resources are left to others unless a static rule names
    /// them.
    fn opinion(&self, outcome: Outcome, access: &Access, question: &Question<'_>) -> Opinion {
        let rules = self.rules();
        match (&access.target, outcome) {
            (Target::Resource(target), Outcome::Allowed(_, How::Path)) => {
                let path = self.quick_path(target, question);
                rules.opinion(outcome, question, target, path.as_deref())
            }
            (Target::Resource(target), outcome) => rules.opinion(outcome, question, target, None),
            (Target::Path(path), Outcome::Allowed(place, how)) => {
                Opinion::Allow(rules.allowed_path(place, how, question, path))
            }
            (Target::Path(_), _) => Opinion::NoOpinion(String::new()),
        }
    }

    /// The path that allowed something, if it is found at once.
    fn quick_path(&self, target: &ResourceTarget, question: &Question<'_>) -> Option<Vec<Named>> {
        let subject = question.subject;
        let graph = self.state.graph(subject.agent.kind)?;
        let from = self.rules().object(target)?;
        graph.some_path(from, subject.stands_for(), PATH_EDGES)
    }
}

impl Authorizer for GraphAuthorizer {
    fn authorize(&self, access: &Access) -> Result<Opinion, AuthorizerError> {
        match self.rules().subjects.recognize(&access.user) {
            Who::Nobody => Ok(Opinion::NoOpinion(String::new())),
            Who::Unclear(why) => Ok(Opinion::NoOpinion(why.into_owned())),
            Who::Agent(subject) => {
                let question = self.question(access, &subject);
                let outcome = self.outcome(access, &question)?;
                Ok(self.opinion(outcome, access, &question))
            }
        }
    }
}

/// The graph as it is now.
struct Live<'a> {
    graph: Option<&'a Graph>,
    observer: Option<&'a dyn Observer>,
}

impl Paths for Live<'_> {
    fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> Reach {
        let Some(graph) = self.graph else {
            return Reach::Unknown;
        };
        let Some(observer) = self.observer else {
            return graph.leads(from, to);
        };
        let stopwatch = Stopwatch::start();
        let reach = graph.leads(from, to);
        observer.checked(from.kind, to.kind, stopwatch.elapsed());
        reach
    }
}

#[cfg(test)]
mod tests;
