//! A recorded request for admission, of which only the policies are decided again.
//!
//! Built-in plug-ins did what is recorded: those before the policies made the object that the policies
//! find; those after them count as long as they would see the same object.

use portcullis_core::patch::{self, Misfit, PatchOperation};
use portcullis_core::{
    Attributes, Chain, Door, Phase, PolicyMode, PolicyOutcome, StepOutcome, Verdict,
};
use portcullis_record::{Decision, TraceStep};
use serde_json::Value;

use super::apply::misfit;
use super::compare::{compare, is_same_patch};
use super::current::CurrentDecision;
use super::masked::is_same_but_for_masks;
use super::outcome::{Answered, Outcome};
use super::trace::Trace;
use super::whole_chain::{answered, changers, ran_out_of_time};
use crate::policies::{NAME, REJECTED_BY_DEFAULT};

/// Said of a request that the policies denied then and allow now.
pub(super) const NOT_ASKED_THEN: &str =
    "policies only: later plug-ins were not asked when it was recorded";

/// What decides: the policies alone.
#[derive(Debug)]
pub(super) struct PoliciesOnly {
    pub(super) chain: Chain,
}

impl PoliciesOnly {
    /// Decides again; the decision has been laid out on the desk, and the request holds the object
    /// as the policies found it then.
    pub(super) fn decide(
        &self,
        decision: &Decision,
        trace: &Trace<'_>,
        request: &mut Attributes,
        current: &CurrentDecision,
    ) -> Outcome {
        // Where nothing was changed, the trees are not needed.
        let was_changed = trace.is_changed();
        let before = was_changed.then(|| value(request));
        let verdict = self.chain.decide(request);
        let said = current.finish();
        if let Some(why) = said.missed.or_else(|| ran_out_of_time(&verdict)) {
            return Outcome::Unknown(why);
        }
        let changed_by = changers(&verdict, &said.changers);
        let is_changed = verdict.is_allowed() && (was_changed || changed_by.is_some());
        let webhook = decision.input.webhook.as_ref();
        let (original, now) = if is_changed {
            (original(request), value(request))
        } else {
            (Value::Null, Value::Null)
        };
        let seen = Comparison {
            decision,
            trace,
            verdict: &verdict,
            before: before.unwrap_or_else(|| original.clone()),
            original,
            now,
            changed_by: changed_by.unwrap_or_else(|| NAME.to_owned()),
            may_patch: webhook.is_none_or(|w| w.may_patch),
            refuses_pending: webhook.is_some_and(|w| w.refuses_pending),
        };
        seen.outcome().unwrap_or_else(|Misfit| misfit(decision))
    }
}

/// Everything that is known after the policies were asked.
struct Comparison<'a> {
    decision: &'a Decision,
    trace: &'a Trace<'a>,
    verdict: &'a Verdict,
    /// The object as it came.
    original: Value,
    /// As the policies found it.
    before: Value,
    /// As they leave it.
    now: Value,
    /// What changes it.
    changed_by: String,
    may_patch: bool,
    refuses_pending: bool,
}

impl Comparison<'_> {
    fn outcome(&self) -> Result<Outcome, Misfit> {
        if !self.verdict.is_allowed() {
            return Ok(self.compare(answered(self.verdict)));
        }
        if self.trace.was_rejected_by_default() && !is_allowed_by_policy(self.verdict) {
            return Ok(self.compare(Answered {
                by: Some(NAME.to_owned()),
                message: REJECTED_BY_DEFAULT.to_owned(),
                ..Answered::default()
            }));
        }
        if self.trace.is_refused_by_policies() {
            let outcome = self.compare(self.passed(&self.now));
            // Policies are the last to judge a job.
            return Ok(match self.decision.summary.door == Door::Ci {
                true => outcome,
                false => remarked(outcome, || NOT_ASKED_THEN.to_owned()),
            });
        }
        if self.is_as_recorded()? {
            return self.as_recorded();
        }
        Ok(self.another_object())
    }

    /// Whether the policies leave the object as they did, as far as the record shows.
    fn is_as_recorded(&self) -> Result<bool, Misfit> {
        if self.trace.untold().is_some() {
            return Ok(false);
        }
        let then = self.trace.object_after(&self.before)?;
        if is_same_but_for_masks(&then, &self.now) {
            return Ok(true);
        }
        // A masked path leads nowhere, but can be compared.
        let now = list(&patch::diff(&self.before, &self.now));
        Ok(is_same_patch(self.trace.policies_patch(), &now))
    }

    /// The policies do what they did: so does everybody after them.
    fn as_recorded(&self) -> Result<Outcome, Misfit> {
        if let Some(step) = self.trace.refused_after() {
            return Ok(self.compare(Answered {
                by: Some(step.plugin.clone()),
                ..Answered::default()
            }));
        }
        let last = self.trace.object_last(self.now.clone())?;
        Ok(self.compare(self.passed(&last)))
    }

    /// Those after the policies would see an object they have not seen.
    fn another_object(&self) -> Outcome {
        if self.trace.is_refused_blindly_after() {
            return Outcome::Same { by_another: false };
        }
        let mut judges: Vec<&str> = Vec::new();
        for step in self.trace.judges_after() {
            if !judges.contains(&step.plugin.as_str()) {
                judges.push(&step.plugin);
            }
        }
        if let Some(step) = self.trace.refused_after() {
            judges = vec![&step.plugin];
        }
        if judges.is_empty() {
            return self.compare(self.passed(&self.now));
        }
        let why = format!("{} would judge another object", judges.join(" and "));
        let is_last = Some(Phase::Validate.into());
        let may_change = self.trace.judges_after().any(|step| step.phase != is_last);
        let now = self.passed(&self.now);
        if !now.allowed && !may_change {
            // It is denied, whatever other plug-ins say.
            return self.compare(now);
        }
        let is_answer_sure = self.may_patch || self.refuses_pending;
        if may_change || self.trace.refused_after().is_some() || !is_answer_sure {
            return Outcome::Unknown(why);
        }
        // Whatever the judge says, it is not what was answered then.
        match self.compare(now) {
            Outcome::Same { .. } => Outcome::Unknown(why),
            outcome => remarked(outcome, || {
                format!("{why}: can't tell whether that would be denied")
            }),
        }
    }

    /// The answer with this object, if no other plug-in denies it.
    fn passed(&self, last: &Value) -> Answered {
        let patch = patch::diff(&self.original, last);
        if self.refuses_pending && !patch.is_empty() {
            return Answered {
                by: Some(self.first_changer().to_owned()),
                message: "the object would still be changed: it must go through the mutating webhook first"
                    .to_owned(),
                ..Answered::default()
            };
        }
        Answered {
            allowed: true,
            patch: list(&patch),
            ..Answered::default()
        }
    }

    /// The first step that changes the object: the door names it when it denies a pending change.
    fn first_changer(&self) -> &str {
        let mut steps = self.decision.trace.iter();
        let changed = |step: &&TraceStep| step.is(StepOutcome::Changed) && step.plugin != NAME;
        match steps.find(changed) {
            Some(step) if self.before != self.original => &step.plugin,
            _ => NAME,
        }
    }

    fn compare(&self, now: Answered) -> Outcome {
        compare(
            self.decision,
            now,
            self.may_patch,
            Some(self.changed_by.clone()),
        )
    }
}

/// A patch as it is recorded.
fn list(patch: &[PatchOperation]) -> Vec<Value> {
    match serde_json::to_value(patch) {
        Ok(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// The outcome with a remark, unless it has one.
fn remarked(outcome: Outcome, remark: impl FnOnce() -> String) -> Outcome {
    match outcome {
        Outcome::Changed(mut change) => {
            change.remark.get_or_insert_with(remark);
            Outcome::Changed(change)
        }
        outcome => outcome,
    }
}

/// Whether a policy said yes itself.
fn is_allowed_by_policy(verdict: &Verdict) -> bool {
    let mut policies = verdict.trace.iter().flat_map(|step| &step.policies);
    policies.any(|p| p.mode == PolicyMode::Enforce && p.outcome == PolicyOutcome::Allow)
}

fn value(request: &Attributes) -> Value {
    let object = request.object.as_ref();
    let value = object.and_then(|object| object.value().ok());
    value.cloned().unwrap_or_default()
}

fn original(request: &Attributes) -> Value {
    let object = request.object.as_ref();
    let value = object.and_then(|object| object.original().ok());
    value.cloned().unwrap_or_default()
}
