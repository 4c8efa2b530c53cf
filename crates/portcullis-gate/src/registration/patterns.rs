//! From the `match` of a policy to rules.
//!
//! Policies name kinds, rules name resources. Of Kubernetes' own kinds the resources are known; a kind that it doesn't
//! have may have any resource, so all resources of its group are meant.

use std::collections::BTreeSet;

use portcullis_config::{MatchPattern, MatchedName, Matcher};
use portcullis_core::Kind;
use portcullis_kube::manifest::resource_of_kind;
use portcullis_lint::homes_of_kind;

use super::rules::{Rule, RuleScope, Rules};

/// Kinds of requests that are for subresources, whatever the resource is: group and resources.
const OF_SUBRESOURCES: &[(&str, &str, &[&str])] = &[
    ("Binding", "", &["bindings", "pods/binding"]),
    ("Eviction", "", &["pods/eviction"]),
    ("Scale", "*", &["*/scale"]),
    ("TokenRequest", "", &["serviceaccounts/token"]),
];

/// Subresources that hold a pod as a whole; its status is not judged.
const OF_PODS: &[&str] = &["pods", "pods/ephemeralcontainers", "pods/resize"];

/// Adds what a policy applies to.
pub(super) fn add(matcher: &Matcher, rules: &mut Rules) {
    let operations = matcher.operations().unwrap_or_default();
    let scope = match matcher.is_namespaced() {
        None => RuleScope::Any,
        Some(true) => RuleScope::Namespaced,
        Some(false) => RuleScope::Cluster,
    };
    let Some(patterns) = matcher.patterns() else {
        let everything = Rule::of_everything();
        rules.add(
            Rule {
                scope,
                ..everything
            },
            operations,
        );
        return;
    };
    for pattern in patterns {
        for rule in of_pattern(&pattern) {
            rules.add(Rule { scope, ..rule }, operations);
        }
    }
}

fn of_pattern(pattern: &MatchPattern) -> Vec<Rule> {
    let any = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
    let with = |group: &str, resources: Vec<String>| Rule {
        resources,
        // Requests for other versions are converted to the one that is named.
        version: any(&pattern.version),
        ..Rule::of(group, "")
    };
    let group = any(&pattern.group);
    match &pattern.name {
        MatchedName::Resource(resource, subresource) => {
            let resource = any(resource);
            let resources = match (resource.as_str(), subresource.as_deref()) {
                ("*", None) => vec!["*/*".to_owned()],
                (_, None) => vec![resource.clone(), format!("{resource}/*")],
                (_, Some("")) => vec![resource],
                (_, Some(sub)) => vec![format!("{resource}/{sub}")],
            };
            vec![with(&group, resources)]
        }
        MatchedName::Kind(None) => vec![with(&group, vec!["*/*".to_owned()])],
        MatchedName::Kind(Some(kind)) => of_kind(pattern, kind, &with),
    }
}

fn of_kind(
    pattern: &MatchPattern,
    kind: &str,
    with: &dyn Fn(&str, Vec<String>) -> Rule,
) -> Vec<Rule> {
    let owned = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
    if let Some((_, group, resources)) = OF_SUBRESOURCES.iter().find(|(name, ..)| *name == kind) {
        // The version of the kind is not the one of the resource.
        let rule = with(group, owned(resources));
        return vec![Rule {
            version: "*".to_owned(),
            ..rule
        }];
    }
    let fits =
        |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|one| one == found);
    let homes = homes_of_kind(kind);
    let groups: BTreeSet<&str> = homes
        .filter(|(group, version)| fits(&pattern.group, group) && fits(&pattern.version, version))
        .map(|(group, _)| group)
        .collect();
    if groups.is_empty() {
        let group = pattern.group.as_deref().unwrap_or("*");
        return vec![with(group, vec!["*".to_owned()])];
    }
    let of_group = |group: &&str| {
        let (resource, subresource) = resource_of_kind(&Kind {
            group: (*group).to_owned(),
            version: String::new(),
            kind: kind.to_owned(),
        });
        let resources = match (resource.as_str(), subresource) {
            ("pods", "") if group.is_empty() => owned(OF_PODS),
            (_, "") => vec![resource],
            (_, sub) => vec![format!("{resource}/{sub}")],
        };
        with(group, resources)
    };
    groups.iter().map(of_group).collect()
}
