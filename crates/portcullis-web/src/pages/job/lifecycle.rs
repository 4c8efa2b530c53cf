//! How a job is, in one sentence, and how far it got.

use super::model::Job;
use crate::shown::sentence;

/// A step in the life of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) is_current: bool,
    pub(super) at: Option<String>,
    /// What is said to those who don't see the bar.
    pub(super) said: &'static str,
}

/// The steps, with when the job got there.
pub(super) fn steps(job: &Job) -> Vec<Step> {
    let current = match job.status.as_str() {
        status if !job.is_finished() => status,
        _ => "finished",
    };
    let began = job.admission.is_some() || job.queued_at.is_some();
    let all = [
        ("created", true, Some(job.created_at.clone())),
        ("preparing", began, None),
        ("pending", job.queued_at.is_some(), job.queued_at.clone()),
        ("running", job.started_at.is_some(), job.started_at.clone()),
        ("finished", job.is_finished(), job.finished_at.clone()),
    ];
    let steps = all.into_iter().map(|(name, is_reached, at)| {
        let is_current = name == current;
        let (class, said) = match (is_current, is_reached, job.is_finished()) {
            (true, ..) => ("current", "current step"),
            (_, true, _) => ("past", "done"),
            (_, false, true) => ("missed", "not reached"),
            (_, false, false) => ("ahead", "not yet"),
        };
        Step {
            name,
            class,
            is_current,
            at,
            said,
        }
    });
    steps.collect()
}

/// How the job is.
pub(super) fn summary(job: &Job) -> String {
    let said = match job.status.as_str() {
        "created" => waiting(job).unwrap_or_else(|| "waiting for its stage".to_owned()),
        "preparing" => waiting(job).unwrap_or_else(|| "waiting for admission".to_owned()),
        "pending" => queued(job),
        "running" => match job.runner_id {
            Some(id) => format!("runner {id} has it"),
            None => "a runner has it".to_owned(),
        },
        "success" => "finished without an error".to_owned(),
        "failed" => failed(job),
        "canceled" => "canceled before it finished".to_owned(),
        _ => "not run, because a job of an earlier stage failed".to_owned(),
    };
    sentence(&said)
}

/// What it waits for.
fn waiting(job: &Job) -> Option<String> {
    let mut items = job.prerequisites.items.iter();
    let item = items.find(|item| item.state == "waiting")?;
    let named = if item.name == "tenant" {
        " by tenant "
    } else {
        " by "
    };
    let by = item.by.as_deref().map(|by| format!("{named}{by}"));
    let detail = item.detail.as_deref().map(|detail| format!(": {detail}"));
    let (by, detail) = (by.unwrap_or_default(), detail.unwrap_or_default());
    Some(match item.name.as_str() {
        "admission" => format!("waiting for admission{by}{detail}"),
        "tenant" => format!("held back{by}{detail}"),
        name => format!("waiting for {name}{by}{detail}"),
    })
}

fn queued(job: &Job) -> String {
    match (&job.stuck_reason, job.eligible_runners.len()) {
        (Some(reason), _) => format!("stuck: {reason}"),
        (None, 1) => "in the queue: one runner may take it".to_owned(),
        (None, count) => format!("in the queue: {count} runners may take it"),
    }
}

fn failed(job: &Job) -> String {
    let reason = job.admission.as_ref().and_then(|one| one.reason.as_deref());
    let why = reason.map(|reason| format!(": {reason}"));
    let why = why.unwrap_or_default();
    match job.failure_reason.as_deref().unwrap_or_default() {
        "admission_denied" => format!("denied in admission{why}"),
        "admission_timeout" => format!("denied: admission was not complete in time{why}"),
        "admission_no_runner" => {
            format!("denied: the verdicts leave no runner that could take it{why}")
        }
        "script_failure" => "its script failed".to_owned(),
        "runner_system_failure" => "the runner failed".to_owned(),
        "job_execution_timeout" => "it ran longer than its timeout".to_owned(),
        "stuck_or_timeout_failure" => {
            "no runner took it in time, or its runner was lost".to_owned()
        }
        "trace_size_exceeded" => "its output is too large".to_owned(),
        "" => "it failed".to_owned(),
        other => format!("it failed: {}", other.replace('_', " ")),
    }
}
