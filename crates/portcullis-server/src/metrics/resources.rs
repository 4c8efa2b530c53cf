//! The label `resource`, which callers choose: a bounded set of values that callers can't exhaust.
//!
//! Built-in resources of Kubernetes always have a label of their own. Others get one of
//! [`OTHERS`] slots when an object of theirs was allowed: that takes more than a forged review
//! with an invented resource that is denied, and a webhook that is well protected sees only what the
//! cluster serves. Whatever finds no slot is `other`.

use std::collections::HashSet;
use std::sync::Arc;

use portcullis_core::Resource;
use portcullis_core::sync::RwLock;

use super::Text;

/// Resources that are not built in and get a label of their own.
const OTHERS: usize = 200;
/// The part of them that one API group may take.
const OF_A_GROUP: usize = 50;
/// The longest name of a resource in Kubernetes.
const LONGEST: usize = 253;

/// The resources that Kubernetes 1.37 serves by itself, in whatever group.
const BUILT_IN: &[&str] = &[
    "apiservices",
    "bindings",
    "certificatesigningrequests",
    "clusterrolebindings",
    "clusterroles",
    "clustertrustbundles",
    "componentstatuses",
    "configmaps",
    "controllerrevisions",
    "cronjobs",
    "csidrivers",
    "csinodes",
    "csistoragecapacities",
    "customresourcedefinitions",
    "daemonsets",
    "deployments",
    "deviceclasses",
    "devicetaintrules",
    "endpoints",
    "endpointslices",
    "events",
    "flowschemas",
    "horizontalpodautoscalers",
    "ingressclasses",
    "ingresses",
    "ipaddresses",
    "jobs",
    "leasecandidates",
    "leases",
    "limitranges",
    "localsubjectaccessreviews",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "namespaces",
    "networkpolicies",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "podcertificaterequests",
    "poddisruptionbudgets",
    "pods",
    "podtemplates",
    "priorityclasses",
    "prioritylevelconfigurations",
    "replicasets",
    "replicationcontrollers",
    "resourceclaims",
    "resourceclaimtemplates",
    "resourcequotas",
    "resourceslices",
    "rolebindings",
    "roles",
    "runtimeclasses",
    "secrets",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
    "serviceaccounts",
    "servicecidrs",
    "services",
    "statefulsets",
    "storageclasses",
    "storageversionmigrations",
    "storageversions",
    "subjectaccessreviews",
    "tokenreviews",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "volumeattachments",
    "volumeattributesclasses",
    "workloads",
];

/// Values of the label `resource`.
#[derive(Debug)]
pub(super) struct Resources {
    built_in: HashSet<Arc<str>>,
    others: RwLock<Others>,
    other: Arc<str>,
}

#[derive(Debug, Default)]
struct Others {
    names: HashSet<Arc<str>>,
    /// The group in which each was seen first.
    groups: Vec<String>,
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            built_in: BUILT_IN.iter().copied().map(Arc::from).collect(),
            others: RwLock::default(),
            other: Arc::from("other"),
        }
    }
}

impl Resources {
    /// The resource of a review as a label; `other` if there is no slot for it.
    pub(super) fn label(&self, resource: &Resource, is_allowed: bool) -> Text {
        let name = resource.resource.as_str();
        if let Some(known) = self.built_in.get(name) {
            return Text(Arc::clone(known));
        }
        let others = self.others.read();
        if let Some(known) = others.names.get(name) {
            return Text(Arc::clone(known));
        }
        let is_full = others.names.len() >= OTHERS;
        drop(others);
        if is_full || !is_allowed || !is_name(name) {
            return Text(Arc::clone(&self.other));
        }
        let mut others = self.others.write();
        let of_group = others.groups.iter().filter(|g| **g == resource.group);
        if of_group.count() >= OF_A_GROUP || others.names.len() >= OTHERS {
            return Text(Arc::clone(&self.other));
        }
        let label: Arc<str> = Arc::from(name);
        if others.names.insert(Arc::clone(&label)) {
            others.groups.push(resource.group.clone());
        }
        Text(label)
    }
}

/// Whether it can be the name of a resource.
fn is_name(name: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(resources: &Resources, group: &str, name: &str, is_allowed: bool) -> String {
        let resource = Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: name.to_owned(),
        };
        resources.label(&resource, is_allowed).0.as_ref().to_owned()
    }

    #[test]
    fn junk_takes_the_place_of_nothing_that_is_built_in() {
        let resources = Resources::default();
        for number in 0..OTHERS * 3 {
            label(&resources, "", &format!("junk{number}"), true);
            label(
                &resources,
                &format!("g{number}"),
                &format!("j{number}"),
                true,
            );
        }
        assert_eq!(resources.others.read().names.len(), OTHERS);
        assert_eq!(label(&resources, "", "pods", true), "pods");
        assert_eq!(
            label(&resources, "apps", "deployments", false),
            "deployments"
        );
        assert_eq!(label(&resources, "x", "never-seen", true), "other");
    }

    #[test]
    fn what_is_refused_or_of_one_group_uses_up_no_places() {
        let resources = Resources::default();
        for number in 0..OTHERS * 3 {
            let name = format!("junk{number}");
            assert_eq!(label(&resources, "a", &name, false), "other");
            label(&resources, "a", &name, true);
        }
        assert_eq!(label(&resources, "a", "junk0", false), "junk0");
        assert_eq!(
            label(&resources, "cert-manager.io", "issuers", true),
            "issuers"
        );
        assert_eq!(label(&resources, "b", "Odd\nname", true), "other");
    }

    #[test]
    fn the_list_is_sorted_and_has_nothing_twice() {
        assert!(BUILT_IN.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
