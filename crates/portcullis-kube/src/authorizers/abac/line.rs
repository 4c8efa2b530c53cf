//! Reading the attribute file.
//!
//! A line is blank, a comment (`#`), or one JSON object: a `Policy` of
//! `abac.authorization.kubernetes.io/v1beta1`, or one of the older form without
//! a version, which is turned into the newer. Kubernetes ignores keys it
//! doesn't know, so that a misspelt one makes a policy that allows more than was
//! meant; here it is a fault. All faults of a file are reported at once.

use portcullis_core::json;
use portcullis_document::{Fault, Position, Source, read};
use serde::Deserialize;
use serde_json::Value;

use super::{AbacPolicies, Policy};

const V1BETA1: &str = "abac.authorization.kubernetes.io/v1beta1";
const V0: &str = "abac.authorization.kubernetes.io/v0";
const KIND: &str = "Policy";
const AUTHENTICATED: &str = "system:authenticated";

/// Reads a whole file.
///
/// # Errors
///
/// Every line that is neither blank, nor a comment, nor a policy.
pub fn parse(source: &Source) -> Result<AbacPolicies, Vec<Fault>> {
    let mut policies = Vec::new();
    let mut faults = Vec::new();
    for (index, text) in source.text().lines().enumerate() {
        let line = index + 1;
        let content = text.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        match policy(text) {
            Ok(policy) => policies.push(Policy { line, ..policy }),
            Err(wrong) => faults.extend(wrong.into_iter().map(|fault| {
                let position = Position {
                    line: line as u64,
                    column: fault.position.map_or(1, |at| at.column),
                };
                source.locate_at(Some(position), fault)
            })),
        }
    }
    if faults.is_empty() {
        Ok(AbacPolicies { policies })
    } else {
        Err(faults)
    }
}

/// One line; of the positions in its faults only the column counts.
fn policy(line: &str) -> Result<Policy, Vec<Fault>> {
    json::scan(line.as_bytes()).map_err(|fault| {
        let position = Position {
            line: 1,
            column: fault.column as u64,
        };
        vec![Fault::at_position(position, fault.message)]
    })?;
    let value: Value =
        serde_json::from_str(line).map_err(|error| vec![Fault::at("", error.to_string())])?;
    let declared = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(vec![Fault::at(key, "expected a string")]),
    };
    match (declared("apiVersion")?, declared("kind")?) {
        (V1BETA1, KIND) => {
            read::json::<Versioned>(&value).map(|Versioned { spec, .. }| spec.into())
        }
        ("", "" | KIND) | (V0, KIND) => read::json::<Unversioned>(&value).map(Policy::from),
        ("" | V1BETA1 | V0, kind) => {
            let message = format!("expected `{KIND}`, found `{kind}`");
            Err(vec![Fault::at("kind", message)])
        }
        (version, _) => {
            let message = format!("expected `{V1BETA1}`, found `{version}`");
            Err(vec![Fault::at("apiVersion", message)])
        }
    }
}

/// A line of version `v1beta1`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Versioned {
    #[serde(rename = "apiVersion")]
    _api_version: Option<String>,
    #[serde(rename = "kind")]
    _kind: Option<String>,
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Spec {
    user: Option<String>,
    group: Option<String>,
    readonly: Option<bool>,
    api_group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    non_resource_path: Option<String>,
}

impl From<Spec> for Policy {
    fn from(spec: Spec) -> Self {
        Self {
            line: 0,
            user: spec.user.unwrap_or_default(),
            group: spec.group.unwrap_or_default(),
            read_only: spec.readonly.unwrap_or_default(),
            api_group: spec.api_group.unwrap_or_default(),
            resource: spec.resource.unwrap_or_default(),
            namespace: spec.namespace.unwrap_or_default(),
            non_resource_path: spec.non_resource_path.unwrap_or_default(),
        }
        .with_stars_as_authenticated()
    }
}

/// A line without a version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unversioned {
    #[serde(rename = "apiVersion")]
    _api_version: Option<String>,
    #[serde(rename = "kind")]
    _kind: Option<String>,
    user: Option<String>,
    group: Option<String>,
    readonly: Option<bool>,
    resource: Option<String>,
    namespace: Option<String>,
}

impl From<Unversioned> for Policy {
    /// What is left out matches all, in every API group; paths too if neither
    /// resource nor namespace is given.
    fn from(old: Unversioned) -> Self {
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (user, group) = (text(old.user), text(old.group));
        let (resource, namespace) = (text(old.resource), text(old.namespace));
        let all = || "*".to_owned();
        let is_for_all = user.is_none() && group.is_none();
        let is_for_paths = resource.is_none() && namespace.is_none();
        Self {
            line: 0,
            user: user.unwrap_or_default(),
            group: if is_for_all {
                all()
            } else {
                group.unwrap_or_default()
            },
            read_only: old.readonly.unwrap_or_default(),
            api_group: all(),
            resource: resource.unwrap_or_else(all),
            namespace: namespace.unwrap_or_else(all),
            non_resource_path: if is_for_paths { all() } else { String::new() },
        }
        .with_stars_as_authenticated()
    }
}

impl Policy {
    /// `*` as user or group is for all who are authenticated, whatever the
    /// other one says.
    fn with_stars_as_authenticated(mut self) -> Self {
        if self.user == "*" || self.group == "*" {
            self.user = String::new();
            self.group = AUTHENTICATED.to_owned();
        }
        self
    }
}
