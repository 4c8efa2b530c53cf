//! What a worker and the plug-ins of its chain share while one decision is made again.

use std::sync::Arc;

use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_core::{Phase, PolicyLimit};
use portcullis_js::{Evaluation, Replay};
use portcullis_record::TraceStep;
use serde_json::Value;

use super::outgoing::OutgoingAnswers;
use crate::observer::{Observer, OutgoingCall};

/// The decision that is made again now.
#[derive(Debug, Default)]
pub(super) struct CurrentDecision(Mutex<Current>);

#[derive(Debug, Default)]
struct Current {
    replay: Option<Arc<Replay>>,
    trace: Vec<TraceStep>,
    outgoing: OutgoingAnswers,
    missed: Vec<String>,
    changers: Vec<String>,
}

/// What plug-ins said while a decision was made again.
#[derive(Debug)]
pub(super) struct Observations {
    /// Why the outcome is unknown, if it is.
    pub(super) missed: Option<String>,
    /// The policies that changed the object.
    pub(super) changers: Vec<String>,
}

impl CurrentDecision {
    /// Lays a decision out.
    pub(super) fn begin(&self, replay: Replay, trace: &[TraceStep], outgoing: OutgoingAnswers) {
        // Only what was said by plug-ins is looked for here.
        let trace = trace.iter().filter(|step| step.policies.is_empty());
        *self.lock() = Current {
            replay: Some(Arc::new(replay)),
            trace: trace.cloned().collect(),
            outgoing,
            ..Current::default()
        };
    }

    /// Puts it away.
    pub(super) fn finish(&self) -> Observations {
        let current = std::mem::take(&mut *self.lock());
        Observations {
            missed: current.missed.into_iter().next(),
            changers: current.changers,
        }
    }

    /// Notes that something is not in the record.
    pub(super) fn miss(&self, why: String) {
        self.lock().missed.push(why);
    }

    /// What this half of a plug-in did then.
    pub(super) fn recorded(&self, plugin: &str, phase: Phase) -> Option<TraceStep> {
        let current = self.lock();
        let is_it = |s: &&TraceStep| s.plugin == plugin && s.phase == Some(phase.into());
        current.trace.iter().find(is_it).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.0.lock()
    }
}

impl Observer for CurrentDecision {
    fn evaluated(&self, evaluation: &Evaluation) {
        for unknown in &evaluation.unknown {
            self.miss(unknown.to_string());
        }
        self.lock()
            .changers
            .extend_from_slice(&evaluation.changed_by);
        // Running out of time on a busy machine is not a denial.
        for step in &evaluation.steps {
            if step.limit == Some(PolicyLimit::Deadline) {
                self.miss(format!("{} exceeded its time limit", step.name));
            }
        }
        if let Some(denial) = evaluation.denial()
            && denial.limit == Some(PolicyLimit::Deadline)
        {
            self.miss("the policies exceeded their time limit".to_owned());
        }
    }

    fn unknown_namespace(&self, name: &str) {
        self.miss(format!(
            "which policies are asked depends on the labels of the namespace {name}, which are not recorded"
        ));
    }

    fn outgoing(&self, call: &OutgoingCall<'_>) -> Result<Value, String> {
        let answer = self.lock().outgoing.answer(call);
        answer.unwrap_or_else(|why| {
            self.miss(why.clone());
            Err(why)
        })
    }

    fn replays(&self) -> bool {
        true
    }

    fn replay(&self) -> Option<Arc<Replay>> {
        self.lock().replay.clone()
    }
}
