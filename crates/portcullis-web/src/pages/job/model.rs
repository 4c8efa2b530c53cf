//! A job as the API shows it.

use serde::Deserialize;

use super::runner_changes::RunnerChange;
use crate::badge::Badge;

#[derive(Debug, Deserialize)]
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) project: String,
    pub(super) name: String,
    pub(super) pipeline: Option<u64>,
    pub(super) stage: String,
    #[serde(rename = "ref")]
    pub(super) git_ref: String,
    pub(super) ref_protected: bool,
    pub(super) source: String,
    pub(super) user: User,
    pub(super) status: String,
    pub(super) failure_reason: Option<String>,
    pub(super) allowed_to_fail: bool,
    pub(super) tags: Vec<String>,
    pub(super) original_tags: Vec<String>,
    pub(super) attempt: u64,
    pub(super) created_at: String,
    pub(super) queued_at: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) finished_at: Option<String>,
    pub(super) runner_id: Option<u64>,
    pub(super) prerequisites: Prerequisites,
    pub(super) admission: Option<Admission>,
    #[serde(default)]
    pub(super) eligible_runners: Vec<u64>,
    pub(super) stuck_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) username: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Prerequisites {
    pub(super) items: Vec<Prerequisite>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Prerequisite {
    pub(super) name: String,
    pub(super) state: String,
    pub(super) since: String,
    pub(super) by: Option<String>,
    pub(super) deadline: Option<String>,
    pub(super) detail: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Admission {
    pub(super) state: String,
    pub(super) reason: Option<String>,
    pub(super) decisions: Vec<Decision>,
}

/// What one controller decided.
#[derive(Debug, Deserialize)]
pub(super) struct Decision {
    pub(super) controller: String,
    pub(super) level: String,
    pub(super) attempt: u64,
    pub(super) verdict: String,
    pub(super) dry_run: bool,
    pub(super) exempted_by: Option<u64>,
    pub(super) reason: Option<String>,
    pub(super) tags_before: Vec<String>,
    pub(super) tags_after: Vec<String>,
    pub(super) tags: TagChange,
    pub(super) runners: RunnerLists,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
    pub(super) latency_ms: u64,
    pub(super) at: String,
    /// What it means for the runners that may take the job, if it changes anything.
    #[serde(skip)]
    pub(super) change: Option<RunnerChange>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TagChange {
    #[serde(default)]
    pub(super) add: Vec<String>,
    #[serde(default)]
    pub(super) remove: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RunnerLists {
    #[serde(default)]
    pub(super) accepted_ids: Vec<String>,
    #[serde(default)]
    pub(super) rejected_ids: Vec<String>,
}

impl Job {
    /// Whether nothing happens to it any more unless it is retried.
    pub(super) fn is_finished(&self) -> bool {
        let finished = ["success", "failed", "canceled", "skipped"];
        finished.contains(&self.status.as_str())
    }

    /// Adds what each decision means for the runners.
    pub(super) fn add_runner_changes(&mut self, changes: Vec<RunnerChange>) {
        let decisions = self.admission.iter_mut().flat_map(|one| &mut one.decisions);
        for (decision, change) in decisions.zip(changes) {
            decision.change = Some(change).filter(RunnerChange::is_any);
        }
    }

    /// Whether a decision changed which runners may take it.
    pub(super) fn has_runner_changes(&self) -> bool {
        let mut decisions = self.admission.iter().flat_map(|one| &one.decisions);
        decisions.any(|one| one.change.is_some())
    }

    /// Whether controllers changed its tags.
    pub(super) fn is_retagged(&self) -> bool {
        self.tags != self.original_tags
    }
}

impl Prerequisite {
    pub(super) fn badge(&self) -> Badge {
        Badge::step(&self.state)
    }
}

impl Decision {
    pub(super) fn badge(&self) -> Badge {
        Badge::step(&self.verdict)
    }

    /// Whether the tags are others afterwards.
    pub(super) fn changes_tags(&self) -> bool {
        self.tags_before != self.tags_after
    }

    /// Whether it would have changed the tags, if its answer counted.
    pub(super) fn would_change_tags(&self) -> bool {
        self.dry_run && !(self.tags.add.is_empty() && self.tags.remove.is_empty())
    }

    /// Whether it says anything about runners.
    pub(super) fn filters_runners(&self) -> bool {
        !(self.runners.accepted_ids.is_empty() && self.runners.rejected_ids.is_empty())
    }
}
