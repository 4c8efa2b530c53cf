//! A whole decision, as it is read back.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input::Input;
use crate::shape::{Kept, kept};
use crate::summary::Summary;
use crate::trace::TraceStep;

/// A decision with everything that is kept of it. One is one line of JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Decision {
    /// What lists show.
    #[serde(flatten)]
    pub summary: Summary,
    /// What the chain changed in the object; empty on a denial.
    pub patch: Vec<Value>,
    /// What everyone did, in order.
    pub trace: Vec<TraceStep>,
    /// What it was made of.
    pub input: Input,
}

/// A line that is not a decision.
#[derive(Debug, thiserror::Error)]
#[error("not a decision: {0}")]
pub struct ReadError(#[from] serde_json::Error);

impl Decision {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// When it is not a decision.
    pub fn from_line(line: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Rest {
            #[serde(default)]
            patch: Vec<Value>,
            #[serde(default)]
            trace: Vec<TraceStep>,
            input: Input,
        }
        // The input keeps its text, which serde can't do inside a flattened struct.
        let summary: Summary = serde_json::from_str(line)?;
        let rest: Rest = serde_json::from_str(line)?;
        let missing = match kept(summary.door) {
            Kept::Action => rest.input.action.is_none().then_some("action"),
            Kept::Body(_) => rest.input.review.is_none().then_some("review"),
        };
        if let Some(missing) = missing {
            return Err(ReadError(serde_json::Error::missing_field(missing)));
        }
        Ok(Self {
            summary,
            patch: rest.patch,
            trace: rest.trace,
            input: rest.input,
        })
    }
}
