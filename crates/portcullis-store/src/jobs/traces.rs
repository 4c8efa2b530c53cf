//! What jobs write while they run, in pieces as they come.

use portcullis_jobs::{Job, JobId, Timestamp};

use super::archive::ensure_day;
use super::column;
use super::day::Day;
use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Value, number, unsigned};
use crate::error::Failure;

/// One run of a job by a runner: what it sends belongs to this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRun {
    /// The path of the project.
    pub project: String,
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: u32,
    /// When the runner took it.
    pub started_at: Timestamp,
}

impl JobRun {
    /// The run of a job in its present attempt; nothing if no runner took it.
    pub fn of(job: &Job) -> Option<Self> {
        Some(Self {
            project: job.definition.project.clone(),
            job: job.id,
            attempt: job.state.attempt,
            started_at: job.state.started_at?,
        })
    }

    pub(super) fn day(&self) -> Day {
        Day::of(self.started_at)
    }

    /// The first columns of the keys of all tables: root, job, attempt, day.
    pub(super) fn key(&self) -> [Value<'_>; 4] {
        [
            Value::Text(column::root(&self.project)),
            column::id(self.job),
            Value::Number(self.attempt.into()),
            Value::Number(self.day().0),
        ]
    }
}

/// The condition for rows of one run, whose key is the first values.
pub(super) const OF_RUN: &str = "root = ?1 AND job = ?2 AND attempt = ?3 AND day = ?4";

/// How much of a trace there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceState {
    /// Its bytes.
    pub size: u64,
    /// Their CRC-32.
    pub checksum: u32,
    /// How often it was begun anew.
    pub resets: u32,
}

impl JobsReader<'_> {
    /// How much there is of the trace of a run.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn trace(&mut self, run: &JobRun) -> Result<TraceState, JobsError> {
        self.apart(|database| Ok(find(database, run, "")?.unwrap_or_default()))
    }

    /// Pieces of a trace from this byte on, with where they begin: at least one if there is one, at most `limit`.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn trace_chunks(
        &mut self,
        run: &JobRun,
        from: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, JobsError> {
        let sql = format!(
            "SELECT first_byte, content FROM trace_chunks WHERE {OF_RUN} AND first_byte >= ?5 \
             ORDER BY first_byte LIMIT ?6"
        );
        let mut values = run.key().to_vec();
        values.extend([column::id(from), Value::Number(number(limit))]);
        self.apart(|database| {
            let rows = database.query(&sql, &values)?.into_iter();
            rows.map(|mut row| Ok((column::read_id(&mut row)?, row.blob()?)))
                .collect()
        })
    }
}

impl JobsTransaction<'_> {
    /// The trace of a run that will be changed: no one else changes it until the end of the transaction.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn trace_for_change(&mut self, run: &JobRun) -> Result<TraceState, JobsError> {
        self.write_apart(|database| {
            let lock = database.dialect().for_update;
            if let Some(found) = find(database, run, lock)? {
                return Ok(found);
            }
            ensure_day(database, run.day())?;
            let sql = "INSERT INTO traces (root, job, attempt, day, size, checksum, resets) \
                       VALUES (?1, ?2, ?3, ?4, 0, 0, 0) ON CONFLICT DO NOTHING";
            database.execute(sql, &run.key())?;
            // Another server may have been quicker.
            Ok(find(database, run, lock)?.unwrap_or_default())
        })
    }

    /// Appends a piece to the trace of a run, which has this `state` and gets this checksum.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn append_trace(
        &mut self,
        run: &JobRun,
        state: TraceState,
        content: &[u8],
        checksum: u32,
    ) -> Result<(), JobsError> {
        let insert = "INSERT INTO trace_chunks (root, job, attempt, day, first_byte, content) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let update = format!("UPDATE traces SET size = ?5, checksum = ?6 WHERE {OF_RUN}");
        let size = state.size.saturating_add(content.len() as u64);
        self.write_apart(|database| {
            let mut values = run.key().to_vec();
            values.extend([column::id(state.size), Value::Blob(content)]);
            database.execute(insert, &values)?;
            values.truncate(4);
            values.extend([column::id(size), Value::Number(checksum.into())]);
            database.execute(&update, &values).map(drop)
        })
    }

    /// Empties the trace of a run: the runner sends it again.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn reset_trace(&mut self, run: &JobRun) -> Result<(), JobsError> {
        let update =
            format!("UPDATE traces SET size = 0, checksum = 0, resets = resets + 1 WHERE {OF_RUN}");
        let delete = format!("DELETE FROM trace_chunks WHERE {OF_RUN}");
        self.write_apart(|database| {
            database.execute(&update, &run.key())?;
            database.execute(&delete, &run.key()).map(drop)
        })
    }
}

fn find(
    database: &mut dyn Database,
    run: &JobRun,
    lock: &str,
) -> Result<Option<TraceState>, Failure> {
    let sql = format!("SELECT size, checksum, resets FROM traces WHERE {OF_RUN}{lock}");
    let Some(mut row) = database.query(&sql, &run.key())?.pop() else {
        return Ok(None);
    };
    let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(Some(TraceState {
        size: unsigned(row.number()?),
        checksum: small(row.number()?),
        resets: small(row.number()?),
    }))
}
