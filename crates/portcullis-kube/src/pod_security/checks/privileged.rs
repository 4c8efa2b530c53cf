//! Baseline: no privileged containers.

use super::{super::text, Finding, containers_where};
use crate::pod::{PodObject, SecurityContext};

pub(in super::super) fn containers(pod: &PodObject<'_>) -> Option<Finding> {
    let is_fault = |context: &SecurityContext<'_>| context.privileged == Some(true);
    let bad = containers_where(pod, |context| context.is_some_and(is_fault));
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
