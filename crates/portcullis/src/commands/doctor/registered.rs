//! Webhooks as they are registered in a cluster.

use portcullis_core::Operation;
use portcullis_gate::registration::{Rule, RuleScope};
use serde_json::Value;

/// Names and labels by which registrations of Portcullis are known.
const OURS: &str = "portcullis";
/// The end of the names of webhooks that `portcullis generate` gives.
const DOMAIN: &str = ".portcullis.dev";

/// One of the two phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Mutating,
    Validating,
}

impl Phase {
    pub(super) const ALL: [Self; 2] = [Self::Mutating, Self::Validating];

    /// The resource that holds registrations.
    pub(super) fn resource(self) -> &'static str {
        match self {
            Self::Mutating => "mutatingwebhookconfigurations",
            Self::Validating => "validatingwebhookconfigurations",
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Mutating => "mutating",
            Self::Validating => "validating",
        }
    }
}

/// A webhook of Portcullis.
#[derive(Debug, Clone)]
pub(super) struct Registered {
    pub(super) phase: Phase,
    /// The name of the object that it is in.
    pub(super) configuration: String,
    /// The Helm release that it belongs to, as `NAMESPACE/NAME`, if it does.
    pub(super) release: Option<String>,
    pub(super) webhook: Value,
}

/// Where a webhook is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Url {
        host: String,
        path: String,
    },
    Service {
        namespace: String,
        name: String,
        port: u64,
        path: String,
    },
    /// Neither.
    Unknown,
}

impl Registered {
    /// Those of Portcullis in a list of registrations.
    pub(super) fn of_list(phase: Phase, list: &Value) -> Vec<Self> {
        let items = list.get("items").and_then(Value::as_array);
        let mut found = Vec::new();
        for item in items.into_iter().flatten() {
            let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str);
            let name = text("/metadata/name").unwrap_or_default();
            let label = text("/metadata/labels/app.kubernetes.io~1name");
            let release = release(item);
            let all = item.get("webhooks").and_then(Value::as_array);
            for webhook in all.into_iter().flatten() {
                let own = webhook
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                if name.contains(OURS) || label == Some(OURS) || own.ends_with(DOMAIN) {
                    found.push(Self {
                        phase,
                        configuration: name.to_owned(),
                        release: release.clone(),
                        webhook: webhook.clone(),
                    });
                }
            }
        }
        found
    }

    /// The webhook's name.
    pub(super) fn name(&self) -> &str {
        self.text("/name").unwrap_or_default()
    }

    /// What findings name.
    pub(super) fn place(&self) -> String {
        format!(
            "{} webhook {} of {}",
            self.phase.as_str(),
            self.name(),
            self.configuration
        )
    }

    pub(super) fn text(&self, pointer: &str) -> Option<&str> {
        self.webhook.pointer(pointer).and_then(Value::as_str)
    }

    /// Whether requests are denied when it can't be called; that is the default.
    pub(super) fn fails_closed(&self) -> bool {
        self.text("/failurePolicy") != Some("Ignore")
    }

    /// How long the API server waits, in seconds.
    pub(super) fn timeout(&self) -> u64 {
        let seconds = self.webhook.get("timeoutSeconds").and_then(Value::as_u64);
        seconds.unwrap_or(10)
    }

    pub(super) fn target(&self) -> Target {
        let client = self.webhook.get("clientConfig");
        if let Some(url) = client
            .and_then(|client| client.get("url"))
            .and_then(Value::as_str)
        {
            let rest = url.strip_prefix("https://").unwrap_or(url);
            let (authority, path) = match rest.find('/') {
                Some(at) => rest.split_at(at),
                None => (rest, "/"),
            };
            let host = match authority.strip_prefix('[') {
                Some(inner) => inner.split(']').next().unwrap_or_default(),
                None => authority.split(':').next().unwrap_or_default(),
            };
            let path = path.split('?').next().unwrap_or_default();
            return Target::Url {
                host: host.to_owned(),
                path: path.to_owned(),
            };
        }
        let service = client.and_then(|client| client.get("service"));
        let text = |key: &str| Some(service?.get(key)?.as_str()?.to_owned());
        match (text("namespace"), text("name")) {
            (Some(namespace), Some(name)) => Target::Service {
                namespace,
                name,
                port: service
                    .and_then(|one| one.get("port")?.as_u64())
                    .unwrap_or(443),
                path: text("path").unwrap_or_else(|| "/".to_owned()),
            },
            _ => Target::Unknown,
        }
    }

    /// What it is registered for.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let rules = self.webhook.get("rules").and_then(Value::as_array);
        let mut found = Vec::new();
        for rule in rules.into_iter().flatten() {
            let texts = |key: &str| -> Vec<String> {
                let all = rule.get(key).and_then(Value::as_array);
                let texts = all.into_iter().flatten().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            };
            let operations = texts("operations");
            let operations: Vec<Operation> = match operations.iter().any(|one| one == "*") {
                true => Operation::ALL.to_vec(),
                false => operations
                    .iter()
                    .filter_map(|one| one.parse().ok())
                    .collect(),
            };
            let scope = match rule.get("scope").and_then(Value::as_str) {
                Some("Namespaced") => RuleScope::Namespaced,
                Some("Cluster") => RuleScope::Cluster,
                _ => RuleScope::Any,
            };
            for group in texts("apiGroups") {
                found.push(Rule {
                    group,
                    // Other versions are converted, unless it is switched off.
                    version: "*".to_owned(),
                    resources: texts("resources"),
                    scope,
                    operations: operations.clone(),
                });
            }
        }
        found
    }
}

/// The Helm release of an object.
fn release(object: &Value) -> Option<String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    text("/metadata/labels/app.kubernetes.io~1managed-by").filter(|by| *by == "Helm")?;
    let name = text("/metadata/annotations/meta.helm.sh~1release-name")
        .or_else(|| text("/metadata/labels/app.kubernetes.io~1instance"))?;
    Some(
        match text("/metadata/annotations/meta.helm.sh~1release-namespace") {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.to_owned(),
        },
    )
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A webhook in a list of its own.
    #[expect(clippy::needless_pass_by_value, reason = "it is written in the call")]
    pub(in crate::commands::doctor) fn registered(phase: Phase, webhook: Value) -> Registered {
        let list = json!({"items": [{"metadata": {"name": "portcullis"}, "webhooks": [webhook]}]});
        Registered::of_list(phase, &list).pop().unwrap()
    }

    #[test]
    fn our_own_are_found_by_name_label_or_domain() {
        let list = json!({"items": [
            {"metadata": {"name": "my-portcullis"}, "webhooks": [{"name": "a.b.c"}]},
            {"metadata": {"name": "x", "labels": {"app.kubernetes.io/name": "portcullis"}}, "webhooks": [{"name": "d.e.f"}]},
            {"metadata": {"name": "y"}, "webhooks": [{"name": "validate.portcullis.dev"}, {"name": "other.example.org"}]},
            {"metadata": {"name": "z"}, "webhooks": []},
        ]});
        let found = Registered::of_list(Phase::Validating, &list);
        let names: Vec<&str> = found.iter().map(Registered::name).collect();
        assert_eq!(names, ["a.b.c", "d.e.f", "validate.portcullis.dev"]);
        assert!(Registered::of_list(Phase::Mutating, &json!([])).is_empty());
    }

    #[test]
    fn targets_are_read() {
        let target =
            |client: Value| registered(Phase::Mutating, json!({"clientConfig": client})).target();
        let url = |url: &str| target(json!({"url": url}));
        let expected = |host: &str, path: &str| Target::Url {
            host: host.to_owned(),
            path: path.to_owned(),
        };
        assert_eq!(
            url("https://a.example:8443/mutate/x?y"),
            expected("a.example", "/mutate/x")
        );
        assert_eq!(url("https://[::1]:8443"), expected("::1", "/"));
        let service =
            target(json!({"service": {"namespace": "a", "name": "b", "path": "/validate"}}));
        assert_eq!(
            service,
            Target::Service {
                namespace: "a".to_owned(),
                name: "b".to_owned(),
                port: 443,
                path: "/validate".to_owned(),
            }
        );
        assert_eq!(target(json!({})), Target::Unknown);
    }
}
