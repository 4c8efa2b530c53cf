//! What would change, machine-readable.

use serde_json::{Value, json};

use super::outcome::{Answered, ChangeKind};
use super::report::{Example, Group, Report};

impl Report {
    /// The whole report.
    pub fn to_json(&self) -> Value {
        let changes: Vec<Value> = self.groups().map(group).collect();
        let unknown: Vec<Value> = self
            .reasons()
            .map(|(why, one)| json!({"reason": why, "count": one.count, "ids": one.ids}))
            .collect();
        let failed: Vec<Value> = self
            .failures()
            .map(|one| json!({"line": one.line, "message": one.why}))
            .collect();
        json!({
            "summary": {
                "decisions": self.decisions,
                "same": self.same,
                "deniedByAnother": self.by_another,
                "newlyDenied": self.count(ChangeKind::NewlyDenied),
                "newlyAllowed": self.count(ChangeKind::NewlyAllowed),
                "patchDiffers": self.count(ChangeKind::PatchDiffers),
                "unknown": self.unknown(),
                "notJudged": self.not_judged,
                "passedOver": self.passed_over,
                "older": self.older,
                "failed": self.failed,
            },
            "changes": changes,
            "unknown": unknown,
            "failed": failed,
        })
    }
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
        "was": example.change.was.to_json(),
        "now": example.change.now.to_json(),
        "remark": example.change.remark,
    })
}

impl Answered {
    fn to_json(&self) -> Value {
        json!({
            "allowed": self.allowed,
            "by": self.by,
            "message": self.message,
            "patch": self.patch,
        })
    }
}
