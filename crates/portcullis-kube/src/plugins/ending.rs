//! Why the look of a plug-in at a request ends early: an outcome, or something that failed.

use portcullis_core::{Outcome, PluginError};

use crate::cluster_objects::Unknown;

/// Why a plug-in's look at a request ends early.
#[derive(Debug)]
pub(crate) enum Ending {
    /// It is decided.
    Outcome(Outcome),
    /// It can't be decided.
    Error(PluginError),
}

impl Ending {
    /// The end of a look at a request, whichever way it came about.
    pub(crate) fn settled(end: Result<Outcome, Self>) -> Result<Outcome, PluginError> {
        match end {
            Ok(outcome) | Err(Self::Outcome(outcome)) => Ok(outcome),
            Err(Self::Error(error)) => Err(error),
        }
    }
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<PluginError> for Ending {
    fn from(error: PluginError) -> Self {
        Self::Error(error)
    }
}

impl From<Unknown> for Ending {
    fn from(why: Unknown) -> Self {
        Self::Error(why.into())
    }
}
