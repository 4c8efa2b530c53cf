//! Baseline, from 1.34 on: probes and lifecycle hooks call the pod itself, not
//! some other host, so that the kubelet cannot be made to reach for others.

use super::{
    super::text::{self, Values, plural, quoted},
    Finding,
};
use crate::pod::{Container, PodObject};

pub(in super::super) fn hosts(pod: &PodObject<'_>) -> Option<Finding> {
    // Unlike in the other checks, upstream lists each container name once and
    // sorted here.
    let mut containers = Values::new();
    let mut hosts = Values::new();
    for found in pod.spec.all_containers() {
        for host in hosts_of(found.container) {
            containers.insert(&found.container.name);
            hosts.insert(host);
        }
    }
    (!containers.is_empty()).then(|| {
        let containers: Vec<&str> = containers.into_iter().collect();
        let uses = plural(containers.len(), "uses", "use");
        let noun = plural(
            hosts.len(),
            "probe or lifecycle host",
            "probe or lifecycle hosts",
        );
        Finding::new(
            "probe or lifecycle host",
            format!(
                "{} {uses} {noun} {}",
                text::containers(&containers),
                quoted(hosts)
            ),
        )
    })
}

fn hosts_of<'p>(container: &'p Container<'_>) -> impl Iterator<Item = &'p str> {
    [
        &container.liveness_probe,
        &container.readiness_probe,
        &container.startup_probe,
        &container.lifecycle.post_start,
        &container.lifecycle.pre_stop,
    ]
    .into_iter()
    .flatten()
    .flat_map(|handler| [&handler.http_get, &handler.tcp_socket])
    .flatten()
    .map(|target| &*target.host)
    .filter(|host| !host.is_empty())
}
