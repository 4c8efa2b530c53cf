//! An evaluation repeated from a record: what the record has, and what it lacks.
//!
//! Secrets are masked in a record, and neither the `GlobalContext` nor random numbers are in it. A policy
//! that reads any of these would judge something else than it did originally: that is noticed, and
//! returned with the result as an [`Unknown`].

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::HostFunction;
use portcullis_core::text::shortened;
use serde_json::Value;

use crate::host::HostRequest;

/// How many unknowns are kept of one evaluation.
pub(crate) const KEPT: usize = 32;

/// How much of the arguments of a call is shown.
const SHOWN: usize = 120;

/// What is known of the time an evaluation was first made. Only a pool that was
/// [started for replays](crate::Pool::start_for_replays) shows this time and notices chance.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The time that policies see as now.
    pub now: SystemTime,
    /// What replaces masked values in strings. No string that contains it is read until a
    /// policy gets its value. If it is empty, nothing is masked.
    pub mask: Arc<str>,
    /// The recorded host calls. The host of the pool is never called.
    pub calls: Arc<dyn RecordedCalls>,
}

/// The recorded host calls.
pub trait RecordedCalls: Send + Sync + fmt::Debug {
    /// The answer to this call; none if it was not made then, or its answer was not kept.
    fn answer(&self, request: &HostRequest<'_>) -> Option<Result<Value, String>>;
}

/// Something that a policy looked at in a replay, and that the record doesn't have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unknown {
    /// Name of the policy.
    pub policy: String,
    /// What is missing.
    pub missing: Missing,
}

/// What a record doesn't have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Missing {
    /// A value that is masked, by its place: `object.data.password`.
    Masked(String),
    /// What policies kept between requests.
    GlobalContext,
    /// Nondeterminism: `Math.random()`, or a clock that is not a date.
    Chance(&'static str),
    /// The answer of a host call: the call.
    Answer(String),
}

impl Missing {
    /// A call that was not made then.
    pub(crate) fn answer(function: HostFunction, arguments: &[Value]) -> Self {
        let list: Vec<String> = arguments.iter().map(Value::to_string).collect();
        let list = list.join(", ");
        Self::Answer(format!("{function}({})", shortened(&list, SHOWN)))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Masked(place) => write!(f, "reads {place}, which is masked"),
            Self::GlobalContext => f.write_str("reads ac.GlobalContext, which is not recorded"),
            Self::Chance(what) => write!(f, "calls {what}, which is not recorded"),
            Self::Answer(call) => write!(f, "calls {call}, which has no answer in the record"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.policy, self.missing)
    }
}
