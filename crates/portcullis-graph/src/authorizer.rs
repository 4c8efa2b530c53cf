//! The authorizer: answers requests of agents by a profile's rules and the graph of its objects.

use std::sync::Arc;

use portcullis_core::access::ResourceTarget;
use portcullis_core::clock::Stopwatch;
use portcullis_core::{Access, Authorizer, AuthorizerError, Opinion, Target};

use crate::access_rules::{
    AccessRules, AgentRequest, AllowedBy, Compat, Explanation, Outcome, Paths, Recognition,
    Recognized, Selectors, Verb,
};
use crate::engine::{Graph, Named, Reach};
use crate::observer::Observer;
use crate::state::State;
use crate::vertex::VertexRef;

/// The path of an allow is looked for among so many edges: an answer doesn't wait for more.
const PATH_EDGES: usize = 128;

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
            Recognition::Agent(subject) => subject,
            Recognition::Unclear(why) => {
                return Ok(Explanation::of(Opinion::NoOpinion(why.into_owned())));
            }
            Recognition::NotAnAgent => {
                let mut explanation = Explanation::of(Opinion::NoOpinion(String::new()));
                explanation.near_miss = rules.subjects.nearest(&access.user);
                return Ok(explanation);
            }
        };
        let request = self.request(access, &subject);
        let outcome = self.outcome(access, &request)?;
        let mut explanation = Explanation::of(self.opinion(outcome, access, &request));
        let stands_for = rules.kinds.vertex(subject.stands_for());
        explanation.subject = Some((subject.agent.id.to_string(), stands_for));
        explanation.rule = rules.rule_in_words(outcome, &request);
        let graph = self.state.graph(subject.agent.kind);
        if let (Target::Resource(target), Some(graph)) = (&access.target, graph) {
            rules.look_at_graph(&mut explanation, outcome, &subject, target, graph);
        }
        Ok(explanation)
    }

    fn rules(&self) -> &AccessRules {
        &self.state.profile().rules
    }

    fn request<'a>(&self, access: &'a Access, subject: &'a Recognized<'a>) -> AgentRequest<'a> {
        AgentRequest {
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
        request: &AgentRequest<'_>,
    ) -> Result<Outcome, AuthorizerError> {
        if !self.state.is_caught_up() {
            return Err(AuthorizerError(
                "the graph has not caught up with its objects yet".to_owned(),
            ));
        }
        match &access.target {
            Target::Resource(target) => {
                let live = Live {
                    graph: self.state.graph(request.subject.agent.kind),
                    observer: self.state.observer(),
                };
                self.rules().decide(request, target, &live)
            }
            Target::Path(path) => Ok(self.rules().decide_path(request, path)),
        }
    }

    /// What is said of an outcome. Paths that are not resources are left to others unless a static rule names
    /// them.
    fn opinion(&self, outcome: Outcome, access: &Access, request: &AgentRequest<'_>) -> Opinion {
        let rules = self.rules();
        match (&access.target, outcome) {
            (Target::Resource(target), Outcome::Allowed(_, AllowedBy::Path)) => {
                let path = self.quick_path(target, request);
                rules.opinion(outcome, request, target, path.as_deref())
            }
            (Target::Resource(target), outcome) => rules.opinion(outcome, request, target, None),
            (Target::Path(path), Outcome::Allowed(place, how)) => {
                Opinion::Allow(rules.allowed_path(place, how, request, path))
            }
            (Target::Path(_), _) => Opinion::NoOpinion(String::new()),
        }
    }

    /// The path that allowed something, if it is found at once.
    fn quick_path(
        &self,
        target: &ResourceTarget,
        request: &AgentRequest<'_>,
    ) -> Option<Vec<Named>> {
        let subject = request.subject;
        let graph = self.state.graph(subject.agent.kind)?;
        let from = self.rules().object(target)?;
        graph.some_path(from, subject.stands_for(), PATH_EDGES)
    }
}

impl Authorizer for GraphAuthorizer {
    fn authorize(&self, access: &Access) -> Result<Opinion, AuthorizerError> {
        match self.rules().subjects.recognize(&access.user) {
            Recognition::NotAnAgent => Ok(Opinion::NoOpinion(String::new())),
            Recognition::Unclear(why) => Ok(Opinion::NoOpinion(why.into_owned())),
            Recognition::Agent(subject) => {
                let request = self.request(access, &subject);
                let outcome = self.outcome(access, &request)?;
                Ok(self.opinion(outcome, access, &request))
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
