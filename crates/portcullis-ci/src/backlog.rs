//! How many jobs of each project wait for admission, so that a project that submits too many is held up before it
//! holds up others.
//!
//! Each server counts what it does itself; `overload` counts anew in the store before it refuses.

use std::collections::HashMap;

use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;

/// Projects that are known, at most; those with jobs that wait are known anyway.
const MOST: usize = 10_000;

/// The numbers of all projects that are known.
#[derive(Debug, Default)]
pub(crate) struct Backlog(Mutex<HashMap<String, Waiting>>);

/// The jobs of a project that wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) jobs: usize,
    /// Since they were counted in the store.
    pub(crate) counted: Stopwatch,
}

impl Backlog {
    pub(crate) fn began(&self, project: &str) {
        let mut all = self.0.lock();
        if let Some(waiting) = all.get_mut(project) {
            waiting.jobs += 1;
        }
    }

    pub(crate) fn ended(&self, project: &str) {
        let mut all = self.0.lock();
        if let Some(waiting) = all.get_mut(project) {
            waiting.jobs = waiting.jobs.saturating_sub(1);
        }
    }

    pub(crate) fn known(&self, project: &str) -> Option<Waiting> {
        self.0.lock().get(project).copied()
    }

    pub(crate) fn set(&self, project: &str, jobs: usize) {
        let counted = Stopwatch::start();
        let waiting = Waiting { jobs, counted };
        let mut all = self.0.lock();
        if all.len() >= MOST {
            all.retain(|_, waiting| waiting.jobs > 0);
        }
        all.insert(project.to_owned(), waiting);
    }
}
