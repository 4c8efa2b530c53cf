//! Restricted: no process may gain more rights than its parent has.
//!
//! Every container has to set this itself. The field came with 1.8; from 1.25 on
//! Windows pods, which cannot set it, are allowed.

use super::{super::text, Finding, containers_where};
use crate::pod::PodObject;

pub(in super::super) fn all_pods(pod: &PodObject<'_>) -> Option<Finding> {
    let bad = containers_where(pod, |context| {
        context.and_then(|context| context.allow_privilege_escalation) != Some(false)
    });
    (!bad.is_empty()).then(|| {
        Finding::new(
            "allowPrivilegeEscalation != false",
            format!(
                "{} must set securityContext.allowPrivilegeEscalation=false",
                text::containers(&bad)
            ),
        )
    })
}

pub(in super::super) fn except_windows(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.is_windows() {
        return None;
    }
    all_pods(pod)
}
