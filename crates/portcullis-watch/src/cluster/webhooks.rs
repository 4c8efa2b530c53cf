//! Webhook configurations: whom API servers trust when they call a webhook.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use http::Uri;
use serde_json::{Value, json};

use super::Cluster;
use super::exchange::Sent;
use super::request::segment;
use super::single_objects::{ObjectError, version};

/// The two kinds of webhook configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookKind {
    /// `ValidatingWebhookConfiguration`
    Validating,
    /// `MutatingWebhookConfiguration`
    Mutating,
}

impl WebhookKind {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Validating, Self::Mutating];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validating => "ValidatingWebhookConfiguration",
            Self::Mutating => "MutatingWebhookConfiguration",
        }
    }

    fn path(self, name: &str) -> Option<String> {
        let resource = match self {
            Self::Validating => "validatingwebhookconfigurations",
            Self::Mutating => "mutatingwebhookconfigurations",
        };
        let name = segment(name)?;
        Some(format!(
            "/apis/admissionregistration.k8s.io/v1/{resource}/{name}"
        ))
    }
}

/// A webhook configuration as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookConfiguration {
    /// Its kind.
    pub kind: WebhookKind,
    /// Its name.
    pub name: String,
    /// The webhooks in it.
    pub entries: Vec<WebhookEntry>,
    version: String,
}

/// A webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEntry {
    /// Its name.
    pub name: String,
    /// The certificates that API servers trust, in PEM; empty if those of their system.
    pub bundle: Vec<u8>,
    /// The host names that API servers expect in the certificate.
    pub hosts: Vec<String>,
}

impl WebhookConfiguration {
    fn of(kind: WebhookKind, name: &str, object: &Value) -> Self {
        let webhooks = object.get("webhooks").and_then(Value::as_array);
        Self {
            kind,
            name: name.to_owned(),
            entries: webhooks
                .into_iter()
                .flatten()
                .map(WebhookEntry::of)
                .collect(),
            version: version(object),
        }
    }

    /// Sets the bundle of every entry that has another one, and nothing else. With the version that was read, the API
    /// server answers that there is a conflict if anything was changed since.
    fn patch(&self, bundle: &[u8]) -> Option<Value> {
        let others = self.entries.iter().enumerate();
        let others = others.filter(|(_, entry)| entry.bundle != bundle);
        let mut operations = vec![
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": self.version}),
        ];
        for (place, entry) in others {
            let at = format!("/webhooks/{place}");
            let encoded = BASE64_STANDARD.encode(bundle);
            operations
                .push(json!({"op": "test", "path": format!("{at}/name"), "value": entry.name}));
            operations.push(
                json!({"op": "add", "path": format!("{at}/clientConfig/caBundle"), "value": encoded}),
            );
        }
        (operations.len() > 1).then_some(Value::Array(operations))
    }
}

impl WebhookEntry {
    fn of(webhook: &Value) -> Self {
        let text = |path: &str| webhook.pointer(path).and_then(Value::as_str);
        let bundle = text("/clientConfig/caBundle").unwrap_or_default();
        let service = text("/clientConfig/service/name");
        let service = service.zip(text("/clientConfig/service/namespace"));
        let service = service.map(|(name, namespace)| format!("{name}.{namespace}.svc"));
        let url = text("/clientConfig/url").and_then(|url| url.parse::<Uri>().ok());
        let url = url.and_then(|url| {
            let host = url.host()?.trim_matches(['[', ']']);
            (!host.is_empty()).then(|| host.to_owned())
        });
        Self {
            name: text("/name").unwrap_or_default().to_owned(),
            bundle: BASE64_STANDARD.decode(bundle).unwrap_or_default(),
            hosts: service.into_iter().chain(url).collect(),
        }
    }
}

impl Cluster {
    /// Reads a webhook configuration; nothing if it doesn't exist.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub async fn webhook_configuration(
        &self,
        kind: WebhookKind,
        name: &str,
        time: Duration,
    ) -> Result<Option<WebhookConfiguration>, ObjectError> {
        let Some(path) = kind.path(name) else {
            return Ok(None);
        };
        match self.ask(Method::GET, &path, Sent::Nothing, time).await {
            Ok(answered) => Ok(Some(WebhookConfiguration::of(kind, name, &answered.object))),
            Err(ObjectError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes API servers trust this bundle alone when they call the webhooks of a configuration. Whether anything had
    /// to be changed.
    ///
    /// # Errors
    ///
    /// When the configuration was changed since it was read, or can't be written.
    pub async fn publish(
        &self,
        configuration: &WebhookConfiguration,
        bundle: &[u8],
        time: Duration,
    ) -> Result<bool, ObjectError> {
        let path = configuration.kind.path(&configuration.name);
        let (Some(path), Some(patch)) = (path, configuration.patch(bundle)) else {
            return Ok(false);
        };
        let sent = Sent::JsonPatch(&patch);
        let patched = self.ask(Method::PATCH, &path, sent, time).await;
        patched.map(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_bundles_are_read_and_only_bundles_are_patched() {
        let object = json!({
            "metadata": {"name": "portcullis", "resourceVersion": "7"},
            "webhooks": [
                {"name": "a.x", "clientConfig": {"service": {"name": "s", "namespace": "n"}, "caBundle": "b25l"}},
                {"name": "b.x", "clientConfig": {"url": "https://[::1]:8443/validate"}},
                {"name": "c.x", "clientConfig": {"url": "https://h.example:8443/validate", "caBundle": "dHdv"}},
            ],
        });
        let read = WebhookConfiguration::of(WebhookKind::Mutating, "portcullis", &object);
        let hosts: Vec<_> = read
            .entries
            .iter()
            .map(|entry| entry.hosts.join(" "))
            .collect();
        assert_eq!(hosts, ["s.n.svc", "::1", "h.example"]);
        let bundles: Vec<_> = read
            .entries
            .iter()
            .map(|entry| entry.bundle.as_slice())
            .collect();
        assert_eq!(bundles, [&b"one"[..], b"", b"two"]);
        let patch = read.patch(b"two").unwrap();
        assert_eq!(
            patch,
            json!([
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "test", "path": "/webhooks/0/name", "value": "a.x"},
                {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "dHdv"},
                {"op": "test", "path": "/webhooks/1/name", "value": "b.x"},
                {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": "dHdv"},
            ])
        );
        let same = WebhookConfiguration {
            entries: read.entries[2..].to_vec(),
            ..read
        };
        assert_eq!(same.patch(b"two"), None);
    }

    #[test]
    fn whatever_a_webhook_looks_like_it_is_read() {
        for webhook in [
            json!(null),
            json!({"name": 5}),
            json!({"clientConfig": {"url": ":", "caBundle": "!"}}),
        ] {
            let entry = WebhookEntry::of(&webhook);
            assert!(
                entry.hosts.is_empty() && entry.bundle.is_empty(),
                "{webhook}"
            );
        }
        assert_eq!(WebhookKind::Validating.path("a/b"), None);
    }
}
