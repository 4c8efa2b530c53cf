//! Baseline: the node's network, processes and inter-process communication are
//! not shared.

use super::Finding;
use crate::pod::PodObject;

pub(in super::super) fn shared(pod: &PodObject<'_>) -> Option<Finding> {
    let shared: Vec<&str> = [
        (pod.spec.host_network, "hostNetwork=true"),
        (pod.spec.host_pid, "hostPID=true"),
        (pod.spec.host_ipc, "hostIPC=true"),
    ]
    .into_iter()
    .filter_map(|(shared, text)| shared.then_some(text))
    .collect();
    (!shared.is_empty()).then(|| Finding::new("host namespaces", shared.join(", ")))
}
