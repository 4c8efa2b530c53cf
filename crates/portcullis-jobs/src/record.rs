//! A whole job: what a store keeps of it, and what the API shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::{Admission, AdmissionView};
use crate::failure::FailureReason;
use crate::job::{JobDefinition, JobId, JobUser, PipelineId};
use crate::pipeline::PipelineJob;
use crate::prerequisites::{Prerequisite, Prerequisites};
use crate::runners::{Runner, RunnerFilter, RunnerId, RunnerNeeds, eligible_runners, stuck_reason};
use crate::status::JobStatus;
use crate::timestamp::Timestamp;
use crate::transition::JobState;

/// A job with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number, the same for all attempts.
    pub id: JobId,
    /// Its pipeline, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineId>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// What was submitted.
    pub definition: JobDefinition,
    /// Where it is.
    pub state: JobState,
    /// Its admission; absent if no controller or policy ever applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<Admission>,
}

/// A job as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobDetails {
    /// Its number.
    pub id: JobId,
    /// The path of its project.
    pub project: String,
    /// Its name.
    pub name: String,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// Its stage.
    pub stage: String,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    pub git_ref: String,
    /// Whether that is protected.
    pub ref_protected: bool,
    /// What caused it.
    pub source: String,
    /// The user it runs for.
    pub user: JobUser,
    /// Where it is.
    pub status: JobStatus,
    /// Why it failed.
    pub failure_reason: Option<FailureReason>,
    /// Whether it failed, and that doesn't fail its pipeline.
    pub allowed_to_fail: bool,
    /// Its tags after all changes.
    pub tags: Vec<String>,
    /// Its tags as submitted.
    pub original_tags: Vec<String>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it entered the queue.
    pub queued_at: Option<Timestamp>,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
    /// The runner that has or had it.
    pub runner_id: Option<RunnerId>,
    /// What it waits for before it enters the queue.
    pub prerequisites: Prerequisites,
    /// Its admission, once that has begun.
    pub admission: Option<AdmissionView>,
    /// The runners that may take it now; none once it is finished.
    pub eligible_runners: Vec<RunnerId>,
    /// Why no runner takes it, while it is in the queue.
    pub stuck_reason: Option<String>,
}

/// No verdict filters the runners of a job without admission.
static EVERY_RUNNER: RunnerFilter = RunnerFilter::every_runner();

impl Job {
    /// Its tags, with the changes of verdicts.
    pub fn tags(&self) -> &[String] {
        let changed = self.admission.as_ref().map(|admission| &admission.tags);
        changed.unwrap_or(&self.definition.tags)
    }

    /// What it asks of a runner now.
    pub fn needs(&self) -> RunnerNeeds<'_> {
        let filter = self.admission.as_ref().map(|admission| &admission.filter);
        self.definition
            .needs(self.tags(), filter.unwrap_or(&EVERY_RUNNER))
    }

    /// The job, as far as its pipeline is concerned.
    pub fn in_pipeline(&self) -> PipelineJob {
        PipelineJob {
            id: self.id,
            stage: self.definition.stage.clone(),
            status: self.state.status,
            allowed_to_fail: self
                .state
                .is_allowed_failure(&self.definition.allow_failure),
        }
    }

    /// The job as the API shows it, given the runners that are there for its project, and what else it waits for.
    pub fn details(&self, runners: &[Runner], others: Vec<Prerequisite>) -> JobDetails {
        let (definition, state) = (&self.definition, &self.state);
        // The admission of an earlier attempt says nothing about the prerequisites of this one.
        let admission = self.admission.as_ref();
        let current = admission.filter(|admission| admission.attempt == state.attempt);
        let needs = self.needs();
        let is_pending = state.status == JobStatus::Pending;
        JobDetails {
            id: self.id,
            project: definition.project.clone(),
            name: definition.name.clone(),
            pipeline: self.pipeline,
            stage: definition.stage.clone(),
            git_ref: definition.git_ref.clone(),
            ref_protected: definition.ref_protected,
            source: definition.source.clone(),
            user: definition.user.clone(),
            status: state.status,
            failure_reason: state.failure_reason,
            allowed_to_fail: state.is_allowed_failure(&definition.allow_failure),
            tags: self.tags().to_vec(),
            original_tags: definition.tags.clone(),
            attempt: state.attempt,
            created_at: self.created_at,
            queued_at: state.queued_at,
            started_at: state.started_at,
            finished_at: state.finished_at,
            runner_id: state.runner_id,
            prerequisites: Prerequisites::of_job(state.status, current, others),
            admission: admission.map(Admission::view),
            eligible_runners: match state.status.is_finished() {
                true => Vec::new(),
                false => eligible_runners(&needs, runners),
            },
            stuck_reason: is_pending.then(|| stuck_reason(&needs, runners)).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::read_job;
    use crate::transition::Event;
    use serde_json::json;

    fn runner(id: u64, tag: &str) -> Runner {
        serde_json::from_value(json!({"id": id, "runner_type": "instance_type",
            "tag_list": [tag], "access_level": "not_protected"}))
        .unwrap()
    }

    #[test]
    fn a_job_without_admission_shows_its_runners_or_why_it_is_stuck() {
        // Case 1.
        let body = json!({"project": "g/p", "name": "j", "ref": "main", "tags": ["linux"],
            "user": {"id": 1, "username": "ann"}, "allow_failure": true});
        let now = Timestamp::from_millis(0);
        let mut job = Job {
            id: 7,
            pipeline: None,
            created_at: now,
            definition: read_job(&body).unwrap(),
            state: JobState::new(),
            admission: None,
        };
        let stored = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&stored).unwrap(), job);
        job.state = job.state.apply(&Event::Enqueue, now).unwrap().state;
        let shown = job.details(&[runner(1, "linux"), runner(2, "mac")], vec![]);
        assert_eq!(
            (shown.eligible_runners, shown.stuck_reason),
            (vec![1], None)
        );
        assert_eq!(shown.admission, None);
        let stuck = job.details(&[runner(2, "mac")], vec![]).stuck_reason;
        assert_eq!(stuck.as_deref(), Some("no runner has the tag `linux`"));
        job.state = job.state.apply(&Event::GetStuck, now).unwrap().state;
        let shown = job.details(&[runner(1, "linux")], vec![]);
        assert!(shown.allowed_to_fail && shown.eligible_runners.is_empty());
        assert!(job.in_pipeline().allowed_to_fail);
    }
}
