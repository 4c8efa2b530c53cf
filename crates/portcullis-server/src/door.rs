//! The shape of a door, and how its decisions are answered and recorded.
//!
//! A door is one module. It decodes a wire format, asks the gate, and defines the rest as a [`Door`]: how a
//! decision is counted, exported and logged, what is answered, what is answered if a decision that must be
//! recorded can't be, and what the record keeps. Where its secrets are is defined in `portcullis-record`.
//! The doors are listed in `doors`.

use std::sync::Arc;
use std::time::Instant;

use portcullis_config::Service;
use portcullis_gate::Gate;
use portcullis_record::Material;

use crate::decisions::NotKept;
use crate::server::Server;

/// Why a review whose decision must be recorded and can't be is denied.
pub(crate) const NOT_RECORDED: &str = "the decision could not be recorded, which is required";

/// What a door says of its decisions.
pub(crate) trait Door {
    /// What records, lists, metrics and telemetry call it.
    const NAME: portcullis_core::Door;
    /// It is open at listeners that serve one of these.
    const SERVICES: &'static [Service];
    /// A decision with everything it was made of.
    type Decision;
    /// What is said to the one who asked.
    type Answer;

    /// Counts a decision, exports it and logs it.
    fn report(server: &Server, gate: &Gate, decision: &Self::Decision);

    /// What is answered.
    fn encode(decision: &Self::Decision) -> Self::Answer;

    /// What is answered instead if the decision must be recorded and could not be: never an allow.
    fn encode_unrecorded(decision: &Self::Decision) -> Self::Answer;

    /// What the record keeps, nothing of it masked yet.
    fn record(decision: Self::Decision, gate: &Gate) -> Material;
}

/// Answers, and records what was decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping<'a> {
    /// What has the decision log.
    pub(crate) server: &'a Server,
    /// What judged.
    pub(crate) gate: &'a Gate,
    /// An answer waits no longer for its record.
    pub(crate) deadline: Instant,
}

impl Keeping<'_> {
    /// Records a decision; what is returned is to be answered. It waits for the record only where
    /// decisions must be recorded.
    pub(crate) async fn answer<D: Door>(self, decision: D::Decision) -> D::Answer {
        let log = &self.server.decisions;
        let answer = D::encode(&decision);
        if !log.is_on() {
            return answer;
        }
        if !log.is_required() {
            self.later::<D>(decision);
            return answer;
        }
        let otherwise = D::encode_unrecorded(&decision);
        let material = D::record(decision, self.gate);
        let kept = log.keep_surely(&material, &self.gate.masker, self.deadline);
        match kept.await {
            Ok(()) => answer,
            Err(NotKept) => otherwise,
        }
    }

    /// Records a decision whose answer doesn't wait for it.
    pub(crate) fn later<D: Door>(self, decision: D::Decision) {
        let material = D::record(decision, self.gate);
        let masker = Arc::clone(&self.gate.masker);
        self.server.decisions.keep(material, masker);
    }
}
