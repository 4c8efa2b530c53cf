//! The record of an evaluation, and how a denial comes about.

use std::borrow::Cow;

use portcullis_core::{Denial, HostCallStep, PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep};
use serde_json::Value;

use crate::compile::PolicySet;
use crate::input::{Input, Plan};
use crate::limits::Limits;
use crate::outcome::{ConsoleLine, Evaluation, PolicyDenial, Verdict};
use crate::replay::Unknown;
use crate::source::Place;
use crate::state::State;

/// A policy that failed to decide.
const INTERNAL_ERROR: &str = "INTERNAL_ERROR";

/// The status of a refusal whose policy names none, and of a policy that could not decide.
const FORBIDDEN: u16 = 403;
const UNDECIDED: u16 = 500;

/// The message of a limit that was hit.
pub(crate) fn limit_message(limit: PolicyLimit, limits: &Limits) -> String {
    let bound = match limit {
        PolicyLimit::Deadline => format!("{:?}", limits.deadline),
        PolicyLimit::Memory => format!("{} bytes", limits.memory),
        PolicyLimit::Stack => format!("{} bytes", limits.stack),
    };
    format!("unable to evaluate policy:limit exceeded: {limit} ({bound})")
}

/// The answer where the time ran out and nothing more is known than which policy was running.
pub(crate) fn late(
    culprit: Option<usize>,
    set: &PolicySet,
    input: &Input,
    limits: &Limits,
) -> Evaluation {
    let message = limit_message(PolicyLimit::Deadline, limits);
    let culprit = culprit.filter(|index| *index < set.names().len());
    let mut record = Record::default();
    for (index, name) in set.names().iter().enumerate() {
        let mode = match input.plan(index) {
            Plan::Run(mode) => mode,
            Plan::Skip => PolicyMode::Enforce,
        };
        let mut step = PolicyStep::skipped(name.as_str(), mode);
        if culprit == Some(index) {
            step.outcome = PolicyOutcome::Error;
            step.message = Some(message.clone());
            step.limit = Some(PolicyLimit::Deadline);
        }
        record.steps.push(step);
    }
    if !input.failures_pass {
        let policy = culprit.and_then(|index| set.names().get(index)).cloned();
        let message = match &policy {
            Some(name) => format!("{name}: {message}"),
            None => message,
        };
        record.verdict = Some(Verdict::Deny(PolicyDenial {
            policy,
            denial: Denial::new(UNDECIDED, INTERNAL_ERROR, message),
            limit: Some(PolicyLimit::Deadline),
            failure: true,
        }));
    }
    record.into_evaluation()
}

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) verdict: Option<Verdict>,
    pub(super) steps: Vec<PolicyStep>,
    pub(super) warnings: Vec<String>,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) host_calls: Vec<HostCallStep>,
    pub(super) changed_by: Vec<String>,
    pub(super) covered: Vec<u32>,
    pub(super) object: Option<Value>,
    pub(super) unknown: Vec<Unknown>,
    /// Whether the time ran out and that is no refusal: nothing more can be asked.
    pub(super) is_out_of_time: bool,
}

impl Record {
    /// The engine failed before it came to the policies.
    pub(super) fn fail(&mut self, set: &PolicySet, input: &Input, failure: Failure) {
        let missing = set.names().iter().skip(self.steps.len());
        let skipped = |name: &String| PolicyStep::skipped(name.as_str(), PolicyMode::Enforce);
        self.steps.extend(missing.map(skipped));
        let mut applied = self
            .steps
            .iter_mut()
            .zip(set.names())
            .enumerate()
            .filter(|(index, _)| input.plan(*index) != Plan::Skip);
        let name = match applied.next() {
            Some((_, (step, name))) => {
                step.outcome = PolicyOutcome::Error;
                step.message = Some(failure.message.clone());
                step.limit = failure.limit;
                name.as_str()
            }
            None => "policies",
        };
        if input.failures_pass {
            self.verdict = None;
            self.object = None;
        } else {
            self.refuse(name, failure.into());
        }
    }

    pub(super) fn refuse(&mut self, name: &str, refusal: Refusal) {
        self.object = None;
        let usual = if refusal.failure {
            UNDECIDED
        } else {
            FORBIDDEN
        };
        let message = format!("{name}: {}", refusal.message);
        self.verdict = Some(Verdict::Deny(PolicyDenial {
            policy: Some(name.to_owned()),
            denial: Denial {
                reason: refusal.reason,
                ..Denial::new(refusal.code.unwrap_or(usual), "", message)
            },
            limit: refusal.limit,
            failure: refusal.failure,
        }));
    }

    pub(super) fn into_evaluation(self) -> Evaluation {
        Evaluation {
            verdict: self.verdict.unwrap_or(Verdict::None),
            steps: self.steps,
            warnings: self.warnings,
            console: self.console,
            host_calls: self.host_calls,
            changed_by: self.changed_by,
            covered: self.covered,
            object: self.object,
            unknown: self.unknown,
        }
    }
}

/// What a policy concluded.
#[derive(Debug)]
pub(super) enum Conclusion {
    Pass,
    Allow,
    Deny(Refusal),
}

/// A no, and why.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) reason: Cow<'static, str>,
    pub(super) code: Option<u16>,
    pub(super) place: Option<Place>,
    pub(super) limit: Option<PolicyLimit>,
    pub(super) failure: bool,
}

/// A policy that failed to decide.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) place: Option<Place>,
    pub(super) limit: Option<PolicyLimit>,
}

impl Failure {
    pub(super) fn new(message: String) -> Self {
        Self {
            message,
            place: None,
            limit: None,
        }
    }

    /// The engine failed outside of a policy, most likely for lack of time or memory.
    pub(super) fn of_engine(state: &State, limits: &Limits) -> Self {
        state.is_late();
        match state.hit() {
            Some(limit) => Self {
                limit: Some(limit),
                ..Self::new(limit_message(limit, limits))
            },
            None => Self::new("unable to evaluate policy:the engine failed".to_owned()),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            message: failure.message,
            reason: INTERNAL_ERROR.into(),
            code: None,
            place: failure.place,
            limit: failure.limit,
            failure: true,
        }
    }
}
