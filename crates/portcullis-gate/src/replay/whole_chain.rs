//! A recorded request for admission, decided again by a whole configuration.

use portcullis_core::{Attributes, Chain, StepOutcome, Verdict};
use portcullis_record::{Decision, WebhookName};
use serde_json::Value;

use super::compare::compare;
use super::current::CurrentDecision;
use super::outcome::{Answered, Outcome};
use super::{masks, trace};
use crate::pending_mutation;
use crate::policies::NAME;
use portcullis_config::PendingMutation;

/// What decides.
#[derive(Debug)]
pub(super) struct WholeChain {
    pub(super) chain: Chain,
    /// Whether a built-in plug-in of the chain looks at objects.
    pub(super) reads_objects: bool,
    pub(super) pending_mutation: PendingMutation,
}

impl WholeChain {
    /// Decides again; the decision has been laid out on the desk.
    pub(super) fn decide(
        &self,
        decision: &Decision,
        request: &mut Attributes,
        current: &CurrentDecision,
    ) -> Outcome {
        if let Some(place) = self.masked_place(decision, request) {
            return Outcome::Unknown(format!("a plug-in may read {place}, which is masked"));
        }
        let mut verdict = self.chain.decide(request);
        let said = current.finish();
        if let Some(why) = said.missed.or_else(|| ran_out_of_time(&verdict)) {
            return Outcome::Unknown(why);
        }
        let changed_by = changers(&verdict, &said.changers).or_else(|| trace::changers(decision));
        let webhook = decision.input.webhook.as_ref();
        if webhook.is_some_and(|w| w.name == WebhookName::Validate)
            && self.pending_mutation == PendingMutation::Refuse
        {
            pending_mutation::refuse_pending_mutation(&mut verdict);
        }
        let may_patch = webhook.is_none_or(|w| w.may_patch);
        compare(decision, answered(&verdict), may_patch, changed_by)
    }

    /// A masked place that a built-in plug-in of the chain could read.
    fn masked_place<'a>(&self, decision: &'a Decision, request: &Attributes) -> Option<&'a str> {
        if !self.reads_objects {
            return None;
        }
        masks::for_plugins(&decision.input.masked, request)
    }
}

/// What a verdict answers.
pub(super) fn answered(verdict: &Verdict) -> Answered {
    let plugin = verdict.plugin.as_deref();
    Answered {
        allowed: verdict.is_allowed(),
        by: verdict.policy.clone().or(plugin.map(str::to_owned)),
        message: verdict
            .denial()
            .map_or(String::new(), |d| d.message.clone()),
        patch: patch(verdict),
    }
}

/// The patch as it would be recorded.
fn patch(verdict: &Verdict) -> Vec<Value> {
    match serde_json::to_value(&verdict.patch) {
        Ok(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// What changed the object: plug-ins, and these policies.
pub(super) fn changers(verdict: &Verdict, policies: &[String]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for step in &verdict.trace {
        match (step.outcome, &*step.plugin) {
            (StepOutcome::Changed, NAME) if !policies.is_empty() => {
                names.extend(policies.iter().map(String::as_str));
            }
            (StepOutcome::Changed, plugin) => names.push(plugin),
            _ => {}
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

/// Which step ran out of time, or could not be asked: on a busy machine that is not a denial.
pub(super) fn ran_out_of_time(verdict: &Verdict) -> Option<String> {
    verdict.trace.iter().find_map(|step| match step.outcome {
        StepOutcome::Timeout => Some(format!("{} exceeded its time limit", step.plugin)),
        // The engine itself has failed: no policy has said anything.
        StepOutcome::Error if *step.plugin == *NAME && step.policies.is_empty() => {
            let why = step.detail.as_deref().unwrap_or_default();
            Some(format!("the policies could not be asked: {why}"))
        }
        _ => None,
    })
}
