//! Exemptions: denials that don't count, for a time and for a reason.

use portcullis_document::{Fault, read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::JobDefinition;
use crate::timestamp::Timestamp;

/// The number of an exemption.
pub type ExemptionId = u64;

/// The most bytes of a text.
const MOST_BYTES: usize = 1024;

/// What is exempted. Every key that is given must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExemptionBody {
    /// The path of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The name of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The name of a controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// The name of a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Why.
    pub reason: String,
    /// Until when.
    pub until: Timestamp,
    /// Where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// An exemption that was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exemption {
    /// Its number.
    pub id: ExemptionId,
    /// What is exempted.
    #[serde(flatten)]
    pub body: ExemptionBody,
    /// Who granted it; absent if that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_by: Option<String>,
    /// When it was granted; absent if that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_at: Option<Timestamp>,
}

impl ExemptionBody {
    /// Reads and checks the body of a call.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with the path of its field.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self, Vec<Fault>> {
        let body: Self = read::json(body)?;
        let mut faults = Vec::new();
        let texts = [
            ("project", body.project.as_ref()),
            ("user", body.user.as_ref()),
            ("controller", body.controller.as_ref()),
            ("policy", body.policy.as_ref()),
            ("reason", Some(&body.reason)),
            ("ticket", body.ticket.as_ref()),
        ];
        for (name, text) in texts {
            let Some(text) = text else { continue };
            if text.trim().is_empty() {
                faults.push(Fault::at(name, "it can't be empty"));
            } else if text.len() > MOST_BYTES {
                let message = format!("it has at most {MOST_BYTES} bytes");
                faults.push(Fault::at(name, message));
            } else if text.contains(char::is_control) {
                faults.push(Fault::at(name, "it can't contain control characters"));
            }
        }
        if body.controller.is_some() && body.policy.is_some() {
            let message = "controller and policy can't be combined";
            faults.push(Fault::at("policy", message));
        }
        let scope = [&body.project, &body.user, &body.controller, &body.policy];
        if scope.iter().all(|key| key.is_none()) {
            let message = "one of project, user, controller or policy is required";
            faults.push(Fault::at("", message));
        }
        if body.until <= now {
            faults.push(Fault::at("until", "it is in the past"));
        }
        if faults.is_empty() {
            Ok(body)
        } else {
            Err(faults)
        }
    }
}

impl Exemption {
    /// Whether a denial of this job counts for nothing now. Names are those of the controller and the policy
    /// that denied.
    pub fn covers(
        &self,
        job: &JobDefinition,
        controller: Option<&str>,
        policy: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let fits = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        now < self.body.until
            && fits(&self.body.project, Some(&job.project))
            && fits(&self.body.user, Some(&job.user.username))
            && fits(&self.body.controller, controller)
            && fits(&self.body.policy, policy)
    }
}
