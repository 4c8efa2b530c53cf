//! What a list of decisions shows of each.

use portcullis_core::{Door, vocabulary};
use serde::{Deserialize, Serialize};

vocabulary! {
    /// Yes or no.
    pub enum Answer {
        /// The request may go on.
        Allow = "allow",
        /// It may not; for authorization also: no authorizer had an opinion.
        Deny = "deny",
    }
}

/// A decision without its trace, input and patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name, a ULID: sorts by time.
    pub id: String,
    /// When it was made, RFC 3339 with microseconds, UTC.
    pub time: String,
    /// The door it was made at.
    pub door: Door,
    /// The operation; for authorization the verb, for the API the permission.
    pub operation: String,
    /// The kind of object; for authorization the resource, or the path; for the API what the action
    /// is on, like `Pipeline`.
    pub kind: String,
    /// The namespace; for CI the project, for the API the tenant. Empty where there is none.
    pub namespace: String,
    /// The name of the object; empty where it has none yet. For the API the project or the like.
    pub name: String,
    /// The user.
    pub user: String,
    /// Yes or no.
    pub verdict: Answer,
    /// Whether the answer changed the object.
    pub mutated: bool,
    /// Why; empty where there is nothing to say.
    pub message: String,
    /// The plug-in or authorizer that decided; none when all agreed.
    pub plugin: Option<String>,
    /// The policy inside it that decided; for the API the role that permitted it.
    pub policy: Option<String>,
    /// The digest of that policy.
    pub digest: Option<String>,
    /// The digest of everything that judged.
    #[serde(default)]
    pub gate: Option<String>,
    /// How long it took.
    pub duration_us: u64,
    /// Remarks for the person who asked.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Plug-ins and policies that had something to say: denied, changed, warned or failed, whatever
    /// their mode. What `--policy` looks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerned: Vec<String>,
    /// The trace the caller's request was a part of, as W3C has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}
