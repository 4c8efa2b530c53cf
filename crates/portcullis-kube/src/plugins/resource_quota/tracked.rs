//! Which resources of quotas the objects of a kind are counted by.

use std::collections::BTreeMap;

use portcullis_core::{Attributes, Operation, Resource};

use crate::plugins::ending::Ending;
use crate::quantity::Quantity;

use super::change::{Change, Measured, not_counted};
use super::requirement::ScopeFacts;
use super::{claims, pods, services};

/// What objects of a kind are counted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tracked {
    /// Pods: their number and what they ask for.
    Pods,
    /// Services: their number, ports of nodes, load balancers.
    Services,
    /// Claims of storage: their number and size, also by storage class.
    Claims,
    /// Others: their number, under these names.
    Number(Vec<String>),
}

/// Resources that are never counted: those that are not stored, and events.
const IGNORED: [(&str, &str); 9] = [
    ("", "bindings"),
    ("", "componentstatuses"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("", "events"),
];

/// Resources of the core group that are also counted under their bare name.
const ALSO_BARE: [&str; 4] = [
    "configmaps",
    "resourcequotas",
    "replicationcontrollers",
    "secrets",
];

impl Tracked {
    /// What objects of this resource are counted by; none if they are not counted.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let (group, name) = (resource.group.as_str(), resource.resource.as_str());
        if IGNORED.contains(&(group, name)) || (group, name) == ("events.k8s.io", "events") {
            return None;
        }
        Some(match (group, name) {
            ("", "pods") => Self::Pods,
            ("", "services") => Self::Services,
            ("", "persistentvolumeclaims") => Self::Claims,
            _ => {
                let mut names = vec![format!("count/{resource}")];
                if group.is_empty() && ALSO_BARE.contains(&name) {
                    names.push(name.to_owned());
                }
                Self::Number(names)
            }
        })
    }

    /// Whether a quota's resource is about these objects.
    pub(super) fn counts(&self, resource: &str) -> bool {
        match self {
            Self::Pods => pods::counts(resource),
            Self::Services => services::RESOURCES.contains(&resource),
            Self::Claims => claims::counts(resource),
            Self::Number(names) => names.iter().any(|name| name == resource),
        }
    }

    /// What the request changes; an outcome if it changes nothing that is counted.
    pub(super) fn measure(&self, request: &Attributes) -> Result<Change, Ending> {
        match self {
            Self::Pods => pods::measure(request),
            Self::Services => services::measure(request),
            Self::Claims => claims::measure(request),
            Self::Number(names) => Self::number(names, request),
        }
    }

    fn number(names: &[String], request: &Attributes) -> Result<Change, Ending> {
        if request.operation != Operation::Create || !request.subresource.is_empty() {
            return Err(not_counted("changes of such objects are not counted"));
        }
        let names = names.iter().map(|name| (name.clone(), Quantity::of(1)));
        Ok(Change {
            new: Measured {
                usage: names.collect(),
                scopes: ScopeFacts::None,
                containers: BTreeMap::new(),
            },
            old: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(group: &str, resource: &str) -> Option<Tracked> {
        Tracked::of(&Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
        })
    }

    #[test]
    fn objects_are_counted_under_their_resource() {
        let number = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned());
            Some(Tracked::Number(names.collect()))
        };
        assert_eq!(
            of("", "configmaps"),
            number(&["count/configmaps", "configmaps"])
        );
        assert_eq!(of("", "endpoints"), number(&["count/endpoints"]));
        assert_eq!(
            of("apps", "deployments"),
            number(&["count/deployments.apps"])
        );
        assert_eq!(
            of("example.com", "secrets"),
            number(&["count/secrets.example.com"])
        );
        assert_eq!(
            of("example.com", "pods"),
            number(&["count/pods.example.com"])
        );
        assert_eq!(of("", "pods"), Some(Tracked::Pods));
        for (group, resource) in IGNORED {
            assert_eq!(of(group, resource), None, "{resource}");
        }
        assert_eq!(of("events.k8s.io", "events"), None);
    }

    #[test]
    fn resources_of_quotas_belong_to_their_kinds() {
        for (tracked, yes, no) in [
            (
                Tracked::Pods,
                vec![
                    "pods",
                    "count/pods",
                    "cpu",
                    "requests.memory",
                    "limits.ephemeral-storage",
                    "hugepages-2Mi",
                    "requests.hugepages-1Gi",
                    "requests.example.com/gpu",
                    "requests.deviceclass.resource.kubernetes.io/gpu",
                ],
                vec![
                    "limits.example.com/gpu",
                    "example.com/gpu",
                    "requests.storage",
                    "services",
                    "limits.hugepages-2Mi",
                    "requests.kubernetes.io/x",
                    "gold.storageclass.storage.k8s.io/requests.storage",
                ],
            ),
            (
                Tracked::Services,
                vec![
                    "services",
                    "count/services",
                    "services.nodeports",
                    "services.loadbalancers",
                ],
                vec!["pods", "services.other"],
            ),
            (
                Tracked::Claims,
                vec![
                    "persistentvolumeclaims",
                    "count/persistentvolumeclaims",
                    "requests.storage",
                    "gold.storageclass.storage.k8s.io/requests.storage",
                    "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
                ],
                vec!["storage", "gold.storageclass.storage.k8s.io/other", "pods"],
            ),
        ] {
            for name in yes {
                assert!(tracked.counts(name), "{tracked:?} {name}");
            }
            for name in no {
                assert!(!tracked.counts(name), "{tracked:?} {name}");
            }
        }
    }
}
