//! What a job waits for before it enters the queue, as the API shows it.

use portcullis_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::{Admission, AdmissionState};
use crate::status::JobStatus;
use crate::timestamp::Timestamp;

/// The name of admission among the prerequisites.
const ADMISSION: &str = "admission";
/// The name of a tenant that isn't paused among the prerequisites.
const TENANT: &str = "tenant";

vocabulary! {
    /// How a prerequisite is.
    pub enum PrerequisiteState {
        /// It is waited for.
        Waiting = "waiting",
        /// It is there.
        Met = "met",
        /// It will not be there.
        Failed = "failed",
        /// It is not needed any more.
        Skipped = "skipped",
    }
}

/// One prerequisite of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prerequisite {
    /// What it is.
    pub name: String,
    /// How it is.
    pub state: PrerequisiteState,
    /// Since when it is so.
    pub since: Timestamp,
    /// Who is waited for, or who decided.
    pub by: Option<String>,
    /// Until when it is waited for.
    pub deadline: Option<Timestamp>,
    /// What else there is to say.
    pub detail: Option<String>,
}

/// The prerequisites of a job, each for itself and all together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prerequisites {
    /// All together: failed if one failed, waiting if one is waited for, otherwise met, or skipped if all are.
    pub overall: PrerequisiteState,
    /// Each for itself.
    pub items: Vec<Prerequisite>,
}

impl Prerequisite {
    /// A tenant that holds the project of a job is paused.
    pub fn paused_tenant(tenant: Option<String>, since: Timestamp, detail: String) -> Self {
        Self {
            name: TENANT.to_owned(),
            state: PrerequisiteState::Waiting,
            since,
            by: tenant,
            deadline: None,
            detail: Some(detail),
        }
    }

    /// Whether it is a tenant that isn't paused.
    pub fn is_paused_tenant(&self) -> bool {
        self.name == TENANT
    }
}

impl Prerequisites {
    /// Those of a job: what else it waits for, and its admission.
    pub fn of_job(
        status: JobStatus,
        admission: Option<&Admission>,
        others: Vec<Prerequisite>,
    ) -> Self {
        let mut items = others;
        items.extend(admission.map(of_admission));
        let overall = match (items.is_empty(), status) {
            (false, _) => overall(&items),
            (true, JobStatus::Created | JobStatus::Preparing) => PrerequisiteState::Waiting,
            (true, JobStatus::Skipped | JobStatus::Canceled) => PrerequisiteState::Skipped,
            (true, _) => PrerequisiteState::Met,
        };
        Self { overall, items }
    }
}

fn overall(items: &[Prerequisite]) -> PrerequisiteState {
    let any = |state| items.iter().any(|item| item.state == state);
    let order = [
        PrerequisiteState::Failed,
        PrerequisiteState::Waiting,
        PrerequisiteState::Met,
    ];
    let found = order.into_iter().find(|state| any(*state));
    found.unwrap_or(PrerequisiteState::Skipped)
}

fn of_admission(admission: &Admission) -> Prerequisite {
    let last = admission.current_decisions().last();
    let (state, by) = match admission.state {
        AdmissionState::Waiting => {
            let current = admission.current().map(|link| link.name.clone());
            (PrerequisiteState::Waiting, current)
        }
        AdmissionState::Accepted => (PrerequisiteState::Met, last.map(|d| d.controller.clone())),
        AdmissionState::Canceled => (PrerequisiteState::Skipped, None),
        AdmissionState::Denied | AdmissionState::Timeout | AdmissionState::NoRunner => (
            PrerequisiteState::Failed,
            last.map(|d| d.controller.clone()),
        ),
    };
    let is_waiting = state == PrerequisiteState::Waiting;
    let since = match is_waiting {
        true => admission.asked_at,
        false => last.map(|decision| decision.at),
    };
    let is_suspended = is_waiting && admission.asked_at.is_none() && by.is_some();
    Prerequisite {
        name: ADMISSION.to_owned(),
        state,
        since: since.unwrap_or(admission.started_at),
        by,
        deadline: is_waiting.then_some(admission.deadline),
        detail: match is_suspended {
            true => Some("the controller isn't asked: it may be suspended".to_owned()),
            false => admission.reason.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Link;
    use std::time::Duration;

    #[test]
    fn the_admission_of_a_job_is_one_of_its_prerequisites() {
        let now = Timestamp::from_millis(1000);
        let limit = Duration::from_secs(60);
        let mut admission = Admission::begin(vec![Link::policies()], vec![], now, limit);
        admission.asked_at = Some(now);
        let shown = Prerequisites::of_job(JobStatus::Preparing, Some(&admission), vec![]);
        assert_eq!(
            serde_json::to_value(&shown).unwrap(),
            serde_json::json!({"overall": "waiting", "items": [{
                "name": "admission", "state": "waiting", "since": "1970-01-01T00:00:01.000Z",
                "by": "policies", "deadline": "1970-01-01T00:01:01.000Z", "detail": null,
            }]})
        );
        for (state, overall) in [
            (AdmissionState::Accepted, PrerequisiteState::Met),
            (AdmissionState::Denied, PrerequisiteState::Failed),
            (AdmissionState::Timeout, PrerequisiteState::Failed),
            (AdmissionState::NoRunner, PrerequisiteState::Failed),
            (AdmissionState::Canceled, PrerequisiteState::Skipped),
        ] {
            admission.state = state;
            let shown = Prerequisites::of_job(JobStatus::Failed, Some(&admission), vec![]);
            assert_eq!(shown.overall, overall, "{state}");
            assert_eq!(shown.items[0].deadline, None);
        }
    }

    #[test]
    fn a_job_without_admission_waits_for_its_stage_only() {
        for (status, overall) in [
            (JobStatus::Created, PrerequisiteState::Waiting),
            (JobStatus::Pending, PrerequisiteState::Met),
            (JobStatus::Success, PrerequisiteState::Met),
            (JobStatus::Skipped, PrerequisiteState::Skipped),
        ] {
            let shown = Prerequisites::of_job(status, None, vec![]);
            assert_eq!((shown.overall, shown.items.len()), (overall, 0));
        }
    }

    #[test]
    fn a_paused_tenant_is_waited_for() {
        let since = Timestamp::from_millis(1000);
        let detail = "new pipelines are paused: incident 42".to_owned();
        let paused = Prerequisite::paused_tenant(Some("t1".to_owned()), since, detail);
        let shown = Prerequisites::of_job(JobStatus::Created, None, vec![paused]);
        assert_eq!(
            serde_json::to_value(&shown).unwrap(),
            serde_json::json!({"overall": "waiting", "items": [{
                "name": "tenant", "state": "waiting", "since": "1970-01-01T00:00:01.000Z",
                "by": "t1", "deadline": null, "detail": "new pipelines are paused: incident 42",
            }]})
        );
    }
}
