//! Holds for jobs that fail: the machine that ran one takes no other job.

use std::time::Duration;

use portcullis_jobs::{RunnerId, Timestamp};

use super::column;
use super::error::JobsError;
use super::record::JobRecord;
use super::transaction::JobsTransaction;
use crate::database::{Database, Row, Value, unsigned};
use crate::error::Failure;

/// How long a machine is kept whose hold has no end.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A machine that is kept because a job failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldManager {
    /// The hold.
    pub hold: u64,
    /// The runner of the job.
    pub runner: RunnerId,
    /// The machine; empty if it doesn't say which it is.
    pub system_id: String,
}

/// A hold that a failure may use up.
struct Candidate {
    id: u64,
    reference: Option<String>,
    change: Option<String>,
    node_expiration: Option<u64>,
    expires_at: Option<Timestamp>,
}

impl Candidate {
    /// Whether it is for this ref and change. A change without a patch set is for all of them.
    fn is_for(&self, git_ref: &str, change: Option<&str>) -> bool {
        let is_ref = |wanted: &String| wanted == git_ref;
        let is_change = |wanted: &String| {
            let number = |change: &str| change.split(',').next().map(str::to_owned);
            change == Some(wanted) || change.and_then(number).as_deref() == Some(wanted)
        };
        self.reference.as_ref().is_none_or(is_ref) && self.change.as_ref().is_none_or(is_change)
    }

    /// Until when the machine is kept. No expiration, and one of 0 seconds, is for as long as the hold is there.
    fn until(&self, now: Timestamp) -> Timestamp {
        let kept = self.node_expiration.filter(|seconds| *seconds > 0);
        let kept = kept.map_or(FOREVER, Duration::from_secs);
        let until = now.after(kept);
        self.expires_at.map_or(until, |end| end.min(until))
    }
}

impl JobsTransaction<'_> {
    /// A running job is about to fail. The oldest hold that is for it, if there is one, keeps the machine that runs it,
    /// and is used up by one. The job must not be saved yet: who runs it would not be known any more.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn hold_for_failure(
        &mut self,
        job: &JobRecord,
        change: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<HeldManager>, JobsError> {
        let definition = &job.definition;
        let candidates = self.apart(|database| {
            let wanted = (&*definition.project, &*definition.name);
            live_holds(database, wanted, now)
        })?;
        let mut candidates = candidates.into_iter();
        let is_wanted = |one: &Candidate| one.is_for(&definition.git_ref, change);
        let Some(hold) = candidates.find(is_wanted) else {
            return Ok(None);
        };
        let taken = self.manager_of_job(&definition.project, job.id)?;
        let Some((runner, system_id)) = taken else {
            return Ok(None);
        };
        let use_up = "UPDATE holds SET current_count = current_count + 1 \
                      WHERE id = ?1 AND current_count < max_count";
        // Another failure may have been quicker: then the next one counts.
        if self.write_apart(|database| database.execute(use_up, &[column::id(hold.id)]))? == 0 {
            return Ok(None);
        }
        self.hold_manager((runner, &system_id), hold.id, hold.until(now), now)?;
        Ok(Some(HeldManager {
            hold: hold.id,
            runner,
            system_id,
        }))
    }
}

/// The holds for a job of a project that are not used up, the oldest first.
fn live_holds(
    database: &mut dyn Database,
    (project, job): (&str, &str),
    now: Timestamp,
) -> Result<Vec<Candidate>, Failure> {
    let sql = "SELECT id, for_ref, for_change, node_expiration, expires_at FROM holds \
               WHERE project = ?1 AND job = ?2 AND current_count < max_count \
               AND expired_at IS NULL AND (expires_at IS NULL OR expires_at > ?3) ORDER BY id";
    let values = [Value::Text(project), Value::Text(job), column::time(now)];
    let rows = database.query(sql, &values)?.into_iter();
    let read = |mut row: Row| {
        Ok(Candidate {
            id: column::read_id(&mut row)?,
            reference: row.optional_text()?,
            change: row.optional_text()?,
            node_expiration: row.optional_number()?.map(unsigned),
            expires_at: column::read_optional_time(&mut row)?,
        })
    };
    rows.map(read).collect()
}
