//! What authorizers say to a question, and why.

use portcullis_core::authorizer::AccessStep;
use portcullis_core::{Access, AccessVerdict, AuthorizerChain, Opinion, Target};
use portcullis_graph::{Explanation, GraphAuthorizer, Vertex};
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
    /// The authorizer that decided; absent if none has an opinion.
    pub authorizer: Option<String>,
    /// Why an authorizer could not decide; then none after it was asked.
    pub error: Option<String>,
    /// What each authorizer said that was asked, in order.
    pub explanation: Vec<Explained>,
    /// Other names of resources that may be meant.
    pub hints: Vec<String>,
    /// What is wrong with the objects of the graphs that were asked: files that can't be read, watches that
    /// fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Whether it was not allowed for want of a path, while there are such problems: the objects that could not
    /// be read might have made the path.
    #[serde(default)]
    pub is_uncertain: bool,
}

/// The answer of one authorizer, with reasons.
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
    /// The subject of the user in the graph; absent if the user is not an agent.
    pub subject: Option<SubjectAnswer>,
    /// If the user is not an agent: the nearest subject, and what is missing.
    #[serde(default)]
    pub near_miss: Option<String>,
    /// The rule that decided.
    pub rule: Option<RuleAnswer>,
    /// The vertex of the object; none if the request is about no single one, or its kind has none.
    pub object: Option<String>,
    /// Whether that vertex is in the graph; none if it was not looked for.
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

/// An authorizer that judges by a graph.
#[derive(Debug)]
pub struct AskedGraph<'a> {
    /// Its name.
    pub name: &'a str,
    /// Itself.
    pub authorizer: &'a GraphAuthorizer,
    /// What is wrong with its objects.
    pub problems: Vec<String>,
}

/// Asks one authorizer after the other, as a chain of them is asked. Those that judge by a graph explain
/// themselves.
pub fn can_i(graphs: &[AskedGraph<'_>], authorizers: &AuthorizerChain, access: &Access) -> CanI {
    let AccessVerdict {
        opinion,
        authorizer,
        error,
        trace,
        ..
    } = authorizers.decide(access);
    let mut answer = CanI {
        allowed: matches!(opinion, Opinion::Allow(_)),
        decision: opinion.as_str().to_owned(),
        reason: opinion.reason().to_owned(),
        authorizer: authorizer.map(|name| name.to_string()),
        error,
        explanation: Vec::with_capacity(trace.len()),
        hints: hints(graphs, authorizers, access),
        problems: Vec::new(),
        is_uncertain: false,
    };
    for step in &trace {
        let graph = named(graphs, &step.authorizer);
        let (explained, lacks_path) = explained(graph, step, access);
        answer.explanation.push(explained);
        if let Some(graph) = graph {
            answer.is_uncertain |= lacks_path && !answer.allowed && !graph.problems.is_empty();
            answer.problems.extend_from_slice(&graph.problems);
        }
    }
    answer
}

/// What one authorizer said, and whether for want of a path.
fn explained(
    graph: Option<&AskedGraph<'_>>,
    step: &AccessStep,
    access: &Access,
) -> (Explained, bool) {
    let (decision, reason) = match &step.said {
        Ok(opinion) => (opinion.as_str(), opinion.reason()),
        Err(why) => ("error", why.as_str()),
    };
    let mut explained = Explained {
        authorizer: step.authorizer.to_string(),
        decision: decision.to_owned(),
        reason: reason.to_owned(),
        is_graph: graph.is_some(),
        subject: None,
        near_miss: None,
        rule: None,
        object: None,
        is_known: None,
        path: Vec::new(),
        leads_to: Vec::new(),
    };
    let why = graph.and_then(|graph| graph.authorizer.explain(access).ok());
    let lacks_path = why.as_ref().is_some_and(|why| why.lacks_path);
    if let Some(why) = why {
        add(&mut explained, why);
    }
    (explained, lacks_path)
}

fn named<'a, 'g>(graphs: &'a [AskedGraph<'g>], name: &str) -> Option<&'a AskedGraph<'g>> {
    graphs.iter().find(|one| one.name == name)
}

fn add(explained: &mut Explained, why: Explanation) {
    let texts = |all: Vec<Vertex>| all.iter().map(Vertex::to_string).collect();
    explained.subject = why.subject.map(|(id, vertex)| SubjectAnswer {
        id,
        vertex: vertex.to_string(),
    });
    explained.near_miss = why.near_miss;
    explained.rule = why.rule.map(|(place, text)| RuleAnswer { place, text });
    explained.object = why.object.map(|vertex| vertex.to_string());
    explained.is_known = why.is_known;
    explained.path = texts(why.path);
    explained.leads_to = texts(why.leads_to);
}

/// Resources of the profiles that are asked, where none of them has the one that is named.
fn hints(graphs: &[AskedGraph<'_>], authorizers: &AuthorizerChain, access: &Access) -> Vec<String> {
    let Target::Resource(target) = &access.target else {
        return Vec::new();
    };
    let mut hints = Vec::new();
    for graph in authorizers.names().filter_map(|name| named(graphs, name)) {
        let kinds = &graph.authorizer.state().profile().kinds;
        if kinds.of_resource(&target.group, &target.resource).is_some() {
            return Vec::new();
        }
        let is_alike = |resource: &str, kind: &str| {
            let written = target.resource.as_str();
            written == resource || written.eq_ignore_ascii_case(kind)
        };
        for (_, kind) in kinds.iter() {
            if is_alike(&kind.resource, &kind.name) {
                let name = kind.full_resource();
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
    use portcullis_kube::{AlwaysAllow, AlwaysDeny};

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

    fn office(authorizer: &GraphAuthorizer) -> AskedGraph<'_> {
        AskedGraph {
            name: "office",
            authorizer,
            problems: Vec::new(),
        }
    }

    fn said(user: &str, verb: &str, what: &str, namespace: &str) -> CanI {
        let (graph, chain) = setup(&[]);
        can_i(
            &[office(&graph)],
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
    fn a_no_is_uncertain_only_if_unread_objects_could_change_it() {
        let others: [(&str, Arc<dyn Authorizer>); 1] = [("no", Arc::new(AlwaysDeny))];
        let (graph, chain) = setup(&others);
        let asked = |user: &str, verb: &str, what: &str, problems: &[&str]| {
            let graphs = [AskedGraph {
                problems: problems.iter().map(|one| (*one).to_owned()).collect(),
                ..office(&graph)
            }];
            let access = asked(user, verb, what, "hq").access().unwrap();
            let answer = can_i(&graphs, &chain, &access);
            assert_eq!(answer.problems, problems);
            answer.is_uncertain
        };
        let problems = ["a.yaml: permission denied"];
        assert!(asked("robot:r2", "get", "badges/b1", &problems));
        assert!(asked("robot:r2", "get", "badges/b9", &problems));
        for (user, verb, what, problems) in [
            ("robot:r2", "get", "badges/b1", &[][..]),
            ("robot:r1", "get", "badges/b1", &problems),
            ("alice", "get", "badges/b1", &problems),
            ("robot:r2", "delete", "badges/b1", &problems),
            ("robot:r2", "get", "pods/x", &problems),
        ] {
            assert!(!asked(user, verb, what, problems), "{user} {verb} {what}");
        }
    }

    #[test]
    fn authorizers_are_asked_in_their_order_until_one_has_an_opinion() {
        let others: [(&str, Arc<dyn Authorizer>); 2] =
            [("no", Arc::new(AlwaysDeny)), ("yes", Arc::new(AlwaysAllow))];
        let (graph, chain) = setup(&others);
        let access = asked("alice", "get", "pods", "").access().unwrap();
        let answer = can_i(&[office(&graph)], &chain, &access);
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
        let answer = can_i(&[office(&graph)], &chain.only("yes").unwrap(), &access);
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
