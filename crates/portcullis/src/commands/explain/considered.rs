//! All steps that ran, with their answers.

use portcullis_core::{PolicyOutcome, StepOutcome};
use portcullis_record::{Decision, PolicyTrace, Summary, TraceStep};

use super::action;
use super::verdict::place;
use crate::commands::text::plain::{lasted, took};

/// A row for each plug-in or authorizer, and below it one for each policy.
pub(super) fn lines(decision: &Decision) -> Vec<String> {
    let steps = decision.trace.iter();
    let rows: Vec<Row> = steps
        .flat_map(|step| {
            [of_step(step, &decision.summary)]
                .into_iter()
                .chain(step.policies.iter().map(of_policy))
        })
        .collect();
    if rows.is_empty() {
        return vec!["nothing".to_owned()];
    }
    let width = |of: fn(&Row) -> &String| {
        let all = rows.iter().map(|row| of(row).chars().count());
        all.max().unwrap_or(0)
    };
    let name = width(|row| &row.name);
    let how = width(|row| &row.how);
    let outcome = width(|row| &row.outcome);
    let took = width(|row| &row.took);
    let line = |row: &Row| {
        let how = match how {
            0 => String::new(),
            how => format!("{:<how$}  ", row.how),
        };
        format!(
            "{:<name$}  {how}{:<outcome$}  {:>took$}  {}",
            row.name, row.outcome, row.took, row.why
        )
        .trim_end()
        .to_owned()
    };
    rows.iter().map(line).collect()
}

struct Row {
    name: String,
    /// The half of a plug-in, or the mode of a policy.
    how: String,
    outcome: String,
    took: String,
    why: String,
}

fn of_step(step: &TraceStep, summary: &Summary) -> Row {
    // The message of the decision stands above all, what a policy said in its own row.
    let is_policys = !step.policies.is_empty() && summary.policy.is_some();
    let detail = step.detail.as_deref();
    let detail = detail.filter(|_| !is_policys || step.is(StepOutcome::Skipped));
    let why = match detail {
        Some(detail) if detail == summary.message && step.is(StepOutcome::Denied) => "see above",
        detail => detail.unwrap_or_default(),
    };
    let why = match &step.roles {
        Some(roles) if why.is_empty() => action::has(roles),
        Some(roles) => format!("{}; {why}", action::has(roles)),
        None => why.to_owned(),
    };
    Row {
        name: step.plugin.clone(),
        how: step
            .phase
            .as_ref()
            .map_or(String::new(), ToString::to_string),
        outcome: step.outcome.to_string().replace('_', " "),
        took: took(step.duration_us),
        why,
    }
}

fn of_policy(policy: &PolicyTrace) -> Row {
    let mut why = policy.message.clone().unwrap_or_default();
    if let Some(limit) = &policy.limit {
        why.push_str(&format!(" [limit: {limit}]"));
    }
    if let Some(place) = place(policy) {
        why.push_str(&format!(" ({place})"));
    }
    let about = [
        ("severity", &policy.severity),
        ("category", &policy.category),
    ];
    for (key, value) in about {
        if let Some(value) = value {
            why.push_str(&format!(" [{key}: {value}]"));
        }
    }
    if let Some(description) = &policy.description {
        why.push_str(&format!(" ({description})"));
    }
    if let Some(link) = &policy.link {
        why.push_str(&format!(" see {link}"));
    }
    Row {
        name: format!("  {}", policy.name),
        how: policy.mode.to_string(),
        outcome: outcome(policy),
        took: policy.duration.map(lasted).unwrap_or_default(),
        why: why.trim_start().to_owned(),
    }
}

/// What it said, and that it changed the object.
fn outcome(policy: &PolicyTrace) -> String {
    match (policy.changed, policy.outcome == PolicyOutcome::Pass) {
        (false, _) => policy.outcome.to_string(),
        (true, true) => "changed".to_owned(),
        (true, false) => format!("{}, changed", policy.outcome),
    }
}
