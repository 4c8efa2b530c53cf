//! One step of an admission, with everything that follows from it.

use portcullis_jobs::{
    Admission, AdmissionContext, AdmissionError, AdmissionState, Effect, Happened, JobView, Judge,
    Next, RunnerFilter, RunnerLists, policy_object,
};
use portcullis_store::{DecisionRecord, JobRecord};
use serde_json::Value;

use super::turn::Turn;
use crate::error::CiError;
use crate::known::Surroundings;
use crate::recorder::{FinishedAdmission, Observation};

impl Turn<'_, '_> {
    /// Something happens to the admission of a job. Saves the job.
    pub(super) fn advance(
        &mut self,
        job: &mut JobRecord,
        happened: Happened,
    ) -> Result<Next, CiError> {
        Ok(self.try_advance(job, happened)??)
    }

    /// The same, for what may no longer be possible: then nothing changes.
    pub(super) fn try_advance(
        &mut self,
        job: &mut JobRecord,
        happened: Happened,
    ) -> Result<Result<Next, AdmissionError>, CiError> {
        let around = self.around(&job.definition.project)?;
        let Some(before) = job.admission.take() else {
            return Ok(Err(AdmissionError::NotAsked));
        };
        let known = before.decisions.len();
        let mut admission = before.clone();
        let next = admission.advance(happened, &context(job, &around), self.now);
        let decided = admission.decisions.len();
        job.admission = Some(match next {
            Ok(_) => admission,
            Err(_) => before,
        });
        let next = match next {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        if decided > known {
            self.append_decisions(job, known)?;
            // The answers to earlier ones are no longer awaited.
            self.store.cancel_deliveries(job)?;
        }
        if let Some(event) = next.event() {
            let effects = self.apply(job, &event)?.effects;
            if let (Next::Ask(judge), true) = (&next, effects.contains(&Effect::AskController)) {
                self.ask(job, *judge, &around)?;
            }
            if effects.contains(&Effect::CheckPipeline) {
                self.pipelines.extend(job.pipeline);
            }
            if !matches!(next, Next::Ask(_)) {
                self.ended(job)?;
            }
        }
        self.save(job)?;
        Ok(Ok(next))
    }

    /// Whether this could happen to the admission of a job now.
    pub(super) fn can_advance(
        &mut self,
        job: &JobRecord,
        happened: Happened,
    ) -> Result<Result<Next, AdmissionError>, CiError> {
        let around = self.around(&job.definition.project)?;
        let Some(mut admission) = job.admission.clone() else {
            return Ok(Err(AdmissionError::NotAsked));
        };
        Ok(admission.advance(happened, &context(job, &around), self.now))
    }

    /// Time passed, or a controller was changed. Policies are asked again: the server that asked them may be gone.
    pub(super) fn tick(&mut self, job: &mut JobRecord) -> Result<(), CiError> {
        let next = self.advance(job, Happened::Tick)?;
        let judge = job.admission.as_ref().and_then(Admission::current);
        let judge = judge.map(|link| link.judge);
        let is_policy = self.asked_again_at(job)?.is_some();
        if let (Next::Wait(_), Some(judge), true) = (next, judge, is_policy) {
            let around = self.around(&job.definition.project)?;
            self.ask(job, judge, &around)?;
        }
        Ok(())
    }

    fn append_decisions(&mut self, job: &JobRecord, known: usize) -> Result<(), CiError> {
        let Some(admission) = &job.admission else {
            return Ok(());
        };
        let new = admission.decisions.iter().skip(known).count();
        let count = admission.current_decisions().count();
        // Every place of the chain up to the current one has one decision.
        let current = admission.current_decisions().enumerate();
        for (position, decision) in current.skip(count.saturating_sub(new)) {
            let judge = admission.chain.get(position).map(|link| link.judge);
            let controller = match judge {
                Some(Judge::Controller(id)) => Some(id),
                _ => None,
            };
            let observed = Observation::Decision(Box::new(decision.clone()));
            self.after.observations.push(observed);
            let record = DecisionRecord {
                position,
                controller,
                decision: decision.clone(),
            };
            self.store.append_decision(job, &record)?;
        }
        Ok(())
    }

    /// The admission of a job ended. Its record is stored in the same transaction, or nothing is.
    pub(super) fn ended(&mut self, job: &JobRecord) -> Result<(), CiError> {
        let Some(admission) = &job.admission else {
            return Ok(());
        };
        if admission.state == AdmissionState::Waiting || admission.chain.is_empty() {
            return Ok(());
        }
        let decisions: Vec<_> = admission.current_decisions().cloned().collect();
        let first = decisions.first().map(|decision| &decision.tags_before);
        let everyone = RunnerFilter::default();
        let view = JobView {
            tags: first.unwrap_or(&admission.tags),
            filter: &everyone,
            ..admission.job_view(job.id, job.pipeline, &job.definition)
        };
        let changed = admission.job_view(job.id, job.pipeline, &job.definition);
        let finished = FinishedAdmission {
            job: job.id,
            pipeline: job.pipeline,
            attempt: admission.attempt,
            definition: job.definition.clone(),
            object: policy_object(&view),
            changed_object: changed_object(&changed),
            decisions,
            state: admission.state,
            failure_reason: job.state.failure_reason,
            reason: admission.reason.clone(),
            started_at: admission.started_at,
            finished_at: self.now,
        };
        let recorded = self.world.recorder.record(finished);
        let mut record = recorded.map_err(|error| CiError::Unavailable(error.to_string()))?;
        if let Some(entry) = record.entry.take() {
            self.store.append_record(entry);
        }
        self.after.records.push(record);
        Ok(())
    }
}

fn context<'a>(job: &'a JobRecord, around: &'a Surroundings) -> AdmissionContext<'a> {
    AdmissionContext {
        job: job.id,
        pipeline: job.pipeline,
        definition: &job.definition,
        controllers: &around.controllers,
        exemptions: &around.exemptions,
        runners: &around.runners,
    }
}

fn changed_object(job: &JobView<'_>) -> Value {
    let mut object = policy_object(job);
    let accepted = job.filter.accepted().into_iter().flatten();
    let lists = RunnerLists {
        accepted_ids: accepted.copied().collect(),
        rejected_ids: job.filter.rejected().iter().copied().collect(),
    };
    if let (Value::Object(entries), Ok(lists)) = (&mut object, serde_json::to_value(lists)) {
        entries.insert("runners".to_owned(), lists);
    }
    object
}
