//! Registering Portcullis with the API server as an admission webhook.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::{Kubectl, until};

/// Which of the two admission phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// May change the object.
    Mutating,
    /// Sees the finished object.
    Validating,
}

/// What the API server does when the webhook cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Refuse.
    Fail,
    /// Go on without it.
    Ignore,
}

/// One entry of a webhook configuration.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its name, three labels at least; it stands in every refusal.
    pub name: String,
    /// Where it is called.
    pub url: String,
    /// The certificates of the authorities its server certificate may be from.
    pub authorities: String,
    /// What follows when it cannot be asked.
    pub failure_policy: FailurePolicy,
    /// How long it may take, 1 to 30.
    pub timeout_seconds: u8,
    /// Mutating only: to be asked again when another one changed the object.
    pub reinvocation: bool,
}

/// A webhook configuration for everything in one namespace, and for that
/// namespace itself.
#[derive(Clone, Debug)]
pub struct Webhooks<'a> {
    /// The administrator's `kubectl`.
    pub kubectl: &'a Kubectl,
    /// The namespace.
    pub namespace: &'a str,
    /// The phase.
    pub phase: Phase,
    /// The entries, in order.
    pub entries: Vec<Webhook>,
}

impl Webhooks<'_> {
    /// Registers the entries, or changes them, and waits until each is called.
    #[track_caller]
    pub fn register(&self) {
        self.put();
        let probe =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "webhook-probe"}});
        let kubectl = self.kubectl.in_namespace(self.namespace);
        let what = format!("the webhooks of `{}` to be called", self.namespace);
        until(&what, Duration::from_secs(10), || {
            // Called is all that matters, so neither is the answer looked at.
            let _ = kubectl.dry_run(&probe);
            self.entries.iter().all(|webhook| self.calls(webhook) > 0)
        });
    }

    /// Registers the entries, or changes them, and waits for nothing.
    #[track_caller]
    pub fn put(&self) {
        self.kubectl.apply(&self.configuration()).succeeds();
    }

    /// How often the API server has called that webhook, by its own count.
    #[track_caller]
    #[must_use]
    pub fn calls(&self, webhook: &Webhook) -> u64 {
        let metrics = self
            .kubectl
            .run(&["get", "--raw", "/metrics"])
            .succeeds()
            .stdout;
        let label = format!("name=\"{}\"", webhook.name);
        metrics
            .lines()
            .filter(|line| line.starts_with("apiserver_admission_webhook_request_total{"))
            .filter(|line| line.contains(&label))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum()
    }

    /// The whole configuration.
    #[must_use]
    pub fn configuration(&self) -> Value {
        let kind = match self.phase {
            Phase::Mutating => "MutatingWebhookConfiguration",
            Phase::Validating => "ValidatingWebhookConfiguration",
        };
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": format!("portcullis-{}", self.namespace)},
            "webhooks": self.entries.iter().map(|webhook| self.entry(webhook)).collect::<Vec<_>>(),
        })
    }

    fn entry(&self, webhook: &Webhook) -> Value {
        let mut entry = json!({
            "name": webhook.name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "NoneOnDryRun",
            "timeoutSeconds": webhook.timeout_seconds,
            "failurePolicy": match webhook.failure_policy {
                FailurePolicy::Fail => "Fail",
                FailurePolicy::Ignore => "Ignore",
            },
            "clientConfig": {
                "url": webhook.url,
                "caBundle": BASE64_STANDARD.encode(&webhook.authorities),
            },
            // Objects in the namespace, and the namespace; no other cluster-scoped object.
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
            "rules": [
                {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"], "scope": "Namespaced"},
                {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"], "operations": ["*"], "scope": "Cluster"},
            ],
        });
        if let (Phase::Mutating, Some(entry)) = (self.phase, entry.as_object_mut()) {
            let policy = if webhook.reinvocation {
                "IfNeeded"
            } else {
                "Never"
            };
            entry.insert("reinvocationPolicy".to_owned(), json!(policy));
        }
        entry
    }
}
