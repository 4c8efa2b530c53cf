//! The outcome of replaying one recorded decision.

use std::fmt;

use serde_json::Value;

/// What comes of one recorded decision that is made again.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The answer stays as it was. Whether another plug-in denies now.
    Same {
        /// Denied then and now, but by others.
        by_another: bool,
    },
    /// The answer would change.
    Changed(Box<Change>),
    /// The record lacks what is needed to decide; why.
    Unknown(String),
    /// The new set doesn't judge such requests.
    NotJudged,
    /// Nothing of it can be decided again: policies don't decide who may call the API.
    PassedOver,
    /// The record makes no sense; why.
    Failed(String),
}

/// How an answer would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Allowed then, denied now.
    NewlyDenied,
    /// Denied then, allowed now.
    NewlyAllowed,
    /// Allowed then and now, with other changes of the object.
    PatchDiffers,
}

impl ChangeKind {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::NewlyDenied, Self::NewlyAllowed, Self::PatchDiffers];

    /// As people read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewlyDenied => "newly denied",
            Self::NewlyAllowed => "newly allowed",
            Self::PatchDiffers => "patch differs",
        }
    }

    /// As programs read it.
    pub fn key(self) -> &'static str {
        match self {
            Self::NewlyDenied => "newlyDenied",
            Self::NewlyAllowed => "newlyAllowed",
            Self::PatchDiffers => "patchDiffers",
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An answer that would change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// How.
    pub kind: ChangeKind,
    /// Whose doing it is: the policy, plug-in or authorizer that denies now, that denied then, or
    /// that changes the object.
    pub by: String,
    /// The answer then.
    pub was: Answered,
    /// The answer now.
    pub now: Answered,
    /// What should be known besides.
    pub remark: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    /// Yes or no.
    pub allowed: bool,
    /// Who decided; none if all agreed.
    pub by: Option<String>,
    /// Why not.
    pub message: String,
    /// What it changes in the object.
    pub patch: Vec<Value>,
}
