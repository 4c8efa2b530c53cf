//! The verdict in one sentence, and who decided.

use portcullis_core::{Door, PolicyOutcome, StepOutcome};
use portcullis_record::{Answer, Decision, PolicyTrace, TraceStep};

use crate::commands::decisions::message;

/// `denied` and ` by policy image-signed: no signature`.
pub(super) fn sentence(decision: &Decision) -> (&'static str, String) {
    let summary = &decision.summary;
    let why = match (message(summary), failure(decision)) {
        ("", _) => String::new(),
        (message, Some(step)) => format!(": {}", reason(message, &step.plugin)),
        (message, None) => format!(": {message}"),
    };
    let is_access = summary.door == Door::Authorization;
    let by = match (&summary.policy, &summary.plugin) {
        (Some(policy), _) => format!(" by policy {policy}"),
        (None, Some(plugin)) => format!(" by {plugin}"),
        (None, None) => String::new(),
    };
    match summary.verdict {
        Answer::Allow => {
            let nobody = match is_access || applied(decision) {
                true => ": nothing objected",
                false => ": nothing applied to it",
            };
            let by = if by.is_empty() && why.is_empty() {
                nobody
            } else {
                &by
            };
            let changed = if summary.mutated {
                ", with changes"
            } else {
                ""
            };
            ("allowed", format!("{changed}{by}{why}"))
        }
        Answer::Deny => match failure(decision) {
            Some(step) => (
                "denied",
                format!(
                    " because {} could not decide{why}",
                    undecided(decision, step)
                ),
            ),
            None if is_access && summary.plugin.is_none() => (
                "not allowed",
                format!(": no authorizer had an opinion{why}"),
            ),
            None => ("denied", format!("{by}{why}")),
        },
    }
}

/// Why a step could not decide, without repeating that it could not.
pub(super) fn reason<'a>(text: &'a str, plugin: &str) -> &'a str {
    let named = text
        .strip_prefix(plugin)
        .and_then(|rest| rest.strip_prefix(": "));
    let text = named.unwrap_or(text);
    text.strip_prefix("could not decide: ").unwrap_or(text)
}

/// Who decided, and where.
pub(super) fn decider(decision: &Decision) -> String {
    let summary = &decision.summary;
    if let Some(step) = failure(decision) {
        let who = undecided(decision, step);
        return format!("none: {who} {}", failed_how(step));
    }
    let Some(plugin) = &summary.plugin else {
        return match (summary.door, summary.verdict) {
            (Door::Authorization, _) => "none: no authorizer had an opinion".to_owned(),
            (_, Answer::Allow) => "nothing objected".to_owned(),
            (_, Answer::Deny) => "the chain as a whole".to_owned(),
        };
    };
    let kind = match summary.door {
        Door::Authorization => "authorizer",
        _ => "plug-in",
    };
    let Some(name) = &summary.policy else {
        return format!("{kind} {plugin}");
    };
    let wanted = match summary.verdict {
        Answer::Allow => PolicyOutcome::Allow,
        Answer::Deny => PolicyOutcome::Deny,
    };
    let mut policies = decision.trace.iter().flat_map(|step| &step.policies);
    let policy = policies
        .clone()
        .find(|policy| policy.name == *name && policy.outcome == wanted)
        .or_else(|| policies.find(|policy| policy.name == *name));
    let place = policy.and_then(place);
    let place = place.map_or(String::new(), |place| format!(", {place}"));
    format!("policy {name} of {kind} {plugin}{place}")
}

/// `line 21 of the policy`.
pub(super) fn place(policy: &PolicyTrace) -> Option<String> {
    let line = policy.line?;
    let text = policy.source.as_deref().unwrap_or("the policy");
    Some(format!("line {line} of {text}"))
}

/// The step whose failure was the only reason for the denial.
pub(super) fn failure(decision: &Decision) -> Option<&TraceStep> {
    let last = decision.trace.last()?;
    let is_refusal = decision.summary.verdict == Answer::Deny;
    (is_refusal && last.is_failure()).then_some(last)
}

/// Who could not decide.
fn undecided(decision: &Decision, step: &TraceStep) -> String {
    match &decision.summary.policy {
        Some(policy) => format!("policy {policy}"),
        None => step.plugin.clone(),
    }
}

/// `failed`, `timed out`.
pub(super) fn failed_how(step: &TraceStep) -> &'static str {
    match step.ended() {
        Some(StepOutcome::Timeout) => "timed out",
        Some(StepOutcome::Panic) => "failed internally",
        _ => "failed",
    }
}

/// Whether any step applied to the request.
fn applied(decision: &Decision) -> bool {
    let mut steps = decision.trace.iter();
    steps.any(|step| !step.is(StepOutcome::Skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::explain::sample;

    #[test]
    fn an_allowed_authorization_says_why() {
        let mut decision = sample::decision("access");
        decision.summary.verdict = Answer::Allow;
        decision.summary.plugin = Some("edge".to_owned());
        decision.summary.message = "rule secrets: Secret:shop/creds leads to Site:south".to_owned();
        let (word, rest) = sentence(&decision);
        assert_eq!(word, "allowed");
        let said = " by edge: rule secrets: Secret:shop/creds leads to Site:south";
        assert_eq!(rest, said);
    }
}
