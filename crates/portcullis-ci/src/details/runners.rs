//! Runners.

use std::fmt;

use portcullis_jobs::{AccessLevel, Runner, RunnerType, Timestamp};
use portcullis_store::ManagerRecord;
use serde::Serialize;
use serde_json::Value;

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

/// A machine that asks for jobs with the token of a runner.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManagerDetails {
    /// Its name; empty for old runners, which don't say.
    pub system_id: String,
    /// When it last asked, to the minute.
    pub contacted_at: Timestamp,
    /// Where it called from.
    pub address: Option<String>,
    /// What it says of itself: version, platform and so on.
    pub info: Value,
    /// Whether it is given no job.
    pub held: bool,
    /// Until when, and because of which hold.
    pub held_until: Option<Timestamp>,
    /// The hold.
    pub hold: Option<u64>,
}

impl ManagerDetails {
    pub(crate) fn of(record: ManagerRecord, now: Timestamp) -> Self {
        let held = record.held.filter(|(_, until)| *until > now);
        let contact = record.contact;
        Self {
            system_id: contact.system_id,
            contacted_at: contact.at,
            address: contact.address,
            info: contact.info,
            held: held.is_some(),
            held_until: held.map(|(_, until)| until),
            hold: held.map(|(hold, _)| hold),
        }
    }
}
