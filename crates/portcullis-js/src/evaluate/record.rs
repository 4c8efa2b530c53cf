//! The record of an evaluation, and how a denial comes about.

use portcullis_core::{Denial, HostCallStep, PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep};
use serde_json::Value;

use super::conclusion::{Failure, INTERNAL_ERROR, Refusal, limit_message};
use crate::input::{Input, Plan};
use crate::limits::Limits;
use crate::outcome::{ConsoleLine, Evaluation, PolicyDenial, PolicyVerdict};
use crate::policy_set::PolicySet;
use crate::replay::Unknown;

/// The status of a denial whose policy names none, and of a policy that could not decide.
const FORBIDDEN: u16 = 403;
const UNDECIDED: u16 = 500;

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
        record.verdict = Some(PolicyVerdict::Deny(PolicyDenial {
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
    pub(super) verdict: Option<PolicyVerdict>,
    pub(super) steps: Vec<PolicyStep>,
    pub(super) warnings: Vec<String>,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) host_calls: Vec<HostCallStep>,
    pub(super) changed_by: Vec<String>,
    pub(super) covered: Vec<u32>,
    pub(super) object: Option<Value>,
    pub(super) unknown: Vec<Unknown>,
    /// Whether the time ran out and that is not a denial: nothing more can be evaluated.
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
        self.verdict = Some(PolicyVerdict::Deny(PolicyDenial {
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
            verdict: self.verdict.unwrap_or(PolicyVerdict::None),
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
