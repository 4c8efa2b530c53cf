//! Stands for a plug-in that keeps count between requests: what it said then, it says again.

use std::sync::Arc;

use portcullis_core::{
    Attributes, ChainEntry, Denial, Notes, Operation, Operations, Outcome, Phases, Plugin,
    PluginError,
};

use super::desk::Desk;

/// The one plug-in that does.
const COUNTS: &str = "EventRateLimit";

/// The plug-in that stands for it.
struct Counted(Arc<Desk>);

/// The same entry, or what stands for it.
pub(super) fn in_place_of(name: &str, entry: ChainEntry, desk: &Arc<Desk>) -> ChainEntry {
    if name == COUNTS {
        ChainEntry::new(name, Arc::new(Counted(Arc::clone(desk))))
    } else {
        entry
    }
}

impl Plugin for Counted {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        if !request.kind.is("", "Event") {
            return Ok(Outcome::not_applicable("not an event"));
        }
        if request.dry_run {
            return Ok(Outcome::Pass);
        }
        let recorded = self.0.recorded(COUNTS);
        let outcome = recorded.as_ref().map(|step| step.outcome.as_str());
        match (outcome, recorded.as_ref()) {
            (Some("passed"), _) => Ok(Outcome::Pass),
            (Some("denied"), Some(step)) => {
                let message = step.detail.clone().unwrap_or_default();
                Ok(Outcome::Deny(Denial::new(429, "TooManyRequests", message)))
            }
            _ => {
                let why = "counts requests, and did not count this one then";
                self.0.miss(format!("{COUNTS} {why}"));
                Ok(Outcome::Pass)
            }
        }
    }
}
