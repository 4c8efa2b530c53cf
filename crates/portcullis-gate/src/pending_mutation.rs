//! Validating webhooks come last: an object that would still change did not pass the mutating one.

use std::sync::Arc;

use portcullis_core::{Decision, Denial, StepOutcome, Verdict};

/// An object that the chain would still change has not been through `/mutate`.
pub fn refuse_pending_mutation(verdict: &mut Verdict) {
    if !verdict.is_allowed() || verdict.patch.is_empty() {
        return;
    }
    let patch = std::mem::take(&mut verdict.patch);
    let steps = verdict.trace.iter_mut();
    let mut changers = steps.filter(|step| step.outcome == StepOutcome::Changed);
    let (first, second) = (changers.next(), changers.next());
    let plugin = first.as_ref().map(|step| Arc::clone(&step.plugin));
    let name = plugin.as_deref().unwrap_or("the chain");
    let message = format!(
        "{name} would still change the object in {} places: it must go through the mutating webhook first",
        patch.len(),
    );
    // The only step that changed the object has no patch of its own: it gets the verdict's.
    if let (Some(only), None) = (first, second) {
        only.patch = patch;
    }
    verdict.decision = Decision::Deny(Denial::forbidden(message));
    verdict.plugin = plugin;
}
