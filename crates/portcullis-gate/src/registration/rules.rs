//! Rules of webhook registrations: which resources and operations are sent to a webhook.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::Operation;

/// Anything, in a rule.
const ANY: &str = "*";

/// Where the objects of a rule live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleScope {
    /// Anywhere.
    Any,
    /// In namespaces.
    Namespaced,
    /// Outside of namespaces.
    Cluster,
}

impl RuleScope {
    /// As Kubernetes writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => ANY,
            Self::Namespaced => "Namespaced",
            Self::Cluster => "Cluster",
        }
    }
}

/// One rule. `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// API group, empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Resources, with subresources as in `pods/exec`; sorted.
    pub resources: Vec<String>,
    /// Where its objects live.
    pub scope: RuleScope,
    /// Operations, sorted.
    pub operations: Vec<Operation>,
}

impl Rule {
    /// A resource of a group, in every version, and for no operation yet.
    pub(super) fn of(group: &str, resource: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: ANY.to_owned(),
            resources: vec![resource.to_owned()],
            scope: RuleScope::Any,
            operations: Vec::new(),
        }
    }

    /// Every resource, and every subresource.
    pub(super) fn of_everything() -> Self {
        Self::of(ANY, "*/*")
    }

    /// What of it none of these rules covers, as `CREATE pods.apps`. Versions are not compared: the API server converts.
    pub fn missing_in(&self, rules: &[Self]) -> Vec<String> {
        let mut missing = Vec::new();
        for resource in &self.resources {
            let covering = rules
                .iter()
                .filter(|other| other.covers(&self.group, resource));
            let covering: Vec<&Self> = covering.collect();
            let left = self.operations.iter().filter(|operation| {
                !covering
                    .iter()
                    .any(|rule| rule.operations.contains(operation))
            });
            let operations: Vec<&str> = left.map(|one| one.as_str()).collect();
            if operations.is_empty() {
                continue;
            }
            let operations = match operations.len() == Operation::ALL.len() {
                true => "all operations".to_owned(),
                false => operations.join(" and "),
            };
            missing.push(match self.group.as_str() {
                "" | ANY => format!("{operations} of {resource}"),
                group => format!("{operations} of {resource}.{group}"),
            });
        }
        missing
    }

    /// Whether it is about this resource of this group, in any version.
    pub(super) fn covers(&self, group: &str, resource: &str) -> bool {
        let mut resources = self.resources.iter();
        (self.group == ANY || self.group == group)
            && resources.any(|wide| covers_resource(wide, resource))
    }

    /// Whether it is about every operation.
    pub fn has_all_operations(&self) -> bool {
        self.operations.len() == Operation::ALL.len()
    }
}

/// What a rule is about, without its operations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    group: String,
    version: String,
    scope: RuleScope,
    resource: String,
}

impl Key {
    /// Whether everything that the other one is about is in this one, too.
    fn covers(&self, other: &Self) -> bool {
        let fits = |wide: &str, narrow: &str| wide == ANY || wide == narrow;
        fits(&self.group, &other.group)
            && fits(&self.version, &other.version)
            && (self.scope == RuleScope::Any || self.scope == other.scope)
            && covers_resource(&self.resource, &other.resource)
    }
}

/// Whether a resource of a rule, which may have wildcards, covers another one.
pub(super) fn covers_resource(wide: &str, narrow: &str) -> bool {
    if wide == "*/*" || wide == narrow {
        return true;
    }
    match (wide.split_once('/'), narrow.split_once('/')) {
        (None, None) => wide == ANY,
        (Some((wide, wide_sub)), Some((narrow, narrow_sub))) => {
            (wide == ANY || wide == narrow) && (wide_sub == ANY || wide_sub == narrow_sub)
        }
        _ => false,
    }
}

/// Rules that are being collected.
#[derive(Debug, Default)]
pub(super) struct Rules(BTreeMap<Key, BTreeSet<Operation>>);

impl Rules {
    /// Adds a rule for these operations; for all if none is given.
    pub(super) fn add(&mut self, rule: Rule, operations: &[Operation]) {
        let operations = match operations {
            [] => &Operation::ALL,
            some => some,
        };
        for resource in rule.resources {
            let key = Key {
                group: rule.group.clone(),
                version: rule.version.clone(),
                scope: rule.scope,
                resource,
            };
            self.0.entry(key).or_default().extend(operations);
        }
    }

    /// All rules, without those that others cover, in a fixed order.
    pub(super) fn finish(self) -> Vec<Rule> {
        let mut left: BTreeMap<Key, BTreeSet<Operation>> = BTreeMap::new();
        for (key, operations) in &self.0 {
            let others = self.0.iter().filter(|(other, _)| *other != key);
            let covered: BTreeSet<Operation> = others
                .filter(|(other, _)| other.covers(key))
                .flat_map(|(_, operations)| operations.iter().copied())
                .collect();
            let rest: BTreeSet<Operation> = operations.difference(&covered).copied().collect();
            if !rest.is_empty() {
                left.insert(key.clone(), rest);
            }
        }
        type Shared = (String, String, RuleScope, BTreeSet<Operation>);
        let mut grouped: BTreeMap<Shared, BTreeSet<String>> = BTreeMap::new();
        for (key, operations) in left {
            let shared = (key.group, key.version, key.scope, operations);
            grouped.entry(shared).or_default().insert(key.resource);
        }
        let rule =
            |((group, version, scope, operations), resources): (Shared, BTreeSet<String>)| Rule {
                group,
                version,
                resources: resources.into_iter().collect(),
                scope,
                operations: operations.into_iter().collect(),
            };
        grouped.into_iter().map(rule).collect()
    }
}
