//! `ScopedAccess`: agents write only objects that belong to what they are responsible for.
//!
//! It asks every profile of the relationship graph that knows the user; all of them must agree. What the
//! checks look up comes from the watched objects, or is read from the API server where those are not
//! sufficient: other kinds, and objects that the watch has not seen (it may lag behind). What can't be
//! determined is denied, whatever the failure mode; so is a user that claims to be an agent, if which one
//! can't be determined.
//!
//! `profiles` is its input, `knowledge` what its checks can look up, `decide` the way to an answer.
//! Users that are not agents cost a look at their name and groups.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::registry::{DependsOn, Descriptor, Registry};
use portcullis_core::{
    Attributes, Door, Finished, Notes, Operation, Operations, Outcome, Pending, Phase, Phases,
    Plugin, Runs, clock,
};

use super::config;

pub use profiles::{LiveReader, Reading, ScopedProfile};

mod decide;
mod knowledge;
mod profiles;
#[cfg(test)]
mod tests;

/// The name it is configured by.
pub const NAME: &str = "ScopedAccess";

/// How long reading may take in all, unless the chain says something else.
const DEFAULT_TIME: Duration = Duration::from_secs(2);

struct ScopedAccess {
    profiles: Arc<[ScopedProfile]>,
}

/// Makes it known, with the profiles that it asks.
pub fn register(registry: &mut Registry, profiles: &Arc<[ScopedProfile]>) {
    let profiles = Arc::clone(profiles);
    registry.register(Descriptor {
        name: NAME,
        summary: "Restricts agents of the relationship graph to what they are responsible for.",
        phases: Phases::VALIDATE,
        operations: Operations::ALL,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: None,
        factory: Box::new(move |configuration| {
            config::none(configuration)?;
            let profiles = Arc::clone(&profiles);
            Ok(Arc::new(ScopedAccess { profiles }))
        }),
    });
}

impl Plugin for ScopedAccess {
    fn handles(&self, operation: Operation) -> bool {
        Operations::ALL.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn begin(&self, _: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        if request.door != Door::Kubernetes {
            return not_applicable("only for Kubernetes requests");
        }
        let agents = match decide::agents(&self.profiles, &request.user) {
            Ok(agents) => agents,
            Err(unclear) => return Box::pin(std::future::ready(unclear.refused())),
        };
        if agents.is_empty() {
            return not_applicable("the user is not an agent of any profile");
        }
        let deadline = deadline.unwrap_or_else(|| clock::monotonic() + DEFAULT_TIME);
        Box::pin(decide::decide(agents, request.clone(), deadline))
    }
}

fn not_applicable(why: &'static str) -> Pending {
    Box::pin(std::future::ready(Finished {
        outcome: Ok(Outcome::not_applicable(why)),
        notes: Notes::default(),
        object: None,
    }))
}
