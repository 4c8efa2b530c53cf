//! Which objects a quota is for: its scopes.

use std::collections::BTreeSet;
use std::fmt;

use crate::pod::PodSpec;

/// Scopes that quotas and configurations can name.
pub(super) const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

/// How the values of a requirement count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Operator {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::In, Self::NotIn, Self::Exists, Self::DoesNotExist];

    /// As it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
        }
    }

    /// The operator of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// What an object must be for a quota to apply to it. Prints as Kubernetes prints it: `{PriorityClass In [high]}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    /// Name of the scope.
    pub(super) scope: String,
    /// How the values count.
    pub(super) operator: Operator,
    /// Names of classes, in scopes of classes.
    pub(super) values: Vec<String>,
}

impl Requirement {
    /// Of a scope that is named without values.
    pub(super) fn of_scope(scope: &str) -> Self {
        Self {
            scope: scope.to_owned(),
            operator: Operator::Exists,
            values: Vec::new(),
        }
    }

    /// Whether an object with this class, or none, is meant.
    fn selects(&self, class: Option<&str>) -> bool {
        let is_listed = |class: &str| self.values.iter().any(|value| value == class);
        match self.operator {
            Operator::In => class.is_some_and(is_listed),
            Operator::NotIn => !class.is_some_and(is_listed),
            Operator::Exists => class.is_some(),
            Operator::DoesNotExist => class.is_none(),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = self.operator.name();
        let values = self.values.join(" ");
        write!(f, "{{{} {operator} [{values}]}}", self.scope)
    }
}

/// What scopes see of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScopeFacts {
    /// It is in no scope.
    None,
    /// Of a pod.
    Pod(PodFacts),
    /// Classes of volume attributes that a claim refers to.
    Claim(BTreeSet<String>),
}

/// What scopes see of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodFacts {
    /// It runs for a limited time.
    pub(super) is_terminating: bool,
    /// It asks for no CPU and memory.
    pub(super) is_best_effort: bool,
    /// Its priority class; empty without one.
    pub(super) priority_class: String,
    /// It wants to be near to, or away from, pods of other namespaces.
    pub(super) crosses_namespaces: bool,
}

impl PodFacts {
    /// Of this pod, given whether it asks for no CPU and memory.
    pub(super) fn of(spec: &PodSpec<'_>, is_best_effort: bool) -> Self {
        let affinity = &spec.affinity;
        let near = affinity.pod_affinity.terms();
        let mut terms = near.chain(affinity.pod_anti_affinity.terms());
        Self {
            is_terminating: is_terminating(spec),
            is_best_effort,
            priority_class: spec.priority_class_name.as_ref().to_owned(),
            crosses_namespaces: terms
                .any(|term| !term.namespaces.is_empty() || term.namespace_selector.0),
        }
    }
}

/// Whether a pod runs for a limited time.
pub(super) fn is_terminating(spec: &PodSpec<'_>) -> bool {
    spec.active_deadline_seconds
        .is_some_and(|seconds| seconds >= 0)
}

impl ScopeFacts {
    /// Whether scopes apply to objects of this kind at all.
    pub(super) fn has_scopes(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Whether the object is what the requirement says.
    pub(super) fn meets(&self, requirement: &Requirement) -> bool {
        match self {
            Self::None => false,
            Self::Pod(pod) => match requirement.scope.as_str() {
                "Terminating" => pod.is_terminating,
                "NotTerminating" => !pod.is_terminating,
                "BestEffort" => pod.is_best_effort,
                "NotBestEffort" => !pod.is_best_effort,
                "PriorityClass" => {
                    let class = pod.priority_class.as_str();
                    requirement.selects((!class.is_empty()).then_some(class))
                }
                "CrossNamespacePodAffinity" => pod.crosses_namespaces,
                _ => false,
            },
            Self::Claim(_) if requirement.scope != "VolumeAttributesClass" => false,
            Self::Claim(classes) if classes.is_empty() => requirement.selects(None),
            Self::Claim(classes) => {
                let mut classes = classes.iter();
                classes.any(|class| requirement.selects(Some(class)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pod::PodObject;

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn facts(spec: Value) -> ScopeFacts {
        let pod = json!({"spec": spec});
        let pod = PodObject::from_value(&pod).unwrap();
        ScopeFacts::Pod(PodFacts::of(&pod.spec, false))
    }

    #[test]
    fn a_deadline_makes_a_pod_terminating() {
        let terminating = Requirement::of_scope("Terminating");
        let other = Requirement::of_scope("NotTerminating");
        for (spec, expected) in [
            (json!({}), false),
            (json!({"activeDeadlineSeconds": null}), false),
            (json!({"activeDeadlineSeconds": -1}), false),
            (json!({"activeDeadlineSeconds": 0}), true),
            (json!({"activeDeadlineSeconds": 60}), true),
        ] {
            assert_eq!(facts(spec.clone()).meets(&terminating), expected, "{spec}");
            assert_eq!(facts(spec.clone()).meets(&other), !expected, "{spec}");
        }
    }

    #[test]
    fn terms_that_name_namespaces_cross_them() {
        let crossing = Requirement::of_scope("CrossNamespacePodAffinity");
        for kind in ["podAffinity", "podAntiAffinity"] {
            for (term, expected) in [
                (json!({"topologyKey": "zone"}), false),
                (json!({"namespaces": []}), false),
                (json!({"namespaceSelector": null}), false),
                (json!({"namespaces": ["a"]}), true),
                (json!({"namespaceSelector": {}}), true),
            ] {
                let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
                let preferred = json!({"preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": term},
                ]});
                for terms in [required, preferred] {
                    let pod = facts(json!({"affinity": {kind: terms}}));
                    assert_eq!(pod.meets(&crossing), expected, "{kind} {terms}");
                }
            }
        }
    }

    #[test]
    fn classes_are_compared_by_the_operator() {
        let with = |operator, values: &[&str]| Requirement {
            scope: "PriorityClass".to_owned(),
            operator,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let high = facts(json!({"priorityClassName": "high"}));
        let none = facts(json!({}));
        for (requirement, of_high, of_none) in [
            (with(Operator::In, &["low", "high"]), true, false),
            (with(Operator::In, &["low"]), false, false),
            (with(Operator::NotIn, &["low"]), true, true),
            (with(Operator::NotIn, &["high"]), false, true),
            (with(Operator::Exists, &[]), true, false),
            (with(Operator::DoesNotExist, &[]), false, true),
        ] {
            assert_eq!(high.meets(&requirement), of_high, "{requirement}");
            assert_eq!(none.meets(&requirement), of_none, "{requirement}");
            let of = |class: &str| ScopeFacts::Claim([class.to_owned()].into());
            let requirement = Requirement {
                scope: "VolumeAttributesClass".to_owned(),
                ..requirement
            };
            assert_eq!(of("high").meets(&requirement), of_high, "{requirement}");
            let none = ScopeFacts::Claim(BTreeSet::new());
            assert_eq!(none.meets(&requirement), of_none, "{requirement}");
        }
    }

    #[test]
    fn scopes_of_other_kinds_are_not_met() {
        let claim = ScopeFacts::Claim(["fast".to_owned()].into());
        for scope in SCOPES {
            let requirement = Requirement::of_scope(scope);
            assert!(!ScopeFacts::None.meets(&requirement), "{scope}");
            assert_eq!(claim.meets(&requirement), scope == "VolumeAttributesClass");
        }
        let pod = facts(json!({}));
        assert!(!pod.meets(&Requirement::of_scope("VolumeAttributesClass")));
        assert!(!pod.meets(&Requirement::of_scope("Unknown")));
    }

    #[test]
    fn requirements_print_as_in_kubernetes() {
        let requirement = Requirement {
            scope: "PriorityClass".to_owned(),
            operator: Operator::In,
            values: vec!["a".to_owned(), "b".to_owned()],
        };
        assert_eq!(requirement.to_string(), "{PriorityClass In [a b]}");
        let requirement = Requirement::of_scope("BestEffort");
        assert_eq!(requirement.to_string(), "{BestEffort Exists []}");
    }
}
