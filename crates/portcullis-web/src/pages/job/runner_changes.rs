//! Which runners could take the job before and after each controller decided.

use serde::Deserialize;

use crate::backend::{Backend, Problem};

/// Runners that are named; more are counted.
const NAMED: usize = 10;

/// What one decision means for the runners.
#[derive(Debug, Deserialize)]
pub(super) struct RunnerChange {
    pub(super) dry_run: bool,
    before: Vec<u64>,
    after: Vec<u64>,
}

/// Runners as they are shown.
#[derive(Debug)]
pub(super) struct Runners<'a> {
    pub(super) ids: &'a [u64],
    /// How many are not named.
    pub(super) more: usize,
}

/// Those of a job, in the order of its decisions.
pub(super) async fn read(backend: &dyn Backend, job: u64) -> Result<Vec<RunnerChange>, Problem> {
    let path = format!("/api/v1/jobs/{job}/runners/changes");
    backend.get(&path).await
}

impl RunnerChange {
    /// Whether other runners may take the job afterwards, or would if the answer counted.
    pub(super) fn is_any(&self) -> bool {
        self.before != self.after
    }

    pub(super) fn before(&self) -> Runners<'_> {
        Runners::of(&self.before)
    }

    pub(super) fn after(&self) -> Runners<'_> {
        Runners::of(&self.after)
    }
}

impl<'a> Runners<'a> {
    fn of(all: &'a [u64]) -> Self {
        let ids = all.get(..NAMED).unwrap_or(all);
        Self {
            ids,
            more: all.len() - ids.len(),
        }
    }
}
