//! A server of one job with two controllers and one runner: what a store and an engine do with the models.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::*;

/// Between two moments of the clock.
const STEP_MS: u64 = 1000;
/// How long an admission may take, in steps.
pub(super) const LIMIT_STEPS: u64 = 2;
const JOB: JobId = 7;

/// Something from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Begin,
    PassTime,
    Accept(ControllerId),
    Tag(ControllerId),
    Filter(ControllerId),
    Deny(ControllerId),
    FailTry(ControllerId),
    ToggleSuspension,
    Take,
    Acknowledge,
    Requeue,
    GetStuck,
    LoseRunner,
    Succeed,
    Fail,
    Cancel,
    Retry,
}

pub(super) const ACTIONS: &[Action] = &[
    Action::Begin,
    Action::PassTime,
    Action::Accept(1),
    Action::Accept(2),
    Action::Tag(1),
    Action::Filter(1),
    Action::Filter(2),
    Action::Deny(1),
    Action::Deny(2),
    Action::FailTry(1),
    Action::FailTry(2),
    Action::ToggleSuspension,
    Action::Take,
    Action::Acknowledge,
    Action::Requeue,
    Action::GetStuck,
    Action::LoseRunner,
    Action::Succeed,
    Action::Fail,
    Action::Cancel,
    Action::Retry,
];

/// What does not change.
pub(super) struct World {
    job: JobDefinition,
    runners: Vec<Runner>,
}

impl World {
    pub(super) fn new() -> Self {
        let body = json!({"project": "g/p", "name": "j", "ref": "main", "tags": ["linux"],
            "user": {"id": 1, "username": "ann"}});
        let runner = json!({"id": 1, "runner_type": "instance_type", "tag_list": ["linux", "a"],
            "access_level": "not_protected"});
        Self {
            job: read_job(&body).unwrap(),
            runners: vec![serde_json::from_value(runner).unwrap()],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) state: JobState,
    pub(super) admission: Option<Admission>,
    pub(super) step: u64,
    pub(super) is_suspended: bool,
    /// Whether the job was pending in this attempt.
    pub(super) was_pending: bool,
}

impl Server {
    pub(super) fn new() -> Self {
        Self {
            state: JobState::new(),
            admission: None,
            step: 0,
            is_suspended: false,
            was_pending: false,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.step * STEP_MS)
    }

    /// The first is closed and may be suspended, the second is open.
    fn controllers(&self) -> Vec<Controller> {
        let controller = |id, level: &str, policy: &str| {
            let mut body = json!({"name": format!("c{id}"), "level": level, "kind": "both",
                "pull": true, "failure_policy": policy});
            if level == "project" {
                body["path"] = "g/p".into();
            }
            Controller {
                id,
                created_at: Timestamp::from_millis(0),
                revision: 1,
                definition: ControllerDefinition::read(&body).unwrap(),
            }
        };
        let mut first = controller(1, "project", "closed");
        if self.is_suspended {
            first.definition.state = ControllerState::Suspended;
        }
        vec![first, controller(2, "instance", "open")]
    }

    /// The server after an action; nothing if it is rejected.
    pub(super) fn after(&self, action: Action, world: &World) -> Option<Self> {
        let mut next = self.clone();
        next.act(action, world).then_some(next)
    }

    fn act(&mut self, action: Action, world: &World) -> bool {
        let failed = Event::Fail {
            reason: FailureReason::ScriptFailure,
            exit_code: Some(1),
        };
        match action {
            Action::Begin => self.begin(world),
            Action::PassTime => {
                self.step += 1;
                self.advance(Happened::Tick, world);
                true
            }
            Action::ToggleSuspension => {
                self.is_suspended = !self.is_suspended;
                self.advance(Happened::Tick, world);
                true
            }
            Action::Accept(id) => self.answer(id, Verdict::accepted(JOB), world),
            Action::Deny(id) => self.answer(id, Verdict::denied(JOB, "no"), world),
            Action::Tag(id) => {
                let mut verdict = Verdict::accepted(JOB);
                verdict.tags.add = vec!["a".to_owned()];
                self.answer(id, verdict, world)
            }
            Action::Filter(id) => {
                let lists = RunnerLists {
                    accepted_ids: vec![99],
                    rejected_ids: vec![],
                };
                let mut verdict = Verdict::accepted(JOB);
                verdict.runners = Some(lists);
                self.answer(id, verdict, world)
            }
            Action::FailTry(id) => {
                let judge = Judge::Controller(id);
                let error = "status 500".to_owned();
                self.advance(Happened::AttemptFailed { judge, error }, world)
            }
            Action::Take => self.apply(&Event::Take { runner: 1 }),
            Action::Acknowledge => self.apply(&Event::Acknowledge),
            Action::Requeue => self.apply(&Event::Requeue),
            Action::GetStuck => self.apply(&Event::GetStuck),
            Action::LoseRunner => self.apply(&Event::LoseRunner),
            Action::Succeed => self.apply(&Event::Succeed),
            Action::Fail => self.apply(&failed),
            Action::Cancel => {
                let is_done = self.apply(&Event::Cancel);
                if let Some(admission) = self.admission.as_mut().filter(|_| is_done) {
                    admission.cancel();
                }
                is_done
            }
            Action::Retry => self.apply(&Event::Retry),
        }
    }

    fn begin(&mut self, world: &World) -> bool {
        let limit = Duration::from_millis(LIMIT_STEPS * STEP_MS);
        let deadline = self.now().after(limit);
        if !self.apply(&Event::Prepare { deadline }) {
            return false;
        }
        let controllers = self.controllers();
        let links = controller_chain(&controllers, &world.job.project);
        let links = links.into_iter().map(Link::controller).collect();
        let (now, tags) = (self.now(), &world.job.tags);
        self.admission = Some(match &self.admission {
            None => Admission {
                attempt: self.state.attempt,
                ..Admission::begin(links, tags.clone(), now, limit)
            },
            Some(before) => {
                let attempt = self.state.attempt;
                before.retried(attempt, links, tags, RetryPolicy::Carry, now, limit)
            }
        });
        self.advance(Happened::Tick, world);
        true
    }

    fn answer(&mut self, id: ControllerId, verdict: Verdict, world: &World) -> bool {
        let answered = Happened::Answered {
            judge: Judge::Controller(id),
            verdict,
            policy: None,
        };
        self.advance(answered, world)
    }

    fn advance(&mut self, happened: Happened, world: &World) -> bool {
        let (controllers, now) = (self.controllers(), self.now());
        let context = AdmissionContext {
            job: JOB,
            pipeline: None,
            definition: &world.job,
            controllers: &controllers,
            exemptions: &[],
            runners: &world.runners,
        };
        let Some(admission) = &mut self.admission else {
            return false;
        };
        let Ok(next) = admission.advance(happened, &context, now) else {
            return false;
        };
        if let Some(event) = next.event() {
            assert!(self.apply(&event), "{event:?} follows, but isn't legal");
        }
        true
    }

    fn apply(&mut self, event: &Event) -> bool {
        let Ok(transition) = self.state.apply(event, self.now()) else {
            return false;
        };
        if transition.state.attempt != self.state.attempt {
            self.was_pending = false;
        }
        self.state = transition.state;
        self.was_pending |= self.state.status == JobStatus::Pending;
        true
    }

    /// What must hold after every action.
    pub(super) fn check(&self, before: &Self, action: Action) {
        let told = || format!("{action:?}\nfrom {before:?}\nto {self:?}");
        let (old, new) = (&before.state, &self.state);
        if new.attempt != old.attempt {
            assert_eq!(new.attempt, old.attempt + 1, "{}", told());
            assert!(
                action == Action::Retry && old.status.is_finished(),
                "{}",
                told()
            );
        }
        if old.status.is_finished() && action != Action::Retry {
            assert_eq!(new, old, "{}", told());
        }
        if new.status == JobStatus::Running {
            assert!(self.was_pending, "{}", told());
        }
        if new.status == JobStatus::Failed {
            assert!(new.failure_reason.is_some(), "{}", told());
        }
        self.check_deadline(before, &told);
        self.check_decisions(before, &told);
        self.check_author(before, action, &told);
    }

    /// A verdict is recorded for the controller that gave it.
    fn check_author(&self, before: &Self, action: Action, told: &dyn Fn() -> String) {
        let count = |server: &Self| server.admission.as_ref().map_or(0, |a| a.decisions.len());
        let mut decisions = self.admission.iter().flat_map(|a| &a.decisions);
        let (
            Some(first_new),
            Action::Accept(id)
            | Action::Tag(id)
            | Action::Filter(id)
            | Action::Deny(id)
            | Action::FailTry(id),
        ) = (decisions.nth(count(before)), action)
        else {
            return;
        };
        assert_eq!(first_new.controller, format!("c{id}"), "{}", told());
    }

    fn check_deadline(&self, before: &Self, told: &dyn Fn() -> String) {
        let new = &self.state;
        let is_new = new.status != before.state.status;
        if let Some(deadline) = new.deadline {
            assert!(
                new.status == JobStatus::Preparing && self.now() < deadline,
                "{}",
                told()
            );
        }
        if let Some(deadline) = before.state.deadline {
            let is_late = self.now() >= deadline;
            let timed_out = new.failure_reason == Some(FailureReason::AdmissionTimeout);
            assert!(
                !is_new || new.status == JobStatus::Canceled || timed_out == is_late,
                "{}",
                told()
            );
        }
    }

    fn check_decisions(&self, before: &Self, told: &dyn Fn() -> String) {
        let Some(admission) = &self.admission else {
            return;
        };
        let is_preparing = self.state.status == JobStatus::Preparing;
        let is_waiting = admission.state == AdmissionState::Waiting;
        assert_eq!(is_preparing, is_waiting, "{}", told());
        let decisions = &admission.decisions;
        let keys: BTreeSet<_> = decisions
            .iter()
            .map(|d| (d.attempt, &d.controller))
            .collect();
        assert_eq!(keys.len(), decisions.len(), "one decision each\n{}", told());
        if let Some(before) = &before.admission {
            assert!(
                decisions.starts_with(&before.decisions),
                "history is kept\n{}",
                told()
            );
        }
        let is_denied = |d: &AdmissionDecision| d.verdict == DecisionVerdict::Denied;
        if admission.state == AdmissionState::Accepted {
            assert_eq!(admission.current_decisions().count(), 2, "{}", told());
            assert!(!admission.current_decisions().any(is_denied), "{}", told());
        }
    }
}
