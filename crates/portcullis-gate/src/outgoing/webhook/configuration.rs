//! The configuration of `Webhook`, read and checked.

use std::collections::HashSet;
use std::path::PathBuf;

use portcullis_config::{MatchSpec, Matcher};
use portcullis_core::{Attributes, FailureMode, Phase, Phases};
use portcullis_document::{Duration, Fault, Size, path, read};
use portcullis_host::{Endpoint, EndpointSettings, EndpointToken};
use portcullis_kube::StaticNamespaces;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::settings::{content, given};

/// The most webhooks.
const MOST: usize = 64;

/// How long a webhook may take by default, as in Kubernetes.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// The largest answer by default.
const MAX_ANSWER: usize = 1 << 20;

/// Configuration of `Webhook`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Configuration {
    /// The webhooks, asked in this order; at least one.
    #[schemars(length(min = 1))]
    webhooks: Vec<WebhookSpec>,
}

/// Another admission webhook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WebhookSpec {
    /// Its name, in messages, in records, and before the keys of its audit annotations.
    name: String,
    /// `https://…`, `http://` to a loopback address, or `unix:///path`.
    url: String,
    /// The path that is asked for at a unix socket; by default `/`.
    path: Option<String>,
    /// The file with the trusted CA certificates, PEM; by default those of the system.
    ca_file: Option<PathBuf>,
    /// The file with the client certificate, PEM.
    client_certificate_file: Option<PathBuf>,
    /// The file with the key of the client certificate, PEM.
    client_key_file: Option<PathBuf>,
    /// The file with a bearer token; read for each request.
    token_file: Option<PathBuf>,
    /// How long it may take, within the deadline of the request; by default 10s.
    timeout: Option<Duration>,
    /// When it is asked: `mutating`, where its patches count, `validating`, where it may have none, or `both`.
    #[serde(default)]
    phase: WebhookPhase,
    /// Which requests it is asked about; by default all of Kubernetes.
    #[serde(default, rename = "match")]
    matching: Option<MatchSpec>,
    /// What happens if it can't be asked. `closed`: the plug-in fails, and its own failure mode says what follows.
    /// `open`: this webhook is passed over.
    #[serde(default)]
    failure: FailureMode,
    /// Whether asking it changes anything; dry runs are then denied, as in Kubernetes.
    #[serde(default)]
    side_effects: bool,
    /// The largest answer; by default 1Mi.
    max_answer: Option<Size>,
}

/// When a webhook is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WebhookPhase {
    /// While the object may be changed.
    Mutating,
    /// When the object is finished.
    #[default]
    Validating,
    /// Both times.
    Both,
}

/// A webhook, ready to be asked.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
    pub(super) timeout: std::time::Duration,
    phase: WebhookPhase,
    matcher: Matcher,
    pub(super) failure: FailureMode,
    pub(super) side_effects: bool,
}

impl Webhook {
    /// Whether it is asked in this phase.
    pub(super) fn is_for(&self, phase: Phase) -> bool {
        match self.phase {
            WebhookPhase::Mutating => phase == Phase::Admit,
            WebhookPhase::Validating => phase == Phase::Validate,
            WebhookPhase::Both => true,
        }
    }

    /// Whether it is asked about this request.
    pub(super) fn matches(&self, request: &Attributes) -> bool {
        // It depends on no namespace: that is checked when the configuration is read.
        let mismatch = self.matcher.mismatch(request, &StaticNamespaces::default());
        matches!(mismatch, Ok(None))
    }
}

/// The halves that these webhooks need.
pub(super) fn phases(webhooks: &[Webhook]) -> Phases {
    let is_any_for = |phase| webhooks.iter().any(|webhook| webhook.is_for(phase));
    Phases {
        admit: is_any_for(Phase::Admit),
        validate: is_any_for(Phase::Validate),
    }
}

/// Reads and checks it, and the files that it names.
pub(super) fn webhooks(configuration: Option<&Value>) -> Result<Vec<Webhook>, Vec<Fault>> {
    let missing = || vec![Fault::at("", "no configuration: expected `webhooks`")];
    let configuration = given(configuration).ok_or_else(missing)?;
    let configuration: Configuration = read::json(configuration)?;
    let specs = configuration.webhooks;
    if specs.is_empty() || specs.len() > MOST {
        let message = format!("expected 1 to {MOST} webhooks, found {}", specs.len());
        return Err(vec![Fault::at("webhooks", message)]);
    }
    let (mut faults, mut names) = (Vec::new(), HashSet::new());
    let made: Vec<Option<Webhook>> = specs
        .into_iter()
        .enumerate()
        .map(|(index, spec)| {
            let at = path::index("webhooks", index);
            if !names.insert(spec.name.clone()) {
                let message = format!("the webhook `{}` is given twice", spec.name);
                faults.push(Fault::at(path::key(&at, "name"), message));
            }
            webhook(&at, spec, &mut faults)
        })
        .collect();
    match faults.is_empty() {
        true => Ok(made.into_iter().flatten().collect()),
        false => Err(faults),
    }
}

fn webhook(at: &str, spec: WebhookSpec, faults: &mut Vec<Fault>) -> Option<Webhook> {
    if !is_name(&spec.name) {
        let message = "must consist of lower case letters, digits, `-` and `.`, and begin and end with a letter or digit";
        faults.push(Fault::at(path::key(at, "name"), message));
    }
    if spec.timeout.is_some_and(Duration::is_zero) {
        faults.push(Fault::at(
            path::key(at, "timeout"),
            "must be more than zero",
        ));
    }
    let limit = spec.max_answer.map_or(MAX_ANSWER, Size::as_usize);
    if limit == 0 {
        faults.push(Fault::at(
            path::key(at, "maxAnswer"),
            "must be more than zero",
        ));
    }
    let authorities = content(at, "caFile", spec.ca_file.as_deref(), faults);
    let certificate = spec.client_certificate_file.as_deref();
    let certificate = content(at, "clientCertificateFile", certificate, faults);
    let key = content(at, "clientKeyFile", spec.client_key_file.as_deref(), faults);
    let identity = match (spec.client_certificate_file, spec.client_key_file) {
        (Some(_), None) => {
            let message = "needs `clientKeyFile`";
            faults.push(Fault::at(path::key(at, "clientCertificateFile"), message));
            None
        }
        (None, Some(_)) => {
            let message = "needs `clientCertificateFile`";
            faults.push(Fault::at(path::key(at, "clientKeyFile"), message));
            None
        }
        _ => certificate.zip(key),
    };
    let matcher = match spec.matching.as_ref().map(Matcher::new) {
        None => Some(Matcher::default()),
        Some(Ok(matcher)) if matcher.looks_at_namespaces() => {
            let at = path::join(&path::key(at, "match"), "namespaceSelector");
            let message = "not supported for webhooks: use `namespaces`";
            faults.push(Fault::at(at, message));
            None
        }
        Some(Ok(matcher)) => Some(matcher),
        Some(Err(wrong)) => {
            let at = path::key(at, "match");
            faults.extend(wrong.into_iter().map(|(key, message)| {
                let at = path::join(&at, &key);
                Fault::at(at, message)
            }));
            None
        }
    };
    let endpoint = Endpoint::new(EndpointSettings {
        url: spec.url,
        path: spec.path,
        authorities,
        identity,
        token: spec
            .token_file
            .map_or(EndpointToken::None, EndpointToken::File),
        limit,
    });
    let endpoint = endpoint.map_err(|fault| {
        let key = match fault.path.as_str() {
            "authorities" => "caFile",
            "identity" => "clientCertificateFile",
            other => other,
        };
        faults.push(Fault::at(path::key(at, key), fault.message));
    });
    Some(Webhook {
        name: spec.name,
        endpoint: endpoint.ok()?,
        timeout: spec.timeout.map_or(TIMEOUT, Into::into),
        phase: spec.phase,
        matcher: matcher?,
        failure: spec.failure,
        side_effects: spec.side_effects,
    })
}

/// Names stand in audit annotations.
fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_end = |byte: Option<u8>| byte.is_some_and(is_word);
    name.len() <= 63
        && is_end(name.bytes().next())
        && is_end(name.bytes().last())
        && name
            .bytes()
            .all(|byte| is_word(byte) || byte == b'-' || byte == b'.')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn faults(configuration: Value) -> Vec<String> {
        let made = webhooks(Some(&configuration));
        let faults = made.err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn one(webhook: Value) -> Vec<String> {
        let mut whole = json!({"name": "w", "url": "https://h/"});
        for (key, value) in webhook.as_object().unwrap() {
            whole[key] = value.clone();
        }
        faults(json!({"webhooks": [whole]}))
    }

    #[test]
    fn the_shortest_one() {
        assert_eq!(one(json!({})), [""; 0]);
        let made = webhooks(Some(
            &json!({"webhooks": [{"name": "w", "url": "https://h/"}]}),
        ));
        let made = made.unwrap();
        assert_eq!(phases(&made), Phases::VALIDATE);
        assert_eq!(made[0].timeout, TIMEOUT);
    }

    #[test]
    fn faults_have_their_places() {
        for (webhook, place) in [
            (json!({"name": "A"}), "webhooks[0].name: "),
            (json!({"url": "http://h/"}), "webhooks[0].url: "),
            (json!({"path": "/x"}), "webhooks[0].path: "),
            (json!({"timeout": "0s"}), "webhooks[0].timeout: "),
            (json!({"maxAnswer": 0}), "webhooks[0].maxAnswer: "),
            (json!({"phase": "never"}), "webhooks[0].phase: "),
            (json!({"failure": "ajar"}), "webhooks[0].failure: "),
            (
                json!({"caFile": "/nonexistent"}),
                "webhooks[0].caFile: cannot read",
            ),
            (
                json!({"clientKeyFile": "/dev/null"}),
                "webhooks[0].clientKeyFile: ",
            ),
            (json!({"match": {"kinds": []}}), "webhooks[0].match.kinds: "),
            (json!({"retries": 3}), "webhooks[0].retries: unknown key"),
        ] {
            let faults = one(webhook.clone());
            assert!(
                faults.iter().any(|f| f.starts_with(place)),
                "{webhook}: {faults:?}"
            );
        }
        let twice = json!([{"name": "w", "url": "https://h/"}, {"name": "w", "url": "https://h/"}]);
        assert_eq!(
            faults(json!({"webhooks": twice})),
            ["webhooks[1].name: the webhook `w` is given twice"]
        );
        assert_eq!(faults(json!({"webhooks": []})).len(), 1);
        assert_eq!(
            faults(Value::Null),
            ["no configuration: expected `webhooks`"]
        );
    }
}
