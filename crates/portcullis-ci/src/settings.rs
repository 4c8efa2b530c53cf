//! The key `ci` of the configuration.

use std::path::PathBuf;

use portcullis_document::{Duration, Fault, Size, path};
use portcullis_jobs::RetryPolicy;
use portcullis_net::Web;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest deadline of an admission.
const SHORTEST_DEADLINE: Duration = Duration::from_secs(10);
/// The longest.
const LONGEST_DEADLINE: Duration = Duration::from_secs(7 * 86_400);

/// The most policies that engines are kept for.
const MOST_CODE_CONTROLLERS: u32 = 64;

/// How CI jobs are handled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// How long the admission of a job may take, with all its controllers. At least 10s.
    pub deadline: Duration,
    /// What a retried job keeps of the changes that controllers made: `carry` or `reset`.
    #[schemars(with = "String", extend("enum" = ["carry", "reset"]))]
    pub retry: RetryPolicy,
    /// The base of the URLs that controllers call back; by default that of the listener that serves `ci`.
    pub public_url: Option<String>,
    /// Which webhooks may be called.
    pub webhooks: WebhookSettings,
    /// How runners are served.
    pub runners: RunnerSettings,
    /// Where the artifacts of jobs are kept.
    pub artifacts: ArtifactSettings,
    /// How long finished jobs are kept.
    pub retention: Duration,
    /// The most jobs of one project that wait for admission; more are refused with 429.
    pub max_backlog: u32,
    /// The most controllers that are a policy of their own (`policy: {code}`); more are denied with 409. At most 64:
    /// each has an engine of its own.
    #[schemars(range(max = 64))]
    pub max_code_controllers: u32,
    /// The most of those in one top-level group.
    pub max_code_controllers_per_group: u32,
}

/// Which webhooks may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// Whether private and loopback addresses may be called. Link-local ones, where clouds keep their metadata,
    /// may not.
    pub allow_private_networks: bool,
    /// Whether `http://` may be called.
    pub allow_http: bool,
    /// Hosts with ports, like `127.0.0.1:9000`, that may be called whatever their address, also with `http://`.
    pub allow: Vec<String>,
}

/// How runners are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunnerSettings {
    /// How long a runner that asks for a job waits for one.
    pub long_poll: Duration,
    /// How long a runner that was given a job may take to begin.
    pub lease: Duration,
    /// How long a job may wait for a runner while none can take it.
    pub stuck: Duration,
    /// How long a runner may be silent about a job.
    pub lost: Duration,
    /// The largest trace of a job; a job that writes more fails with `trace_size_exceeded`.
    pub max_trace: Size,
}

/// Where the artifacts of jobs are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ArtifactSettings {
    /// The directory; by default `artifacts` in the data directory. Several servers need one that they share.
    pub path: Option<PathBuf>,
    /// The largest artifact; larger uploads are rejected with 413.
    pub max_size: Size,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(3600),
            retry: RetryPolicy::Carry,
            public_url: None,
            webhooks: WebhookSettings::default(),
            runners: RunnerSettings::default(),
            artifacts: ArtifactSettings::default(),
            retention: Duration::from_secs(30 * 86_400),
            max_backlog: 10_000,
            max_code_controllers: MOST_CODE_CONTROLLERS,
            max_code_controllers_per_group: 16,
        }
    }
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            long_poll: Duration::from_secs(50),
            lease: Duration::from_secs(10),
            stuck: Duration::from_secs(3600),
            lost: Duration::from_secs(3600),
            max_trace: Size::from_bytes(16 << 20),
        }
    }
}

impl Default for ArtifactSettings {
    fn default() -> Self {
        Self {
            path: None,
            max_size: Size::from_bytes(100 << 20),
        }
    }
}

impl Settings {
    /// What is wrong with them; paths begin at the key `ci`.
    pub fn check(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !(SHORTEST_DEADLINE..=LONGEST_DEADLINE).contains(&self.deadline) {
            let message = format!(
                "expected {SHORTEST_DEADLINE} to {LONGEST_DEADLINE}, found {}",
                self.deadline
            );
            faults.push(Fault::at("deadline", message));
        }
        if let Some(Err(error)) = self.public_url.as_deref().map(Web::parse) {
            faults.push(Fault::at("publicUrl", error.to_string()));
        }
        if self.max_backlog == 0 {
            faults.push(Fault::at("maxBacklog", "expected at least 1, found 0"));
        }
        if self.max_code_controllers > MOST_CODE_CONTROLLERS {
            let message = format!(
                "expected at most {MOST_CODE_CONTROLLERS}, found {}",
                self.max_code_controllers
            );
            faults.push(Fault::at("maxCodeControllers", message));
        }
        let zero = [
            ("retention", self.retention),
            ("runners.lease", self.runners.lease),
            ("runners.stuck", self.runners.stuck),
            ("runners.lost", self.runners.lost),
        ];
        for (name, _) in zero.iter().filter(|(_, duration)| duration.is_zero()) {
            faults.push(Fault::at(*name, "it can't be zero"));
        }
        for (index, entry) in self.webhooks.allow.iter().enumerate() {
            if split_entry(entry).is_none() {
                let at = path::index("webhooks.allow", index);
                let message =
                    format!("expected a host with a port, like 127.0.0.1:9000, found `{entry}`");
                faults.push(Fault::at(at, message));
            }
        }
        faults
    }
}

impl WebhookSettings {
    /// Whether this server is listed.
    pub(crate) fn is_listed(&self, web: &Web) -> bool {
        let host = web.host.to_string();
        let host = bare(&host);
        let mut entries = self.allow.iter().filter_map(|entry| split_entry(entry));
        entries.any(|(listed, port)| port == web.port && bare(listed).eq_ignore_ascii_case(host))
    }
}

/// Host and port.
fn split_entry(entry: &str) -> Option<(&str, u16)> {
    let (host, port) = entry.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port != 0)?;
    let is_host = !host.is_empty() && (!host.contains(':') || host.starts_with('['));
    is_host.then_some((host, port))
}

/// An IPv6 address without its brackets.
fn bare(host: &str) -> &str {
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(json: Value) -> Settings {
        serde_json::from_value(json).unwrap()
    }

    fn faults(json: Value) -> Vec<String> {
        let faults = read(json).check();
        faults.into_iter().map(|fault| fault.path).collect()
    }

    #[test]
    fn what_is_absent_has_a_default() {
        assert_eq!(read(json!({})), Settings::default());
        assert_eq!(faults(json!({})), [""; 0]);
        let settings = read(json!({"deadline": "10s", "retry": "reset",
            "publicUrl": "https://p.example", "runners": {"longPoll": "1s"},
            "webhooks": {"allowPrivateNetworks": true, "allow": ["127.0.0.1:9000", "[::1]:80"]}}));
        assert_eq!(settings.check(), []);
        assert_eq!(settings.retry, RetryPolicy::Reset);
        assert_eq!(settings.runners.lease, Duration::from_secs(10));
        assert!(serde_json::from_value::<Settings>(json!({"dead": 1})).is_err());
    }

    #[test]
    fn faults_have_paths() {
        for (json, wanted) in [
            (json!({"deadline": "9s"}), "deadline"),
            (json!({"deadline": "8d"}), "deadline"),
            (json!({"publicUrl": "p.example"}), "publicUrl"),
            (json!({"retention": "0s"}), "retention"),
            (json!({"maxBacklog": 0}), "maxBacklog"),
            (
                json!({"webhooks": {"allow": ["a:1", "host"]}}),
                "webhooks.allow[1]",
            ),
            (
                json!({"webhooks": {"allow": ["::1:80"]}}),
                "webhooks.allow[0]",
            ),
            (json!({"webhooks": {"allow": ["h:0"]}}), "webhooks.allow[0]"),
        ] {
            assert_eq!(faults(json.clone()), [wanted], "{json}");
        }
    }

    #[test]
    fn a_listed_server_is_one_host_and_port() {
        let webhooks = WebhookSettings {
            allow: vec!["Hooks.example:443".to_owned(), "[::1]:80".to_owned()],
            ..WebhookSettings::default()
        };
        let is_listed = |url: &str| webhooks.is_listed(&Web::parse(url).unwrap());
        assert!(is_listed("https://hooks.example/x"));
        assert!(is_listed("http://[::1]/"));
        assert!(!is_listed("http://hooks.example/"));
        assert!(!is_listed("https://evil.hooks.example/"));
    }
}
