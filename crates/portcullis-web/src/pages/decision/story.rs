//! A decision in words: why it was allowed, and what nearly happened.

use super::{PolicyStep, Step, Summary};

/// The sentence beside the verdict. What others wrote stays as it is.
pub(super) fn sentence(one: &Summary, trace: &[Step]) -> String {
    if !one.message.is_empty() || one.verdict == "deny" {
        return one.message.clone();
    }
    let policies = || trace.iter().flat_map(|step| &step.policies);
    let changed = policies().filter(|policy| policy.changed);
    let mut by: Vec<&str> = changed.map(|policy| policy.name.as_str()).collect();
    if by.is_empty() {
        let steps = trace.iter().filter(|step| step.outcome == "changed");
        by = steps.map(|step| step.plugin.as_str()).collect();
    }
    by.dedup();
    if one.mutated && !by.is_empty() {
        return format!("Allowed, changed by {}.", by.join(", "));
    }
    match (&one.policy, one.door.as_str()) {
        (Some(policy), "kubernetes" | "ci") => format!("Allowed by policy {policy}."),
        (None, "kubernetes" | "ci") if policies().any(|policy| policy.outcome != "skip") => {
            "Allowed: no policy denied it.".to_owned()
        }
        (None, "kubernetes" | "ci") => "Allowed: nothing denied it.".to_owned(),
        _ => String::new(),
    }
}

/// Denials that did not count, and failures that were passed over.
pub(super) fn near_misses(one: &Summary, trace: &[Step]) -> Vec<String> {
    let policies = trace.iter().flat_map(|step| &step.policies);
    let of_policies = policies.filter_map(|policy| near(one, policy));
    let is_near = |step: &&Step| {
        let failed = matches!(step.outcome.as_str(), "error" | "timeout" | "panic");
        failed && one.verdict == "allow"
    };
    let steps = trace.iter().filter(is_near);
    let of_steps = steps.map(|step| {
        let why = reason(&step.detail);
        format!("{} failed and was passed over: {why}", step.plugin)
    });
    of_policies.chain(of_steps).collect()
}

fn near(one: &Summary, policy: &PolicyStep) -> Option<String> {
    let decided = one.policy.as_ref() == Some(&policy.name);
    let what = match (policy.outcome.as_str(), policy.mode.as_str()) {
        ("deny", "warn" | "dry-run") => "would have denied it",
        ("error", "warn" | "dry-run") => "failed, which would have denied it",
        ("error", _) if !decided => "failed and was passed over",
        _ => return None,
    };
    let mode = match policy.mode.as_str() {
        "enforce" | "" => String::new(),
        mode => format!(", in mode {mode},"),
    };
    let why = reason(&policy.message);
    Some(format!("Policy {}{mode} {what}: {why}", policy.name))
}

fn reason(text: &str) -> &str {
    match text {
        "" => "it gave no reason",
        text => text,
    }
}
