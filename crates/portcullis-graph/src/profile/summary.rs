//! A human-readable summary of a profile.

use std::collections::BTreeSet;

use crate::spec::{OnMiss, ProfileSpec};

/// What a profile is about, as far as its compiled parts don't say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Who the agents are, in the order of the profile.
    pub subjects: Vec<SubjectSummary>,
    /// How many rules there are.
    pub rules: usize,
    /// The resources that rules are about, sorted.
    pub resources: Vec<String>,
    /// How many static rules there are.
    pub static_rules: usize,
    /// How many rules of admission there are.
    pub admission_rules: usize,
    /// Whether it can answer Deny.
    pub denies: bool,
}

/// Who is an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectSummary {
    /// The name that rules use.
    pub id: String,
    /// The pattern of the user.
    pub user: String,
    /// Templates of the groups that it must be in.
    pub groups: Vec<String>,
    /// The kind it stands for.
    pub target: String,
}

impl Summary {
    /// What is written.
    pub(super) fn of(spec: &ProfileSpec) -> Self {
        let subjects = spec.subjects.iter().map(|subject| SubjectSummary {
            id: subject.id.clone(),
            user: subject.user.clone(),
            groups: subject.groups.clone(),
            target: subject.target.kind.clone(),
        });
        let resources = spec.rules.iter().flat_map(|rule| &rule.resources);
        let resources: BTreeSet<&String> = resources.collect();
        let misses = spec.rules.iter().filter_map(|rule| rule.on_miss);
        let mut misses = misses.chain([spec.on_miss]);
        let admission = spec.admission.as_ref();
        Self {
            subjects: subjects.collect(),
            rules: spec.rules.len(),
            resources: resources.into_iter().cloned().collect(),
            static_rules: spec.static_rules.len(),
            admission_rules: admission.map_or(0, |admission| admission.rules.len()),
            denies: misses.any(|miss| miss == OnMiss::Deny),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_is_counted() {
        let spec = json!({
            "kind": "RelationshipGraph", "targets": ["Robot"],
            "vertices": {"Robot": {"resource": "robots"}},
            "subjects": [{
                "id": "robot", "user": "robot:{name}", "groups": [],
                "target": {"kind": "Robot", "name": "{name}"},
            }],
            "rules": [
                {"resources": ["b", "a"]},
                {"resources": ["a"], "onMiss": "Deny"},
            ],
            "static": [{"verbs": ["get"], "resources": ["x"]}],
            "admission": {"rules": []},
        });
        let spec: ProfileSpec = serde_json::from_value(spec).unwrap();
        let summary = Summary::of(&spec);
        assert_eq!(
            (summary.rules, summary.static_rules, summary.admission_rules),
            (2, 1, 0)
        );
        assert_eq!(summary.resources, ["a", "b"]);
        assert!(summary.denies);
        assert_eq!(summary.subjects[0].target, "Robot");
    }
}
