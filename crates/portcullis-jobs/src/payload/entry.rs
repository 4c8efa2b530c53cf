//! The entry of a webhook, and of a claim.

use std::collections::BTreeMap;

use portcullis_core::Glob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::predefined::{Values, is_predefined_name, predefined_variables, value_of};
use crate::job::{JobId, JobUser, JobView};
use crate::timestamp::Timestamp;

/// The version of the payload; raised only if a key changes its meaning or goes.
pub const PAYLOAD_VERSION: u32 = 1;

/// What a controller is told about a job. The body of a webhook is a list of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadEntry {
    /// See [`PAYLOAD_VERSION`].
    pub version: u32,
    /// The job.
    pub id: JobId,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The variables the controller sees.
    pub variables: BTreeMap<String, Value>,
    /// The tags, with the changes of controllers before this one.
    pub tags: Vec<String>,
    /// The tags as submitted.
    pub original_tags: Vec<String>,
    /// The path of the project.
    pub project: String,
    /// The branch or tag.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// Whether that is protected.
    pub ref_protected: bool,
    /// What caused the job.
    pub source: String,
    /// The user it runs for.
    pub user: JobUser,
    /// Where a verdict can be sent later.
    pub callback_url: String,
    /// Until when a verdict counts.
    pub deadline: Timestamp,
}

impl PayloadEntry {
    /// The entry for a controller that also sees the variables with names like these.
    pub fn new(
        job: &JobView<'_>,
        variables: &[String],
        callback_url: String,
        deadline: Timestamp,
    ) -> Self {
        let definition = job.definition;
        Self {
            version: PAYLOAD_VERSION,
            id: job.id,
            attempt: job.attempt,
            variables: visible_variables(job, variables),
            tags: job.tags.to_vec(),
            original_tags: definition.tags.clone(),
            project: definition.project.clone(),
            git_ref: definition.git_ref.clone(),
            ref_protected: definition.ref_protected,
            source: definition.source.clone(),
            user: definition.user.clone(),
            callback_url,
            deadline,
        }
    }

    /// The body of a webhook: a list of one.
    pub fn body(&self) -> String {
        serde_json::to_string(&[self]).unwrap_or_default()
    }
}

/// The variables that a controller sees: the predefined ones, and those with names like these; never masked,
/// file or protected ones. What the server knows can't be replaced by what was submitted.
pub fn visible_variables(job: &JobView<'_>, globs: &[String]) -> BTreeMap<String, Value> {
    let globs: Vec<Glob> = globs.iter().map(|glob| Glob::new(glob)).collect();
    let is_seen = |name: &str| is_predefined_name(name) || globs.iter().any(|g| g.matches(name));
    let submitted = job.definition.variables.iter();
    let mut seen: Values = submitted
        .filter(|(name, variable)| variable.is_plain() && is_seen(name))
        .map(|(name, variable)| (name.clone(), value_of(name, &variable.value)))
        .collect();
    seen.extend(predefined_variables(job));
    seen
}
