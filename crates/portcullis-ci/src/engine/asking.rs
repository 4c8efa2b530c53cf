//! Asking the next one of a chain: a row in the outbox, or a policy to evaluate.

use portcullis_jobs::{
    Admission, Controller, ControllerDefinition, Judge, PolicyCode, PolicySource, Transport,
    policy_object,
};
use portcullis_store::{Delivery, DeliveryState, IdKind, JobRecord};

use super::question::Question;
use super::turn::{Surroundings, Turn};
use crate::error::CiError;
use crate::judge::{PolicyChoice, PolicyQuestion};
use crate::secrets;

/// The longest evaluation of configured policies; their own limits are much shorter.
const LONGEST_EVALUATION: std::time::Duration = std::time::Duration::from_secs(30);

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
        let limit = |definition: &ControllerDefinition| definition.timeout.get();
        let limit = controller.map_or(LONGEST_EVALUATION, |one| limit(&one.definition));
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

    /// Whether the one that is asked about a job is evaluated in this process.
    pub(super) fn is_policy_asked(&mut self, job: &JobRecord) -> Result<bool, CiError> {
        let admission = job.admission.as_ref();
        let asked = admission.filter(|admission| admission.asked_at.is_some());
        let judge = asked.and_then(Admission::current).map(|link| link.judge);
        Ok(match judge {
            None => false,
            Some(Judge::Policies) => true,
            Some(Judge::Controller(id)) => {
                let around = self.around(&job.definition.project)?;
                let found = around.controllers.iter().find(|one| one.id == id);
                found.is_some_and(|one| choice_of(one).is_some())
            }
        })
    }
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
