//! Recorded requests decided again by what a server has in force.

use portcullis_config::{Loaded, Policies};
use portcullis_core::sync::Mutex;
use portcullis_document::Faults;
use portcullis_record::Decision;

use super::engine::Replay;
use super::outcome::Outcome;
use super::worker::Worker;
use crate::graphs::Graphs;

/// Workers that are kept for the next decision.
const IDLE: usize = 2;

/// What is in force, ready to decide again what it or others decided. Nothing is built before it is asked.
#[derive(Debug)]
pub struct InForce {
    replay: Replay,
    idle: Mutex<Vec<Worker>>,
}

impl InForce {
    /// Of this configuration, with these graphs.
    pub(crate) fn new(loaded: &Loaded, graphs: &Graphs) -> Self {
        Self {
            replay: Replay::of(loaded.clone(), graphs.clone(), true),
            idle: Mutex::default(),
        }
    }

    /// Decides again. This blocks for as long as a review may take.
    ///
    /// # Errors
    ///
    /// When a plug-in or a policy can't be made.
    pub fn decide(&self, decision: &Decision) -> Result<Outcome, Faults> {
        let idle = self.idle.lock().pop();
        let worker = idle.map_or_else(|| self.replay.worker(), Ok)?;
        let outcome = worker.decide(decision);
        // What could not be told may have left a thread behind that is still computing.
        if !matches!(outcome, Outcome::Unknown(_) | Outcome::Failed(_)) {
            let mut idle = self.idle.lock();
            if idle.len() < IDLE {
                idle.push(worker);
            }
        }
        Ok(outcome)
    }

    /// The policies in force.
    pub fn policies(&self) -> &Policies {
        self.replay.policies()
    }
}
