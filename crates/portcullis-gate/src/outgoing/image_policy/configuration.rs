//! The configuration of `ImagePolicyWebhook`, read and checked as API servers do: -1 turns a duration off, 0 stands for
//! the default.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_document::{Fault, path, read};
use portcullis_host::{Endpoint, EndpointSettings, EndpointToken};
use portcullis_watch::KubeconfigServer;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::settings::given;

/// The largest answer.
const MAX_ANSWER: usize = 1 << 20;

const KEY: &str = "imagePolicy";

/// Configuration of `ImagePolicyWebhook`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Configuration {
    /// How the backend is asked.
    image_policy: ImagePolicySpec,
}

/// How the backend is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ImagePolicySpec {
    /// The kubeconfig file with the backend as its cluster.
    kube_config_file: PathBuf,
    /// For how many seconds an allow is remembered, 1 to 1800; by default 300; -1: not at all.
    #[serde(default, rename = "allowTTL")]
    allow_ttl: i64,
    /// For how many seconds a denial is remembered, 1 to 1800; by default 30; -1: not at all.
    #[serde(default, rename = "denyTTL")]
    deny_ttl: i64,
    /// Milliseconds before the second attempt, 1 to 300000; by default 500; -1: none.
    #[serde(default)]
    retry_backoff: i64,
    /// Whether pods are allowed if the backend does not answer.
    #[serde(default)]
    default_allow: bool,
}

/// A backend, and what its answers mean.
#[derive(Debug)]
pub(super) struct ImagePolicy {
    pub(super) endpoint: Endpoint,
    pub(super) allow_ttl: Duration,
    pub(super) deny_ttl: Duration,
    pub(super) retry_backoff: Duration,
    pub(super) default_allow: bool,
}

/// Reads and checks it, and the kubeconfig that it names.
pub(super) fn image_policy(configuration: Option<&Value>) -> Result<ImagePolicy, Vec<Fault>> {
    let missing = || vec![Fault::at("", "no configuration: expected `imagePolicy`")];
    let configuration = given(configuration).ok_or_else(missing)?;
    let configuration: Configuration = read::json(configuration)?;
    let spec = configuration.image_policy;
    let mut faults = Vec::new();
    let mut duration = |key: &str, value: i64, unit: Duration, longest: Duration, default| {
        checked(value, unit, longest, default).unwrap_or_else(|message| {
            faults.push(Fault::at(path::key(KEY, key), message));
            default
        })
    };
    let (second, millisecond) = (Duration::from_secs(1), Duration::from_millis(1));
    let (half_an_hour, minutes) = (Duration::from_secs(1800), Duration::from_secs(300));
    let allow_ttl = duration("allowTTL", spec.allow_ttl, second, half_an_hour, minutes);
    let deny_ttl = duration("denyTTL", spec.deny_ttl, second, half_an_hour, 30 * second);
    let retry_backoff = duration(
        "retryBackoff",
        spec.retry_backoff,
        millisecond,
        minutes,
        500 * millisecond,
    );
    let endpoint = endpoint(&spec.kube_config_file).map_err(|message| {
        faults.push(Fault::at(path::key(KEY, "kubeConfigFile"), message));
    });
    match endpoint {
        Ok(endpoint) if faults.is_empty() => Ok(ImagePolicy {
            endpoint,
            allow_ttl,
            deny_ttl,
            retry_backoff,
            default_allow: spec.default_allow,
        }),
        _ => Err(faults),
    }
}

/// A number of units, at most so long.
fn checked(
    value: i64,
    unit: Duration,
    longest: Duration,
    default: Duration,
) -> Result<Duration, String> {
    if value == 0 {
        return Ok(default);
    }
    if value == -1 {
        return Ok(Duration::ZERO);
    }
    let found = u32::try_from(value).ok();
    let found = found.and_then(|count| unit.checked_mul(count));
    found
        .filter(|found| *found <= longest)
        .ok_or_else(|| format!("valid value is between {unit:?} and {longest:?}, found `{value}`"))
}

fn endpoint(kubeconfig: &std::path::Path) -> Result<Endpoint, String> {
    let server = KubeconfigServer::read(kubeconfig).map_err(|error| error.to_string())?;
    let token = match (server.token_file, server.token) {
        (Some(file), _) => EndpointToken::File(file),
        (None, Some(token)) => EndpointToken::Text(token),
        (None, None) => EndpointToken::None,
    };
    let settings = EndpointSettings {
        url: server.url,
        path: None,
        authorities: server.authorities,
        identity: server.identity,
        token,
        limit: MAX_ANSWER,
    };
    let about = |fault: Fault| match fault.path.as_str() {
        "url" => format!("server: {}", fault.message),
        "authorities" => format!("certificate-authority: {}", fault.message),
        "identity" => format!("client-certificate: {}", fault.message),
        _ => fault.message,
    };
    Endpoint::new(settings).map_err(|fault| {
        format!(
            "the kubeconfig {} can't be used: {}",
            kubeconfig.display(),
            about(*fault)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn read(keys: Value) -> Result<ImagePolicy, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        let text = "{current-context: c, clusters: [{name: k, cluster: {server: 'https://h/'}}], \
                    contexts: [{name: c, context: {cluster: k}}]}";
        std::fs::write(&kubeconfig, text).unwrap();
        let mut spec = json!({"kubeConfigFile": kubeconfig});
        for (key, value) in keys.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let faults = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect();
        image_policy(Some(&json!({"imagePolicy": spec}))).map_err(faults)
    }

    #[test]
    fn durations_are_as_in_kubernetes() {
        let policy = read(json!({})).unwrap();
        assert_eq!(policy.allow_ttl, Duration::from_secs(300));
        assert_eq!(policy.deny_ttl, Duration::from_secs(30));
        assert_eq!(policy.retry_backoff, Duration::from_millis(500));
        let policy = read(json!({"allowTTL": 50, "denyTTL": -1, "retryBackoff": 20})).unwrap();
        assert_eq!(policy.allow_ttl, Duration::from_secs(50));
        assert_eq!(policy.deny_ttl, Duration::ZERO);
        assert_eq!(policy.retry_backoff, Duration::from_millis(20));
    }

    #[test]
    fn faults_have_their_places() {
        for (keys, place) in [
            (
                json!({"allowTTL": 1801}),
                "imagePolicy.allowTTL: valid value is between 1s and 1800s",
            ),
            (json!({"denyTTL": -2}), "imagePolicy.denyTTL: "),
            (
                json!({"retryBackoff": 300_001}),
                "imagePolicy.retryBackoff: ",
            ),
            (
                json!({"kubeConfigFile": "/nonexistent"}),
                "imagePolicy.kubeConfigFile: ",
            ),
            (
                json!({"defaultallow": true}),
                "imagePolicy.defaultallow: unknown key",
            ),
        ] {
            let faults = read(keys.clone()).unwrap_err();
            assert!(
                faults.iter().any(|f| f.starts_with(place)),
                "{keys}: {faults:?}"
            );
        }
        assert_eq!(image_policy(None).unwrap_err().len(), 1);
    }
}
