//! `/proc` is mounted with the usual masks.
//!
//! Baseline alone, for all pods, up to 1.34. From 1.35 on baseline lets pods in
//! a user namespace of their own use any mask, while restricted keeps the
//! rule for all.

use super::{
    super::text::{self, Values, quoted},
    Finding,
};
use crate::pod::PodObject;

pub(in super::super) fn always(pod: &PodObject<'_>) -> Option<Finding> {
    let mut containers: Vec<&str> = Vec::new();
    let mut values = Values::new();
    for found in pod.spec.all_containers() {
        let context = found.container.security_context.as_ref();
        let proc_mount = context.and_then(|context| context.proc_mount.as_deref());
        if let Some(bad) = proc_mount.filter(|value| *value != "Default") {
            containers.push(&found.container.name);
            values.insert(bad);
        }
    }
    (!containers.is_empty()).then(|| {
        Finding::new(
            "procMount",
            format!(
                "{} must not set securityContext.procMount to {}",
                text::containers(&containers),
                quoted(values)
            ),
        )
    })
}

pub(in super::super) fn outside_user_namespaces(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.in_user_namespace() {
        return None;
    }
    always(pod)
}
