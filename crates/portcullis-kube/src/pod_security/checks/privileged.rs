//! Baseline: no privileged containers.

use super::{super::text, Finding};
use crate::pod::PodObject;

pub(in super::super) fn containers(pod: &PodObject<'_>) -> Option<Finding> {
    let bad: Vec<&str> = pod
        .spec
        .all_containers()
        .map(|found| found.container)
        .filter(|container| {
            container
                .security_context
                .as_ref()
                .is_some_and(|context| context.privileged == Some(true))
        })
        .map(|container| &*container.name)
        .collect();
    (!bad.is_empty()).then(|| {
        Finding::new(
            "privileged",
            format!(
                "{} must not set securityContext.privileged=true",
                text::containers(&bad)
            ),
        )
    })
}
