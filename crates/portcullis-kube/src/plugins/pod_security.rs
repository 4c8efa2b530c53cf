//! `PodSecurity`: pods are held to the Pod Security Standards.
//!
//! The rules themselves are in [`crate::pod_security`]; here is which requests they apply to,
//! with which namespace's policy, and how the answer is worded. Pods are judged, workloads only warned
//! about, namespaces held to valid labels. When a namespace begins to enforce more, its pods are looked at and
//! warned about; without a cluster they are not known, and the warning says so.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::Descriptor;
use portcullis_core::{
    Attributes, Cause, Denial, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
    Source, clock,
};
use serde_json::{Value, json};

use super::config::given;
use super::document::{self, Named};
use super::environment::PluginEnvironment;
use super::in_namespace::in_namespace;
use super::read::{self, OrOutcome, settled};
use super::refusal::{forbidden, malformed};
use crate::cluster_objects::{ClusterObjects, ObjectKind};
use crate::namespaces::{Namespace, Namespaces};
use crate::pod::{PodObject, ShapeError};
use crate::pod_security::config::PodSecurityConfiguration;
use crate::pod_security::existing;
use crate::pod_security::namespace::{self, NamespaceReview, policy_of};
use crate::pod_security::review::{ENFORCE_POLICY, EXEMPT, IGNORED_POD_SUBRESOURCES, Mode, review};
use crate::pod_security::{FieldError, Level, LevelVersion, Policy, update};
use crate::workload::Workload;

/// How long the pods of a namespace are looked at, at most; and never for more than half of what is left.
const LOOK_FOR: Duration = Duration::from_secs(1);
/// What is judged: namespaces, pods with the subresources that hold a pod, and the kinds with templates of pods.
const RESOURCES: &[(&str, &str)] = &[
    ("", "namespaces"),
    ("", "pods"),
    ("", "pods/ephemeralcontainers"),
    ("", "pods/resize"),
    ("", "podtemplates"),
    ("", "replicationcontrollers"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
];

struct PodSecurity {
    config: PodSecurityConfiguration,
    namespaces: Arc<dyn Namespaces>,
    objects: Arc<dyn ClusterObjects>,
}

pub(super) fn descriptor(environment: &PluginEnvironment) -> Descriptor {
    let environment = environment.clone();
    Descriptor {
        name: "PodSecurity",
        summary: "Enforces the Pod Security Standards, by namespace labels and defaults.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: environment.depends_on(),
        reads: vec![ObjectKind::NAMESPACE, ObjectKind::POD],
        schema: Some(schema()),
        factory: Box::new(move |configuration| {
            let config = match given(configuration) {
                None => PodSecurityConfiguration::default(),
                Some(value) => PodSecurityConfiguration::from_value(value)?,
            };
            let plugin = PodSecurity {
                config,
                namespaces: Arc::clone(&environment.namespaces),
                objects: Arc::clone(&environment.objects),
            };
            Ok(in_namespace(plugin, &environment, has_workload))
        }),
    }
}

impl Plugin for PodSecurity {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(RESOURCES)
    }

    fn validate(&self, request: &Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        if request.resource.is("", "namespaces") {
            return settled(self.check_namespace(request, notes));
        }
        match workload(request) {
            None => Ok(Outcome::not_applicable("neither a pod nor a workload")),
            Some(workload) => {
                let namespace = self.namespaces.get(&request.namespace)?;
                settled(self.check_workload(workload, namespace.as_deref(), request, notes))
            }
        }
    }
}

fn workload(request: &Attributes) -> Option<Workload> {
    let resource = &request.resource;
    Workload::from_resource(&resource.group, &resource.resource)
}

fn has_workload(request: &Attributes) -> bool {
    workload(request).is_some()
}

impl PodSecurity {
    fn check_workload(
        &self,
        workload: Workload,
        namespace: Option<&Namespace>,
        request: &Attributes,
        notes: &mut Notes,
    ) -> OrOutcome<Outcome> {
        let mode = if workload == Workload::Pod {
            Mode::Pod
        } else {
            Mode::Template
        };
        let is_ignored = match mode {
            Mode::Pod => IGNORED_POD_SUBRESOURCES.contains(&request.subresource.as_str()),
            Mode::Template => !request.subresource.is_empty(),
        };
        if is_ignored {
            return Err(Outcome::not_applicable("a subresource without a pod"));
        }
        self.check_exemptions(request, notes)?;
        let (policy, label_errors) = self.policy(namespace);
        if label_errors.is_empty() && is_indifferent(&policy, mode) {
            if mode == Mode::Pod {
                notes.annotate(ENFORCE_POLICY, LevelVersion::PRIVILEGED.to_string());
            }
            return Ok(Outcome::Pass);
        }
        let Some(pod) = pod_of(workload, request)? else {
            return Err(Outcome::not_applicable("no pod template"));
        };
        if mode == Mode::Pod && !is_significant(request, &pod) {
            return Err(Outcome::not_applicable("an update that changes no image"));
        }
        let found = review(&policy, &label_errors, &self.config.exemptions, &pod, mode);
        for (key, value) in found.audit_annotations {
            notes.annotate(key, value);
        }
        found
            .warnings
            .into_iter()
            .for_each(|warning| notes.warn(warning));
        match found.denial {
            None => Ok(Outcome::Pass),
            Some(why) => Err(forbidden(request, &why)),
        }
    }

    fn check_exemptions(&self, request: &Attributes, notes: &mut Notes) -> OrOutcome<()> {
        let exemptions = &self.config.exemptions;
        let why = if exemptions.has_namespace(&request.namespace) {
            "namespace"
        } else if exemptions.has_user(&request.user.username) {
            "user"
        } else {
            return Ok(());
        };
        notes.annotate(EXEMPT, why);
        Err(Outcome::Pass)
    }

    /// The policy of a namespace, and what could not be understood of its labels.
    fn policy(&self, namespace: Option<&Namespace>) -> (Policy, Vec<FieldError>) {
        match namespace {
            Some(namespace) => policy_of(&namespace.labels, &self.config.defaults),
            None => (self.config.defaults, Vec::new()),
        }
    }

    /// What is said of the pods that a namespace has, which now enforces more.
    fn check_existing(
        &self,
        name: &str,
        enforce: LevelVersion,
        request: &Attributes,
    ) -> Vec<String> {
        if !self.objects.is_connected() {
            return vec![format!(
                "existing pods are not checked against the new PodSecurity enforce level \"{enforce}\""
            )];
        }
        let began = clock::monotonic();
        let left = request
            .deadline
            .map(|end| end.saturating_duration_since(began) / 2);
        let time = left.map_or(LOOK_FOR, |left| left.min(LOOK_FOR));
        match self.objects.list(&ObjectKind::POD, Some(name)) {
            Err(_) => vec![existing::UNKNOWN.to_owned()],
            Ok(pods) => {
                let is_late = || clock::monotonic().saturating_duration_since(began) >= time;
                let exemptions = &self.config.exemptions;
                existing::warnings(name, enforce, exemptions, &pods, is_late)
            }
        }
    }

    fn check_namespace(&self, request: &Attributes, notes: &mut Notes) -> OrOutcome<Outcome> {
        if !request.subresource.is_empty() {
            return Err(Outcome::not_applicable("a subresource of a namespace"));
        }
        let (defaults, exemptions) = (&self.config.defaults, &self.config.exemptions);
        let new: Named<'_> = read::object(request, "Namespace")?;
        let name = new.metadata.name.as_ref();
        let labels = &new.metadata.labels;
        let found = match request.operation {
            Operation::Update => {
                // Labels of before that can't be read excuse nothing.
                let old = request.old_object.as_ref().map(document::view::<Named<'_>>);
                let old = old.and_then(Result::ok).unwrap_or_default();
                namespace::review_update(name, &old.metadata.labels, labels, defaults, exemptions)
            }
            _ => namespace::review_create(name, labels, defaults, exemptions),
        };
        match found {
            NamespaceReview::Allowed => {}
            NamespaceReview::AllowedWithWarning(warning) => notes.warn(warning),
            NamespaceReview::EnforcesMore(enforce) => {
                for warning in self.check_existing(name, enforce, request) {
                    notes.warn(warning);
                }
            }
            NamespaceReview::Invalid(errors) => return Err(invalid(name, &errors)),
        }
        Ok(Outcome::Pass)
    }
}

/// Whether whatever the pod is makes no difference.
fn is_indifferent(policy: &Policy, mode: Mode) -> bool {
    match mode {
        Mode::Pod => policy.is_fully_privileged(),
        Mode::Template => {
            policy.audit.level == Level::Privileged && policy.warn.level == Level::Privileged
        }
    }
}

fn pod_of(workload: Workload, request: &Attributes) -> OrOutcome<Option<PodObject<'_>>> {
    if !request.kind.is(workload.group(), workload.kind()) {
        let (wanted, found) = (workload.kind(), &request.kind.kind);
        return Err(malformed(
            request,
            format!("kind: expected `{wanted}`, found `{found}`"),
        ));
    }
    let Some(object) = &request.object else {
        return Err(malformed(request, "object: missing"));
    };
    let read: Result<_, ShapeError> = match object.source() {
        Source::Text(text) => workload.template_from_json(text),
        Source::Tree(tree) => workload.template_from_value(tree),
    };
    read.map_err(|error| malformed(request, error))
}

/// Whether the pod is new, or changed in what the standards look at. A pod of before that can't be
/// read excuses nothing.
fn is_significant(request: &Attributes, pod: &PodObject<'_>) -> bool {
    request.operation != Operation::Update
        || read::old_pod(request)
            .is_none_or(|old| update::is_significant(&pod.spec, &old.object.spec))
}

fn invalid(name: &str, errors: &[FieldError]) -> Outcome {
    let cause = |e: &FieldError| Cause {
        field: e.field.clone(),
        message: e.body(),
        reason: e.kind.cause().into(),
    };
    let denial = Denial::invalid(namespace::invalid_message(name, errors));
    Outcome::Deny(denial.with_causes(errors.iter().map(cause).collect()))
}

fn schema() -> Value {
    let level = json!({"enum": ["privileged", "baseline", "restricted"], "default": "privileged"});
    let version =
        json!({"type": "string", "pattern": r"^(latest|v1\.[0-9]+)$", "default": "latest"});
    let names = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": {"enum": [
                "pod-security.admission.config.k8s.io/v1",
                "pod-security.admission.config.k8s.io/v1beta1",
                "pod-security.admission.config.k8s.io/v1alpha1",
            ]},
            "kind": {"const": "PodSecurityConfiguration"},
            "defaults": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "enforce": level, "enforce-version": version,
                    "audit": level, "audit-version": version,
                    "warn": level, "warn-version": version,
                },
            },
            "exemptions": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"usernames": names, "namespaces": names, "runtimeClasses": names},
            },
        },
    })
}

#[cfg(test)]
mod tests;
