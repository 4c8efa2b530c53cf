//! The definition of a controller, from the body of a call to a checked value and back.

use portcullis_document::{Duration, Fault, path, read};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::conditions::{MatchConditions, check_globs};
use super::words::{ControllerKind, ControllerLevel, ControllerState, FailurePolicy};
use crate::paths::check_path;
use crate::timestamp::Timestamp;

/// The number of a controller.
pub type ControllerId = u64;

const DEFAULT_CONCURRENCY: u32 = 32;
const DEFAULT_RATE: u32 = 100;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(100);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
const MOST_CONCURRENCY: u32 = 10_000;
const MOST_RATE: u32 = 100_000;
const MOST_NAME_BYTES: usize = 128;
const MOST_URL_BYTES: usize = 2048;
const MOST_CODE_BYTES: usize = 256 << 10;
/// The keys that say how a controller is asked.
const TRANSPORTS: &[&str] = &["url", "pull", "policy"];

/// How a controller is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// By a request to this URL.
    Webhook(String),
    /// By the controller, which claims what is waiting.
    Pull,
    /// In this process.
    Policy(PolicySource),
}

/// A policy that is a controller. In JSON it is the name, or `{code}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the name of a policy, or a map with `code`")]
pub enum PolicySource {
    /// A configured policy.
    Named(String),
    /// A policy of its own.
    Code(PolicyCode),
}

/// The source text of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCode {
    /// The text.
    pub code: String,
}

/// A registered controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    /// Its number.
    pub id: ControllerId,
    /// When it was registered.
    pub created_at: Timestamp,
    /// Raised by every change.
    pub revision: u64,
    /// How it is defined.
    pub definition: ControllerDefinition,
}

/// A checked definition. Its JSON is that of [`ControllerBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerDefinition {
    /// Its name, which reasons and decisions carry.
    pub name: String,
    /// Which jobs it is for.
    pub level: ControllerLevel,
    /// The path of its group or project; none on the instance level.
    pub path: Option<String>,
    /// What it may do.
    pub kind: ControllerKind,
    /// How it is asked.
    pub transport: Transport,
    /// Whether it is asked, and whether its answer counts.
    pub state: ControllerState,
    /// Which of the jobs it is asked about.
    pub conditions: MatchConditions,
    /// Whether it may remove every tag.
    pub may_untag: bool,
    /// What becomes of a job if it fails.
    pub failure_policy: FailurePolicy,
    /// The most requests at a time.
    pub concurrency: u32,
    /// The most requests a second.
    pub rate: u32,
    /// How long one request may take.
    pub timeout: Duration,
    /// Globs of the variables it sees beside the predefined ones.
    pub variables: Vec<String>,
}

/// The body of a call that registers a controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the fields are those of `ControllerDefinition`"
)]
pub struct ControllerBody {
    pub name: String,
    pub level: ControllerLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub kind: ControllerKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ControllerState>,
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub conditions: Option<MatchConditions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_untag: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Vec<String>>,
}

impl ControllerDefinition {
    /// Reads and checks the body of a registration.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with the path of its field.
    pub fn read(body: &Value) -> Result<Self, Vec<Fault>> {
        let body: ControllerBody = read::json(body)?;
        let is_suspended = body.state == Some(ControllerState::Suspended);
        let (definition, mut faults) = Self::check(body);
        if is_suspended {
            faults.push(not_suspended());
        }
        definition.filter(|_| faults.is_empty()).ok_or(faults)
    }

    /// The definition with some keys replaced; null removes a key, and another transport replaces the old one.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with the path of its field.
    pub fn patched(&self, patch: &Value) -> Result<Self, Vec<Fault>> {
        let Value::Object(changes) = patch else {
            return Err(vec![Fault::at("", "expected a map")]);
        };
        let suspended = Value::from(ControllerState::Suspended.as_str());
        if changes.get("state") == Some(&suspended) && self.state != ControllerState::Suspended {
            return Err(vec![not_suspended()]);
        }
        let mut whole = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(entries) = &mut whole {
            if TRANSPORTS.iter().any(|key| changes.contains_key(*key)) {
                entries.retain(|key, _| !TRANSPORTS.contains(&key.as_str()));
            }
            for (key, value) in changes {
                entries.insert(key.clone(), value.clone());
            }
            entries.retain(|_, value| !value.is_null());
        }
        let (definition, faults) = Self::check(read::json(&whole)?);
        definition.filter(|_| faults.is_empty()).ok_or(faults)
    }

    fn check(body: ControllerBody) -> (Option<Self>, Vec<Fault>) {
        let mut faults = Vec::new();
        check_name(&body.name, &mut faults);
        check_level(body.level, body.path.as_deref(), &mut faults);
        let transport = read_transport(&body, &mut faults);
        let conditions = body.conditions.unwrap_or_default();
        conditions.check("match", &mut faults);
        let variables = body.variables.unwrap_or_default();
        check_globs(&variables, "variables", &mut faults);
        let concurrency = body.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        check_range("concurrency", concurrency, MOST_CONCURRENCY, &mut faults);
        let rate = body.rate.unwrap_or(DEFAULT_RATE);
        check_range("rate", rate, MOST_RATE, &mut faults);
        let timeout = body.timeout.unwrap_or(DEFAULT_TIMEOUT);
        if !(SHORTEST_TIMEOUT..=LONGEST_TIMEOUT).contains(&timeout) {
            let message =
                format!("expected {SHORTEST_TIMEOUT} to {LONGEST_TIMEOUT}, found {timeout}");
            faults.push(Fault::at("timeout", message));
        }
        let may_untag = body.may_untag.unwrap_or_default();
        if may_untag && !body.kind.may_mutate() {
            let message = "a validating controller can't remove tags";
            faults.push(Fault::at("may_untag", message));
        }
        let definition = transport.map(|transport| Self {
            name: body.name,
            level: body.level,
            path: body.path,
            kind: body.kind,
            transport,
            state: body.state.unwrap_or(ControllerState::Enabled),
            conditions,
            may_untag,
            failure_policy: body.failure_policy.unwrap_or(FailurePolicy::Closed),
            concurrency,
            rate,
            timeout,
            variables,
        });
        (definition, faults)
    }

    /// Whether the answer counts.
    pub fn is_enforced(&self) -> bool {
        self.state != ControllerState::DryRun
    }
}

fn not_suspended() -> Fault {
    Fault::at(
        "state",
        "`suspended` is set by the server only: expected enabled, dry_run or disabled",
    )
}

fn check_name(name: &str, faults: &mut Vec<Fault>) {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '/');
    if name.trim().is_empty() {
        faults.push(Fault::at("name", "a name can't be empty"));
    } else if name.len() > MOST_NAME_BYTES {
        let message = format!("a name has at most {MOST_NAME_BYTES} bytes");
        faults.push(Fault::at("name", message));
    } else if let Some(bad) = name.chars().find(|c| !is_good(*c)) {
        let message = format!("unexpected character {bad:?} in a name");
        faults.push(Fault::at("name", message));
    }
}

fn check_level(level: ControllerLevel, path: Option<&str>, faults: &mut Vec<Fault>) {
    match (level, path) {
        (ControllerLevel::Instance, None) => {}
        (ControllerLevel::Instance, Some(_)) => {
            let message = "a controller of level instance has no path";
            faults.push(Fault::at("path", message));
        }
        (level, None) => {
            faults.push(Fault::at("path", format!("required for level {level}")));
        }
        (_, Some(path)) => {
            if let Err(message) = check_path(path) {
                faults.push(Fault::at("path", message));
            }
        }
    }
}

fn check_range(name: &str, value: u32, most: u32, faults: &mut Vec<Fault>) {
    if value == 0 || value > most {
        let message = format!("expected 1 to {most}, found {value}");
        faults.push(Fault::at(name, message));
    }
}

fn read_transport(body: &ControllerBody, faults: &mut Vec<Fault>) -> Option<Transport> {
    let pull = body.pull.filter(|is_pull| *is_pull);
    match (&body.url, &body.policy, pull) {
        (Some(url), None, None) => {
            if let Err(message) = check_url(url) {
                faults.push(Fault::at("url", message));
            }
            Some(Transport::Webhook(url.clone()))
        }
        (None, Some(policy), None) => {
            check_policy(policy, faults);
            Some(Transport::Policy(policy.clone()))
        }
        (None, None, Some(_)) => Some(Transport::Pull),
        (None, None, None) => {
            faults.push(Fault::at("url", "one of url, policy or pull is required"));
            None
        }
        _ => {
            faults.push(Fault::at("url", "url, policy and pull can't be combined"));
            None
        }
    }
}

fn check_policy(policy: &PolicySource, faults: &mut Vec<Fault>) {
    match policy {
        PolicySource::Named(name) if name.is_empty() => {
            faults.push(Fault::at("policy", "a name can't be empty"));
        }
        PolicySource::Code(PolicyCode { code }) if code.trim().is_empty() => {
            faults.push(Fault::at(
                path::key("policy", "code"),
                "a policy can't be empty",
            ));
        }
        PolicySource::Code(PolicyCode { code }) if code.len() > MOST_CODE_BYTES => {
            let message = format!("a policy has at most {MOST_CODE_BYTES} bytes");
            faults.push(Fault::at(path::key("policy", "code"), message));
        }
        _ => {}
    }
}

/// The form only: which addresses may be called is up to the caller.
fn check_url(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .ok_or("expected a URL that begins with https:// or http://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return Err("the URL has no host".to_owned());
    }
    if host.contains('@') {
        return Err("a URL can't contain a user or password".to_owned());
    }
    if url.contains('#') {
        return Err("a URL can't contain a fragment".to_owned());
    }
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("a URL can't contain spaces or control characters".to_owned());
    }
    if url.len() > MOST_URL_BYTES {
        return Err(format!("a URL has at most {MOST_URL_BYTES} bytes"));
    }
    Ok(())
}

impl From<&ControllerDefinition> for ControllerBody {
    fn from(from: &ControllerDefinition) -> Self {
        let mut body = Self {
            name: from.name.clone(),
            level: from.level,
            path: from.path.clone(),
            kind: from.kind,
            url: None,
            policy: None,
            pull: None,
            state: Some(from.state),
            conditions: Some(from.conditions.clone()),
            may_untag: Some(from.may_untag),
            failure_policy: Some(from.failure_policy),
            concurrency: Some(from.concurrency),
            rate: Some(from.rate),
            timeout: Some(from.timeout),
            variables: Some(from.variables.clone()),
        };
        match &from.transport {
            Transport::Webhook(url) => body.url = Some(url.clone()),
            Transport::Pull => body.pull = Some(true),
            Transport::Policy(policy) => body.policy = Some(policy.clone()),
        }
        body
    }
}

impl Serialize for ControllerDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ControllerBody::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ControllerDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (definition, faults) = Self::check(ControllerBody::deserialize(deserializer)?);
        let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
        definition.ok_or_else(|| D::Error::custom(faults.join("; ")))
    }
}

#[cfg(test)]
mod tests;
