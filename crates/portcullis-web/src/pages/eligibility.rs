//! Which runners may take a job: a row for each runner, a column for each requirement, and why not.

use serde::Deserialize;

use crate::backend::{Backend, Problem};
use crate::query::segment;

/// The runners of a project beside what a job requires of them, those that may take it first.
#[derive(Debug)]
pub(super) struct Matrix {
    /// The requirements, as the heads of columns.
    pub(super) requirements: Vec<String>,
    pub(super) runners: Vec<Candidate>,
}

/// Whether a runner may take the job.
#[derive(Debug, Deserialize)]
pub(super) struct Candidate {
    pub(super) id: u64,
    description: String,
    pub(super) eligible: bool,
    pub(super) reasons: Vec<String>,
    #[serde(rename = "requirements")]
    pub(super) checks: Vec<Check>,
}

/// Whether it meets a requirement.
#[derive(Debug, Deserialize)]
pub(super) struct Check {
    requirement: String,
    pub(super) met: bool,
    reason: Option<String>,
}

impl Matrix {
    /// Reads it for a job.
    pub(super) async fn read(backend: &dyn Backend, job: &str) -> Result<Self, Problem> {
        let path = format!("/api/v1/jobs/{}/runners", segment(job));
        let mut runners: Vec<Candidate> = backend.get(&path).await?;
        runners.sort_by_key(|runner| !runner.eligible);
        let checks = runners.first().into_iter().flat_map(|one| &one.checks);
        Ok(Self {
            requirements: checks.map(Check::name).collect(),
            runners,
        })
    }

    /// How many may take the job: `1 of 3 runners may take it.`
    pub(super) fn sentence(&self) -> String {
        let eligible = self.runners.iter().filter(|runner| runner.eligible);
        match (eligible.count(), self.runners.len()) {
            (_, 0) => "No runner is registered for this project.".to_owned(),
            (count, 1) => format!("{count} of 1 runner may take it."),
            (count, all) => format!("{count} of {all} runners may take it."),
        }
    }
}

impl Candidate {
    /// What it is called.
    pub(super) fn title(&self) -> String {
        match self.description.as_str() {
            "" => format!("#{}", self.id),
            description => description.to_owned(),
        }
    }
}

impl Check {
    /// What is required, in words.
    pub(super) fn name(&self) -> String {
        self.requirement.replace('_', " ")
    }

    /// Why it is not met; empty if it is.
    pub(super) fn why_not(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    /// What the API says of two runners.
    pub(in crate::pages) fn answer() -> Value {
        let check = |name, met: bool, reason: Value| json!({"requirement": name, "met": met, "reason": reason});
        json!([
            {"id": 6, "description": "<b>other", "eligible": false, "reasons": ["it lacks the tag `linux`"],
                "requirements": [check("tags", false, json!("it lacks the tag `linux`")), check("not_paused", true, Value::Null)]},
            {"id": 5, "description": "builder", "eligible": true, "reasons": [],
                "requirements": [check("tags", true, Value::Null), check("not_paused", true, Value::Null)]},
        ])
    }
}
