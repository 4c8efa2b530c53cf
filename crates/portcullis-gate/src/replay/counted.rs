//! Stands in for a plug-in whose answers depend on what no record has: it repeats the recorded answer.
//!
//! Some keep count between requests, others look up objects of a cluster.

use std::sync::Arc;

use portcullis_core::{
    Attributes, ChainEntry, Denial, Notes, Operation, Outcome, Phase, Phases, Plugin, PluginError,
    StepOutcome,
};

use super::current::CurrentDecision;
use super::facts::Beyond;

/// The plug-in that stands for it.
struct Counted {
    name: String,
    beyond: Beyond,
    /// The real one, which says what is its business.
    plugin: Arc<dyn Plugin>,
    current: Arc<CurrentDecision>,
}

/// What stands for this entry.
pub(super) fn in_place_of(
    name: &str,
    beyond: Beyond,
    entry: &ChainEntry,
    current: &Arc<CurrentDecision>,
) -> ChainEntry {
    let counted = Counted {
        name: name.to_owned(),
        beyond,
        plugin: Arc::clone(entry.plugin()),
        current: Arc::clone(current),
    };
    ChainEntry::new(name, Arc::new(counted))
}

impl Counted {
    /// What it said then, if it is its business now.
    fn again(
        &self,
        phase: Phase,
        request: &Attributes,
        now: Result<Outcome, PluginError>,
    ) -> Outcome {
        if let Ok(Outcome::NotApplicable(why)) = now {
            return Outcome::NotApplicable(why);
        }
        if request.dry_run && self.beyond == Beyond::EarlierRequests {
            return Outcome::Pass;
        }
        let recorded = self.current.recorded(&self.name, phase);
        match recorded.as_ref().map(|step| (step.ended(), step)) {
            Some((Some(StepOutcome::Passed), _)) => Outcome::Pass,
            Some((Some(StepOutcome::Denied), step)) => {
                // The status is not recorded, and not compared.
                Outcome::Deny(Denial::forbidden(step.detail.clone().unwrap_or_default()))
            }
            Some((Some(StepOutcome::Skipped), step)) if self.beyond == Beyond::Cluster => {
                Outcome::NotApplicable(step.detail.clone().unwrap_or_default().into())
            }
            _ => {
                let why = match self.beyond {
                    Beyond::EarlierRequests => {
                        "counts requests, and did not count the recorded one"
                    }
                    Beyond::Cluster => "looks up objects of the cluster, which are not recorded",
                };
                self.current.miss(format!("{} {why}", self.name));
                Outcome::Pass
            }
        }
    }
}

impl Plugin for Counted {
    fn handles(&self, operation: Operation) -> bool {
        self.plugin.handles(operation)
    }

    fn phases(&self) -> Phases {
        self.plugin.phases()
    }

    fn admit(&self, request: &mut Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let now = self
            .plugin
            .admit(&mut request.clone(), &mut Notes::default());
        Ok(self.again(Phase::Admit, request, now))
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        let now = self.plugin.validate(request, &mut Notes::default());
        Ok(self.again(Phase::Validate, request, now))
    }
}
