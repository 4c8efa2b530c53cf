//! Verdicts, however they come: by callback, as the answer to a webhook, or from a policy.

use std::time::Duration;

use portcullis_jobs::{
    Admission, AdmissionError, Controller, ControllerState, Happened, JobId, Judge, Timestamp,
    Verdict, VerdictFault, VerdictRules, decode_verdict, mutation_of_object, next_try,
};
use portcullis_store::{AfterTry, Delivery, DeliveryState, DeliveryTry, JobRecord};

use super::question::Question;
use super::turn::Turn;
use crate::error::CiError;
use crate::judge::PolicyVerdict;
use crate::recorder::Observation;
use crate::secrets;

/// What became of a verdict that a controller sent by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackOutcome {
    /// It counts.
    Recorded(JobId),
    /// The same one came before; nothing changed.
    Repeated(JobId),
}

/// A verdict that a controller sent by itself.
#[derive(Debug)]
pub(crate) struct Callback<'a> {
    pub(crate) token_hash: &'a str,
    pub(crate) body: &'a [u8],
}

/// One try to deliver.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) at: Timestamp,
    pub(crate) status: Option<u16>,
    pub(crate) took: Duration,
    pub(crate) result: TryResult,
}

/// How it ended.
#[derive(Debug, Clone)]
pub(crate) enum TryResult {
    /// With a body that should be a verdict.
    Answered(Vec<u8>),
    /// The controller will call back.
    Deferred,
    /// The controller is gone.
    Gone,
    /// It failed.
    Failed {
        error: String,
        retry_after: Option<Duration>,
    },
}

impl Turn<'_, '_> {
    /// A controller called back.
    pub(crate) fn callback(&mut self, callback: &Callback<'_>) -> Result<CallbackOutcome, CiError> {
        let found = self.store.delivery_by_token(callback.token_hash)?;
        let found = found.ok_or(CiError::Unauthorized)?;
        // The job first, and then its delivery: everyone locks in this order.
        let mut job = self.lock_job(found.job)?;
        let found = self.store.delivery_for_change(found.id)?;
        let delivery = found.ok_or(CiError::Unauthorized)?;
        let digest = digest(callback.body);
        match (delivery.state, &delivery.answer) {
            (DeliveryState::Done, Some(before)) if *before == digest => {
                return Ok(CallbackOutcome::Repeated(delivery.job));
            }
            (DeliveryState::Done, _) => {
                let message = "another verdict was already recorded".to_owned();
                return Err(CiError::Conflict(message));
            }
            (DeliveryState::Failed, _) => {
                let message = "the verdict is no longer awaited".to_owned();
                return Err(CiError::Conflict(message));
            }
            (DeliveryState::Waiting | DeliveryState::Delivered, _) => {}
        }
        let happened = self.answered(&job, &delivery, callback.body)??;
        self.can_advance(&job, happened.clone())??;
        self.store.finish_delivery(delivery.id, Some(&digest))?;
        self.advance(&mut job, happened)?;
        Ok(CallbackOutcome::Recorded(delivery.job))
    }

    /// A delivery was tried. Nothing happens if another server has claimed it since.
    pub(crate) fn record_try(
        &mut self,
        delivery: &Delivery,
        by: &str,
        tried: &Tried,
    ) -> Result<(), CiError> {
        let mut job = self.lock_job(delivery.job)?;
        let judge = Judge::Controller(delivery.controller);
        let mut attempt = DeliveryTry {
            at: tried.at,
            status: tried.status,
            error: None,
            duration_ms: u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX),
        };
        let (error, retry_after) = match &tried.result {
            TryResult::Deferred => {
                let after = AfterTry::Delivered;
                self.store.record_try(delivery.id, by, attempt, after)?;
                return Ok(());
            }
            TryResult::Answered(body) => match self.judge_answer(&job, delivery, body)? {
                Ok(happened) => {
                    let digest = digest(body);
                    let after = AfterTry::Done(&digest);
                    let recorded = self.store.record_try(delivery.id, by, attempt, after)?;
                    if recorded.is_some() {
                        self.advance(&mut job, happened)?;
                    }
                    return Ok(());
                }
                Err(AdmissionError::Invalid(fault)) => (format!("invalid verdict: {fault}"), None),
                Err(conflict) => {
                    attempt.error = Some(conflict.to_string());
                    let after = AfterTry::Failed;
                    self.store.record_try(delivery.id, by, attempt, after)?;
                    return Ok(());
                }
            },
            TryResult::Gone => {
                self.suspend(delivery)?;
                ("status 410: the controller is gone".to_owned(), None)
            }
            TryResult::Failed { error, retry_after } => (error.clone(), *retry_after),
        };
        attempt.error = Some(error.clone());
        let next_at = match tried.result {
            // Due as soon as the controller is enabled again.
            TryResult::Gone => self.now,
            _ => self.next_try(delivery, retry_after),
        };
        let after = AfterTry::Again(next_at);
        let recorded = self.store.record_try(delivery.id, by, attempt, after)?;
        let happened = Happened::AttemptFailed { judge, error };
        if recorded.is_some() {
            // Nothing changes if the job no longer waits for this answer.
            let _ = self.try_advance(&mut job, happened)?;
        }
        Ok(())
    }

    /// When a delivery is tried again. At the deadline it is over anyway.
    fn next_try(&self, delivery: &Delivery, retry_after: Option<Duration>) -> Timestamp {
        let failed = u32::try_from(delivery.tries.len() + 1).unwrap_or(u32::MAX);
        let random = secrets::random_number();
        let at = next_try(failed, self.now, delivery.deadline, retry_after, random);
        at.unwrap_or(delivery.deadline)
    }

    /// What a policy answered, or why it didn't.
    pub(crate) fn policy_answered(
        &mut self,
        question: &Question,
        answer: &Result<PolicyVerdict, String>,
    ) -> Result<(), CiError> {
        let mut job = self.lock_job(question.asked.job)?;
        let judge = question.judge;
        let Some(admission) = job.admission.as_ref() else {
            return Ok(());
        };
        if admission.attempt != question.asked.attempt {
            return Ok(());
        }
        let failed = |error: String| Happened::AttemptFailed { judge, error };
        let happened = match answer {
            Err(error) => failed(error.clone()),
            Ok(answer) => match verdict_of(answer, &job, admission) {
                Err(fault) => failed(format!("the policy changed the job: {fault}")),
                Ok(verdict) => Happened::Answered {
                    judge,
                    verdict,
                    policy: answer.policy.clone(),
                },
            },
        };
        if let Err(AdmissionError::Invalid(fault)) = self.try_advance(&mut job, happened)? {
            let happened = failed(format!("the policy changed the job: {fault}"));
            // Nothing changes if it was canceled, timed out, or answered by another server meanwhile.
            let _ = self.try_advance(&mut job, happened)?;
        }
        Ok(())
    }

    /// Whether the answer to a webhook is a verdict that counts.
    fn judge_answer(
        &mut self,
        job: &JobRecord,
        delivery: &Delivery,
        body: &[u8],
    ) -> Result<Result<Happened, AdmissionError>, CiError> {
        let happened = match self.answered(job, delivery, body)? {
            Ok(happened) => happened,
            Err(error) => return Ok(Err(error)),
        };
        let checked = self.can_advance(job, happened.clone())?;
        Ok(checked.map(|_| happened))
    }

    /// The verdict in a body, for a job that is still at this controller.
    fn answered(
        &mut self,
        job: &JobRecord,
        delivery: &Delivery,
        body: &[u8],
    ) -> Result<Result<Happened, AdmissionError>, CiError> {
        let judge = Judge::Controller(delivery.controller);
        let admission = job.admission.as_ref();
        let Some(admission) = admission.filter(|one| one.attempt == delivery.attempt) else {
            return Ok(Err(AdmissionError::NotAsked));
        };
        let around = self.around(&job.definition.project)?;
        let controller = around.controllers.iter();
        let controller = controller.clone().find(|one| one.id == delivery.controller);
        let Some(controller) = controller else {
            return Ok(Err(AdmissionError::NotAsked));
        };
        // Whether it is too late comes first: then nobody cares for the form.
        if self.now >= admission.deadline {
            return Ok(Err(AdmissionError::TooLate(admission.deadline)));
        }
        if admission.current().is_none_or(|link| link.judge != judge) {
            return Ok(Err(AdmissionError::NotAsked));
        }
        let verdict = decode(job, controller, &admission.tags, body);
        Ok(verdict
            .map(|verdict| Happened::Answered {
                judge,
                verdict,
                policy: None,
            })
            .map_err(AdmissionError::from))
    }

    /// The controller answered that it is gone. A dry run is not suspended: it would hold up jobs then.
    fn suspend(&mut self, delivery: &Delivery) -> Result<(), CiError> {
        let found = self.store.controller_for_change(delivery.controller)?;
        let Some(mut record) = found else {
            return Ok(());
        };
        let definition = &mut record.controller.definition;
        if definition.state == ControllerState::Enabled {
            definition.state = ControllerState::Suspended;
            let name = definition.name.clone();
            self.store.save_controller(&mut record)?;
            self.forget_surroundings();
            self.after.observations.push(Observation::Suspended {
                controller: delivery.controller,
                name,
            });
        }
        Ok(())
    }
}

/// What a policy says about a job.
fn verdict_of(
    answer: &PolicyVerdict,
    job: &JobRecord,
    admission: &Admission,
) -> Result<Verdict, VerdictFault> {
    let reason = answer.reason.as_deref();
    if !answer.accepted {
        return Ok(Verdict::denied(job.id, reason.unwrap_or_default()));
    }
    let verdict = match &answer.object {
        None => Verdict::accepted(job.id),
        Some(changed) => {
            let view = admission.job_view(job.id, job.pipeline, &job.definition);
            mutation_of_object(&view, changed)?
        }
    };
    Ok(Verdict {
        reason: reason.and_then(portcullis_jobs::clean_reason),
        ..verdict
    })
}

/// Reads a verdict of a controller about a job with these tags.
pub(crate) fn decode(
    job: &JobRecord,
    controller: &Controller,
    tags: &[String],
    body: &[u8],
) -> Result<Verdict, VerdictFault> {
    let definition = &controller.definition;
    let rules = VerdictRules {
        job: job.id,
        tags,
        may_mutate: definition.kind.may_mutate(),
        may_untag: definition.may_untag,
    };
    decode_verdict(body, &rules)
}

/// What is compared to tell whether a verdict is the same: spaces and the order of keys don't count.
fn digest(body: &[u8]) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(body);
    match value {
        Ok(value) => secrets::digest_of(value.to_string().as_bytes()),
        Err(_) => secrets::digest_of(body),
    }
}
