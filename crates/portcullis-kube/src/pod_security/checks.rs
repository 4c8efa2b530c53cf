//! The checks themselves, one file for each family.
//!
//! Each is a function from a pod to a [`Finding`] or nothing. Which of them
//! apply at which level and version is defined in `evaluate`. A check that finds
//! nothing does not allocate.

use std::borrow::Cow;

use crate::pod::{PodObject, SecurityContext};

pub(super) mod allow_privilege_escalation;
pub(super) mod app_armor;
pub(super) mod capabilities;
pub(super) mod host_namespaces;
pub(super) mod host_ports;
pub(super) mod host_probes;
pub(super) mod privileged;
pub(super) mod proc_mount;
pub(super) mod run_as;
pub(super) mod se_linux;
pub(super) mod seccomp;
pub(super) mod sysctls;
pub(super) mod volumes;
pub(super) mod windows_host_process;

/// What a check found: the kind of fault, and the particulars.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) reason: Cow<'static, str>,
    pub(super) detail: String,
}

impl Finding {
    fn new(reason: &'static str, detail: String) -> Self {
        Self {
            reason: Cow::Borrowed(reason),
            detail,
        }
    }
}

/// Names of the containers whose security settings, or lack of them, are at fault.
fn containers_where<'p>(
    pod: &'p PodObject<'_>,
    is_fault: impl Fn(Option<&SecurityContext<'_>>) -> bool,
) -> Vec<&'p str> {
    let containers = pod.spec.all_containers().map(|found| found.container);
    containers
        .filter(|container| is_fault(container.security_context.as_ref()))
        .map(|container| &*container.name)
        .collect()
}
