//! Restricted: containers do not run as root.
//!
//! `runAsNonRoot` must be true, on the pod or on each container; from 1.23 on
//! `runAsUser` must not be 0 either. From 1.35 on neither is required of pods in a
//! user namespace of their own: root there is an unprivileged user on the node.

use super::{
    super::text::{self, Setters},
    Finding, containers_where,
};
use crate::pod::PodObject;

pub(in super::super) fn non_root(pod: &PodObject<'_>) -> Option<Finding> {
    let on_pod = pod
        .spec
        .security_context
        .as_ref()
        .and_then(|context| context.run_as_non_root);
    let mut setters = Setters {
        pod: on_pod == Some(false),
        ..Setters::default()
    };
    let mut silent: Vec<&str> = Vec::new();
    for found in pod.spec.all_containers() {
        let context = found.container.security_context.as_ref();
        match context.and_then(|context| context.run_as_non_root) {
            Some(true) => {}
            Some(false) => setters.containers.push(&found.container.name),
            None if on_pod == Some(true) => {}
            None => silent.push(&found.container.name),
        }
    }
    let detail = if !setters.is_empty() {
        format!(
            "{} must not set securityContext.runAsNonRoot=false",
            setters.joined()
        )
    } else if !silent.is_empty() {
        format!(
            "pod or {} must set securityContext.runAsNonRoot=true",
            text::containers(&silent)
        )
    } else {
        return None;
    };
    Some(Finding::new("runAsNonRoot != true", detail))
}

pub(in super::super) fn non_root_outside_user_namespaces(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.in_user_namespace() {
        return None;
    }
    non_root(pod)
}

pub(in super::super) fn user(pod: &PodObject<'_>) -> Option<Finding> {
    let on_pod = pod
        .spec
        .security_context
        .as_ref()
        .and_then(|context| context.run_as_user);
    let setters = Setters {
        pod: on_pod == Some(0),
        containers: containers_where(pod, |context| {
            context.is_some_and(|context| context.run_as_user == Some(0))
        }),
    };
    (!setters.is_empty()).then(|| {
        Finding::new(
            "runAsUser=0",
            format!("{} must not set runAsUser=0", setters.joined()),
        )
    })
}

pub(in super::super) fn user_outside_user_namespaces(pod: &PodObject<'_>) -> Option<Finding> {
    if pod.spec.in_user_namespace() {
        return None;
    }
    user(pod)
}
