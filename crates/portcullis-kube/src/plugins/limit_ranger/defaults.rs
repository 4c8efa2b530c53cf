//! The defaults that containers get, and the annotation that tells of them.

use std::collections::BTreeMap;

use portcullis_core::{Attributes, Outcome};
use serde_json::Value;

use crate::pod::{ContainerKind, PodSpec};
use crate::quantity::{Quantity, ResourceList};

use super::super::edit;
use super::super::read::OrOutcome;
use super::limit_range::{LimitRange, LimitType};

/// The annotation that tells what was set.
pub(super) const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// What a pod gets.
#[derive(Debug, Default)]
pub(super) struct Additions {
    containers: Vec<ContainerAdditions>,
    /// What is told about it; none if nothing is added.
    pub(super) annotation: Option<String>,
}

/// What a container gets.
#[derive(Debug)]
struct ContainerAdditions {
    kind: ContainerKind,
    index: usize,
    limits: ResourceList,
    requests: ResourceList,
}

/// The defaults that the containers and init containers of a pod lack. Of several LimitRanges that have one for the
/// same resource, the first counts; the annotation tells of the last that set anything.
pub(super) fn missing(spec: &PodSpec<'_>, ranges: &[LimitRange]) -> Additions {
    let mut additions = Additions::default();
    let containers = [
        (ContainerKind::Regular, "container"),
        (ContainerKind::Init, "init container"),
    ]
    .into_iter()
    .flat_map(|(kind, words)| {
        let all = spec.all_containers().filter(move |one| one.kind == kind);
        all.map(move |one| (one, words))
    });
    let containers: Vec<_> = containers.collect();
    additions.containers = containers
        .iter()
        .map(|(one, _)| ContainerAdditions {
            kind: one.kind,
            index: one.index,
            limits: ResourceList::default(),
            requests: ResourceList::default(),
        })
        .collect();
    for range in ranges {
        let default = Defaults::of(range);
        let mut told = Vec::new();
        for ((one, words), added) in containers.iter().zip(&mut additions.containers) {
            let own = &one.container.resources;
            let limits = lacking(&default.limits, |name| {
                own.limits.contains_key(name) || added.limits.contains(name)
            });
            let requests = lacking(&default.requests, |name| {
                own.requests.contains_key(name) || added.requests.contains(name)
            });
            let name = &one.container.name;
            for (list, what) in [(&requests, "request"), (&limits, "limit")] {
                if !list.is_empty() {
                    let names: Vec<&str> = list.names().collect();
                    told.push(format!("{} {what} for {words} {name}", names.join(", ")));
                }
            }
            added.limits.add(&limits);
            added.requests.add(&requests);
        }
        if !told.is_empty() {
            additions.annotation = Some(format!("LimitRanger plugin set: {}", told.join("; ")));
        }
    }
    additions
}

/// The defaults of one LimitRange, the last of a name counting.
struct Defaults<'r> {
    limits: BTreeMap<&'r str, &'r Quantity>,
    requests: BTreeMap<&'r str, &'r Quantity>,
}

impl<'r> Defaults<'r> {
    fn of(range: &'r LimitRange) -> Self {
        let limits = range.limits.iter();
        let containers = limits.filter(|limit| limit.kind == LimitType::Container);
        let containers: Vec<_> = containers.collect();
        Self {
            limits: containers.iter().flat_map(|l| l.default.iter()).collect(),
            requests: containers
                .iter()
                .flat_map(|l| l.default_request.iter())
                .collect(),
        }
    }
}

fn lacking(defaults: &BTreeMap<&str, &Quantity>, has: impl Fn(&str) -> bool) -> ResourceList {
    let lacking = defaults.iter().filter(|(name, _)| !has(name));
    lacking
        .map(|(name, amount)| ((*name).to_owned(), (*amount).clone()))
        .collect()
}

/// Sets what is missing, and tells of it.
pub(super) fn add(request: &mut Attributes, additions: &Additions) -> OrOutcome<Outcome> {
    edit::whole(request, |pod| {
        let spec = edit::object(pod, "spec").ok_or("spec: expected an object")?;
        for added in &additions.containers {
            if added.limits.is_empty() && added.requests.is_empty() {
                continue;
            }
            let container = edit::container(spec, added.kind, added.index);
            let resources = container.and_then(|container| edit::object(container, "resources"));
            let resources = resources.ok_or("spec: expected resources to be objects")?;
            for (key, list) in [("limits", &added.limits), ("requests", &added.requests)] {
                if list.is_empty() {
                    continue;
                }
                let own = edit::object(resources, key);
                let own = own.ok_or("spec: expected limits and requests to be objects")?;
                let list = list.iter();
                own.extend(list.map(|(name, a)| (name.to_owned(), Value::from(a.to_string()))));
            }
        }
        if let Some(text) = &additions.annotation {
            let metadata = edit::object(pod, "metadata").ok_or("metadata: expected an object")?;
            let annotations = edit::object(metadata, "annotations");
            let annotations = annotations.ok_or("metadata.annotations: expected an object")?;
            edit::set(annotations, ANNOTATION, text);
        }
        Ok(())
    })
}
