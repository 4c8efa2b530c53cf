//! Which policies are configured, and what they are asked about.

use std::collections::BTreeMap;

use portcullis_config::Severity;
use portcullis_gate::policies::ListedPolicy;
use portcullis_jobs::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::access::at_root;
use super::answer;
use super::call::{Answering, Call};
use super::decisions::ReadDecisions;
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::query::Query;
use crate::http::error::HttpError;

/// All policies.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyList {
    /// The policies, in the order they are asked.
    items: Vec<PolicyEntry>,
    /// The plug-ins of the chain, in order. Policies are asked where `Policies` stands.
    plugins: Vec<String>,
}

/// A policy.
#[derive(Debug, Serialize, JsonSchema)]
struct PolicyEntry {
    /// The name.
    name: String,
    /// The place among the policies, from 1.
    order: usize,
    /// What a denial means: `enforce`, `warn` or `dry-run`.
    mode: &'static str,
    /// The digest of its text and of what runs with it; decisions have it too.
    digest: String,
    /// Where it comes from.
    source: PolicySource,
    /// The file, or the place in the configuration file.
    place: String,
    /// Which requests it applies to, as in the configuration.
    #[serde(rename = "match")]
    #[schemars(with = "Map<String, Value>")]
    matching: Value,
    /// What it is for, in the words of its author.
    description: Option<String>,
    /// The severity of a violation: `low`, `medium`, `high` or `critical`.
    #[schemars(with = "Option<String>")]
    severity: Option<Severity>,
    /// The category.
    category: Option<String>,
    /// A page with more information.
    link: Option<String>,
    /// When its digest last changed, in RFC 3339: at a reload; before the start, when its file was written. `null` for a policy of the
    /// configuration file that has not changed since the start.
    last_change: Option<String>,
    /// How often this server has asked it since it started, by outcome: about requests of Kubernetes and about jobs.
    evaluations: BTreeMap<&'static str, u64>,
}

/// Where a policy comes from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PolicySource {
    /// From a file of its own.
    File,
    /// From the configuration file.
    Inline,
}

/// A policy with its text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyDetails {
    #[serde(flatten)]
    entry: PolicyEntry,
    /// The text, in JavaScript.
    text: String,
}

/// What may be asked about policies.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    get(
        ("/api/v1/policies", "policies"),
        Tag::Decisions,
        at_root::<ReadDecisions>(),
        ("List policies", "In the order they are asked."),
        Success::Json {
            description: "The policies.",
            schema: schema_of::<PolicyList>,
        },
        list,
    ),
    Endpoint {
        refusals: &[(404, "The policy is unknown.")],
        ..get(
            ("/api/v1/policies/{name}", "policy"),
            Tag::Decisions,
            at_root::<ReadDecisions>(),
            ("Show a policy", "With its text."),
            Success::Json {
                description: "The policy.",
                schema: schema_of::<PolicyDetails>,
            },
            show,
        )
    },
];

/// `GET /api/v1/policies`
fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.authorize(root, ReadDecisions).await?;
        Query::of(call.head).done()?;
        let all = call.gate.policies.iter().enumerate();
        answer::ok(&PolicyList {
            items: all.map(|one| entry(&call, one)).collect(),
            plugins: call.gate.chain.names().map(str::to_owned).collect(),
        })
    })
}

/// `GET /api/v1/policies/{name}`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.authorize(root, ReadDecisions).await?;
        Query::of(call.head).done()?;
        let name = call.values.get("name");
        let mut all = call.gate.policies.iter().enumerate();
        let found = all.find(|(_, policy)| policy.name == name);
        let found = found.ok_or_else(|| HttpError::not_found("unknown policy"))?;
        answer::ok(&PolicyDetails {
            entry: entry(&call, found),
            text: found.1.text.text().to_owned(),
        })
    })
}

fn entry(call: &Call<'_>, (place, policy): (usize, &ListedPolicy)) -> PolicyEntry {
    let about = policy.about.clone();
    let server = &call.visitor.server;
    let last_change = server.policy_changes.last(&policy.name);
    PolicyEntry {
        name: policy.name.clone(),
        order: place + 1,
        mode: policy.mode.as_str(),
        digest: policy.digest.as_ref().to_owned(),
        source: match policy.text.path() {
            Some(_) => PolicySource::File,
            None => PolicySource::Inline,
        },
        place: policy.text.place().to_owned(),
        matching: policy.matching.clone(),
        description: about.description,
        severity: about.severity,
        category: about.category,
        link: about.link,
        last_change: last_change.map(|at| Timestamp::from(at).to_string()),
        evaluations: server.metrics.policy_counts(&policy.name),
    }
}
