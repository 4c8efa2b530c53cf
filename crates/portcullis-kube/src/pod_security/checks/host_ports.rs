//! Baseline: no ports on the node's address; port 0 means no port.

use std::collections::BTreeSet;

use super::{
    super::text::{self, plural},
    Finding,
};
use crate::pod::PodObject;

pub(in super::super) fn used(pod: &PodObject<'_>) -> Option<Finding> {
    let mut containers: Vec<&str> = Vec::new();
    // As text: upstream sorts them so, 10080 before 80.
    let mut ports = BTreeSet::new();
    for found in pod.spec.all_containers() {
        let used = found.container.ports.iter().map(|port| port.host_port);
        let mut used = used.filter(|port| *port != 0).peekable();
        if used.peek().is_some() {
            containers.push(&found.container.name);
            ports.extend(used.map(|port| port.to_string()));
        }
    }
    (!containers.is_empty()).then(|| {
        let uses = plural(containers.len(), "uses", "use");
        let noun = plural(ports.len(), "hostPort", "hostPorts");
        let ports: Vec<String> = ports.into_iter().collect();
        Finding::new(
            "hostPort",
            format!(
                "{} {uses} {noun} {}",
                text::containers(&containers),
                ports.join(", ")
            ),
        )
    })
}
