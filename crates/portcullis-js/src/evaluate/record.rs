//! What is written down of an evaluation, and how a refusal comes about.

use serde_json::Value;

use crate::host::HostCall;
use crate::limits::{Limit, Limits};
use crate::outcome::{ConsoleLine, Denial, Evaluation, Step, Verdict};
use crate::source::Place;
use crate::state::State;

/// A policy that failed to decide.
const INTERNAL_ERROR: &str = "INTERNAL_ERROR";

/// The message of a limit that was hit.
pub(crate) fn limit_message(limit: Limit, limits: &Limits) -> String {
    let bound = match limit {
        Limit::Deadline => format!("{:?}", limits.deadline),
        Limit::Memory => format!("{} bytes", limits.memory),
        Limit::Stack => format!("{} bytes", limits.stack),
    };
    format!("unable to evaluate policy:limit exceeded: {limit} ({bound})")
}

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) verdict: Option<Verdict>,
    pub(super) steps: Vec<Step>,
    pub(super) warnings: Vec<String>,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) host_calls: Vec<HostCall>,
    pub(super) object: Option<Value>,
}

impl Record {
    pub(super) fn refuse(&mut self, name: &str, refusal: Refusal) {
        self.object = None;
        self.verdict = Some(Verdict::Deny(Denial {
            policy: Some(name.to_owned()),
            message: format!("{name}: {}", refusal.message),
            reason: refusal.reason,
            code: refusal.code,
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
            object: self.object,
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
    pub(super) reason: String,
    pub(super) code: Option<u16>,
    pub(super) place: Option<Place>,
    pub(super) limit: Option<Limit>,
    pub(super) failure: bool,
}

/// A policy that failed to decide.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) place: Option<Place>,
    pub(super) limit: Option<Limit>,
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
            reason: INTERNAL_ERROR.to_owned(),
            code: None,
            place: failure.place,
            limit: failure.limit,
            failure: true,
        }
    }
}
