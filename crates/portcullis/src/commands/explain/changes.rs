//! The changes to the object, in plain words.

use portcullis_core::patch::PatchOperation;
use portcullis_record::{Answer, Decision};
use serde_json::Value;

use super::subject::Subject;
use crate::commands::text::diff;
use crate::commands::text::plain::{counted, shortened};

/// How many steps are shown.
const MOST: usize = 20;
/// The most characters of one.
const LONGEST: usize = 300;

/// What stands above.
pub(super) fn heading(decision: &Decision) -> &'static str {
    match decision.summary.verdict {
        Answer::Allow if decision.patch.is_empty() => "Changes not in the answer",
        Answer::Allow => "Changes",
        Answer::Deny => "Changes before the denial, discarded",
    }
}

/// One line for each step.
pub(super) fn lines(decision: &Decision, subject: &Subject) -> Vec<String> {
    let changing = || decision.trace.iter().filter(|step| !step.patch.is_empty());
    let patch: Vec<&Value> = match decision.patch.is_empty() {
        false => decision.patch.iter().collect(),
        true => changing().flat_map(|step| &step.patch).collect(),
    };
    let mut lines = words(subject.object(), &patch);
    let by: Vec<String> = changing()
        .map(|step| {
            let steps = counted(step.patch.len(), "step", "steps");
            format!("{} ({steps})", step.plugin)
        })
        .collect();
    if !by.is_empty() {
        lines.push(format!("by {}", by.join(", then ")));
    }
    lines
}

fn words(original: &Value, patch: &[&Value]) -> Vec<String> {
    let steps: Option<Vec<PatchOperation>> = patch
        .iter()
        .take(MOST)
        .map(|step| serde_json::from_value((*step).clone()).ok())
        .collect();
    let mut lines: Vec<String> = match steps {
        Some(steps) => diff::lines(original, &steps)
            .iter()
            .map(|line| worded(line))
            .collect(),
        // Steps of unknown kinds are shown as they are.
        None => patch.iter().take(MOST).map(ToString::to_string).collect(),
    };
    for line in &mut lines {
        *line = shortened(line, LONGEST).into_owned();
    }
    if patch.len() > MOST {
        lines.push(format!("... {} more", patch.len() - MOST));
    }
    lines
}

fn worded(line: &str) -> String {
    let words = [("+ ", "adds    "), ("- ", "removes "), ("~ ", "changes ")];
    let found = words
        .iter()
        .find_map(|(sign, word)| Some(format!("{word}{}", line.strip_prefix(sign)?)));
    found.unwrap_or_else(|| line.to_owned())
}
