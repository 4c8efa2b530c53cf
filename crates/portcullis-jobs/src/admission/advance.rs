//! What comes next in an admission.

use portcullis_document::Duration;

use super::decision::DecisionVerdict;
use super::record::Ending;
use super::state::{Admission, AdmissionState, Judge, Link};
use crate::controller::{
    Controller, ControllerDefinition, ControllerState, FailurePolicy, PolicySource, Transport,
};
use crate::exemption::{Exemption, ExemptionId};
use crate::failure::FailureReason;
use crate::job::{JobDefinition, JobId, PipelineId};
use crate::runners::{Runner, is_no_runner_left};
use crate::timestamp::Timestamp;
use crate::transition::Event;
use crate::verdict::{Verdict, VerdictFault, VerdictRules, check_mutation, clean_reason};

/// The world as it is now.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionContext<'a> {
    /// The job.
    pub job: JobId,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// What was submitted.
    pub definition: &'a JobDefinition,
    /// All registered controllers, or at least those of the chain.
    pub controllers: &'a [Controller],
    /// All exemptions.
    pub exemptions: &'a [Exemption],
    /// All registered runners.
    pub runners: &'a [Runner],
}

/// What happened to an admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// It began, time passed, or a controller was changed.
    Tick,
    /// There is a verdict.
    Answered {
        /// Whose.
        judge: Judge,
        /// What it says.
        verdict: Verdict,
        /// The policy that decided, where the configured policies were asked.
        policy: Option<String>,
    },
    /// An attempt to get a verdict failed.
    AttemptFailed {
        /// Who was asked.
        judge: Judge,
        /// Why it failed.
        error: String,
    },
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask this one, with the job as it is now.
    Ask(Judge),
    /// Nothing new: go on waiting, and retrying, until this time.
    Wait(Timestamp),
    /// The job may enter the queue.
    Accepted,
    /// The job failed; the text says why.
    Failed(FailureReason, String),
}

impl Next {
    /// What happens to the job; nothing if it only waits. The caller has prepared it before the first.
    pub fn event(&self) -> Option<Event> {
        Some(match self {
            Self::Wait(_) => return None,
            Self::Ask(_) => Event::AskNext,
            Self::Accepted => Event::Accept,
            Self::Failed(FailureReason::AdmissionTimeout, _) => Event::TimeOut,
            Self::Failed(FailureReason::AdmissionNoRunner, _) => Event::LeaveNoRunner,
            Self::Failed(..) => Event::Deny,
        })
    }
}

/// Why something can't happen to an admission. All but the last are conflicts (409).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It is over.
    #[error("the admission is over: {0}")]
    Over(AdmissionState),
    /// The deadline passed.
    #[error("the deadline of the admission passed at {0}")]
    TooLate(Timestamp),
    /// Another one is asked now.
    #[error("the controller isn't asked about this job now")]
    NotAsked,
    /// The verdict is invalid (422).
    #[error(transparent)]
    Invalid(#[from] VerdictFault),
}

impl Admission {
    /// Takes what happened, and says what comes next. After an error nothing has changed.
    ///
    /// # Errors
    ///
    /// When it can't happen now, or the verdict is invalid.
    pub fn advance(
        &mut self,
        happened: Happened,
        world: &AdmissionContext<'_>,
        now: Timestamp,
    ) -> Result<Next, AdmissionError> {
        if self.state != AdmissionState::Waiting {
            return Err(AdmissionError::Over(self.state));
        }
        if now >= self.deadline {
            return match happened {
                Happened::Tick => Ok(self.time_out(world, now)),
                _ => Err(AdmissionError::TooLate(self.deadline)),
            };
        }
        match happened {
            Happened::Tick => Ok(self.tick(world, now)),
            Happened::Answered {
                judge,
                verdict,
                policy,
            } => {
                let link = self.asked(judge, world)?;
                self.answer(&link, verdict, policy.as_deref(), world, now)
            }
            Happened::AttemptFailed { judge, error } => {
                let link = self.asked(judge, world)?;
                Ok(self.attempt_failed(&link, &error, world, now))
            }
        }
    }

    /// The place of who is asked now, if it is this one and it has been asked.
    fn asked(&self, judge: Judge, world: &AdmissionContext<'_>) -> Result<Link, AdmissionError> {
        let link = self.current().filter(|link| link.judge == judge);
        let link = link.filter(|_| self.asked_at.is_some());
        let link = link.ok_or(AdmissionError::NotAsked)?;
        let counts = |d: &ControllerDefinition| d.state != ControllerState::Disabled;
        match definition_of(link, world).map_or(judge == Judge::Policies, counts) {
            true => Ok(link.clone()),
            false => Err(AdmissionError::NotAsked),
        }
    }

    fn tick(&mut self, world: &AdmissionContext<'_>, now: Timestamp) -> Next {
        if let (Some(link), Some(at)) = (self.current().cloned(), self.give_up_at)
            && now >= at
        {
            let reason = "no answer in time for a dry run".to_owned();
            self.record(
                &link,
                Ending::new(DecisionVerdict::Timeout, true, Some(reason)),
                now,
            );
        }
        self.seek(world, now)
    }

    /// Goes on to whoever has to be asked or waited for.
    fn seek(&mut self, world: &AdmissionContext<'_>, now: Timestamp) -> Next {
        while let Some(link) = self.current().cloned() {
            let Judge::Controller(id) = link.judge else {
                return self.ask(&link, None, now);
            };
            let controller = world.controllers.iter().find(|c| c.id == id);
            let Some(Controller { definition, .. }) = controller else {
                self.skip(&link, "the controller was deleted", now);
                continue;
            };
            match definition.state {
                ControllerState::Disabled => self.skip(&link, "the controller is disabled", now),
                ControllerState::Suspended if definition.failure_policy == FailurePolicy::Open => {
                    let reason = Some("the controller is suspended".to_owned());
                    self.record(
                        &link,
                        Ending::new(DecisionVerdict::Error, false, reason),
                        now,
                    );
                }
                ControllerState::Suspended => return Next::Wait(self.deadline),
                ControllerState::Enabled | ControllerState::DryRun if self.asked_at.is_some() => {
                    return Next::Wait(self.give_up_at.unwrap_or(self.deadline));
                }
                ControllerState::Enabled | ControllerState::DryRun => {
                    let job = self.job_view(world.job, world.pipeline, world.definition);
                    match definition.conditions.mismatch(&job) {
                        Some(why) => self.skip(&link, &why, now),
                        None => {
                            let is_dry_run = definition.state == ControllerState::DryRun;
                            let limit = is_dry_run.then_some(definition.timeout);
                            return self.ask(&link, limit, now);
                        }
                    }
                }
            }
        }
        self.accept(world)
    }

    fn ask(&mut self, link: &Link, limit: Option<Duration>, now: Timestamp) -> Next {
        if self.asked_at.is_some() {
            return Next::Wait(self.give_up_at.unwrap_or(self.deadline));
        }
        self.asked_at = Some(now);
        // A dry run must not cost the job its admission: it gets no more than half of the time left.
        let half = self.deadline.since(now) / 2;
        self.give_up_at = limit.map(|limit| now.after(limit.get().min(half)));
        Next::Ask(link.judge)
    }

    fn answer(
        &mut self,
        link: &Link,
        verdict: Verdict,
        policy: Option<&str>,
        world: &AdmissionContext<'_>,
        now: Timestamp,
    ) -> Result<Next, AdmissionError> {
        if verdict.id != world.job {
            let fault = VerdictFault::WrongId {
                found: verdict.id.to_string(),
                expected: world.job,
            };
            return Err(fault.into());
        }
        let definition = definition_of(link, world);
        let dry_run = definition.is_some_and(|d| !d.is_enforced());
        if !verdict.is_accepted() {
            let mut ending = Ending::new(DecisionVerdict::Denied, dry_run, verdict.reason);
            ending.exempted_by = exempted(link, definition, policy, world, now);
            return Ok(self.denied(link, ending, world, now));
        }
        let rules = VerdictRules {
            job: world.job,
            tags: &self.tags,
            may_mutate: definition.is_none_or(|d| d.kind.may_mutate()),
            may_untag: definition.is_some_and(|d| d.may_untag),
        };
        let changed = check_mutation(&verdict, &rules)?;
        let mut ending = Ending::new(DecisionVerdict::Accepted, dry_run, verdict.reason);
        ending.warnings = changed.warnings;
        ending.tags = verdict.tags;
        if dry_run {
            ending.runners = verdict.runners.unwrap_or_default();
        } else {
            ending.tags_after = Some(changed.tags);
            ending.runners = match verdict.runners {
                Some(lists) => lists,
                None => self.carried_lists(link.judge),
            };
            self.lists.push((link.judge, ending.runners.clone()));
        }
        self.record(link, ending, now);
        Ok(self.seek(world, now))
    }

    /// A controller that fails closed is retried until the deadline; a policy isn't, since it would fail again.
    fn attempt_failed(
        &mut self,
        link: &Link,
        error: &str,
        world: &AdmissionContext<'_>,
        now: Timestamp,
    ) -> Next {
        let definition = definition_of(link, world);
        let dry_run = definition.is_some_and(|d| !d.is_enforced());
        let is_open = definition.is_some_and(|d| d.failure_policy == FailurePolicy::Open);
        let is_policy = definition.is_none_or(|d| matches!(d.transport, Transport::Policy(_)));
        let mut ending = Ending::new(DecisionVerdict::Error, dry_run, clean_reason(error));
        if dry_run || is_open {
            let carried = self.carried_lists(link.judge);
            if !dry_run && !carried.is_empty() {
                ending.runners = carried.clone();
                self.lists.push((link.judge, carried));
            }
            self.record(link, ending, now);
            return self.seek(world, now);
        }
        if is_policy {
            ending.exempted_by = exempted(link, definition, None, world, now);
            return self.denied(link, ending, world, now);
        }
        Next::Wait(self.deadline)
    }

    fn denied(
        &mut self,
        link: &Link,
        ending: Ending,
        world: &AdmissionContext<'_>,
        now: Timestamp,
    ) -> Next {
        let counts = !ending.dry_run && ending.exempted_by.is_none();
        self.record(link, ending, now);
        if counts {
            return self.fail(AdmissionState::Denied, FailureReason::AdmissionDenied, None);
        }
        self.seek(world, now)
    }

    fn accept(&mut self, world: &AdmissionContext<'_>) -> Next {
        let needs = world.definition.needs(&self.tags, &self.filter);
        if is_no_runner_left(&needs, world.runners) {
            let why = "no runner is left: the runner lists exclude every registered runner";
            let reason = FailureReason::AdmissionNoRunner;
            return self.fail(AdmissionState::NoRunner, reason, Some(why));
        }
        self.state = AdmissionState::Accepted;
        self.reason = self.reasons();
        Next::Accepted
    }

    fn time_out(&mut self, world: &AdmissionContext<'_>, now: Timestamp) -> Next {
        if let Some(link) = self.current().cloned() {
            let definition = definition_of(&link, world);
            let dry_run = definition.is_some_and(|d| !d.is_enforced());
            let reason = format!("timeout: no verdict until {}", self.deadline);
            let ending = Ending::new(DecisionVerdict::Timeout, dry_run, Some(reason));
            self.record(&link, ending, now);
        }
        let why = self
            .reasons()
            .is_none()
            .then(|| format!("timeout at {}", self.deadline));
        let reason = FailureReason::AdmissionTimeout;
        self.fail(AdmissionState::Timeout, reason, why.as_deref())
    }

    fn fail(&mut self, state: AdmissionState, reason: FailureReason, why: Option<&str>) -> Next {
        self.state = state;
        let reasons = self.reasons().into_iter();
        let all: Vec<String> = reasons.chain(why.map(str::to_owned)).collect();
        let message = all.join("; ");
        self.reason = Some(message.clone());
        Next::Failed(reason, message)
    }
}

fn definition_of<'a>(
    link: &Link,
    world: &AdmissionContext<'a>,
) -> Option<&'a ControllerDefinition> {
    let mut all = world.controllers.iter();
    let found = all.find(|controller| link.judge == Judge::Controller(controller.id));
    found.map(|controller| &controller.definition)
}

/// The exemption because of which a denial doesn't count.
fn exempted(
    link: &Link,
    definition: Option<&ControllerDefinition>,
    policy: Option<&str>,
    world: &AdmissionContext<'_>,
    now: Timestamp,
) -> Option<ExemptionId> {
    let policy = match definition.map(|definition| &definition.transport) {
        Some(Transport::Policy(PolicySource::Named(name))) => Some(name.as_str()),
        _ => policy,
    };
    let controller = definition.map(|_| link.name.as_str());
    let covers = |e: &&Exemption| e.covers(world.definition, controller, policy, now);
    world
        .exemptions
        .iter()
        .find(covers)
        .map(|exemption| exemption.id)
}
