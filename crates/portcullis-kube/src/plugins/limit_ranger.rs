//! `LimitRanger`: what containers, pods and claims may ask for is limited by the LimitRanges of their namespace.
//!
//! Containers and init containers without requests or limits get the defaults of their namespace, resource by
//! resource; then everything is held to minimum, maximum and the ratio of limits to requests. As in Kubernetes,
//! updates of pods are only looked at as `resize`, and objects that are being deleted are not looked at.
//!
//! `live` finds LimitRanges that the watch has not seen, `limit_range` reads them, `defaults` and `constraints` are
//! pure functions of them. Where Kubernetes takes the LimitRanges of a namespace in any order, here they are taken by
//! name.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Attributes, Finished, Notes, Operation, Operations, Outcome, Pending, Phase, Phases, Plugin,
    PluginError, Runs, clock,
};
use portcullis_document::Fault;

use crate::cluster_objects::{ClusterObjects, ObjectKind};
use crate::registry::{DependsOn, Descriptor};

use super::document::{self, Named};
use super::ending::Ending;
use super::in_namespace::ask;
use super::refusal::{forbidden, malformed};
use super::{PluginEnvironment, config, pod_amounts, read};

use limit_range::LimitRange;
use live::Live;

mod claim;
mod constraints;
mod defaults;
mod limit_range;
mod live;

/// How long listing may take, unless the chain says something else.
const DEFAULT_TIME: Duration = Duration::from_secs(2);

struct LimitRanger(Arc<Inner>);

struct Inner {
    objects: Arc<dyn ClusterObjects>,
    live: Live,
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let objects = Arc::clone(&environment.objects);
    Descriptor {
        name: "LimitRanger",
        summary: "Sets default resources and holds pods and claims to the LimitRanges of their namespace.",
        phases: Phases::BOTH,
        operations: Operations::WRITES,
        depends_on: DependsOn::Cluster,
        reads: vec![ObjectKind::LIMIT_RANGE],
        schema: None,
        factory: Box::new(move |configuration| {
            config::none(configuration)?;
            if !objects.is_connected() {
                return Err(vec![Fault::at("", config::NEEDS_CLUSTER)]);
            }
            Ok(Arc::new(LimitRanger(Arc::new(Inner {
                objects: Arc::clone(&objects),
                live: Live::default(),
            }))))
        }),
    }
}

/// What is held to limits.
const RESOURCES: &[(&str, &str)] = &[
    ("", "persistentvolumeclaims"),
    ("", "pods"),
    ("", "pods/resize"),
];

/// What of a request is held to limits.
enum Subject {
    Pod,
    Claim,
}

impl Plugin for LimitRanger {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::BOTH
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(RESOURCES)
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ending::settled(self.0.set_defaults(request))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ending::settled(self.0.check(request))
    }

    fn begin(&self, phase: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let ready = |finished| -> Pending { Box::pin(std::future::ready(finished)) };
        if !self.0.must_list(request) {
            return ready(ask(self, phase, request));
        }
        let deadline = deadline.unwrap_or_else(|| clock::monotonic() + DEFAULT_TIME);
        let (kind, namespace) = (&ObjectKind::LIMIT_RANGE, request.namespace.as_str());
        let listing = self.0.objects.list_now(kind, namespace, deadline);
        let (plugin, request) = (Self(Arc::clone(&self.0)), request.clone());
        Box::pin(async move {
            match listing.await {
                Ok(found) => {
                    plugin
                        .0
                        .live
                        .keep(&request.namespace, found, request.received);
                    ask(&plugin, phase, &request)
                }
                Err(why) => Finished {
                    outcome: Err(PluginError::Failed(format!(
                        "the LimitRanges of the namespace could not be listed: {why}"
                    ))),
                    notes: Notes::default(),
                    object: None,
                },
            }
        })
    }
}

impl Inner {
    /// Whether the LimitRanges of the request's namespace must be listed: none is known.
    fn must_list(&self, request: &Attributes) -> bool {
        let namespace = request.namespace.as_str();
        let known = || self.objects.list(&ObjectKind::LIMIT_RANGE, Some(namespace));
        subject(request).is_ok()
            && known().is_ok_and(|known| known.is_empty())
            && self.live.wants(namespace, request.received)
    }

    fn set_defaults(&self, request: &mut Attributes) -> Result<Outcome, Ending> {
        let Subject::Pod = subject(request)? else {
            return Ok(Outcome::Pass);
        };
        let ranges = self.limit_ranges(request)?;
        if ranges.is_empty() {
            return Ok(Outcome::Pass);
        }
        let additions = defaults::missing(&read::pod_object(request)?.object.spec, &ranges);
        match additions.annotation.is_some() {
            true => Ok(defaults::add(request, &additions)?),
            false => Ok(Outcome::Pass),
        }
    }

    fn check(&self, request: &Attributes) -> Result<Outcome, Ending> {
        let subject = subject(request)?;
        let ranges = self.limit_ranges(request)?;
        if ranges.is_empty() {
            return Ok(Outcome::Pass);
        }
        let objection = match subject {
            Subject::Pod => {
                let pod = read::pod_object(request)?;
                let amounts = constraints::PodAmounts::read(&pod.object.spec);
                let amounts = amounts.map_err(|error| malformed(request, error))?;
                let mut ranges = ranges.iter();
                ranges.find_map(|range| constraints::of_pod(range, &amounts))
            }
            Subject::Claim => {
                let requests = claim::requests(request)?;
                let mut ranges = ranges.iter();
                ranges.find_map(|range| constraints::of_claim(range, &requests))
            }
        };
        match objection {
            Some(objection) => Err(forbidden(request, &objection).into()),
            None => Ok(Outcome::Pass),
        }
    }

    /// The LimitRanges of the request's namespace, by name.
    fn limit_ranges(&self, request: &Attributes) -> Result<Vec<LimitRange>, PluginError> {
        let namespace = request.namespace.as_str();
        let mut found = self
            .objects
            .list(&ObjectKind::LIMIT_RANGE, Some(namespace))?;
        if found.is_empty() {
            found = self.live.found(namespace);
        }
        let ranges = found.iter().map(|object| LimitRange::read(object));
        ranges
            .collect::<Result<_, _>>()
            .map_err(PluginError::Failed)
    }
}

/// What of a request is held to limits; it is not the plug-in's business otherwise.
fn subject(request: &Attributes) -> Result<Subject, Outcome> {
    let not_applicable = |why| Err(Outcome::not_applicable(why));
    let is_pod = request.resource.is("", "pods");
    let subject = match (request.subresource.as_str(), request.operation) {
        ("", Operation::Create) if is_pod => Subject::Pod,
        ("resize", Operation::Update) if is_pod => Subject::Pod,
        ("", _) if is_pod => return not_applicable("an update of a pod"),
        _ if is_pod => return not_applicable("a subresource of a pod"),
        ("", _) if request.resource.is("", "persistentvolumeclaims") => Subject::Claim,
        _ => return not_applicable("neither a pod nor a claim"),
    };
    let is_being_deleted = request
        .old_object
        .as_ref()
        .and_then(|old| document::view::<Named<'_>>(old).ok())
        .is_some_and(|old| old.metadata.deletion_timestamp.is_some());
    match is_being_deleted {
        true => not_applicable("an object that is being deleted"),
        false => Ok(subject),
    }
}

#[cfg(test)]
mod tests;
