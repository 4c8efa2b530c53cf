//! A candidate set: several policies at once, changed, added or removed.

use std::collections::BTreeSet;

use portcullis_config::{MatchSpec, Matcher, Policies, PolicyChange};
use portcullis_core::PolicyMode;
use portcullis_document::{Fault, Faults};
use portcullis_gate::playground::Language;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CHANGED, MOST_TEXT, Over, REPLAYING, may_read, replayed};
use crate::api::access::at_root;
use crate::api::answer;
use crate::api::body;
use crate::api::call::{Answering, Call};
use crate::api::endpoint::{Content, Endpoint, Tag, post, schema_of};
use crate::api::playground::{OFF, TryPolicies, is_on};
use crate::http::error::HttpError;

/// Bytes of a body, at most.
const MOST_BYTES: u64 = 2 << 20;
/// Policies that are changed, added or removed, at most.
const MOST_POLICIES: usize = 200;
/// Bytes of the name of a new policy, at most.
const LONGEST_NAME: usize = 256;

/// A candidate set: what of the policies in force is different. What is not named stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CandidateSetBody")]
struct CandidateSetBody {
    /// Policies that are changed, by their names, and new ones, which are asked last.
    #[serde(default)]
    policies: Vec<CandidatePolicy>,
    /// The names of policies that are removed.
    #[serde(default)]
    remove: Vec<String>,
    /// Decisions not before: a time as in RFC 3339, or how long ago; by default `24h`.
    #[serde(default)]
    since: Option<String>,
    /// Decisions that are looked at, the newest, 1 to 5000; by default 1000.
    #[serde(default)]
    limit: Option<usize>,
}

/// A policy of a candidate set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CandidatePolicy")]
struct CandidatePolicy {
    /// The name.
    name: String,
    /// The text, at most 64 KiB; by default that of the policy in force. Required for a new policy.
    #[serde(default)]
    text: Option<String>,
    /// The language of a new policy; by default `js`.
    #[serde(default)]
    language: Language,
    /// What a denial means; by default as it is in force, or as the text says.
    #[serde(default)]
    mode: Option<PolicyMode>,
    /// Which requests it applies to, as in the configuration; by default as it is in force, or as the text says.
    #[serde(default, rename = "match")]
    matching: Option<MatchSpec>,
}

/// The call.
pub(super) const ENDPOINT: Endpoint = Endpoint {
    success: CHANGED,
    ..post(
        ("/api/v1/replay", "replayPolicies"),
        Tag::Decisions,
        at_root::<TryPolicies>(),
        (
            "Replay with a candidate set of policies",
            "As `/api/v1/policies/{name}/replay`, with any number of policies changed, added or removed at once.",
        ),
        Content {
            schema: schema_of::<CandidateSetBody>,
            example: r#"{"policies": [{"name": "pin-versions", "mode": "enforce"}, {"name": "no-latest", "text": "return true"}], "remove": ["old-names"], "since": "24h"}"#,
        },
        &[
            OFF,
            (422, "The set is inconsistent, or a field is too large."),
            REPLAYING,
        ],
        replay,
    )
};

/// `POST /api/v1/replay`
fn replay(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.admit::<TryPolicies>(root)?;
        may_read(&call)?;
        is_on(&call)?;
        let given: CandidateSetBody = body::parse(&call.take_bytes(MOST_BYTES).await?)?;
        call.authorize(root, TryPolicies).await?;
        let over = Over::of(given.since.as_deref(), given.limit)?;
        let matchers = given
            .checked(call.gate.replays.policies())
            .map_err(|faults| HttpError::unprocessable(&faults))?;
        let report = replayed(&call, over, move |policies| given.of(policies, matchers));
        answer::ok(&report.await?)
    })
}

impl CandidateSetBody {
    /// What the policies apply to; or everything that is wrong, by field.
    fn checked(&self, policies: &Policies) -> Result<Vec<Option<Matcher>>, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.policies.len() + self.remove.len() > MOST_POLICIES {
            let message = format!("more than {MOST_POLICIES} policies");
            return Err(vec![Fault::at("policies", message)]);
        }
        let in_force = |name: &str| policies.list.iter().any(|policy| policy.name == name);
        let mut named = BTreeSet::new();
        let mut matchers = Vec::new();
        for (index, one) in self.policies.iter().enumerate() {
            let at = |field: &str| format!("policies[{index}].{field}");
            if !is_name(&one.name) {
                let message =
                    format!("expected 1 to {LONGEST_NAME} bytes without control characters");
                faults.push(Fault::at(at("name"), message));
            } else if !named.insert(one.name.as_str()) {
                let message = format!("`{}` is given twice", one.name);
                faults.push(Fault::at(at("name"), message));
            }
            match &one.text {
                Some(text) if text.len() > MOST_TEXT => {
                    let message = format!("larger than {MOST_TEXT} bytes");
                    faults.push(Fault::at(at("text"), message));
                }
                None if !in_force(&one.name) => {
                    let message = "required: no policy in force has this name";
                    faults.push(Fault::at(at("text"), message));
                }
                _ => {}
            }
            matchers.push(match one.matching.as_ref().map(Matcher::new) {
                None => None,
                Some(Ok(matcher)) => Some(matcher),
                Some(Err(wrong)) => {
                    let wrong = wrong.into_iter();
                    faults.extend(
                        wrong.map(|(key, why)| Fault::at(at(&format!("match.{key}")), why)),
                    );
                    None
                }
            });
        }
        for (index, name) in self.remove.iter().enumerate() {
            let at = format!("remove[{index}]");
            if !in_force(name) {
                faults.push(Fault::at(at, "no policy in force has this name"));
            } else if !named.insert(name) {
                faults.push(Fault::at(at, format!("`{name}` is given twice")));
            }
        }
        match faults.is_empty() {
            true => Ok(matchers),
            false => Err(faults),
        }
    }

    /// The policies in force with these changes.
    fn of(&self, policies: &Policies, matchers: Vec<Option<Matcher>>) -> Result<Policies, Faults> {
        let changes = self.policies.iter().zip(matchers);
        let changes = changes.map(|(one, matching)| PolicyChange {
            name: &one.name,
            text: one.text.as_deref(),
            language: one.language.into(),
            mode: one.mode,
            matching,
        });
        let removed: Vec<&str> = self.remove.iter().map(String::as_str).collect();
        policies.with_changes(&changes.collect::<Vec<_>>(), &removed)
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(char::is_control)
}
