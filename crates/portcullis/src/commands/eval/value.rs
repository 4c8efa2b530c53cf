//! The results for programs.

use serde_json::{Value, json};

use super::outcome::{Evaluation, Judgement, Outcome, Part, Unread, half};

/// All results, in the shape that `-o json` and `-o yaml` have.
pub(super) fn of(evaluation: &Evaluation, explain: bool) -> Value {
    let results: Vec<Value> = evaluation
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Judged(judged) => judgement(judged, explain),
            Outcome::Unread(unread) => unreadable(unread),
        })
        .collect();
    let summary = evaluation.summary();
    json!({
        "results": results,
        "summary": {
            "allowed": summary.allowed,
            "denied": summary.denied,
            "errors": summary.errors,
            "skipped": summary.skipped,
        },
    })
}

fn judgement(judged: &Judgement, explain: bool) -> Value {
    let verdict = &judged.verdict;
    let parts = judged.parts.iter().filter(|p| p.is_listed);
    let policies: Vec<Value> = parts.map(|p| part(p, explain)).collect();
    let by = verdict.policy.as_deref().or(verdict.plugin.as_deref());
    let mut value = json!({
        "file": judged.file,
        "index": judged.index,
        "kind": judged.manifest.kind.kind,
        "namespace": judged.manifest.namespace,
        "name": judged.manifest.name,
        "allowed": verdict.is_allowed(),
        "message": verdict.denial().map_or("", |d| d.message.as_str()),
        "policy": by,
        "warnings": verdict.warnings,
        "patch": verdict.patch,
        "object": judged.object,
        "policies": policies,
    });
    if explain {
        extend(&mut value, "annotations", json!(verdict.annotations));
        let took = u64::try_from(verdict.duration.as_micros()).unwrap_or(u64::MAX);
        extend(&mut value, "duration_us", took.into());
    }
    value
}

fn part(part: &Part, explain: bool) -> Value {
    let mut value = json!({
        "name": part.name,
        "mode": part.mode.as_str(),
        "outcome": part.said.as_str(),
        "message": part.message,
        "line": part.place.as_ref().map(|place| place.line),
    });
    if explain {
        let steps = part.steps.iter().map(|step| {
            json!({
                "phase": half(step.phase),
                "outcome": step.outcome,
                "detail": step.detail,
                "duration_us": u64::try_from(step.duration.as_micros()).unwrap_or(u64::MAX),
            })
        });
        extend(&mut value, "steps", steps.collect());
        extend(&mut value, "host_calls", json!(part.host_calls));
    }
    value
}

fn unreadable(unread: &Unread) -> Value {
    json!({
        "file": unread.file,
        "index": unread.index,
        "kind": "",
        "namespace": "",
        "name": "",
        "allowed": false,
        "message": unread.fault.to_string(),
        "policy": null,
        "warnings": [],
        "patch": [],
        "object": null,
        "policies": [],
    })
}

fn extend(value: &mut Value, key: &str, with: Value) {
    if let Some(map) = value.as_object_mut() {
        map.insert(key.to_owned(), with);
    }
}
