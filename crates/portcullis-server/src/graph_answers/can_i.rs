//! What authorizers say to a question, and why.

use portcullis_authz::graph::{Explanation, GraphAuthorizer, Kinds, Vertex};
use portcullis_core::authorizer::AccessStep;
use portcullis_core::{Access, AccessVerdict, AuthorizerChain, Opinion, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What authorizers say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CanI {
    /// Whether it is allowed.
    pub allowed: bool,
    /// `allow`, `deny` or `no_opinion`.
    pub decision: String,
    /// Why.
    pub reason: String,
    /// Whose opinion it is; none if nobody has one.
    pub authorizer: Option<String>,
    /// Why somebody could not decide; then nobody after them was asked.
    pub error: Option<String>,
    /// What each authorizer said that was asked, in order.
    pub explanation: Vec<Explained>,
    /// Other names of resources that may be meant.
    pub hints: Vec<String>,
}

/// What one authorizer said, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The authorizer.
    pub authorizer: String,
    /// `allow`, `deny`, `no_opinion` or `error`.
    pub decision: String,
    /// Why.
    pub reason: String,
    /// Whether it judges by a graph. What follows is said by such authorizers only.
    pub is_graph: bool,
    /// Who the user is in the graph; none if nobody there.
    pub subject: Option<SubjectAnswer>,
    /// The rule that decided.
    pub rule: Option<RuleAnswer>,
    /// The vertex of the object; none if the request is about no single one, or its kind has none.
    pub object: Option<String>,
    /// Whether that vertex is in the graph; none if nobody looked.
    pub is_known: Option<bool>,
    /// The path from the object to what the user stands for.
    pub path: Vec<String>,
    /// Without a path: what the object leads to instead, at most a few.
    pub leads_to: Vec<String>,
}

/// Who a user is in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectAnswer {
    /// The subject of the profile.
    pub id: String,
    /// What it stands for.
    pub vertex: String,
}

/// A rule of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleAnswer {
    /// Where it stands in the profile.
    pub place: String,
    /// In words.
    pub text: String,
}

/// Those among the authorizers that judge by a graph, with their names.
pub type GraphAuthorizers<'a> = [(&'a str, &'a GraphAuthorizer)];

/// Asks one authorizer after the other, as a chain of them is asked. Those that judge by a graph explain
/// themselves.
pub fn can_i(
    graphs: &GraphAuthorizers<'_>,
    authorizers: &AuthorizerChain,
    access: &Access,
) -> CanI {
    let AccessVerdict {
        opinion,
        authorizer,
        error,
        trace,
        ..
    } = authorizers.decide(access);
    let explanation = trace.iter().map(|step| explained(graphs, step, access));
    CanI {
        allowed: matches!(opinion, Opinion::Allow(_)),
        decision: opinion.as_str().to_owned(),
        reason: opinion.reason().to_owned(),
        authorizer: authorizer.map(|name| name.to_string()),
        error,
        explanation: explanation.collect(),
        hints: hints(graphs, authorizers, access),
    }
}

fn explained(graphs: &GraphAuthorizers<'_>, step: &AccessStep, access: &Access) -> Explained {
    let (decision, reason) = match &step.said {
        Ok(opinion) => (opinion.as_str(), opinion.reason()),
        Err(why) => ("error", why.as_str()),
    };
    let mut explained = Explained {
        authorizer: step.authorizer.to_string(),
        decision: decision.to_owned(),
        reason: reason.to_owned(),
        is_graph: false,
        subject: None,
        rule: None,
        object: None,
        is_known: None,
        path: Vec::new(),
        leads_to: Vec::new(),
    };
    let Some(graph) = named(graphs, &step.authorizer) else {
        return explained;
    };
    explained.is_graph = true;
    if let Ok(why) = graph.explain(access) {
        let kinds = &graph.state().profile().kinds;
        explained.object = object(kinds, access).map(|vertex| vertex.to_string());
        add(&mut explained, why);
    }
    explained
}

fn named<'a>(graphs: &GraphAuthorizers<'a>, name: &str) -> Option<&'a GraphAuthorizer> {
    let found = graphs.iter().find(|(own, _)| *own == name);
    found.map(|(_, graph)| *graph)
}

fn add(explained: &mut Explained, why: Explanation) {
    let texts = |all: Vec<Vertex>| all.iter().map(Vertex::to_string).collect();
    explained.subject = why.subject.map(|(id, vertex)| SubjectAnswer {
        id,
        vertex: vertex.to_string(),
    });
    explained.rule = why.rule.map(|(place, text)| RuleAnswer { place, text });
    explained.is_known = why.is_known;
    explained.path = texts(why.path);
    explained.leads_to = texts(why.leads_to);
}

/// The vertex that a request is about.
fn object(kinds: &Kinds, access: &Access) -> Option<Vertex> {
    let Target::Resource(target) = &access.target else {
        return None;
    };
    let id = kinds.of_resource(&target.group, &target.resource)?;
    let kind = kinds.get(id)?;
    if target.name.is_empty() || (kind.namespaced && target.namespace.is_empty()) {
        return None;
    }
    Some(Vertex {
        kind: kind.name.clone(),
        namespace: match kind.namespaced {
            true => target.namespace.clone(),
            false => String::new(),
        },
        name: target.name.clone(),
    })
}

/// Resources of the profiles that are asked, where none of them has the one that is named.
fn hints(
    graphs: &GraphAuthorizers<'_>,
    authorizers: &AuthorizerChain,
    access: &Access,
) -> Vec<String> {
    let Target::Resource(target) = &access.target else {
        return Vec::new();
    };
    let mut hints = Vec::new();
    for graph in authorizers.names().filter_map(|name| named(graphs, name)) {
        let kinds = &graph.state().profile().kinds;
        if kinds.of_resource(&target.group, &target.resource).is_some() {
            return Vec::new();
        }
        let is_alike = |resource: &str, kind: &str| {
            let written = target.resource.as_str();
            written == resource || written.eq_ignore_ascii_case(kind)
        };
        for (_, kind) in kinds.iter() {
            if is_alike(&kind.resource, &kind.name) {
                let name = match kind.group.as_str() {
                    "" => kind.resource.clone(),
                    group => format!("{}.{group}", kind.resource),
                };
                if !hints.contains(&name) {
                    hints.push(name);
                }
            }
        }
    }
    hints
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portcullis_core::Authorizer;
    use portcullis_kube::authorizers::{AlwaysAllow, AlwaysDeny};

    use super::super::question::tests::asked;
    use super::super::sample;
    use super::*;

    fn setup(others: &[(&str, Arc<dyn Authorizer>)]) -> (GraphAuthorizer, AuthorizerChain) {
        let authorizer = sample::authorizer();
        let graph: Arc<dyn Authorizer> = Arc::new(authorizer.clone());
        let mut all: Vec<(Arc<str>, Arc<dyn Authorizer>)> = vec![("office".into(), graph)];
        all.extend(
            others
                .iter()
                .map(|(name, one)| (Arc::from(*name), Arc::clone(one))),
        );
        (authorizer, AuthorizerChain::new(all))
    }

    fn said(user: &str, verb: &str, what: &str, namespace: &str) -> CanI {
        let (graph, chain) = setup(&[]);
        can_i(
            &[("office", &graph)],
            &chain,
            &asked(user, verb, what, namespace).access().unwrap(),
        )
    }

    #[test]
    fn a_yes_names_subject_rule_and_path() {
        let answer = said("robot:r1", "get", "badges/b1", "hq");
        assert!(answer.allowed, "{answer:?}");
        assert_eq!(
            (answer.decision.as_str(), answer.authorizer.as_deref()),
            ("allow", Some("office"))
        );
        let [why] = answer.explanation.as_slice() else {
            panic!("{answer:?}")
        };
        let subject = why.subject.as_ref().unwrap();
        assert_eq!(
            (subject.id.as_str(), subject.vertex.as_str()),
            ("robot", "Robot:r1")
        );
        assert_eq!(why.path, ["Badge:hq/b1", "Desk:hq/d1", "Robot:r1"]);
        assert_eq!(why.object.as_deref(), Some("Badge:hq/b1"));
        assert!(
            why.rule.as_ref().unwrap().place.starts_with("rules[1]"),
            "{why:?}"
        );
    }

    #[test]
    fn a_no_names_the_nearest_miss() {
        let answer = said("robot:r2", "get", "badges/b1", "hq");
        assert!(!answer.allowed && answer.authorizer.is_none(), "{answer:?}");
        assert_eq!(answer.decision, "no_opinion");
        assert_eq!(answer.explanation[0].leads_to, ["Robot:r1"]);
        assert_eq!(answer.explanation[0].is_known, Some(true));
        let answer = said("robot:r2", "get", "badges/b9", "hq");
        assert_eq!(answer.explanation[0].is_known, Some(false));
        let answer = said("alice", "get", "badges/b1", "hq");
        assert_eq!(answer.explanation[0].subject, None);
    }

    #[test]
    fn authorizers_are_asked_in_their_order_until_one_has_an_opinion() {
        let others: [(&str, Arc<dyn Authorizer>); 2] =
            [("no", Arc::new(AlwaysDeny)), ("yes", Arc::new(AlwaysAllow))];
        let (graph, chain) = setup(&others);
        let access = asked("alice", "get", "pods", "").access().unwrap();
        let answer = can_i(&[("office", &graph)], &chain, &access);
        assert_eq!(
            (answer.decision.as_str(), answer.authorizer.as_deref()),
            ("deny", Some("no"))
        );
        let names: Vec<&str> = answer
            .explanation
            .iter()
            .map(|one| one.authorizer.as_str())
            .collect();
        assert_eq!(names, ["office", "no"]);
        let answer = can_i(&[("office", &graph)], &chain.only("yes").unwrap(), &access);
        assert!(answer.allowed && answer.hints.is_empty());
    }

    #[test]
    fn resources_without_their_group_are_hinted_at() {
        for what in ["desks/d1", "desk/d1", "desks.other/d1"] {
            let answer = said("robot:r1", "get", what, "hq");
            assert_eq!(answer.hints, ["desks.office.example"], "{what}");
        }
        for what in ["desks.office.example/d1", "badges/b1", "pods/x"] {
            assert!(
                said("robot:r1", "get", what, "hq").hints.is_empty(),
                "{what}"
            );
        }
    }
}
