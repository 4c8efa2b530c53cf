//! `NamespaceLifecycle`: nothing is created in a namespace that doesn't exist or is being terminated, and the
//! namespaces that every cluster needs are not deleted.
//!
//! As in Kubernetes, a namespace that isn't known is read from the API server before a request is denied, and one
//! that was just deleted is read each time for a while, since the watch may not have seen it yet. Where Kubernetes'
//! plug-in waits for its watch before it reads, this one reads at once.

mod deletions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Attributes, Cause, Denial, Finished, Notes, Operation, Operations, Outcome, Pending, Phase,
    Phases, Plugin, PluginError, Runs, clock,
};
use portcullis_document::Fault;
use serde_json::Value;

use crate::cluster_objects::{ClusterObjects, ObjectKind};
use crate::registry::Descriptor;

use super::config;
use super::environment::PluginEnvironment;
use super::refusal::forbidden_text;
use crate::registry::DependsOn;
use deletions::Deletions;

/// Namespaces that are not deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];
/// How long reading may take, unless the chain says something else.
const DEFAULT_TIME: Duration = Duration::from_secs(2);

struct NamespaceLifecycle {
    objects: Arc<dyn ClusterObjects>,
    deletions: Arc<Deletions>,
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let objects = Arc::clone(&environment.objects);
    Descriptor {
        name: "NamespaceLifecycle",
        summary: "Denies objects in namespaces that do not exist or are being terminated.",
        phases: Phases::ADMIT,
        operations: Operations::WRITES_AND_DELETE,
        depends_on: DependsOn::Cluster,
        reads: vec![ObjectKind::NAMESPACE],
        schema: None,
        factory: Box::new(move |configuration| {
            config::none(configuration)?;
            if !objects.is_connected() {
                return Err(vec![Fault::at("", config::NEEDS_CLUSTER)]);
            }
            Ok(Arc::new(NamespaceLifecycle {
                objects: Arc::clone(&objects),
                deletions: Arc::default(),
            }))
        }),
    }
}

/// What follows from the request alone.
enum FirstLook {
    /// That is the answer.
    Settled(Outcome),
    /// The namespace counts.
    DependsOnNamespace,
}

impl NamespaceLifecycle {
    fn look(&self, request: &Attributes) -> FirstLook {
        use FirstLook::{DependsOnNamespace, Settled};
        let is_namespace = request.kind.is("", "Namespace");
        let is_deletion = request.operation == Operation::Delete;
        if is_namespace && is_deletion && IMMORTAL.contains(&request.name.as_str()) {
            let why = forbidden_text(request, "this namespace may not be deleted");
            return Settled(Outcome::Deny(Denial::forbidden(why)));
        }
        if is_namespace {
            if is_deletion {
                self.deletions.note(&request.name, request.received);
            }
            return Settled(Outcome::Pass);
        }
        if request.namespace.is_empty() {
            return Settled(Outcome::not_applicable("not in a namespace"));
        }
        if is_deletion {
            return Settled(Outcome::Pass);
        }
        // An answer would say something about the namespace.
        if request
            .resource
            .is("authorization.k8s.io", "localsubjectaccessreviews")
        {
            return Settled(Outcome::not_applicable("an access review"));
        }
        DependsOnNamespace
    }
}

impl Plugin for NamespaceLifecycle {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES_AND_DELETE.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::ADMIT
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        Ok(match self.look(request) {
            FirstLook::Settled(outcome) => outcome,
            FirstLook::DependsOnNamespace => Outcome::Pass,
        })
    }

    fn begin(&self, _: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        if let FirstLook::Settled(outcome) = self.look(request) {
            return finished(Ok(outcome));
        }
        let name = request.namespace.as_str();
        let was_deleted = self.deletions.is_recent(name, request.received);
        let known = self.objects.get(&ObjectKind::NAMESPACE, "", name);
        match known {
            Ok(Some(namespace)) if !was_deleted || is_terminating(&namespace) => {
                finished(Ok(judged(request, &namespace)))
            }
            _ => {
                let deadline = deadline.unwrap_or_else(|| clock::monotonic() + DEFAULT_TIME);
                let reading = self
                    .objects
                    .read(&ObjectKind::NAMESPACE, "", name, deadline);
                let request = request.clone();
                Box::pin(async move {
                    let outcome = match reading.await {
                        Ok(Some(namespace)) => Ok(judged(&request, &namespace)),
                        Ok(None) => Ok(missing(&request.namespace)),
                        Err(why) => Err(PluginError::Failed(format!(
                            "the namespace could not be read: {why}"
                        ))),
                    };
                    finish(outcome)
                })
            }
        }
    }
}

fn finished(outcome: Result<Outcome, PluginError>) -> Pending {
    Box::pin(std::future::ready(finish(outcome)))
}

fn finish(outcome: Result<Outcome, PluginError>) -> Finished {
    Finished {
        outcome,
        notes: Notes::default(),
        object: None,
    }
}

fn is_terminating(namespace: &Value) -> bool {
    let phase = namespace.pointer("/status/phase").and_then(Value::as_str);
    phase == Some("Terminating")
}

/// There is no such namespace.
fn missing(name: &str) -> Outcome {
    let message = format!("namespaces {name:?} not found");
    Outcome::Deny(Denial::new(404, "NotFound", message))
}

/// What follows from the namespace: nothing is created while it is being terminated.
fn judged(request: &Attributes, namespace: &Value) -> Outcome {
    if request.operation != Operation::Create || !is_terminating(namespace) {
        return Outcome::Pass;
    }
    let name = &request.namespace;
    let why =
        format!("unable to create new content in namespace {name} because it is being terminated");
    let cause = Cause {
        field: "metadata.namespace".to_owned(),
        message: format!("namespace {name} is being terminated"),
        reason: "NamespaceTerminating".into(),
    };
    let denial = Denial::forbidden(forbidden_text(request, &why));
    Outcome::Deny(denial.with_causes(vec![cause]))
}

#[cfg(test)]
mod tests;
