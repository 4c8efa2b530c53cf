//! Registered runners.

use portcullis_jobs::{Runner, RunnerId, RunnerType, Timestamp};

use super::by_ids::rows_by_ids;
use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use super::{column, scope};
use crate::database::{Database, Row, Value, number};
use crate::error::Failure;

/// What [`read`] reads, in its order.
const SELECT: &str = "SELECT token_hash, created_at, body FROM runners";

/// A runner as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerRecord {
    /// The runner.
    pub runner: Runner,
    /// The hash of its token, which no other runner has.
    pub token_hash: String,
    /// When it was registered.
    pub created_at: Timestamp,
}

impl RunnerRecord {
    fn path(&self) -> &str {
        self.runner.path.as_deref().unwrap_or("")
    }
}

impl JobsReader<'_> {
    /// A runner.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn runner(&mut self, id: RunnerId) -> Result<Option<RunnerRecord>, JobsError> {
        self.with(|database| by_id(database, id, ""))
    }

    /// Those of these runners that there are.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn runners_by_id(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>, JobsError> {
        self.apart(|database| {
            let rows = rows_by_ids(database, SELECT, &[], ids, "")?.into_iter();
            rows.map(|row| Ok(read(row)?.runner)).collect()
        })
    }

    /// The runner with this hash of its token.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn runner_by_token(&mut self, token_hash: &str) -> Result<Option<RunnerRecord>, JobsError> {
        let sql = format!("{SELECT} WHERE token_hash = ?1");
        let mut rows = self.with(|database| rows(database, &sql, &[Value::Text(token_hash)]))?;
        Ok(rows.pop())
    }

    /// Runners with numbers above `after`, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list_runners(
        &mut self,
        after: Option<RunnerId>,
        limit: usize,
    ) -> Result<Vec<RunnerRecord>, JobsError> {
        let sql = format!("{SELECT} WHERE id > ?1 ORDER BY id LIMIT ?2");
        let values = [column::id(after.unwrap_or(0)), Value::Number(number(limit))];
        self.with(|database| rows(database, &sql, &values))
    }

    /// All runners that are there for a project, paused or not: its own, those of its groups, and those of the
    /// instance, by their numbers.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn runners_for(&mut self, project: &str) -> Result<Vec<RunnerRecord>, JobsError> {
        let words = [RunnerType::Instance, RunnerType::Group, RunnerType::Project];
        let words = words.map(RunnerType::as_str);
        let (condition, values) = scope::for_project(project, "kind", words);
        let sql = format!("{SELECT} WHERE {condition} ORDER BY id");
        self.apart(|database| rows(database, &sql, &values))
    }
}

impl JobsTransaction<'_> {
    /// A runner that will be changed: no one else changes it until the end of the transaction.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn runner_for_change(&mut self, id: RunnerId) -> Result<Option<RunnerRecord>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().for_update;
            by_id(database, id, lock)
        })
    }

    /// Inserts a new runner.
    ///
    /// # Errors
    ///
    /// When another one has its id or token, or the database doesn't answer.
    pub fn insert_runner(&mut self, record: &RunnerRecord) -> Result<(), JobsError> {
        self.surroundings_change()?;
        let sql = "INSERT INTO runners (id, created_at, kind, path, paused, token_hash, body) \
                   VALUES (?1, ?7, ?2, ?3, ?4, ?5, ?6)";
        self.with(|database| {
            let body = column::json(&record.runner)?;
            let mut values = changing(record, &body).to_vec();
            values.push(column::time(record.created_at));
            database.execute(sql, &values).map(drop)
        })
    }

    /// Saves a runner; says whether it is there.
    ///
    /// # Errors
    ///
    /// When another one has its token, or the database doesn't answer.
    pub fn save_runner(&mut self, record: &RunnerRecord) -> Result<bool, JobsError> {
        self.surroundings_change()?;
        let sql = "UPDATE runners SET kind = ?2, path = ?3, paused = ?4, token_hash = ?5, body = ?6 \
                   WHERE id = ?1";
        let saved = self.with(|database| {
            let body = column::json(&record.runner)?;
            database.execute(sql, &changing(record, &body))
        })?;
        Ok(saved > 0)
    }

    /// Deletes a runner; says whether it was there.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delete_runner(&mut self, id: RunnerId) -> Result<bool, JobsError> {
        self.surroundings_change()?;
        let deleted = self.with(|database| {
            let id = [column::id(id)];
            database.execute("DELETE FROM runner_managers WHERE runner = ?1", &id)?;
            database.execute("DELETE FROM runners WHERE id = ?1", &id)
        })?;
        Ok(deleted > 0)
    }
}

/// The values of both statements.
fn changing<'a>(record: &'a RunnerRecord, body: &'a str) -> [Value<'a>; 6] {
    [
        column::id(record.runner.id),
        Value::Text(record.runner.kind.as_str()),
        Value::Text(record.path()),
        column::flag(record.runner.paused),
        Value::Text(&record.token_hash),
        Value::Text(body),
    ]
}

fn by_id(
    database: &mut dyn Database,
    id: RunnerId,
    lock: &str,
) -> Result<Option<RunnerRecord>, Failure> {
    let sql = format!("{SELECT} WHERE id = ?1{lock}");
    Ok(rows(database, &sql, &[column::id(id)])?.pop())
}

fn rows(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<RunnerRecord>, Failure> {
    database.query(sql, values)?.into_iter().map(read).collect()
}

/// The runner in a row of [`SELECT`].
fn read(mut row: Row) -> Result<RunnerRecord, Failure> {
    Ok(RunnerRecord {
        token_hash: row.text()?,
        created_at: column::read_time(&mut row)?,
        runner: column::read_json(&mut row)?,
    })
}
