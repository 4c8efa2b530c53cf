//! The machine-readable results.

use portcullis_gate::offline::Judge;
use serde_json::{Value, json};

use super::outcome::{Evaluation, JudgeResult, Judgement, Outcome, Unread};

/// All results, in the shape that `-o json` and `-o yaml` have.
pub(super) fn of(evaluation: &Evaluation, explain: bool) -> Value {
    let results: Vec<Value> = evaluation
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Judged(judged) => Some(judgement(judged, &evaluation.judges, explain)),
            // What would be in the file is not known.
            Outcome::Unread(unread) if unread.is_file => None,
            Outcome::Unread(unread) => Some(unreadable(unread)),
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

fn judgement(judged: &Judgement, judges: &[Judge], explain: bool) -> Value {
    let (spot, ruling) = (&judged.spot, &judged.ruling);
    let parts = judged.parts.iter().filter(|p| p.is_listed);
    let policies: Vec<Value> = parts.map(|p| part(p, judges, explain)).collect();
    let mut value = json!({
        "file": spot.file,
        "index": spot.index,
        "kind": judged.kind,
        "namespace": judged.namespace,
        "name": judged.name,
        "allowed": ruling.is_allowed,
        "message": ruling.message,
        "policy": ruling.by,
        "warnings": ruling.warnings,
        "patch": ruling.patch,
        "object": judged.object,
        "policies": policies,
    });
    if explain {
        extend(&mut value, "annotations", json!(ruling.annotations));
        let took = u64::try_from(ruling.duration.as_micros()).unwrap_or(u64::MAX);
        extend(&mut value, "duration_us", took.into());
    }
    value
}

fn part(part: &JudgeResult, judges: &[Judge], explain: bool) -> Value {
    let mut value = json!({
        "name": part.name,
        "mode": part.mode.as_str(),
        "outcome": part.said.as_str(),
        "message": part.message,
        "line": part.place.as_ref().map(|place| place.line),
    });
    // What its author says of a policy, where anything is said.
    if let Some(judge) = judges.iter().find(|judge| judge.name == part.name) {
        let about = &judge.about;
        for (key, said) in [
            ("description", json!(about.description)),
            ("severity", json!(about.severity)),
            ("category", json!(about.category)),
            ("link", json!(about.link)),
        ] {
            if !said.is_null() {
                extend(&mut value, key, said);
            }
        }
    }
    if explain {
        let steps = part.steps.iter().map(|step| {
            json!({
                "phase": step.phase,
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
        "file": unread.spot.file,
        "index": unread.spot.index,
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
