//! A recorded trace, read for who did what before and after the policies.

use super::apply::apply;
use super::facts::Facts;
use super::outgoing::OutgoingAnswers;
use crate::policies;
use portcullis_core::patch::Misfit;
use portcullis_core::{Document, Phase, StepOutcome};
use portcullis_record::{Answer, Decision, TraceStep};
use serde_json::Value;

/// A recorded trace, cut where the policies are asked.
#[derive(Debug)]
pub(super) struct Trace<'a> {
    decision: &'a Decision,
    facts: &'a Facts,
    /// The steps before the policies.
    pub(super) before: &'a [TraceStep],
    /// What the policies did; none if there were none.
    pub(super) policies: Option<&'a TraceStep>,
    /// The steps after them.
    pub(super) after: &'a [TraceStep],
}

impl<'a> Trace<'a> {
    /// Without policies in it, the place is behind the last that may change the object.
    pub(super) fn of(decision: &'a Decision, facts: &'a Facts) -> Self {
        let steps = decision.trace.as_slice();
        let place = steps.iter().position(|step| step.plugin == policies::NAME);
        let (before, rest) = match place {
            Some(place) => steps.split_at(place),
            None => {
                let is_validate = |step: &TraceStep| step.phase == Some(Phase::Validate.into());
                let end = steps.iter().position(is_validate).unwrap_or(steps.len());
                steps.split_at(end)
            }
        };
        let (policies, after) = match (place, rest.split_first()) {
            (Some(_), Some((policies, after))) => (Some(policies), after),
            _ => (None, rest),
        };
        Self {
            decision,
            facts,
            before,
            policies,
            after,
        }
    }

    /// Whether a plug-in before the policies denied the request.
    pub(super) fn is_refused_before(&self) -> bool {
        self.is_refused() && self.policies.is_none() && self.after.is_empty() && {
            self.before.last().is_some_and(is_refusal)
        }
    }

    /// Whether the policies denied.
    pub(super) fn is_refused_by_policies(&self) -> bool {
        self.is_refused() && self.after.is_empty() && self.policies.is_some_and(is_refusal)
    }

    /// The step after the policies that denied.
    pub(super) fn refused_after(&self) -> Option<&'a TraceStep> {
        let last = self.after.last().filter(|step| is_refusal(step));
        last.filter(|_| self.is_refused())
    }

    /// Whether a plug-in after the policies denied that looks at nothing, and so denies whatever they do.
    pub(super) fn is_refused_blindly_after(&self) -> bool {
        let by = self.refused_after();
        by.is_some_and(|step| self.facts.is_blind(&step.plugin))
    }

    /// Whether the policies denied because none had an opinion.
    pub(super) fn was_rejected_by_default(&self) -> bool {
        self.policies.is_some_and(|step| {
            step.is(StepOutcome::Denied)
                && step.detail.as_deref() == Some(policies::REJECTED_BY_DEFAULT)
        })
    }

    /// Those after the policies who looked at the object.
    pub(super) fn judges_after(&self) -> impl Iterator<Item = &'a TraceStep> {
        let after = self.after.iter();
        after.filter(|s| !s.is(StepOutcome::Skipped) && !self.facts.is_blind(&s.plugin))
    }

    /// The step that changed the object without a recorded patch: the door denied the change.
    pub(super) fn untold(&self) -> Option<&'a TraceStep> {
        let is_refused_by_door =
            self.is_refused() && !self.decision.trace.last().is_some_and(is_refusal);
        if !is_refused_by_door {
            return None;
        }
        let mut steps = self.decision.trace.iter();
        steps.find(|step| step.is(StepOutcome::Changed) && self.patch_of(step).is_empty())
    }

    /// What other servers answered to plug-ins, with the object as each plug-in found it.
    pub(super) fn outgoing(&self, original: Option<&Document>) -> Result<OutgoingAnswers, Misfit> {
        let mut answers = OutgoingAnswers::default();
        let asks = |step: &TraceStep| step.policies.is_empty() && !step.host_calls.is_empty();
        let steps = self.decision.trace.as_slice();
        if !steps.iter().any(asks) {
            return Ok(answers);
        }
        let original = original.and_then(|object| object.original().ok());
        let mut object = original.cloned().unwrap_or_default();
        for step in steps {
            let phases = Phase::ALL.into_iter();
            let mut phases = phases.filter(|phase| step.phase == Some((*phase).into()));
            if let Some(phase) = phases.next().filter(|_| asks(step)) {
                answers.add(step, phase, object.clone());
            }
            self.change(&mut object, std::slice::from_ref(step))?;
        }
        Ok(answers)
    }

    /// Whether any step changed the object.
    pub(super) fn is_changed(&self) -> bool {
        let mut steps = self.decision.trace.iter();
        steps.any(|step| step.is(StepOutcome::Changed))
    }

    /// The object as the policies found it.
    pub(super) fn object_before(&self, original: &Value) -> Result<Value, Misfit> {
        let mut object = original.clone();
        self.change(&mut object, self.before)?;
        Ok(object)
    }

    /// The object as the policies left it, from as they found it.
    pub(super) fn object_after(&self, before: &Value) -> Result<Value, Misfit> {
        let mut object = before.clone();
        let step = self.policies.map(std::slice::from_ref);
        self.change(&mut object, step.unwrap_or_default())?;
        Ok(object)
    }

    /// What the policies changed.
    pub(super) fn policies_patch(&self) -> &'a [Value] {
        let step = self.policies.filter(|step| step.is(StepOutcome::Changed));
        step.map_or(&[], |step| self.patch_of(step))
    }

    /// The object in the end, from as the policies left it.
    pub(super) fn object_last(&self, after: Value) -> Result<Value, Misfit> {
        let mut object = after;
        self.change(&mut object, self.after)?;
        Ok(object)
    }

    /// Changes the object as these did.
    fn change(&self, object: &mut Value, steps: &[TraceStep]) -> Result<(), Misfit> {
        for step in steps.iter().filter(|step| step.is(StepOutcome::Changed)) {
            apply(object, self.patch_of(step))?;
        }
        Ok(())
    }

    /// What a step changed: said with it, or it is all that was changed.
    fn patch_of(&self, step: &'a TraceStep) -> &'a [Value] {
        let changed = self.decision.trace.iter();
        let changed = changed.filter(|step| step.is(StepOutcome::Changed)).count();
        if step.patch.is_empty() && changed == 1 {
            return &self.decision.patch;
        }
        &step.patch
    }

    fn is_refused(&self) -> bool {
        self.decision.summary.verdict == Answer::Deny
    }
}

/// Whether a step may have ended the chain.
fn is_refusal(step: &TraceStep) -> bool {
    step.is(StepOutcome::Denied) || step.is_failure()
}

/// What changed the object originally.
pub(super) fn changers(decision: &Decision) -> Option<String> {
    let steps = decision.trace.iter();
    let changed = steps.filter(|step| step.is(StepOutcome::Changed));
    let names: Vec<&str> = changed.map(|step| step.plugin.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// Whether the denial said only that no decision could be made.
pub(super) fn was_undecided(decision: &Decision) -> bool {
    decision.summary.verdict == Answer::Deny
        && decision.trace.last().is_some_and(TraceStep::is_failure)
}
