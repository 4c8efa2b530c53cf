//! The judges: built-in plug-ins, policies in place of the plug-in that evaluates them, and authorizers.

use portcullis_core::PolicyMode;

use portcullis_config::About;

/// One who judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// The name in outputs.
    pub name: String,
    /// What it is.
    pub kind: JudgeKind,
    /// What the author of a policy says of it.
    pub about: About,
}

impl Judge {
    /// One of whom nothing more is known.
    pub fn new(name: &str, kind: JudgeKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            about: About::default(),
        }
    }
}

/// What one who judges is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeKind {
    /// A built-in plug-in.
    Plugin,
    /// A policy in JavaScript, in this mode.
    Policy(PolicyMode),
    /// The denial of what no policy allowed.
    DefaultAction,
    /// An authorizer.
    Authorizer,
}
