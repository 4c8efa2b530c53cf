//! Runners and held managers as they are in the transaction that gives them jobs.
//!
//! A poll may have been held for a while, and its runner paused, changed or deleted meanwhile, by whichever server. What
//! was read with a version of the surroundings is true in every transaction that finds the same one.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_jobs::{Runner, RunnerId, Timestamp};
use portcullis_store::JobsTransaction;

use super::index::Assignment;
use crate::error::CiError;

/// Runners that are kept, at most.
const MOST: usize = 50_000;

/// What is known with one version.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    version: Option<u64>,
    runners: HashMap<RunnerId, Option<Arc<Runner>>>,
    /// Managers that are held, until when.
    held: Arc<HashMap<(RunnerId, String), Timestamp>>,
}

/// What one transaction knows.
#[derive(Debug)]
pub(crate) struct KnownRunners {
    runners: HashMap<RunnerId, Arc<Runner>>,
    held: Arc<HashMap<(RunnerId, String), Timestamp>>,
}

impl Verified {
    /// The runners of these assignments, and who is held, as they are in a transaction.
    pub(crate) fn load<'a>(
        this: &Mutex<Self>,
        store: &mut JobsTransaction<'_>,
        assignments: impl Iterator<Item = &'a Assignment>,
        now: Timestamp,
    ) -> Result<KnownRunners, CiError> {
        let version = store.current_surroundings()?;
        let mut known = this.lock();
        // A transaction that has changed them itself has no version: what it reads is for itself alone.
        if version.is_none() || known.version != version || known.runners.len() >= MOST {
            *known = Self {
                version,
                runners: HashMap::new(),
                held: Arc::new(held(store, now)?),
            };
        }
        let mut runners = HashMap::new();
        for Assignment { runner: id, .. } in assignments {
            let runner = match known.runners.get(id) {
                Some(runner) => runner.clone(),
                None => {
                    let found = store.runners_by_id(&[*id])?.pop().map(Arc::new);
                    known.runners.insert(*id, found.clone());
                    found
                }
            };
            runners.extend(runner.map(|runner| (*id, runner)));
        }
        let held = Arc::clone(&known.held);
        if version.is_none() {
            *known = Self::default();
        }
        Ok(KnownRunners { runners, held })
    }

    /// Whether a manager was held when they were last read.
    pub(super) fn is_held(&self, runner: RunnerId, manager: &str, now: Timestamp) -> bool {
        let key = (runner, manager.to_owned());
        self.held.get(&key).is_some_and(|until| *until > now)
    }
}

impl KnownRunners {
    /// The runner of an assignment, if it is still there and its manager isn't held.
    pub(crate) fn runner(&self, assignment: &Assignment, now: Timestamp) -> Option<&Runner> {
        let key = (assignment.runner, assignment.manager.clone());
        let is_held = self.held.get(&key).is_some_and(|until| *until > now);
        let runner = self.runners.get(&assignment.runner).map(|runner| &**runner);
        runner.filter(|_| !is_held)
    }
}

fn held(
    store: &mut JobsTransaction<'_>,
    now: Timestamp,
) -> Result<HashMap<(RunnerId, String), Timestamp>, CiError> {
    let managers = store.held_managers(now)?.into_iter();
    let held = managers.filter_map(|manager| {
        let (_, until) = manager.held?;
        let contact = manager.contact;
        Some(((contact.runner, contact.system_id), until))
    });
    Ok(held.collect())
}
