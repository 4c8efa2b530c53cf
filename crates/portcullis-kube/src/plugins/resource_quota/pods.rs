//! What pods use: their number, and what their containers ask for.
//!
//! Of a running pod, the larger of what is asked for and what it was given counts. That is in its status, which
//! counts as it is stored: what callers write there means nothing. Pods that have ended use nothing but a place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{Attributes, Operation};

use crate::plugins::ending::Ending;
use crate::plugins::extended_resource_toleration::is_extended;
use crate::plugins::pod_amounts::{self, Amounts, ContainerAmounts};
use crate::plugins::read::{self, Pod};
use crate::plugins::refusal::{forbidden, malformed};
use crate::plugins::{document, quality_of_service};
use crate::pod::view::view;
use crate::pod::{Amount, ContainerKind, Map, PodSpec, Resources, ShapeError};
use crate::quantity::{Quantity, ResourceList};

use super::change::{Change, Measured, Stored, not_counted};
use super::requirement::{PodFacts, ScopeFacts, is_terminating};

const NUMBER: &str = "count/pods";
const PODS: &str = "pods";
const HUGE_PAGES: &str = "hugepages-";
const REQUESTS: &str = "requests.";
/// Resources that quotas know by three names: bare and with `requests.` for requests, with `limits.` for limits.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Devices that are asked for by the name of their class.
const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// Resources of quotas that all containers must ask for.
pub(super) const REQUIRED: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];

/// Whether a quota's resource is about pods.
pub(super) fn counts(resource: &str) -> bool {
    let requested = resource.strip_prefix(REQUESTS);
    let name = requested
        .or_else(|| resource.strip_prefix("limits."))
        .unwrap_or(resource);
    let is_native = !resource.contains('/') || resource.contains("kubernetes.io/");
    [NUMBER, PODS].contains(&resource)
        || COMPUTE.contains(&name)
        || requested.unwrap_or(resource).starts_with(HUGE_PAGES)
        || requested.is_some_and(|name| !is_native || name.starts_with(DEVICE_CLASS))
}

/// What the request changes: new pods count, resized ones, and those that begin or cease to have a deadline.
pub(super) fn measure(request: &Attributes) -> Result<Change, Ending> {
    let is_update = match (request.subresource.as_str(), request.operation) {
        ("", Operation::Create) => false,
        ("" | "resize", Operation::Update) => true,
        ("", _) => return Err(not_counted("not a new pod")),
        _ => return Err(not_counted("a subresource of a pod")),
    };
    let mut new = read::pod_object(request)?;
    if !is_update {
        new.qos_class = Cow::Borrowed("");
        let new = usage(&new, &Status::default());
        return Ok(Change {
            new: new.map_err(|error| malformed(request, error))?,
            old: None,
        });
    }
    let old = read::old_pod(request).ok_or_else(|| no_old_object(request))?;
    let terminates = |pod: &Pod<'_>| is_terminating(&pod.object.spec);
    if request.subresource.is_empty() && terminates(&new) == terminates(&old) {
        return Err(not_counted(
            "an update that changes nothing that is counted",
        ));
    }
    new.qos_class.clone_from(&old.qos_class);
    let status = request
        .old_object
        .as_ref()
        .map(document::view::<WithStatus<'_>>);
    let status = status
        .transpose()
        .map_err(|error| malformed(request, error))?;
    let status = status.map(|old| old.status).unwrap_or_default();
    let used = |pod: &Pod<'_>| usage(pod, &status).map_err(|error| malformed(request, error));
    Ok(Change {
        new: used(&new)?,
        old: Some(Stored {
            measured: used(&old)?,
            version: old.object.metadata.resource_version.as_ref().to_owned(),
        }),
    })
}

/// The denial of an update whose old object isn't there.
pub(super) fn no_old_object(request: &Attributes) -> Ending {
    let why = "unable to get previous usage since prior version of object was not found";
    forbidden(request, why).into()
}

fn usage(pod: &Pod<'_>, status: &Status<'_>) -> Result<Measured, ShapeError> {
    let spec = &pod.object.spec;
    let mut containers = pod_amounts::containers(spec)?;
    let asked = asked(spec, &containers)?;
    let mut usage = ResourceList::from_iter([(NUMBER.to_owned(), Quantity::of(1))]);
    if !matches!(status.phase.as_ref(), "Failed" | "Succeeded") {
        status.apply(&mut containers)?;
        usage.add(&as_counted(&total(spec, &containers)?));
    }
    let is_best_effort = quality_of_service::is_best_effort(pod)?;
    Ok(Measured {
        usage,
        scopes: ScopeFacts::Pod(PodFacts::of(spec, is_best_effort)),
        containers: asked,
    })
}

/// What each container asks for, in the names of quotas; nothing if the pod as a whole asks.
fn asked(
    spec: &PodSpec<'_>,
    containers: &[ContainerAmounts<'_>],
) -> Result<BTreeMap<String, BTreeSet<String>>, ShapeError> {
    if let Some(of_pod) = &spec.resources {
        let mut names = of_pod.requests.keys().chain(of_pod.limits.keys());
        if names.any(|name| is_of_pods(name)) {
            return Ok(BTreeMap::new());
        }
    }
    let mut asked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for container in containers {
        let names = as_counted(&container.amounts);
        let names = names.names().map(str::to_owned).collect();
        // Names are unique in a pod; until that is checked, the one that asks for less counts.
        asked
            .entry(container.name.to_owned())
            .and_modify(|known| *known = &*known & &names)
            .or_insert(names);
    }
    Ok(asked)
}

/// Whether a pod as a whole can ask for this.
fn is_of_pods(name: &str) -> bool {
    ["cpu", "memory"].contains(&name) || name.starts_with(HUGE_PAGES)
}

/// What a pod asks for, with what its runtime class costs.
fn total(spec: &PodSpec<'_>, containers: &[ContainerAmounts<'_>]) -> Result<Amounts, ShapeError> {
    let mut total = pod_amounts::total(containers);
    if let Some(of_pod) = &spec.resources {
        let of_pod = Amounts::read(of_pod, &"spec.resources")?;
        pod_amounts::override_with(&mut total.requests, &of_pod.requests, is_of_pods);
        pod_amounts::override_with(&mut total.limits, &of_pod.limits, is_of_pods);
    }
    let overhead = ResourceList::read(&spec.overhead, &"spec.overhead")?;
    total.requests.add(&overhead);
    let limited = total.limits.without_zeros();
    total
        .limits
        .add(&overhead.only(|name| limited.contains(name)));
    Ok(total)
}

/// Amounts in the names of quotas.
fn as_counted(amounts: &Amounts) -> ResourceList {
    let mut counted = ResourceList::from_iter([(PODS.to_owned(), Quantity::of(1))]);
    for (name, amount) in amounts.requests.iter() {
        let is_bare = COMPUTE.contains(&name) || name.starts_with(HUGE_PAGES);
        if is_bare {
            counted.insert(name, amount.clone());
        }
        if is_bare || is_extended(name) || name.starts_with(DEVICE_CLASS) {
            counted.insert(format!("{REQUESTS}{name}"), amount.clone());
        }
    }
    for (name, amount) in amounts.limits.iter() {
        if COMPUTE.contains(&name) {
            counted.insert(format!("limits.{name}"), amount.clone());
        }
    }
    counted
}

impl Status<'_> {
    /// Raises what containers ask for to what they were given.
    fn apply(&self, containers: &mut [ContainerAmounts<'_>]) -> Result<(), ShapeError> {
        let mut conditions = self.conditions.iter();
        let pending = conditions.find(|condition| condition.kind == "PodResizePending");
        let is_infeasible = pending.is_some_and(|condition| condition.reason == "Infeasible");
        let runs_on =
            |c: &&mut ContainerAmounts<'_>| c.is_sidecar || c.kind == ContainerKind::Regular;
        for container in containers.iter_mut().filter(runs_on) {
            let all = self.container_statuses.iter();
            let mut all = all.chain(&self.init_container_statuses).rev();
            let Some(known) = all.find(|status| status.name == container.name) else {
                continue;
            };
            let Some(resources) = &known.resources else {
                continue;
            };
            let given = Amounts::read(resources, &"status.resources")?;
            let allocated = &known.allocated_resources;
            let allocated = ResourceList::read(allocated, &"status.allocatedResources")?;
            let own = &mut container.amounts;
            if is_infeasible {
                *own = given;
            } else {
                own.requests.raise_to(&given.requests);
                own.limits.raise_to(&given.limits);
            }
            own.requests.raise_to(&allocated);
        }
        Ok(())
    }
}

view! {
    /// A pod's status beside what else is read of it.
    struct WithStatus<'a> {
        /// Status.
        status: Status<'a> = "status",
    }
}

view! {
    /// Status of a pod, as far as it counts.
    struct Status<'a> {
        /// `Failed` and `Succeeded` have ended.
        phase: Cow<'a, str> = "phase",
        /// States.
        conditions: Vec<Condition<'a>> = "conditions",
        /// Of the containers.
        container_statuses: Vec<ContainerStatus<'a>> = "containerStatuses",
        /// Of the init containers.
        init_container_statuses: Vec<ContainerStatus<'a>> = "initContainerStatuses",
    }
}

view! {
    /// A state of a pod.
    struct Condition<'a> {
        /// Which.
        kind: Cow<'a, str> = "type",
        /// Why.
        reason: Cow<'a, str> = "reason",
    }
}

view! {
    /// Status of a container, as far as it counts.
    struct ContainerStatus<'a> {
        /// Name of the container.
        name: Cow<'a, str> = "name",
        /// What it was given.
        resources: Option<Resources<'a>> = "resources",
        /// What was set aside for it.
        allocated_resources: Map<'a, Amount<'a>> = "allocatedResources",
    }
}
