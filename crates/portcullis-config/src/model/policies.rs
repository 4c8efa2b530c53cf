//! The keys `policies`, `policyDirs` and `hostCalls`, and what a policy may say of itself.

use std::{collections::BTreeMap, path::PathBuf};

use portcullis_core::{Door, PolicyMode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::units::{Duration, Size};

/// The doors at which policies can judge.
pub(crate) const JUDGED_DOORS: [Door; 2] = [Door::Kubernetes, Door::Ci];

/// A policy in JavaScript.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Policy", extend("required" = ["name", "code"]))]
pub(crate) struct PolicySpec {
    /// The name in messages, unique.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The body of a function: `true` allows, `false` and text deny, anything else has no opinion.
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// Which requests it applies to; by default all.
    #[serde(default, rename = "match")]
    pub(crate) matching: MatchSpec,
    /// What a denial by this policy means.
    #[serde(default)]
    pub(crate) mode: PolicyMode,
    /// A sentence that describes it; for reports.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The severity of a violation; for reports.
    #[serde(default)]
    pub(crate) severity: Option<Severity>,
    /// Its category, like `supply chain`; for reports.
    #[serde(default)]
    pub(crate) category: Option<String>,
    /// A page with more information: `https://...`; for reports.
    #[serde(default)]
    pub(crate) link: Option<String>,
}

/// The severity of a violation of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A matter of style.
    Low,
    /// Should be fixed.
    Medium,
    /// Must be fixed.
    High,
    /// Dangerous.
    Critical,
}

/// What a policy file says of itself: `export const policy = {...}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct PolicyMetadata {
    #[serde(rename = "match")]
    pub(crate) matching: MatchSpec,
    pub(crate) mode: PolicyMode,
    pub(crate) description: Option<String>,
    pub(crate) severity: Option<Severity>,
    pub(crate) category: Option<String>,
    pub(crate) link: Option<String>,
}

/// Which requests a policy applies to. Every key must match; of a list, one entry must.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Match")]
pub struct MatchSpec {
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub(crate) operations: Option<Vec<String>>,
    /// `Pod`, `apps/Deployment`, `apps/v1/Deployment`.
    pub(crate) kinds: Option<Vec<String>>,
    /// Patterns for the namespace, like `prod-*`.
    pub(crate) namespaces: Option<Vec<String>>,
    /// Labels the object has, all of them; on DELETE those of the old object.
    pub(crate) labels: Option<BTreeMap<String, String>>,
    /// Patterns for the path of the request, like `/mutate/shop/**`.
    pub(crate) paths: Option<Vec<String>>,
    /// The doors it applies to; by default `kubernetes`.
    #[schemars(schema_with = "doors_schema")]
    pub(crate) doors: Option<Vec<String>>,
}

/// One of the doors at which policies judge.
fn doors_schema(_: &mut SchemaGenerator) -> Schema {
    let doors = JUDGED_DOORS.map(Door::as_str);
    json_schema!({"type": ["array", "null"], "items": {"type": "string", "enum": doors}})
}

/// Host calls of policies.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "HostCalls")]
pub(crate) struct HostCallsSpec {
    /// Where reviews may be forwarded: `https://other.example/*`, `unix:///run/x.sock`. By default
    /// nowhere; in a file with `listener`, anywhere.
    pub(crate) forward_to: Option<Vec<String>>,
    /// The file with the trusted CA certificates for forwarding, PEM; by default those of the system.
    #[serde(rename = "forwardCA")]
    pub(crate) forward_ca: Option<PathBuf>,
    /// The program that `cosignVerify` runs.
    pub(crate) cosign: Option<PathBuf>,
    /// Arguments added to every call of cosign.
    pub(crate) cosign_arguments: Vec<String>,
    /// The program that `slsaVerify` runs.
    pub(crate) slsa_verifier: Option<PathBuf>,
    /// The longest time of one call, within the deadline of the review.
    pub(crate) timeout: Option<Duration>,
    /// The largest answer of another controller.
    pub(crate) body: Option<Size>,
}
