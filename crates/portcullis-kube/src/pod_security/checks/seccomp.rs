//! Seccomp profiles: the runtime's own or a local one.
//!
//! Baseline allows an unset profile; up to 1.18 it reads annotations, later the
//! fields that replaced them. Restricted, from 1.19 on, also requires every
//! container covered, by itself or by the pod; Windows pods are allowed
//! from 1.25 on.

use super::{
    super::text::{self, Setters, Values, go_quoted, plural, quoted},
    Finding,
};
use crate::pod::{Container, PodObject, Profile};

const POD_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_ANNOTATION_PREFIX: &str = "container.seccomp.security.alpha.kubernetes.io/";

pub(in super::super) fn baseline_annotations(pod: &PodObject<'_>) -> Option<Finding> {
    let is_container = |key: &str| {
        key.strip_prefix(CONTAINER_ANNOTATION_PREFIX)
            .is_some_and(|name| pod.spec.all_containers().any(|c| c.container.name == name))
    };
    let mut forbidden: Vec<String> = pod
        .metadata
        .annotations
        .iter()
        .filter(|(key, value)| {
            !is_allowed_annotation(value) && (*key == POD_ANNOTATION || is_container(key))
        })
        .map(|(key, value)| format!("{key}={}", go_quoted(value)))
        .collect();
    forbidden.sort_unstable();
    (!forbidden.is_empty()).then(|| {
        let noun = plural(forbidden.len(), "annotation", "annotations");
        Finding::new(
            "seccompProfile",
            format!("forbidden {noun} {}", forbidden.join(", ")),
        )
    })
}

fn is_allowed_annotation(value: &str) -> bool {
    matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/")
}

pub(in super::super) fn baseline_fields(pod: &PodObject<'_>) -> Option<Finding> {
    let mut setters = Setters::default();
    let mut values = Values::new();
    if let Some(bad) = pod_profile(pod).and_then(bad_type) {
        setters.pod = true;
        values.insert(bad);
    }
    for found in pod.spec.all_containers() {
        if let Some(bad) = container_profile(found.container).and_then(bad_type) {
            setters.containers.push(&found.container.name);
            values.insert(bad);
        }
    }
    (!setters.is_empty()).then(|| {
        Finding::new(
            "seccompProfile",
            format!(
                "{} must not set securityContext.seccompProfile.type to {}",
                setters.joined(),
                quoted(&values)
            ),
        )
    })
}

pub(in super::super) fn restricted(pod: &PodObject<'_>) -> Option<Finding> {
    if let Some(finding) = baseline_fields(pod) {
        return Some(finding);
    }
    if pod_profile(pod).is_some() {
        return None;
    }
    let uncovered: Vec<&str> = pod
        .spec
        .all_containers()
        .map(|found| found.container)
        .filter(|container| container_profile(container).is_none())
        .map(|container| &*container.name)
        .collect();
    (!uncovered.is_empty()).then(|| {
        Finding::new(
            "seccompProfile",
            format!(
                r#"pod or {} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost""#,
                text::containers(&uncovered)
            ),
        )
    })
}

pub(in super::super) fn restricted_except_windows(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.is_windows() {
        return None;
    }
    restricted(pod)
}

fn pod_profile<'p, 'a>(pod: &'p PodObject<'a>) -> Option<&'p Profile<'a>> {
    pod.spec.security_context.as_ref()?.seccomp_profile.as_ref()
}

fn container_profile<'p, 'a>(container: &'p Container<'a>) -> Option<&'p Profile<'a>> {
    container
        .security_context
        .as_ref()?
        .seccomp_profile
        .as_ref()
}

fn bad_type<'p>(profile: &'p Profile<'_>) -> Option<&'p str> {
    let kind = &*profile.kind;
    (!matches!(kind, "RuntimeDefault" | "Localhost")).then_some(kind)
}
