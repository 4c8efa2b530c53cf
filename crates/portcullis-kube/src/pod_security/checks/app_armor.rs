//! Baseline: the `AppArmor` profile may be the runtime's or a local one.
//!
//! Looks at the fields of the pod and its containers, and at the annotations
//! that were used before there were fields; both at all versions.

use super::{
    super::text::{Setters, Values, go_quoted, plural, quoted},
    Finding,
};
use crate::pod::{PodObject, Profile};

const ANNOTATION_PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";

pub(in super::super) fn profiles(pod: &PodObject<'_>) -> Option<Finding> {
    let mut setters = Setters::default();
    let mut values = Values::new();

    let pod_context = pod.spec.security_context.as_ref();
    if let Some(bad) = pod_context.and_then(|context| bad_type(context.app_armor_profile.as_ref()))
    {
        setters.pod = true;
        values.insert(bad);
    }
    for found in pod.spec.all_containers() {
        let context = found.container.security_context.as_ref();
        if let Some(bad) = context.and_then(|context| bad_type(context.app_armor_profile.as_ref()))
        {
            setters.containers.push(&found.container.name);
            values.insert(bad);
        }
    }
    let mut annotations: Vec<String> = pod
        .metadata
        .annotations
        .iter()
        .filter(|(key, value)| key.starts_with(ANNOTATION_PREFIX) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={}", go_quoted(value)))
        .collect();
    annotations.sort_unstable();

    if setters.is_empty() && annotations.is_empty() {
        return None;
    }
    let mut parts = setters.parts();
    if !annotations.is_empty() {
        parts.push(plural(annotations.len(), "annotation", "annotations").to_owned());
    }
    let forbidden = values.len() + annotations.len();
    let values = values.into_iter().chain(annotations.iter().map(|a| &**a));
    Some(Finding::new(
        plural(
            forbidden,
            "forbidden AppArmor profile",
            "forbidden AppArmor profiles",
        ),
        format!(
            "{} must not set AppArmor profile type to {}",
            parts.join(" and "),
            quoted(values)
        ),
    ))
}

fn bad_type<'a>(profile: Option<&'a Profile<'_>>) -> Option<&'a str> {
    profile
        .map(|profile| &*profile.kind)
        .filter(|kind| !matches!(*kind, "RuntimeDefault" | "Localhost"))
}

fn is_allowed(annotation: &str) -> bool {
    matches!(annotation, "" | "runtime/default") || annotation.starts_with("localhost/")
}
