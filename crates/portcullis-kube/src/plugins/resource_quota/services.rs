//! What services use.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_core::{Attributes, Operation};

use crate::plugins::document;
use crate::plugins::ending::Ending;
use crate::plugins::read;
use crate::pod::Metadata;
use crate::pod::view::view;
use crate::quantity::Quantity;

use super::change::{Change, Measured, Stored, not_counted};
use super::requirement::ScopeFacts;

/// The resources of quotas that services count by.
pub(super) const RESOURCES: [&str; 4] = [
    "count/services",
    "services",
    "services.nodeports",
    "services.loadbalancers",
];

/// What the request changes: the type of a service can change, and its ports.
pub(super) fn measure(request: &Attributes) -> Result<Change, Ending> {
    if !request.subresource.is_empty() {
        return Err(not_counted("a subresource of a service"));
    }
    let new: Service<'_> = read::object(request, "Service")?;
    let old = match (&request.old_object, request.operation) {
        (Some(old), Operation::Update) => document::view::<Service<'_>>(old).ok(),
        _ => None,
    };
    Ok(Change {
        new: usage(&new),
        old: old.map(|old| Stored {
            measured: usage(&old),
            version: old.metadata.resource_version.into_owned(),
        }),
    })
}

fn usage(service: &Service<'_>) -> Measured {
    let spec = &service.spec;
    let count = |ports: usize| Quantity::of(u32::try_from(ports).unwrap_or(u32::MAX));
    let all = count(spec.ports.len());
    // Ports of nodes are not allocated yet, so what is asked for counts.
    let (node_ports, load_balancers) = match spec.kind.as_ref() {
        "NodePort" => (all, 0),
        "LoadBalancer" if spec.allocates_node_ports == Some(false) => {
            let ports = spec.ports.iter().filter(|port| port.node_port != 0);
            (count(ports.count()), 1)
        }
        "LoadBalancer" => (all, 1),
        _ => (Quantity::ZERO, 0),
    };
    let [number, services, nodes, balancers] = RESOURCES.map(str::to_owned);
    let usage = [
        (number, Quantity::of(1)),
        (services, Quantity::of(1)),
        (nodes, node_ports),
        (balancers, Quantity::of(load_balancers)),
    ];
    Measured {
        usage: usage.into_iter().collect(),
        scopes: ScopeFacts::None,
        containers: BTreeMap::new(),
    }
}

view! {
    /// A service, as far as it is counted.
    struct Service<'a> {
        /// Metadata.
        metadata: Metadata<'a> = "metadata",
        /// Specification.
        spec: Spec<'a> = "spec",
    }
}

view! {
    /// Specification of a service.
    struct Spec<'a> {
        /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
        kind: Cow<'a, str> = "type",
        /// Ports.
        ports: Vec<Port> = "ports",
        /// Whether a load balancer uses ports of nodes; it does by default.
        allocates_node_ports: Option<bool> = "allocateLoadBalancerNodePorts",
    }
}

view! {
    /// A port of a service.
    struct Port {
        /// Port of the nodes; 0 if any will do.
        node_port: i64 = "nodePort",
    }
}
