//! Taking jobs out of the queue, lane by lane, so that jobs no runner of the moment may take are not even read.
//!
//! Several servers take from one queue: what one of them holds, the others skip. Nobody waits for anybody here, so this
//! may lock a job without its pipeline, which a job that begins to run doesn't change.

use std::collections::{BTreeMap, HashSet};

use portcullis_jobs::{JobId, JobStatus};

use super::by_ids::rows_by_ids;
use super::column;
use super::error::JobsError;
use super::lane::{LaneId, LaneNeeds, QueuePlace};
use super::record::{JobRecord, SELECT};
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Row, Value, number, unsigned};
use crate::error::Failure;

/// Jobs that are loaded with one statement.
const LOADED_AT_ONCE: usize = 64;

impl JobsReader<'_> {
    /// Lanes above `after` that have jobs, each with the place of its first, in the order of their numbers. However many
    /// jobs a lane has, it costs the same.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn lanes(
        &mut self,
        after: Option<LaneId>,
        limit: usize,
    ) -> Result<Vec<(LaneId, QueuePlace)>, JobsError> {
        let first = |what: &str, which: &str| {
            format!(
                "(SELECT {what} FROM pending_jobs WHERE lane {which} \
                 ORDER BY lane, promoted DESC, job LIMIT 1)"
            )
        };
        let sql = format!(
            "WITH RECURSIVE turns (lane, step) AS (SELECT {}, 1 UNION ALL SELECT {}, step + 1 \
             FROM turns WHERE turns.lane IS NOT NULL AND step < ?2) \
             SELECT lane, {}, {} FROM turns WHERE lane IS NOT NULL ORDER BY step",
            first("lane", "> ?1"),
            first("lane", "> turns.lane"),
            first("promoted", "= turns.lane"),
            first("job", "= turns.lane"),
        );
        let after = Value::Number(after.unwrap_or(i64::MIN));
        self.with(|database| {
            let rows = database.query(&sql, &[after, Value::Number(number(limit))])?;
            let rows = rows.into_iter();
            rows.map(|mut row| Ok((row.number()?, read_place(&mut row)?)))
                .collect()
        })
    }

    /// What the jobs of a lane ask of a runner; nothing if it has none.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn lane_needs(&mut self, lane: LaneId) -> Result<Option<LaneNeeds>, JobsError> {
        let sql = "SELECT project, protected, tags, accepted, rejected FROM pending_jobs \
                   WHERE lane = ?1 ORDER BY lane, promoted DESC, job LIMIT 1";
        self.with(|database| {
            let row = database.query(sql, &[Value::Number(lane)])?.pop();
            row.map(|mut row| LaneNeeds::read(&mut row)).transpose()
        })
    }

    /// The first places of a lane.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn lane_places(
        &mut self,
        lane: LaneId,
        limit: usize,
    ) -> Result<Vec<QueuePlace>, JobsError> {
        self.apart(|database| places(database, lane, limit, ""))
    }

    /// How many jobs of each project instance runners have.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn shared_running_counts(&mut self) -> Result<Vec<(String, u64)>, JobsError> {
        let sql = "SELECT project, COUNT(*) FROM running_jobs WHERE shared = 1 GROUP BY project";
        self.with(|database| {
            let rows = database.query(sql, &[])?.into_iter();
            rows.map(|mut row| Ok((row.text()?, unsigned(row.number()?))))
                .collect()
        })
    }

    /// The manager that has a job which runs: its runner, and its name.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn manager_of_job(
        &mut self,
        project: &str,
        job: JobId,
    ) -> Result<Option<(u64, String)>, JobsError> {
        let sql = "SELECT runner, manager FROM running_jobs WHERE root = ?1 AND job = ?2";
        let key = [Value::Text(column::root(project)), column::id(job)];
        self.with(|database| {
            let row = database.query(sql, &key)?.pop();
            row.map(|mut row| Ok((column::read_id(&mut row)?, row.text()?)))
                .transpose()
        })
    }
}

impl JobsTransaction<'_> {
    /// The first jobs of lanes, so many of each, in the order of the queue: no one else takes or changes them until the
    /// end of the transaction. Jobs that somebody else is about to take or to change are left out. Each lane may be
    /// named once.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn pending_for_taking(
        &mut self,
        lanes: &[(LaneId, usize)],
    ) -> Result<Vec<Vec<JobRecord>>, JobsError> {
        let mut found = Vec::with_capacity(lanes.len());
        for (lane, most) in lanes {
            found.push(self.lock_places(*lane, *most)?);
        }
        let ids = found.iter().flat_map(|(ids, _)| ids).copied().collect();
        let mut jobs = self.lock_listed(ids)?;
        let mut lists: Vec<Vec<JobRecord>> = Vec::with_capacity(lanes.len());
        for ((lane, most), (ids, is_all)) in lanes.iter().zip(found) {
            let mut list: Vec<JobRecord> = ids.iter().filter_map(|id| jobs.remove(id)).collect();
            // Somebody is about to change some of them, who doesn't hold up those behind.
            let mut limit = *most;
            let mut is_all = is_all;
            while list.len() < *most && !is_all {
                limit = limit.saturating_mul(2);
                let (ids, are_all) = self.lock_places(*lane, limit)?;
                let known: HashSet<JobId> = list.iter().map(|job| job.id).collect();
                let new = ids.iter().filter(|id| !known.contains(id)).copied();
                let mut more = self.lock_listed(new.collect())?;
                list.extend(ids.iter().filter_map(|id| more.remove(id)));
                list.truncate(*most);
                is_all = are_all;
            }
            lists.push(list);
        }
        Ok(lists)
    }

    /// Locks the first places of a lane, without those that were taken in this transaction. Says whether these are all.
    fn lock_places(&mut self, lane: LaneId, most: usize) -> Result<(Vec<JobId>, bool), JobsError> {
        let mut limit = most;
        loop {
            let found = self.apart(|database| {
                let lock = database.dialect().skip_locked;
                places(database, lane, limit, lock)
            })?;
            let is_all = found.len() < limit;
            let status = |id| self.unit()?.job(id).map(|job| job.state.status);
            let is_left = |id: &JobId| status(*id).is_none_or(|s| s == JobStatus::Pending);
            let ids = found.iter().map(|place| place.job);
            let left: Vec<JobId> = ids.filter(is_left).take(most).collect();
            if is_all || left.len() >= most {
                return Ok((left, is_all));
            }
            limit = limit.saturating_mul(2);
        }
    }

    /// Loads and locks those of these jobs that are pending, and not locked by somebody else.
    fn lock_listed(
        &mut self,
        ids: HashSet<JobId>,
    ) -> Result<BTreeMap<JobId, JobRecord>, JobsError> {
        let mut found: BTreeMap<JobId, JobRecord> = BTreeMap::new();
        let mut stored: Vec<JobId> = Vec::new();
        for id in ids {
            match self.unit().and_then(|unit| unit.job(id)) {
                Some(job) => {
                    found.insert(id, job.clone());
                }
                None => stored.push(id),
            }
        }
        stored.sort_unstable();
        for some in stored.chunks(LOADED_AT_ONCE) {
            let rows = self.apart(|database| load(database, some))?;
            found.extend(rows.into_iter().map(|job| (job.id, job)));
        }
        found.retain(|_, job| job.state.status == JobStatus::Pending);
        self.gather(|unit| found.values().for_each(|job| unit.lock(job)));
        Ok(found)
    }
}

fn places(
    database: &mut dyn Database,
    lane: LaneId,
    limit: usize,
    lock: &str,
) -> Result<Vec<QueuePlace>, Failure> {
    let sql = format!(
        "SELECT promoted, job FROM pending_jobs WHERE lane = ?1 \
         ORDER BY lane, promoted DESC, job LIMIT ?2{lock}"
    );
    let values = [Value::Number(lane), Value::Number(number(limit))];
    let rows = database.query(&sql, &values)?.into_iter();
    rows.map(|mut row| read_place(&mut row)).collect()
}

fn read_place(row: &mut Row) -> Result<QueuePlace, Failure> {
    Ok(QueuePlace {
        promoted: column::read_flag(row)?,
        job: column::read_id(row)?,
    })
}

/// Loads and locks jobs, in the order of their numbers.
fn load(database: &mut dyn Database, ids: &[JobId]) -> Result<Vec<JobRecord>, Failure> {
    let lock = database.dialect().skip_locked;
    let end = format!(" ORDER BY id{lock}");
    let rows = rows_by_ids(database, SELECT, &[], ids, &end)?.into_iter();
    rows.map(JobRecord::read).collect()
}
