//! Ids that were taken in advance, so that a job has one before it is stored.
//!
//! Under load many are taken at once; otherwise as many as are needed, so that numbers have no gaps after a restart.

use std::collections::HashMap;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;
use portcullis_store::IdKind;

use crate::database::Database;
use crate::error::CiError;

/// Ids that are taken at once, at most.
const MOST: usize = 512;
/// Taking more within this time is load.
const SOON: Duration = Duration::from_secs(1);

/// Ids that were taken in advance.
#[derive(Debug, Default)]
pub(crate) struct IdPool(Mutex<HashMap<IdKind, Pool>>);

#[derive(Debug, Default)]
struct Pool {
    /// The next one is the last.
    ready: Vec<u64>,
    /// How many were taken the last time, and when.
    taken: usize,
    since: Option<Stopwatch>,
}

impl Pool {
    /// How many to take if this many are missing.
    fn plan(&mut self, missing: usize) -> usize {
        let is_load = self.since.is_some_and(|since| since.elapsed() < SOON);
        self.taken = match is_load {
            true => (self.taken * 2).clamp(1, MOST),
            false => 1,
        };
        self.since = Some(Stopwatch::start());
        self.taken.max(missing)
    }
}

impl IdPool {
    /// So many ids.
    pub(crate) async fn take(
        &self,
        database: &Database,
        kind: IdKind,
        count: usize,
    ) -> Result<Vec<u64>, CiError> {
        let mut ids = Vec::with_capacity(count);
        let (missing, plan) = {
            let mut pools = self.0.lock();
            let pool = pools.entry(kind).or_default();
            while ids.len() < count
                && let Some(id) = pool.ready.pop()
            {
                ids.push(id);
            }
            match count - ids.len() {
                0 => return Ok(ids),
                missing => (missing, pool.plan(missing)),
            }
        };
        let take = database.write(move |store| Ok(store.new_ids(kind, plan)?));
        let mut taken = take.await?;
        let rest = taken.split_off(missing.min(taken.len()));
        ids.extend(taken);
        if !rest.is_empty() {
            self.give_back(kind, rest);
        }
        Ok(ids)
    }

    /// Ids that were not used.
    pub(crate) fn give_back(&self, kind: IdKind, ids: Vec<u64>) {
        if ids.is_empty() {
            return;
        }
        let mut pools = self.0.lock();
        let ready = &mut pools.entry(kind).or_default().ready;
        ready.extend(ids);
        // The smallest is the next.
        ready.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    }
}
