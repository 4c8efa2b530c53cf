//! Controllers, exemptions and runners in memory.
//!
//! They change rarely and are needed for every job, so they are kept together with the version that the store had when
//! they were read. A transaction that finds the same version need not read them again.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_jobs::{Controller, Exemption, Runner};

/// Projects that are kept, at most.
const MOST_PROJECTS: usize = 4096;

/// What surrounds the jobs of a project, and its number.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The number of the project.
    pub(crate) project_id: u64,
    pub(crate) controllers: Vec<Controller>,
    pub(crate) exemptions: Vec<Exemption>,
    pub(crate) runners: Vec<Runner>,
}

/// What is known of some projects, all of it with the same version.
#[derive(Debug, Default)]
pub(crate) struct KnownSurroundings(Mutex<(u64, HashMap<String, Arc<Surroundings>>)>);

impl KnownSurroundings {
    pub(crate) fn get(&self, version: u64, project: &str) -> Option<Arc<Surroundings>> {
        let known = self.0.lock();
        let known = Some(&*known).filter(|(known, _)| *known == version);
        known.and_then(|(_, projects)| projects.get(project).cloned())
    }

    /// The newest version that is known, with what surrounds a project then.
    pub(crate) fn newest(&self, project: &str) -> Option<(u64, Arc<Surroundings>)> {
        let known = self.0.lock();
        let around = known.1.get(project)?;
        Some((known.0, Arc::clone(around)))
    }

    /// They were changed: what is known is still true of its version, and no longer the newest.
    pub(crate) fn forget(&self) {
        self.0.lock().1.clear();
    }

    pub(crate) fn put(&self, version: u64, project: &str, around: &Arc<Surroundings>) {
        let mut known = self.0.lock();
        if known.0 > version {
            return;
        }
        if known.0 < version || known.1.len() >= MOST_PROJECTS {
            *known = (version, HashMap::new());
        }
        known.1.insert(project.to_owned(), Arc::clone(around));
    }
}
