//! Who changed what: the object as each step left it.
//!
//! Trees are shared, not copied: a tree that is held here is copied only if a later step changes it.

use std::sync::Arc;

use serde_json::Value;

use crate::attributes::Attributes;
use crate::patch;
use crate::verdict::{Step, StepOutcome};

/// What the steps of one decision changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    original: Option<Arc<Value>>,
    /// The place of a step in the trace, and the object behind it.
    after: Vec<(usize, Arc<Value>)>,
}

impl Changes {
    /// Keeps what the last step left, if it changed the object.
    pub(super) fn note(&mut self, trace: &[Step], request: &Attributes) {
        let Some(place) = trace.len().checked_sub(1) else {
            return;
        };
        let is_changed = |step: &Step| step.outcome == StepOutcome::Changed;
        // A half that a plug-in doesn't have leaves no step.
        let is_new = self.after.last().is_none_or(|(last, _)| *last != place);
        if !(is_new && trace.last().is_some_and(is_changed)) {
            return;
        }
        if let Some((original, current)) = request.object.as_ref().and_then(|o| o.trees()) {
            self.original.get_or_insert_with(|| Arc::clone(original));
            self.after.push((place, Arc::clone(current)));
        }
    }

    /// Writes into each step what it changed, where the verdict's patch won't say it.
    pub(super) fn write_down(self, trace: &mut [Step], is_refused: bool) {
        let Some(mut before) = self.original else {
            return;
        };
        if !is_refused && self.after.len() < 2 {
            return;
        }
        for (place, after) in self.after {
            if let Some(step) = trace.get_mut(place) {
                step.patch = patch::diff(&before, &after);
            }
            before = after;
        }
    }
}
