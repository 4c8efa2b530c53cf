//! A namespace on a cluster-scoped object, or a missing one, leads nowhere: for every resource,
//! subject and verb of the built-in profiles.

use std::collections::BTreeSet;

use portcullis_core::access::ResourceTarget;
use portcullis_core::{Opinion, UserInfo};

use super::support::{compile, user};
use crate::access_rules::Recognition;
use crate::access_rules::Verb;
use crate::access_rules::decision::{AgentRequest, AllowedBy, MissReason, Outcome, Paths};
use crate::access_rules::{AccessRules, Compat, Selectors};
use crate::built_in;
use crate::engine::Reach;
use crate::kinds::{Mismatch, Scope};
use crate::vertex::VertexRef;

/// A graph in which everything leads everywhere, or nothing is known.
struct Everything(Reach);

impl Paths for Everything {
    fn leads(&self, _: VertexRef<'_>, _: VertexRef<'_>) -> Reach {
        self.0
    }
}

const VERBS: [&str; 9] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "approve",
];

fn agents() -> Vec<UserInfo> {
    vec![
        user(
            "gardener.cloud:system:seed:s1",
            "gardener.cloud:system:seeds",
        ),
        user(
            "system:serviceaccount:seed-s1:extension-x",
            "system:serviceaccounts,system:serviceaccounts:seed-s1",
        ),
        user(
            "gardener.cloud:system:shoot:garden-p:h",
            "gardener.cloud:system:shoots",
        ),
        user(
            "gardener.cloud:gardenadm:shoot:garden-p:h",
            "gardener.cloud:system:shoots",
        ),
        user("system:node:n1", "system:nodes"),
    ]
}

/// Whether the namespace of a request makes the graph matter to any subject and verb, and what is said if not.
fn asked(
    rules: &AccessRules,
    target: &ResourceTarget,
    compat: Compat,
) -> (bool, BTreeSet<Mismatch>) {
    let (mut matters, mut reasons) = (false, BTreeSet::new());
    for user in agents() {
        let Recognition::Agent(subject) = rules.subjects.recognize(&user) else {
            continue;
        };
        for verb in VERBS {
            let request = AgentRequest {
                subject: &subject,
                verb: Verb::new(verb),
                compat,
                selectors: Selectors::Forwarded,
            };
            let ask = |reach| rules.decide(&request, target, &Everything(reach)).unwrap();
            let (all, none) = (ask(Reach::Yes), ask(Reach::Unknown));
            matters |= all != none;
            match all {
                Outcome::Missed(_, MissReason::Scope(mismatch)) => {
                    let said = rules.opinion(all, &request, target, None);
                    assert!(matches!(said, Opinion::NoOpinion(_)), "{said:?}");
                    reasons.insert(mismatch);
                }
                Outcome::Allowed(_, AllowedBy::Path) => matters = true,
                _ => {}
            }
        }
    }
    (matters, reasons)
}

#[test]
fn a_namespace_that_can_not_be_leads_nowhere() {
    let (mut cluster, mut namespaced) = (0, 0);
    for profile in ["gardener", "gardener-2021", "node"] {
        let rules = compile(built_in::find(profile).unwrap()).unwrap();
        for (key, resource) in &rules.resources {
            let Some((_, scope)) = resource.kind else {
                continue;
            };
            let with = |namespace: &str| ResourceTarget {
                group: key.group.to_string(),
                resource: key.resource.to_string(),
                namespace: namespace.to_owned(),
                name: "x".to_owned(),
                ..ResourceTarget::default()
            };
            let parts = [vec![String::new()], parts(&rules, resource)].concat();
            for part in parts {
                let what = format!("{profile}: {}/{part}", key.resource);
                let with = |namespace| ResourceTarget {
                    subresource: part.clone(),
                    ..with(namespace)
                };
                let (right, wrong, mismatch) = match scope {
                    Scope::Cluster => ("", "elsewhere", Mismatch::Superfluous),
                    Scope::Namespaced => ("garden-p", "", Mismatch::Missing),
                    Scope::Namespace => {
                        let (bare, named) = (with(""), with("x"));
                        let strict = Compat::Strict;
                        assert_eq!(asked(&rules, &bare, strict), asked(&rules, &named, strict));
                        continue;
                    }
                };
                let (can_matter, said) = asked(&rules, &with(right), Compat::Strict);
                assert_eq!(said, BTreeSet::new(), "{what}");
                for compat in [Compat::Strict, Compat::Upstream] {
                    let (matters, said) = asked(&rules, &with(wrong), compat);
                    assert!(!matters, "{what}");
                    let wanted: BTreeSet<_> = can_matter.then_some(mismatch).into_iter().collect();
                    let told = said == wanted || compat == Compat::Upstream || is_narrow(&what);
                    assert!(told, "{what}: {said:?}, wanted {wanted:?}");
                }
                match scope {
                    Scope::Cluster if can_matter => cluster += 1,
                    Scope::Namespaced if can_matter => namespaced += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(cluster >= 10 && namespaced >= 20, "{cluster} {namespaced}");
}

/// Rules for certain namespaces end there before a path is looked for.
fn is_narrow(what: &str) -> bool {
    ["bastions", "gardenlets", "managedseeds", "leases"]
        .iter()
        .any(|resource| what.contains(resource))
}

/// The subresources that some rule is about.
fn parts(rules: &AccessRules, resource: &crate::access_rules::rules::Resource) -> Vec<String> {
    let mut all = BTreeSet::new();
    for entry in &resource.rules {
        all.extend(entry.subresource.as_deref().map(str::to_owned));
        let rule = rules.rules.get(entry.rule).unwrap();
        all.extend(rule.subresources.iter().map(ToString::to_string));
    }
    all.into_iter().filter(|part| part != "*").collect()
}
