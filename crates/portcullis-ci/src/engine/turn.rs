//! One transaction, and what is known while it runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use portcullis_core::clock;
use portcullis_jobs::{
    Event, JobId, JobStatus, PipelineId, RunnerId, RunnerType, Timestamp, Transition,
};
use portcullis_store::{JobRecord, JobsTransaction};

use super::question::Question;
use crate::error::CiError;
use crate::gate::Gate;
use crate::known::{KnownSurroundings, Surroundings};
use crate::queue::QueueChange;
use crate::recorder::{AdmissionRecord, Observation, Recorder};
use crate::secrets::ServerKey;
use crate::settings::Settings;

/// Now, as the models have it.
pub(crate) fn now() -> Timestamp {
    clock::wall().into()
}

/// What a transaction depends on beside the store.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) settings: Arc<Settings>,
    pub(crate) has_ci_policies: bool,
    pub(crate) key: Arc<ServerKey>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) known: Arc<KnownSurroundings>,
}

/// What is to be done once the transaction is committed.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// Policies to evaluate.
    pub(crate) questions: Vec<Question>,
    /// Whether there are new deliveries.
    pub(crate) has_deliveries: bool,
    /// Records of admissions that ended, stored or to be kept now.
    pub(crate) records: Vec<AdmissionRecord>,
    /// What metrics count.
    pub(crate) observations: Vec<Observation>,
    /// Projects whose jobs began to wait for admission, or stopped, once for each job.
    pub(crate) began: Vec<String>,
    pub(crate) ended: Vec<String>,
    /// What happened to the queue.
    pub(crate) queue: Vec<QueueChange>,
}

impl Aftermath {
    /// What is to be done after another turn of the same transaction.
    pub(crate) fn merge(&mut self, other: Self) {
        self.questions.extend(other.questions);
        self.has_deliveries |= other.has_deliveries;
        self.records.extend(other.records);
        self.observations.extend(other.observations);
        self.began.extend(other.began);
        self.ended.extend(other.ended);
        self.queue.extend(other.queue);
    }
}

/// One transaction.
pub(crate) struct Turn<'t, 'd> {
    pub(crate) store: &'t mut JobsTransaction<'d>,
    pub(crate) world: &'t World,
    pub(crate) now: Timestamp,
    pub(crate) after: Aftermath,
    /// Pipelines that have to be looked at before the end.
    pub(super) pipelines: BTreeSet<PipelineId>,
    around: HashMap<String, Arc<Surroundings>>,
}

impl<'t, 'd> Turn<'t, 'd> {
    pub(crate) fn new(store: &'t mut JobsTransaction<'d>, world: &'t World) -> Self {
        Self {
            store,
            world,
            now: now(),
            after: Aftermath::default(),
            pipelines: BTreeSet::new(),
            around: HashMap::new(),
        }
    }

    /// One that assumes what surrounds the jobs of a project.
    pub(crate) fn assuming(
        store: &'t mut JobsTransaction<'d>,
        world: &'t World,
        project: &str,
        around: &Arc<Surroundings>,
    ) -> Self {
        let mut turn = Self::new(store, world);
        turn.around.insert(project.to_owned(), Arc::clone(around));
        turn
    }

    /// Ends the turn: looks at pipelines until nothing changes any more.
    pub(crate) fn finish(mut self) -> Result<Aftermath, CiError> {
        self.check_pipelines()?;
        Ok(self.after)
    }

    /// A pipeline has to be looked at before the end of the turn.
    pub(crate) fn check_later(&mut self, pipeline: PipelineId) {
        self.pipelines.insert(pipeline);
    }

    /// A job that will be changed, and its pipeline.
    pub(crate) fn lock_job(&mut self, id: JobId) -> Result<JobRecord, CiError> {
        self.store.job_for_change(id)?.ok_or(CiError::NotFound)
    }

    /// Controllers, exemptions and runners for a project. They don't change during a turn, unless it says so.
    pub(super) fn around(&mut self, project: &str) -> Result<Arc<Surroundings>, CiError> {
        if let Some(known) = self.around.get(project) {
            return Ok(Arc::clone(known));
        }
        let version = self.store.current_surroundings()?;
        let known = version.and_then(|version| self.world.known.get(version, project));
        let around = match known {
            Some(known) => known,
            None => {
                let numbered = self.store.project_id(project)?;
                let id = match numbered {
                    Some(id) => id,
                    None => self.store.ensure_project_id(project, self.now)?,
                };
                let around = Surroundings::load(self.store, project, id, self.now)?;
                let around = Arc::new(around);
                // What this transaction has changed itself is not true before it is committed.
                if let (Some(version), Some(_)) = (version, numbered) {
                    self.world.known.put(version, project, &around);
                }
                around
            }
        };
        self.around.insert(project.to_owned(), Arc::clone(&around));
        Ok(around)
    }

    /// Controllers were changed in this turn.
    pub(super) fn forget_surroundings(&mut self) {
        self.around.clear();
    }

    /// Something happens to a job. Its effects are up to the caller.
    pub(super) fn apply(
        &mut self,
        job: &mut JobRecord,
        event: &Event,
    ) -> Result<Transition, CiError> {
        let from = job.state.status;
        let had_by = job.state.runner_id;
        let transition = job.state.apply(event, self.now)?;
        job.state = transition.state.clone();
        let to = job.state.status;
        if from != to {
            self.note(Some(from), job);
            let project = &job.definition.project;
            if to == JobStatus::Preparing {
                self.after.began.push(project.clone());
            } else if from == JobStatus::Preparing {
                self.after.ended.push(project.clone());
            }
            self.note_queue((from, had_by), job, event)?;
        }
        Ok(transition)
    }

    /// Notes for the queue in memory what has left it, and what no longer runs.
    fn note_queue(
        &mut self,
        (from, had_by): (JobStatus, Option<RunnerId>),
        job: &JobRecord,
        event: &Event,
    ) -> Result<(), CiError> {
        match (from, event) {
            // Whoever takes a job knows.
            (JobStatus::Pending, Event::Take { .. }) => {}
            (JobStatus::Pending, _) => {
                let left = QueueChange::Left(job.lane(), job.queue_place());
                self.after.queue.push(left);
            }
            (JobStatus::Running, _) => {
                let project = &job.definition.project;
                let around = self.around(project)?;
                let mut runners = around.runners.iter();
                let runner = runners.find(|runner| Some(runner.id) == had_by);
                if runner.is_some_and(|runner| runner.kind == RunnerType::Instance) {
                    self.after.queue.push(QueueChange::Ended(project.clone()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes for the queue in memory that a job is in it.
    pub(super) fn note_queued(&mut self, job: &JobRecord) {
        let needs = Box::new(job.lane_needs());
        let entered = QueueChange::Entered(job.lane(), needs, job.queue_place());
        self.after.queue.push(entered);
    }

    /// A job has a new status.
    pub(super) fn note(&mut self, from: Option<JobStatus>, job: &JobRecord) {
        self.after.observations.push(Observation::Job {
            from,
            to: job.state.status,
            failure_reason: job.state.failure_reason,
        });
    }
}
