//! Asking a controller about a made-up job, to see whether it answers.

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{
    AllowFailure, ControllerDefinition, ControllerId, JobDefinition, JobUser, JobView,
    PayloadEntry, RunnerFilter, Transport, Variables, Verdict, VerdictRules, decode_verdict,
    mutation_of_object, policy_object,
};
use portcullis_store::ControllerRecord;

use super::Service;
use crate::delivery::{self, Message};
use crate::details::TestResult;
use crate::engine::{TryResult, choice_of, now};
use crate::error::CiError;
use crate::judge::PolicyQuestion;
use crate::lanes::{self, Outlet};
use crate::secrets;

/// The number of the made-up job: no job has it.
const JOB: u64 = 0;
/// The callback token of the made-up job: no delivery has it.
const TOKEN: &str = "test";

impl Service {
    /// Asks a controller about a made-up job, whatever its state. Nothing is stored.
    ///
    /// # Errors
    ///
    /// When there is none, it pulls, or the store doesn't answer.
    pub async fn test_controller(&self, id: ControllerId) -> Result<TestResult, CiError> {
        let record = self.inner.controller_record(id).await?;
        let watch = Stopwatch::start();
        let answer = match &record.controller.definition.transport {
            Transport::Pull => {
                let message = "a controller that pulls can't be tested: it isn't called".to_owned();
                return Err(CiError::Conflict(message));
            }
            Transport::Webhook(url) => self.try_webhook(url, &record).await?,
            Transport::Policy(_) => self.try_policy(&record).await,
        };
        let duration_ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (verdict, error) = match answer {
            Ok(verdict) => (Some(verdict), None),
            Err(error) => (None, Some(error)),
        };
        Ok(TestResult {
            verdict,
            error,
            duration_ms,
        })
    }

    async fn try_webhook(
        &self,
        url: &str,
        record: &ControllerRecord,
    ) -> Result<Result<Verdict, String>, CiError> {
        let settings = self.inner.settings();
        let client = match lanes::client(url, &settings.webhooks) {
            Ok(client) => client,
            Err(error) => return Ok(Err(error)),
        };
        let definition = &record.controller.definition;
        let job = made_up(definition);
        let filter = RunnerFilter::default();
        let callback = self.inner.url_of_callback(TOKEN);
        let deadline = now().after(definition.timeout.get());
        let entry = PayloadEntry::new(
            &view(&job, &filter),
            &definition.variables,
            callback,
            deadline,
        );
        let webhook_id = secrets::unique("msg_")?;
        let message = Message {
            webhook_id: &webhook_id,
            body: entry.body(),
            secrets: &record.secrets,
            within: definition.timeout.get(),
        };
        let tried = delivery::send(&Outlet::new(client), message).await;
        Ok(match tried.result {
            TryResult::Answered(body) => {
                let rules = VerdictRules {
                    job: JOB,
                    tags: &job.tags,
                    may_mutate: definition.kind.may_mutate(),
                    may_untag: definition.may_untag,
                };
                let verdict = decode_verdict(&body, &rules);
                verdict.map_err(|fault| format!("invalid verdict: {fault}"))
            }
            TryResult::Deferred => Err("no verdict yet: the controller will call back".to_owned()),
            TryResult::Gone => Err("status 410: the controller is gone".to_owned()),
            TryResult::Failed { error, .. } => Err(error),
        })
    }

    async fn try_policy(&self, record: &ControllerRecord) -> Result<Verdict, String> {
        let definition = &record.controller.definition;
        let job = made_up(definition);
        let filter = RunnerFilter::default();
        let view = view(&job, &filter);
        let choice = choice_of(&record.controller).ok_or("the controller has no policy")?;
        let asked = PolicyQuestion {
            policies: choice,
            object: policy_object(&view),
            job: JOB,
            attempt: 1,
            user: job.user.clone(),
            within: definition.timeout.get(),
        };
        let answer = self.inner.judge().judge(asked).await?;
        if !answer.accepted {
            let reason = answer.reason.unwrap_or_default();
            return Ok(Verdict::denied(JOB, &reason));
        }
        match &answer.object {
            None => Ok(Verdict::accepted(JOB)),
            Some(changed) => mutation_of_object(&view, changed).map_err(|fault| fault.to_string()),
        }
    }
}

fn made_up(definition: &ControllerDefinition) -> JobDefinition {
    let path = definition.path.as_deref();
    let project = match definition.level.as_str() {
        "project" => path.unwrap_or("test").to_owned(),
        "group" => format!("{}/test", path.unwrap_or("test")),
        _ => "test/test".to_owned(),
    };
    JobDefinition {
        project,
        project_id: None,
        name: "test".to_owned(),
        stage: "test".to_owned(),
        git_ref: "main".to_owned(),
        ref_protected: false,
        source: "api".to_owned(),
        user: JobUser {
            id: 0,
            username: "test".to_owned(),
        },
        tags: vec!["test".to_owned()],
        variables: Variables::new(),
        script: vec!["true".to_owned()],
        image: None,
        allow_failure: AllowFailure::default(),
        timeout: None,
        work: portcullis_jobs::JobWork::default(),
    }
}

fn view<'a>(definition: &'a JobDefinition, filter: &'a RunnerFilter) -> JobView<'a> {
    JobView {
        id: JOB,
        pipeline: None,
        attempt: 1,
        definition,
        tags: &definition.tags,
        filter,
    }
}
