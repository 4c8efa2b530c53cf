//! A call of the API that was allowed or denied.

use std::time::Duration;

use portcullis_core::{DecisionId, Peer};

use crate::trace::Miss;

/// The name under which rules and roles decide.
pub(crate) const ROLES: &str = "Roles";

/// A call of the API. Nothing here is masked yet.
#[derive(Debug, Clone)]
pub struct Action {
    /// The decision's own name.
    pub id: DecisionId,
    /// What is needed, like `enqueue`.
    pub permission: String,
    /// The method.
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    /// Whence the call came.
    pub peer: Peer,
    /// The tenant; none for the root of the API.
    pub tenant: Option<String>,
    /// What conditions are compared with, like `project`, `pipeline`, `ref`, `change`, `job`.
    pub parameters: Vec<(String, String)>,
    /// The caller.
    pub user: String,
    /// The issuer that vouched for the caller.
    pub issuer: Option<String>,
    /// Yes or no.
    pub allowed: bool,
    /// Why; may be empty where a role says it all.
    pub message: String,
    /// The rule that gave the role that permits it.
    pub rule: Option<String>,
    /// That role.
    pub role: Option<String>,
    /// Conditions that failed.
    pub misses: Vec<Miss>,
    /// The rules that match the caller.
    pub rules: Vec<String>,
    /// The roles that the caller has.
    pub roles: Vec<String>,
    /// The status of the answer.
    pub status: u16,
    /// How long deciding took.
    pub duration: Duration,
}

impl Action {
    /// What the action is on, by the permission that it needs.
    pub(crate) fn kind(&self) -> &'static str {
        match self.permission.as_str() {
            "autohold" => "Autohold",
            "enqueue" | "dequeue" | "promote" => "Pipeline",
            "read" | "tenant-state" if self.tenant.is_some() => "Tenant",
            "submit-job" | "retry-job" | "cancel-job" => "Job",
            "manage-controllers" => "Controller",
            "manage-runners" => "Runner",
            "manage-exemptions" => "Exemption",
            "manage-sessions" => "Session",
            "read-decisions" => "Decision",
            "read-graph" => "Graph",
            "playground" => "Policy",
            _ => "Api",
        }
    }

    /// The project or the like that it is about.
    pub(crate) fn name(&self) -> Option<(&str, &str)> {
        let wanted = ["project", "controller", "pipeline", "job"];
        wanted.into_iter().find_map(|wanted| {
            let mut all = self.parameters.iter();
            let (name, value) = all.find(|(name, _)| name == wanted)?;
            Some((name.as_str(), value.as_str()))
        })
    }
}
