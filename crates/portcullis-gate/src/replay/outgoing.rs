//! What other servers answered to plug-ins, from the record.
//!
//! An answer counts if it was given to the same plug-in in the same half, by the same name, about the same object: as
//! the record says that the plug-in found it, with the changes of the answers before. Where the whole question is
//! recorded, only that has to be the same.

use std::collections::VecDeque;

use portcullis_core::patch::{self, PatchOperation};
use portcullis_core::{HostFunction, Phase};
use portcullis_record::{HostCallTrace, TraceStep};
use serde_json::Value;

use super::MASK;
use super::masked::is_same_but_for_masks;
use crate::observer::OutgoingCall;

/// The answers in one decision.
#[derive(Debug, Default)]
pub(super) struct OutgoingAnswers(Vec<Asked>);

/// What one half of a plug-in asked.
#[derive(Debug)]
struct Asked {
    plugin: String,
    phase: Phase,
    /// The object as the next answer was about it.
    object: Value,
    calls: VecDeque<HostCallTrace>,
}

impl OutgoingAnswers {
    /// Adds a step in which a plug-in asked others about this object.
    pub(super) fn add(&mut self, step: &TraceStep, phase: Phase, object: Value) {
        self.0.push(Asked {
            plugin: step.plugin.clone(),
            phase,
            object,
            calls: step.host_calls.iter().cloned().collect(),
        });
    }

    /// The recorded answer, or why there is none.
    pub(super) fn answer(
        &mut self,
        call: &OutgoingCall<'_>,
    ) -> Result<Result<Value, String>, String> {
        let (plugin, name) = (call.plugin, call.name);
        let mut asked = self.0.iter_mut();
        let asked = asked.find(|asked| asked.plugin == plugin && asked.phase == call.phase);
        let found = asked.and_then(|asked| {
            let is_it = |recorded: &HostCallTrace| {
                recorded.function == call.function && recorded.policy == name
            };
            let index = asked.calls.iter().position(is_it)?;
            let recorded = asked.calls.remove(index)?;
            Some((asked, recorded))
        });
        let Some((asked, recorded)) = found else {
            return Err(format!(
                "{plugin}: {name} was not asked when it was recorded"
            ));
        };
        let is_same = match call.function {
            HostFunction::ImageReview => {
                let both = recorded.arguments.iter().zip(call.arguments);
                recorded.arguments.len() == call.arguments.len()
                    && both
                        .into_iter()
                        .all(|(then, now)| is_same_but_for_masks(then, now))
            }
            _ => is_same_but_for_masks(&asked.object, call.object),
        };
        if !is_same {
            return Err(format!("{plugin}: {name} would be asked something else"));
        }
        match (recorded.result, recorded.error) {
            (Some(result), _) if result.to_string().contains(MASK) => {
                Err(format!("{plugin}: what {name} answered is masked"))
            }
            (Some(result), _) => {
                let effect = result.get("patch").cloned().map(serde_json::from_value);
                let effect: Vec<PatchOperation> = match effect {
                    None => Vec::new(),
                    Some(Ok(effect)) => effect,
                    Some(Err(_)) => {
                        return Err(format!("{plugin}: the patch of {name} can't be read"));
                    }
                };
                if patch::apply(&mut asked.object, &effect).is_err() {
                    return Err(format!("{plugin}: the patch of {name} does not fit"));
                }
                Ok(Ok(result))
            }
            (None, Some(error)) => Ok(Err(error)),
            (None, None) => Err(format!("{plugin}: what {name} answered is not recorded")),
        }
    }
}
