//! What is known of the artifacts of jobs. Their content is in files.

use portcullis_jobs::Timestamp;

use super::archive::ensure_day;
use super::column;
use super::error::JobsError;
use super::traces::{JobRun, OF_RUN};
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Row, Value, number, storable};
use crate::error::Failure;

/// What [`read`] reads, in its order.
const COLUMNS: &str = "day, kind, file, name, size, created_at, expires_at";

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRecord {
    /// The day of its run: days since 1970, in UTC.
    pub day: i64,
    /// What the runner calls it, such as `archive`.
    pub kind: String,
    /// The name of its file, which the server chose.
    pub file: String,
    /// The name that the runner gave.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it is deleted, if that is before its job.
    pub expires_at: Option<Timestamp>,
}

impl JobRun {
    /// The day on which it began: days since 1970, in UTC.
    pub fn day_number(&self) -> i64 {
        self.day().0
    }
}

impl JobsReader<'_> {
    /// The artifact of this kind of a run.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn artifact(
        &mut self,
        run: &JobRun,
        kind: &str,
    ) -> Result<Option<ArtifactRecord>, JobsError> {
        let sql = format!("SELECT {COLUMNS} FROM artifacts WHERE {OF_RUN} AND kind = ?5");
        let mut values = run.key().to_vec();
        values.push(Value::Text(kind));
        self.apart(|database| database.query(&sql, &values)?.pop().map(read).transpose())
    }

    /// How many artifacts a run has.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn artifact_count(&mut self, run: &JobRun) -> Result<u64, JobsError> {
        let sql = format!("SELECT COUNT(*) FROM artifacts WHERE {OF_RUN}");
        self.apart(|database| {
            column::read_id(&mut crate::database::one(database, &sql, &run.key())?)
        })
    }
}

impl JobsTransaction<'_> {
    /// Stores an artifact in place of an earlier one of its kind, which is returned.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn put_artifact(
        &mut self,
        run: &JobRun,
        artifact: &ArtifactRecord,
    ) -> Result<Option<ArtifactRecord>, JobsError> {
        let earlier = self.artifact(run, &artifact.kind)?;
        let delete = format!("DELETE FROM artifacts WHERE {OF_RUN} AND kind = ?5");
        let insert = "INSERT INTO artifacts (root, job, attempt, day, kind, file, name, size, created_at, expires_at) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let name = storable(&artifact.name);
        self.write_apart(|database| {
            ensure_day(database, run.day())?;
            let mut values = run.key().to_vec();
            values.push(Value::Text(&artifact.kind));
            database.execute(&delete, &values)?;
            values.extend([
                Value::Text(&artifact.file),
                Value::Text(&name),
                column::id(artifact.size),
                column::time(artifact.created_at),
                column::optional_time(artifact.expires_at),
            ]);
            database.execute(insert, &values).map(drop)
        })?;
        Ok(earlier)
    }

    /// Forgets artifacts that expired before a time, at most `limit`; their files are still to be deleted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn expire_artifacts(
        &mut self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ArtifactRecord>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().skip_locked;
            let sql = format!(
                "SELECT {COLUMNS}, root, job, attempt FROM artifacts WHERE expires_at IS NOT NULL \
                 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2{lock}"
            );
            let delete = format!("DELETE FROM artifacts WHERE {OF_RUN} AND kind = ?5");
            let values = [column::time(now), Value::Number(number(limit))];
            let mut expired = Vec::new();
            for mut row in database.query(&sql, &values)? {
                let artifact = read_from(&mut row)?;
                let root = row.text()?;
                let values = [
                    Value::Text(&root),
                    Value::Number(row.number()?),
                    Value::Number(row.number()?),
                    Value::Number(artifact.day),
                    Value::Text(&artifact.kind),
                ];
                database.execute(&delete, &values)?;
                expired.push(artifact);
            }
            Ok(expired)
        })
    }
}

/// The artifact in a row of [`COLUMNS`].
fn read(mut row: Row) -> Result<ArtifactRecord, Failure> {
    read_from(&mut row)
}

fn read_from(row: &mut Row) -> Result<ArtifactRecord, Failure> {
    Ok(ArtifactRecord {
        day: row.number()?,
        kind: row.text()?,
        file: row.text()?,
        name: row.text()?,
        size: column::read_id(row)?,
        created_at: column::read_time(row)?,
        expires_at: column::read_optional_time(row)?,
    })
}
