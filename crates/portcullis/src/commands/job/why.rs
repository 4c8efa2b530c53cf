//! Why a job is as it is, in plain sentences.

use serde_json::Value;

use crate::commands::listing::text;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::{Terminal, Tone};
use crate::commands::text::wrap::hanging;

/// What a job is, in a sentence.
pub(super) fn headline(job: &Value) -> String {
    let failure = match text(job, "failure_reason").as_str() {
        "" | "-" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!(
        "Job {} ({} of {}) is {}{failure}, in attempt {}.",
        text(job, "id"),
        text(job, "name"),
        text(job, "project"),
        text(job, "status"),
        text(job, "attempt"),
    )
}

/// The same for a terminal, with the state of the job in its colour.
pub(super) fn told(job: &Value, terminal: Terminal) -> String {
    let sentence = headline(job);
    let line = hanging(&printable(&sentence), 2, terminal.width);
    let status = printable(&text(job, "status")).into_owned();
    let line = match Tone::of_state(&status) {
        // It stands behind the name, which may be any text.
        Some(tone) => match line.rsplit_once(&format!(" is {status}")) {
            Some((before, after)) => {
                format!("{before} is {}{after}", terminal.word(&status, tone))
            }
            None => line,
        },
        None => line,
    };
    format!("{line}\n")
}

/// What a job waits for, who denied it and why, or why no runner takes it.
pub(super) fn sentences(job: &Value) -> Vec<String> {
    let mut said = vec![headline(job)];
    let prerequisites = list(job.pointer("/prerequisites/items"));
    let waiting = prerequisites.iter();
    let waiting = waiting.filter(|item| text(item, "state") == "waiting");
    let is_tenant = |item: &&Value| text(item, "name") == "tenant";
    let is_held = waiting.clone().any(|item| is_tenant(&item));
    said.extend(waiting.map(|item| match is_tenant(&item) {
        true => is_paused(item),
        false => waits_for(item),
    }));
    let attempt = job.get("attempt");
    let decisions = list(job.pointer("/admission/decisions"));
    let now = decisions.iter();
    let now = now.filter(|decision| decision.get("attempt") == attempt);
    said.extend(now.filter_map(decided));
    if text(job, "failure_reason") == "admission_no_runner" {
        said.push("The runners that controllers accept and reject leave no runner.".to_owned());
    }
    if let Some(stuck) = given(job, "stuck_reason") {
        said.push(format!("No runner can take it: {stuck}."));
        let tags = text(job, "tags");
        if !tags.is_empty() {
            said.push(format!("Its tags are {tags}."));
        }
    }
    match text(job, "status").as_str() {
        "pending" if given(job, "stuck_reason").is_none() => {
            let runners = list(job.get("eligible_runners")).len();
            said.push(match runners {
                1 => "It waits for a runner: 1 runner may take it.".to_owned(),
                runners => format!("It waits for a runner: {runners} runners may take it."),
            });
        }
        "created" if !is_held => said.push("It waits for the stages before it.".to_owned()),
        "skipped" => said.push("A job of an earlier stage failed.".to_owned()),
        _ => {}
    }
    said
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A member that says something.
fn given(value: &Value, key: &str) -> Option<String> {
    let text = text(value, key);
    let text = text.trim_end_matches('.').to_owned();
    (!text.is_empty() && text != "-").then_some(text)
}

/// A tenant holds the job back.
fn is_paused(item: &Value) -> String {
    let mut sentence = match given(item, "by") {
        Some(tenant) => format!(
            "It has not started: tenant {tenant} is paused since {}",
            text(item, "since")
        ),
        None => "It has not started".to_owned(),
    };
    if let Some(detail) = given(item, "detail") {
        sentence.push_str(&format!(": {detail}"));
    }
    sentence.push('.');
    sentence
}

fn waits_for(item: &Value) -> String {
    let mut sentence = match given(item, "by") {
        Some(by) => format!(
            "It waits for {} by {by} since {}",
            text(item, "name"),
            text(item, "since")
        ),
        None => format!(
            "It waits for {} since {}",
            text(item, "name"),
            text(item, "since")
        ),
    };
    if let Some(deadline) = given(item, "deadline") {
        sentence.push_str(&format!("; it fails if there is no answer by {deadline}"));
    }
    if let Some(detail) = given(item, "detail") {
        sentence.push_str(&format!(": {detail}"));
    }
    sentence.push('.');
    sentence
}

/// What one controller did, where that matters.
fn decided(decision: &Value) -> Option<String> {
    let who = format!(
        "{} ({} level)",
        text(decision, "controller"),
        text(decision, "level")
    );
    let verdict = text(decision, "verdict");
    let did = match verdict.as_str() {
        "accepted" => "accepted it",
        "denied" => "denied it",
        "timeout" => "did not answer in time",
        "error" => "failed",
        _ => return None,
    };
    let mut sentence = format!("{who} {did}");
    if decision.get("dry_run") == Some(&Value::Bool(true)) {
        sentence.push_str(" in a dry run, which does not count");
    } else if let Some(exemption) = given(decision, "exempted_by") {
        sentence.push_str(&format!(
            ", which does not count because of exemption {exemption}"
        ));
    }
    if let Some(reason) = given(decision, "reason") {
        sentence.push_str(&format!(": {reason}"));
    }
    sentence.push('.');
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_denial_is_told_with_who_and_why() {
        let job = json!({
            "id": 7, "name": "build", "project": "g/p", "status": "failed", "attempt": 2,
            "failure_reason": "admission_denied", "tags": ["linux"], "stuck_reason": null,
            "prerequisites": {"overall": "failed", "items": []},
            "admission": {"decisions": [
                {"controller": "old", "level": "project", "attempt": 1, "verdict": "denied"},
                {"controller": "budget", "level": "group", "attempt": 2, "verdict": "denied",
                 "dry_run": false, "reason": "it is spent."},
                {"controller": "other", "level": "group", "attempt": 2, "verdict": "skipped"},
            ]},
        });
        assert_eq!(
            sentences(&job),
            [
                "Job 7 (build of g/p) is failed (admission_denied), in attempt 2.",
                "budget (group level) denied it: it is spent.",
            ]
        );
    }

    #[test]
    fn what_is_waited_for_is_told_with_its_deadline() {
        let job = json!({
            "id": 7, "name": "build", "project": "g/p", "status": "preparing", "attempt": 1,
            "prerequisites": {"overall": "waiting", "items": [
                {"name": "admission", "state": "waiting", "since": "T1", "by": "budget",
                 "deadline": "T2", "detail": null},
            ]},
        });
        assert_eq!(
            sentences(&job).last().unwrap(),
            "It waits for admission by budget since T1; it fails if there is no answer by T2."
        );
    }

    #[test]
    fn a_job_that_a_tenant_holds_back_says_why() {
        let job = |by: Option<&str>, detail: &str| {
            json!({
                "id": 7, "name": "build", "project": "g/p", "status": "created", "attempt": 1,
                "prerequisites": {"overall": "waiting", "items": [
                    {"name": "tenant", "state": "waiting", "since": "T1", "by": by,
                     "deadline": null, "detail": detail},
                ]},
            })
        };
        let paused = job(Some("t1"), "new pipelines are paused: incident 42");
        assert_eq!(
            sentences(&paused)[1..],
            [
                "It has not started: tenant t1 is paused since T1: new pipelines are paused: incident 42."
            ]
        );
        let private = job(None, "a tenant that holds the project is paused");
        assert_eq!(
            sentences(&private)[1..],
            ["It has not started: a tenant that holds the project is paused."]
        );
    }

    #[test]
    fn a_stuck_job_says_which_tags_it_has() {
        let job = json!({
            "id": 7, "name": "build", "project": "g/p", "status": "pending", "attempt": 1,
            "tags": ["gpu"], "stuck_reason": "no runner has the tag gpu", "eligible_runners": [],
        });
        let said = sentences(&job).join(" ");
        assert!(said.contains("No runner can take it: no runner has the tag gpu."));
        assert!(said.contains("Its tags are gpu."), "{said}");
    }
}
