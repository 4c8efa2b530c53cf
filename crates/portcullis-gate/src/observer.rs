//! What an evaluation reports besides its verdict, for callers that run policies without a server, and what answers
//! its calls there.

use std::fmt;
use std::sync::Arc;

use portcullis_core::{HostFunction, Phase};
use portcullis_js::{Evaluation, Host, Replay};
use serde_json::Value;

/// Sees every evaluation. Without one, what policies write goes to the log.
pub(crate) trait Observer: Send + Sync + fmt::Debug {
    /// An evaluation has ended.
    fn evaluated(&self, evaluation: &Evaluation);

    /// Whether policies are asked after a denial too.
    fn asks_on(&self) -> bool {
        false
    }

    /// Whether every evaluation is made again from a record.
    fn replays(&self) -> bool {
        false
    }

    /// What is known of the request that is asked about now, if it comes from a record.
    fn replay(&self) -> Option<Arc<Replay>> {
        None
    }

    /// Whether a policy is for the request depends on labels of this namespace, which aren't known.
    fn unknown_namespace(&self, name: &str) {
        let _ = name;
    }

    /// What another server answered to a plug-in when it was recorded; asked where it replays.
    fn outgoing(&self, call: &OutgoingCall<'_>) -> Result<Value, String> {
        Err(format!("{} is not asked here", call.name))
    }

    /// What answers host calls, in place of the world outside.
    fn host(&self) -> Option<Arc<dyn Host>> {
        None
    }
}

/// One call of a plug-in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutgoingCall<'a> {
    /// The plug-in.
    pub(crate) plugin: &'static str,
    /// Its half.
    pub(crate) phase: Phase,
    /// What it calls, by its name in the configuration.
    pub(crate) name: &'a str,
    /// What it asks.
    pub(crate) function: HostFunction,
    /// With what, as far as it is recorded.
    pub(crate) arguments: &'a [Value],
    /// The object that it asks about; null where there is none.
    pub(crate) object: &'a Value,
}
