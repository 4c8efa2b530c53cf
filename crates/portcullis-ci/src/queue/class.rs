//! Runners that may take the same jobs, apart from lists of runners.

use std::collections::{BTreeSet, HashSet};

use portcullis_jobs::{AccessLevel, Runner, RunnerFilter, RunnerNeeds, RunnerType};
use portcullis_store::{LaneId, LaneNeeds};

/// A number for each waiter, in the order of their arrival.
pub(super) type WaiterId = u64;

/// A number for each class of runners.
pub(super) type ClassId = u64;

/// No list filters here.
static EVERY_RUNNER: RunnerFilter = RunnerFilter::every_runner();

/// What decides which jobs a runner may take, apart from its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ClassKey {
    kind: RunnerType,
    path: Option<String>,
    tags: Vec<String>,
    run_untagged: bool,
    access_level: AccessLevel,
    paused: bool,
}

impl ClassKey {
    pub(super) fn of(runner: &Runner) -> Self {
        let mut tags = runner.tags.clone();
        tags.sort();
        tags.dedup();
        Self {
            kind: runner.kind,
            path: runner.path.clone(),
            tags,
            run_untagged: runner.run_untagged,
            access_level: runner.access_level,
            paused: runner.paused,
        }
    }
}

/// The runners of a class.
#[derive(Debug)]
pub(super) struct Class {
    /// One of them.
    runner: Runner,
    /// The lanes whose jobs they may take, unless a list says otherwise.
    pub(super) lanes: HashSet<LaneId>,
    /// Those that wait, the longest first.
    pub(super) waiting: BTreeSet<WaiterId>,
    /// When what there is for them last changed.
    pub(super) changed: u64,
}

impl Class {
    pub(super) fn new(runner: &Runner, changed: u64) -> Self {
        Self {
            runner: runner.clone(),
            lanes: HashSet::new(),
            waiting: BTreeSet::new(),
            changed,
        }
    }

    /// Whether they may take the jobs of a lane, unless a list says otherwise.
    pub(super) fn may_take(&self, lane: &LaneNeeds) -> bool {
        let needs = RunnerNeeds {
            filter: &EVERY_RUNNER,
            ..lane.needs()
        };
        needs.is_met_by(&self.runner)
    }
}
