//! What is stored of an admission.

use std::time::Duration;

use portcullis_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::AdmissionDecision;
use crate::controller::{Controller, ControllerId, ControllerLevel};
use crate::job::{JobDefinition, JobId, JobView, PipelineId};
use crate::runners::{RunnerFilter, RunnerLists};
use crate::timestamp::Timestamp;

/// The name under which the configured policies appear in decisions.
const POLICIES: &str = "policies";

vocabulary! {
    /// Where an admission is.
    pub enum AdmissionState {
        /// Some controller is yet to answer.
        Waiting = "waiting",
        /// Every controller accepted.
        Accepted = "accepted",
        /// A controller denied.
        Denied = "denied",
        /// The deadline passed.
        Timeout = "timeout",
        /// The runner lists leave no runner.
        NoRunner = "no_runner",
        /// The job was canceled meanwhile.
        Canceled = "canceled",
    }
}

vocabulary! {
    /// What a retried job keeps of the changes of earlier attempts.
    pub enum RetryPolicy {
        /// Its tags, and the runner lists of each controller until that controller names new ones.
        Carry = "carry",
        /// Nothing.
        Reset = "reset",
    }
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A controller.
    Controller(ControllerId),
    /// The configured policies for jobs, after all controllers.
    Policies,
}

/// One place of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Who is asked.
    pub judge: Judge,
    /// Its name when the chain was made.
    pub name: String,
    /// Its level.
    pub level: ControllerLevel,
}

impl Link {
    /// The place of a controller.
    pub fn controller(controller: &Controller) -> Self {
        Self {
            judge: Judge::Controller(controller.id),
            name: controller.definition.name.clone(),
            level: controller.definition.level,
        }
    }

    /// The place of the configured policies.
    pub fn policies() -> Self {
        Self {
            judge: Judge::Policies,
            name: POLICIES.to_owned(),
            level: ControllerLevel::Instance,
        }
    }
}

/// The admission of a job: of its current attempt, with the decisions of earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The attempt of the job.
    pub attempt: u32,
    /// Where it is.
    pub state: AdmissionState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it times out; one deadline for the whole chain.
    pub deadline: Timestamp,
    /// Who is asked, in this order.
    pub chain: Vec<Link>,
    /// The place in the chain of who is asked now.
    pub position: usize,
    /// When that one was first asked; absent while a suspended controller is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// When a dry run is no longer waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_up_at: Option<Timestamp>,
    /// The tags after the verdicts so far.
    pub tags: Vec<String>,
    /// What the verdicts so far leave of the runners.
    pub filter: RunnerFilter,
    /// The runner lists that count in this attempt, by judge.
    pub lists: Vec<(Judge, RunnerLists)>,
    /// The runner lists of earlier attempts, for verdicts that name none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<(Judge, RunnerLists)>,
    /// The reasons of all verdicts with effect, joined.
    pub reason: Option<String>,
    /// What each controller did, in all attempts.
    pub decisions: Vec<AdmissionDecision>,
}

/// An admission as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdmissionView {
    /// Where it is.
    pub state: AdmissionState,
    /// The reasons of all verdicts with effect, joined.
    pub reason: Option<String>,
    /// What each controller did, in all attempts.
    pub decisions: Vec<AdmissionDecision>,
}

impl Admission {
    /// An admission that begins now. Nobody is asked yet: see [`Admission::advance`].
    pub fn begin(chain: Vec<Link>, tags: Vec<String>, now: Timestamp, limit: Duration) -> Self {
        Self {
            attempt: 1,
            state: AdmissionState::Waiting,
            started_at: now,
            deadline: now.after(limit),
            chain,
            position: 0,
            asked_at: None,
            give_up_at: None,
            tags,
            filter: RunnerFilter::default(),
            lists: Vec::new(),
            carried: Vec::new(),
            reason: None,
            decisions: Vec::new(),
        }
    }

    /// The admission of the next attempt. Every controller of the new chain is asked again.
    #[must_use]
    pub fn retried(
        &self,
        attempt: u32,
        chain: Vec<Link>,
        original_tags: &[String],
        policy: RetryPolicy,
        now: Timestamp,
        limit: Duration,
    ) -> Self {
        let (tags, carried) = match policy {
            RetryPolicy::Carry => {
                let is_replaced = |judge| self.lists.iter().any(|(newer, _)| *newer == judge);
                let older = self
                    .carried
                    .iter()
                    .filter(|(judge, _)| !is_replaced(*judge));
                let carried = older.chain(&self.lists).cloned().collect();
                (self.tags.clone(), carried)
            }
            RetryPolicy::Reset => (original_tags.to_vec(), Vec::new()),
        };
        Self {
            attempt,
            carried,
            decisions: self.decisions.clone(),
            ..Self::begin(chain, tags, now, limit)
        }
    }

    /// Ends the admission of a job that is canceled.
    pub fn cancel(&mut self) {
        if self.state == AdmissionState::Waiting {
            self.state = AdmissionState::Canceled;
            self.asked_at = None;
            self.give_up_at = None;
        }
    }

    /// Who is asked now.
    pub fn current(&self) -> Option<&Link> {
        let is_waiting = self.state == AdmissionState::Waiting;
        self.chain.get(self.position).filter(|_| is_waiting)
    }

    /// When something happens even if nobody answers.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let is_waiting = self.state == AdmissionState::Waiting;
        let at = self.give_up_at.unwrap_or(self.deadline);
        is_waiting.then_some(at)
    }

    /// The decisions of this attempt.
    pub fn current_decisions(&self) -> impl Iterator<Item = &AdmissionDecision> {
        let is_current = |decision: &&AdmissionDecision| decision.attempt == self.attempt;
        self.decisions.iter().filter(is_current)
    }

    /// The job as whoever is asked now sees it.
    pub fn job_view<'a>(
        &'a self,
        id: JobId,
        pipeline: Option<PipelineId>,
        definition: &'a JobDefinition,
    ) -> JobView<'a> {
        JobView {
            id,
            pipeline,
            attempt: self.attempt,
            definition,
            tags: &self.tags,
            filter: &self.filter,
        }
    }

    /// The admission as the API shows it.
    pub fn view(&self) -> AdmissionView {
        AdmissionView {
            state: self.state,
            reason: self.reason.clone(),
            decisions: self.decisions.clone(),
        }
    }
}
