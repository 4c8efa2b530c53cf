//! What a cluster needs in order to heal: requests that must not wait for a webhook that may be gone.
//!
//! Nodes renew leases, kubelets and API servers review tokens, controllers remove taints from nodes. If such requests are
//! denied while Portcullis does not answer, nodes turn `NotReady`, and nothing can start Portcullis again.

use portcullis_core::Operation;
use serde_json::{Value, json};

use super::rules::{Rule, RuleScope};

/// Namespaces that a cluster can't heal without: its own components, and the leases of its nodes.
pub const VITAL_NAMESPACES: [&str; 2] = ["kube-node-lease", "kube-system"];

const NODES: &[&str] = &["system:nodes", "system:authenticated"];
const CONTROLLERS: &[&str] = &[
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
    "system:authenticated",
];
const API_SERVER: &[&str] = &["system:masters", "system:authenticated"];

/// A condition of a webhook (`matchConditions`) that leaves out what a cluster needs to heal.
#[derive(Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// Its name in the registration.
    pub name: &'static str,
    /// The CEL expression: true for what is sent to the webhook.
    pub expression: &'static str,
    /// What is left out.
    pub leaves_out: &'static str,
    /// Resources whose rules need it: group and resource.
    of: &'static [(&'static str, &'static str)],
    /// Whether a rule that names one of these resources needs it, too, and not only one with a wildcard.
    is_for_named: bool,
}

/// All of them, in the order in which they are written.
pub const EXCLUSIONS: [Exclusion; 4] = [
    Exclusion {
        name: "exclude-leases",
        expression: "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')",
        leaves_out: "leases",
        of: &[("coordination.k8s.io", "leases")],
        // Those of nodes and of the control plane are in namespaces that are exempt.
        is_for_named: false,
    },
    Exclusion {
        name: "exclude-access-reviews",
        expression: "!(request.resource.group in ['authentication.k8s.io', 'authorization.k8s.io'])",
        leaves_out: "token and access reviews",
        of: &[
            ("authentication.k8s.io", "tokenreviews"),
            ("authorization.k8s.io", "subjectaccessreviews"),
        ],
        is_for_named: false,
    },
    Exclusion {
        name: "exclude-api-server",
        expression: "request.userInfo.username != 'system:apiserver'",
        leaves_out: "requests of the API server itself",
        of: &[
            ("", "endpoints"),
            ("discovery.k8s.io", "endpointslices"),
            ("rbac.authorization.k8s.io", "clusterrolebindings"),
            ("rbac.authorization.k8s.io", "clusterroles"),
        ],
        is_for_named: true,
    },
    Exclusion {
        name: "exclude-control-plane",
        expression: "(has(request.namespace) && request.namespace != '') || \
                     !('system:nodes' in request.userInfo.groups || \
                     'system:serviceaccounts:kube-system' in request.userInfo.groups || \
                     request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler'])",
        leaves_out: "requests of nodes and of the control plane for objects without a namespace",
        of: &[
            ("", "nodes"),
            ("", "nodes/status"),
            ("certificates.k8s.io", "certificatesigningrequests"),
            ("certificates.k8s.io", "certificatesigningrequests/approval"),
            ("certificates.k8s.io", "certificatesigningrequests/status"),
            ("storage.k8s.io", "csinodes"),
            ("storage.k8s.io", "volumeattachments"),
        ],
        is_for_named: true,
    },
];

impl Exclusion {
    /// Whether rules cover something that it leaves out.
    pub(super) fn is_needed_by(&self, rules: &[Rule]) -> bool {
        let mut pairs = rules
            .iter()
            .flat_map(|rule| self.of.iter().map(move |one| (rule, one)));
        pairs.any(|(rule, (group, resource))| {
            let is_named = rule.group == *group && rule.resources.iter().any(|one| one == resource);
            changes(rule) && rule.covers(group, resource) && (self.is_for_named || !is_named)
        })
    }
}

/// Whether it is about objects that are created or updated.
fn changes(rule: &Rule) -> bool {
    let vital = [Operation::Create, Operation::Update];
    vital.iter().any(|one| rule.operations.contains(one))
}

/// A request that a cluster can't heal without.
#[derive(Debug, PartialEq, Eq)]
pub struct VitalRequest {
    /// What it is, for people.
    pub what: &'static str,
    /// Its namespace, if it has one.
    pub namespace: Option<&'static str>,
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    operation: Operation,
    user: &'static str,
    groups: &'static [&'static str],
}

/// Some of each kind, enough to find registrations that hold up one of them.
pub const VITAL_REQUESTS: [VitalRequest; 6] = [
    VitalRequest {
        what: "the leases of nodes",
        namespace: Some("kube-node-lease"),
        group: "coordination.k8s.io",
        version: "v1",
        resource: "leases",
        operation: Operation::Update,
        user: "system:node:node-1",
        groups: NODES,
    },
    VitalRequest {
        what: "the status of nodes",
        namespace: None,
        group: "",
        version: "v1",
        resource: "nodes/status",
        operation: Operation::Update,
        user: "system:node:node-1",
        groups: NODES,
    },
    VitalRequest {
        what: "the taints of nodes",
        namespace: None,
        group: "",
        version: "v1",
        resource: "nodes",
        operation: Operation::Update,
        user: "system:serviceaccount:kube-system:node-controller",
        groups: CONTROLLERS,
    },
    VitalRequest {
        what: "token reviews",
        namespace: None,
        group: "authentication.k8s.io",
        version: "v1",
        resource: "tokenreviews",
        operation: Operation::Create,
        user: "system:node:node-1",
        groups: NODES,
    },
    VitalRequest {
        what: "access reviews",
        namespace: None,
        group: "authorization.k8s.io",
        version: "v1",
        resource: "subjectaccessreviews",
        operation: Operation::Create,
        user: "system:node:node-1",
        groups: NODES,
    },
    VitalRequest {
        what: "the roles that the API server creates when it starts",
        namespace: None,
        group: "rbac.authorization.k8s.io",
        version: "v1",
        resource: "clusterroles",
        operation: Operation::Update,
        user: "system:apiserver",
        groups: API_SERVER,
    },
];

impl VitalRequest {
    /// Whether one of these rules is about it.
    pub fn is_covered(&self, rules: &[Rule]) -> bool {
        let other = match self.namespace {
            Some(_) => RuleScope::Cluster,
            None => RuleScope::Namespaced,
        };
        rules.iter().any(|rule| {
            rule.scope != other
                && rule.operations.contains(&self.operation)
                && rule.covers(self.group, self.resource)
        })
    }

    /// The `request` that conditions see.
    pub fn request(&self) -> Value {
        let (resource, subresource) = match self.resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (self.resource, None),
        };
        let resource = json!({"group": self.group, "version": self.version, "resource": resource});
        let mut request = json!({
            "uid": "00000000-0000-0000-0000-000000000000",
            "name": "node-1",
            "operation": self.operation.as_str(),
            "resource": resource,
            "requestResource": resource,
            "userInfo": {"username": self.user, "groups": self.groups},
            "dryRun": false,
        });
        // What is empty is left out, as in a review.
        for (key, value) in [
            ("namespace", self.namespace),
            ("subResource", subresource),
            ("requestSubResource", subresource),
        ] {
            if let (Some(value), Some(request)) = (value, request.as_object_mut()) {
                request.insert(key.to_owned(), value.into());
            }
        }
        request
    }
}
