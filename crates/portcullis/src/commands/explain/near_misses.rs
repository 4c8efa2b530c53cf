//! What nearly happened: denials that didn't count, failures that were passed over, warnings.

use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_record::{Decision, PolicyTrace, TraceStep};

use super::action;
use super::verdict::{failed_how, failure, place, reason};

/// One line each; `none` where there is nothing.
pub(super) fn lines(decision: &Decision) -> Vec<String> {
    let mut lines = action::near(decision);
    let end = failure(decision);
    let mut warnings = decision.summary.warnings.iter();
    for step in &decision.trace {
        for policy in &step.policies {
            lines.extend(of_policy(decision, policy));
        }
        // The failure that decided is shown above; that of a policy in the row of the policy.
        let is_end = end.is_some_and(|end| std::ptr::eq(end, step));
        if step.is_failure() && !is_end {
            lines.push(of_step(step));
        }
        for warning in warnings.by_ref().take(step.warnings) {
            lines.push(format!("{} warned: {warning}", step.plugin));
        }
    }
    lines.extend(warnings.map(|warning| format!("warning: {warning}")));
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    lines
}

fn of_policy(decision: &Decision, policy: &PolicyTrace) -> Option<String> {
    let is_enforced = policy.mode == PolicyMode::Enforce;
    let decided = decision.summary.policy.as_ref() == Some(&policy.name);
    let what = match (policy.outcome.known()?, is_enforced) {
        (PolicyOutcome::Deny, false) => "would have denied it",
        (PolicyOutcome::Error, false) => "failed, which would have denied it",
        (PolicyOutcome::Error, true) if !decided => "failed and was passed over",
        _ => return None,
    };
    let why = policy.message.as_deref().unwrap_or("it gave no reason");
    let place = place(policy).map_or(String::new(), |place| format!(" ({place})"));
    let mode = if is_enforced {
        String::new()
    } else {
        format!(", in mode {},", policy.mode)
    };
    Some(format!("policy {}{mode} {what}: {why}{place}", policy.name))
}

fn of_step(step: &TraceStep) -> String {
    let why = step.detail.as_deref().unwrap_or("it gave no reason");
    let why = why.strip_suffix(" (passed over)").unwrap_or(why);
    let why = reason(why, &step.plugin);
    let how = failed_how(step);
    format!("{} {how} and was passed over: {why}", step.plugin)
}
