//! Runners.

use std::fmt;

use portcullis_jobs::{AccessLevel, Runner, RunnerType};
use serde::Serialize;

/// A runner that is to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRunner {
    /// Whose jobs it takes.
    pub kind: RunnerType,
    /// The path of its group or project; none for instance runners.
    pub path: Option<String>,
    /// For people.
    pub description: String,
    /// What it offers.
    pub tags: Vec<String>,
    /// Whether it takes jobs without tags.
    pub run_untagged: bool,
    /// Which refs it takes jobs of.
    pub access_level: AccessLevel,
    /// Whether it takes no jobs for now.
    pub paused: bool,
    /// Whether it can't be assigned to further projects.
    pub locked: bool,
}

/// A runner that was registered, with its token, which is shown once.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct CreatedRunner {
    /// The runner.
    #[serde(flatten)]
    pub runner: Runner,
    /// `glrt-` and random characters.
    pub token: String,
}

impl fmt::Debug for CreatedRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runner = &self.runner;
        f.debug_struct("CreatedRunner")
            .field("runner", runner)
            .finish_non_exhaustive()
    }
}
