//! Baseline: only kernel parameters that touch nothing beyond the pod.
//!
//! The list has grown: in 1.27, 1.29, 1.32 and 1.37.

use super::Finding;
use crate::pod::PodObject;

/// Parameters with the minor version from which they are allowed.
const SAFE: [(&str, u64); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

pub(in super::super) fn v1_0(pod: &PodObject<'_>) -> Option<Finding> {
    unsafe_as_of(0, pod)
}

pub(in super::super) fn v1_27(pod: &PodObject<'_>) -> Option<Finding> {
    unsafe_as_of(27, pod)
}

pub(in super::super) fn v1_29(pod: &PodObject<'_>) -> Option<Finding> {
    unsafe_as_of(29, pod)
}

pub(in super::super) fn v1_32(pod: &PodObject<'_>) -> Option<Finding> {
    unsafe_as_of(32, pod)
}

pub(in super::super) fn v1_37(pod: &PodObject<'_>) -> Option<Finding> {
    unsafe_as_of(37, pod)
}

fn unsafe_as_of(minor: u64, pod: &PodObject<'_>) -> Option<Finding> {
    let is_safe = |name: &str| {
        SAFE.iter()
            .any(|(safe, since)| *safe == name && *since <= minor)
    };
    let context = pod.spec.security_context.as_ref()?;
    let forbidden: Vec<&str> = context
        .sysctls
        .iter()
        .map(|sysctl| &*sysctl.name)
        .filter(|name| !is_safe(name))
        .collect();
    (!forbidden.is_empty()).then(|| Finding::new("forbidden sysctls", forbidden.join(", ")))
}
