//! `AlwaysPullImages`: images are pulled each time, so only those who may pull
//! an image can run it.
//!
//! Sets the pull policy of every container and image volume to `Always`, and
//! checks it again once all plug-ins are done. An update that brings no image
//! the pod doesn't have already is left alone. Pull secrets are not looked at.

use std::collections::BTreeSet;

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::{
    Attributes, Denial, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};
use serde_json::Value;

use crate::pod::PodSpec;

use super::edit;
use super::read::{self, OrOutcome, Pod, settled};
use super::refusal::{Aggregate, forbidden_text};
use super::tolerations::unsupported;

const ALWAYS: &str = "Always";

#[derive(Clone, Copy, Debug)]
struct AlwaysPullImages;

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "AlwaysPullImages",
        summary: "Sets the image pull policy of all containers and image volumes to Always.",
        phases: Phases::BOTH,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: super::without_configuration(AlwaysPullImages),
    }
}

impl Plugin for AlwaysPullImages {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(set_policies(request))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(check_policies(request))
    }
}

fn set_policies(request: &mut Attributes) -> OrOutcome<Outcome> {
    if others(&pod_with_new_images(request)?.object.spec).is_empty() {
        return Ok(Outcome::Pass);
    }
    edit::spec(request, |spec| {
        edit::all_containers(spec, |container| {
            edit::set(container, "imagePullPolicy", ALWAYS);
        });
        edit::each(spec, "volumes", |volume| {
            if let Some(Value::Object(image)) = volume.get_mut("image") {
                edit::set(image, "pullPolicy", ALWAYS);
            }
        });
    })
}

fn check_policies(request: &Attributes) -> OrOutcome<Outcome> {
    let others = others(&pod_with_new_images(request)?.object.spec);
    if others.is_empty() {
        return Ok(Outcome::Pass);
    }
    let prefix = forbidden_text(request, "");
    let mut texts = Aggregate::default();
    for (path, policy) in &others {
        texts.add(format!(
            "{prefix}{path}: {}",
            unsupported(policy, &[ALWAYS])
        ));
    }
    Err(Outcome::Deny(Denial::forbidden(
        texts.text().unwrap_or(prefix),
    )))
}

fn pod_with_new_images(request: &Attributes) -> OrOutcome<Pod<'_>> {
    let pod = read::pod(request)?;
    // An old pod that can't be read has no images: all are new then.
    if request.operation == Operation::Update
        && let Some(old) = read::old_pod(request)
    {
        let known: BTreeSet<&str> = images(&old.object.spec).collect();
        if images(&pod.object.spec).all(|image| known.contains(image)) {
            return Err(Outcome::not_applicable("an update without new images"));
        }
    }
    Ok(pod)
}

fn images<'a>(spec: &'a PodSpec<'_>) -> impl Iterator<Item = &'a str> {
    spec.all_containers().map(|c| c.container.image.as_ref())
}

/// Places and values of pull policies other than `Always`.
fn others(spec: &PodSpec<'_>) -> Vec<(String, String)> {
    let containers = spec.all_containers().map(|c| {
        let path = format!("{}.imagePullPolicy", c.path());
        (path, &c.container.image_pull_policy)
    });
    let volumes = spec.volumes.iter().enumerate().filter_map(|(index, v)| {
        let image = v.image.as_ref()?;
        let path = format!("spec.volumes[{index}].image.pullPolicy");
        Some((path, &image.pull_policy))
    });
    containers
        .chain(volumes)
        .filter(|(_, policy)| policy.as_ref() != ALWAYS)
        .map(|(path, policy)| (path, policy.to_string()))
        .collect()
}

#[cfg(test)]
mod tests;
