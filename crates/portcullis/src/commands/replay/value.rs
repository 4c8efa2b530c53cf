//! What would change, machine-readable.

use portcullis_gate::replay::{Answered, ChangeKind, Example, Group, Report};
use serde_json::{Value, json};

/// The whole report.
pub(super) fn of(report: &Report) -> Value {
    let changes: Vec<Value> = report.groups().map(group).collect();
    let unknown: Vec<Value> = report
        .reasons()
        .map(|(why, one)| json!({"reason": why, "count": one.count, "ids": one.ids}))
        .collect();
    let failed: Vec<Value> = report
        .failures()
        .map(|one| json!({"line": one.line, "message": one.why}))
        .collect();
    json!({
        "summary": {
            "decisions": report.decisions,
            "same": report.same,
            "deniedByAnother": report.by_another,
            "newlyDenied": report.count(ChangeKind::NewlyDenied),
            "newlyAllowed": report.count(ChangeKind::NewlyAllowed),
            "patchDiffers": report.count(ChangeKind::PatchDiffers),
            "unknown": report.unknown(),
            "notJudged": report.not_judged,
            "passedOver": report.passed_over,
            "older": report.older,
            "failed": report.failed,
        },
        "changes": changes,
        "unknown": unknown,
        "failed": failed,
    })
}

fn group(group: &Group) -> Value {
    let examples: Vec<Value> = group.examples().map(example).collect();
    json!({
        "change": group.kind.key(),
        "by": group.by,
        "count": group.count,
        "examples": examples,
    })
}

fn example(example: &Example) -> Value {
    let summary = &example.summary;
    json!({
        "id": summary.id,
        "time": summary.time,
        "door": summary.door,
        "operation": summary.operation,
        "kind": summary.kind,
        "namespace": summary.namespace,
        "name": summary.name,
        "user": summary.user,
        "was": answered(&example.change.was),
        "now": answered(&example.change.now),
        "remark": example.change.remark,
    })
}

fn answered(answered: &Answered) -> Value {
    json!({
        "allowed": answered.allowed,
        "by": answered.by,
        "message": answered.message,
        "patch": answered.patch,
    })
}
