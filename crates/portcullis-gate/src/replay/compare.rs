//! Compares the recorded answer with the new one.

use portcullis_record::{Answer, Decision};
use serde_json::Value;

use super::masked::is_same_but_for_masks;
use super::outcome::{Answered, Change, ChangeKind, Outcome};
use super::trace;

/// What was answered then.
pub(super) fn was(decision: &Decision) -> Answered {
    let summary = &decision.summary;
    Answered {
        allowed: summary.verdict == Answer::Allow,
        by: summary.policy.clone().or(summary.plugin.clone()),
        message: summary.message.clone(),
        patch: decision.patch.clone(),
    }
}

/// What would change, for a request whose answer may carry a patch or not.
pub(super) fn compare(
    decision: &Decision,
    now: Answered,
    may_patch: bool,
    changed_by: Option<String>,
) -> Outcome {
    let was = was(decision);
    let by_now = now.by.clone();
    let (kind, by) = match (was.allowed, now.allowed) {
        (true, false) => (ChangeKind::NewlyDenied, by_now),
        (false, true) => (ChangeKind::NewlyAllowed, was.by.clone()),
        (false, false) => {
            return Outcome::Same {
                by_another: was.by != now.by,
            };
        }
        (true, true) if !may_patch || is_same_patch(&was.patch, &now.patch) => {
            return Outcome::Same { by_another: false };
        }
        (true, true) => (ChangeKind::PatchDiffers, changed_by),
    };
    let remark = trace::was_undecided(decision).then(|| {
        "the recorded request could not be decided, which may differ from run to run".to_owned()
    });
    Outcome::Changed(Box::new(Change {
        kind,
        by: by.unwrap_or_else(|| "the chain".to_owned()),
        was,
        now,
        remark,
    }))
}

/// Whether two patches are the same, byte for byte, but for what the record masks.
pub(super) fn is_same_patch(was: &[Value], now: &[Value]) -> bool {
    let text = |patch: &[Value]| serde_json::to_string(patch).unwrap_or_default();
    text(was) == text(now)
        || (was.len() == now.len()
            && was
                .iter()
                .zip(now)
                .all(|(was, now)| is_same_but_for_masks(was, now)))
}
