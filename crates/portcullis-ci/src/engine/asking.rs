//! Asking the next one of a chain: a row in the outbox, or a policy to evaluate.

use std::time::Duration;

use portcullis_jobs::{
    Admission, Controller, Judge, PolicyCode, PolicySource, Timestamp, Transport, policy_object,
};
use portcullis_store::{Delivery, DeliveryState, IdKind, JobRecord};

use super::question::Question;
use super::turn::Turn;
use crate::error::CiError;
use crate::judge::{PolicyChoice, PolicyQuestion};
use crate::known::Surroundings;
use crate::secrets;

/// The longest evaluation of configured policies; their own limits are much shorter.
const LONGEST_EVALUATION: Duration = Duration::from_secs(30);
/// How much longer than an evaluation may take another server leaves it to the one that was asked.
const GRACE: Duration = Duration::from_secs(5);
/// The shortest time it is left to that one, however close the deadline is.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

impl Turn<'_, '_> {
    /// Asks the next one about a job as it is now.
    pub(super) fn ask(
        &mut self,
        job: &JobRecord,
        judge: Judge,
        around: &Surroundings,
    ) -> Result<(), CiError> {
        let Some(admission) = &job.admission else {
            return Ok(());
        };
        let controller = match judge {
            Judge::Policies => None,
            Judge::Controller(id) => around.controllers.iter().find(|one| one.id == id),
        };
        let choice = match controller {
            None => PolicyChoice::Door,
            Some(controller) => match choice_of(controller) {
                Some(choice) => choice,
                None => return self.deliver(job, admission, controller),
            },
        };
        let limit = limit(controller);
        let view = admission.job_view(job.id, job.pipeline, &job.definition);
        self.after.questions.push(Question {
            judge,
            asked: PolicyQuestion {
                policies: choice,
                object: policy_object(&view),
                job: job.id,
                attempt: admission.attempt,
                user: job.definition.user.clone(),
                within: limit.min(admission.deadline.since(self.now)),
            },
        });
        Ok(())
    }

    fn deliver(
        &mut self,
        job: &JobRecord,
        admission: &Admission,
        controller: &Controller,
    ) -> Result<(), CiError> {
        let attempt = admission.attempt;
        let token = self
            .world
            .key
            .callback_token(job.id, attempt, controller.id);
        let delivery = Delivery {
            id: self.store.new_id(IdKind::Delivery)?,
            project: job.definition.project.clone(),
            job: job.id,
            attempt,
            controller: controller.id,
            state: DeliveryState::Waiting,
            webhook_id: secrets::unique("msg_")?,
            token_hash: secrets::hash(&token),
            created_at: self.now,
            next_at: self.now,
            leased_until: None,
            leased_by: None,
            deadline: admission.deadline,
            tries: Vec::new(),
            answer: None,
        };
        self.store.insert_delivery(&delivery)?;
        self.after.has_deliveries = true;
        Ok(())
    }

    /// When a policy that is evaluated in this process is asked again, because whoever evaluates it was never heard of:
    /// early enough for its answer to count. Nothing if no policy is asked.
    pub(super) fn asked_again_at(&mut self, job: &JobRecord) -> Result<Option<Timestamp>, CiError> {
        let admission = job.admission.as_ref();
        let asked = admission.filter(|admission| admission.asked_at.is_some());
        let Some(admission) = asked else {
            return Ok(None);
        };
        let limit = match admission.current().map(|link| link.judge) {
            None => None,
            Some(Judge::Policies) => Some(limit(None)),
            Some(Judge::Controller(id)) => {
                let around = self.around(&job.definition.project)?;
                let found = around.controllers.iter().find(|one| one.id == id);
                let policy = found.filter(|one| choice_of(one).is_some());
                policy.map(|one| limit(Some(one)))
            }
        };
        let half = admission.deadline.since(self.now) / 2;
        let lease = |limit: Duration| (limit + GRACE).min(half.max(SHORTEST_LEASE));
        Ok(limit.map(|limit| self.now.after(lease(limit))))
    }
}

/// How long the evaluation of a controller's policy, or of those of the door, may take.
fn limit(controller: Option<&Controller>) -> Duration {
    controller.map_or(LONGEST_EVALUATION, |one| one.definition.timeout.get())
}

/// The policy of a controller, if it is one.
pub(crate) fn choice_of(controller: &Controller) -> Option<PolicyChoice> {
    match &controller.definition.transport {
        Transport::Webhook(_) | Transport::Pull => None,
        Transport::Policy(PolicySource::Named(name)) => Some(PolicyChoice::Named(name.clone())),
        Transport::Policy(PolicySource::Code(PolicyCode { code })) => Some(PolicyChoice::Code {
            controller: controller.id,
            name: controller.definition.name.clone(),
            revision: controller.revision,
            code: code.clone(),
        }),
    }
}
