//! The numbers of projects. A project has one as soon as a job of it was submitted, and keeps it.

use portcullis_jobs::Timestamp;

use super::column;
use super::error::JobsError;
use super::record::IdKind;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Value};
use crate::error::Failure;

impl JobsReader<'_> {
    /// The number of a project, if it has one.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn project_id(&mut self, path: &str) -> Result<Option<u64>, JobsError> {
        self.apart(|database| find(database, path))
    }
}

impl JobsTransaction<'_> {
    /// The number of a project, which it is given if it has none.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn ensure_project_id(&mut self, path: &str, now: Timestamp) -> Result<u64, JobsError> {
        if let Some(id) = self.project_id(path)? {
            return Ok(id);
        }
        let id = self.new_id(IdKind::Project)?;
        // Another server that inserts the same project waits for the end of this transaction. If it held one that this
        // transaction inserts next, both would wait forever: so there is one new project in a transaction.
        self.gather(|unit| unit.ends_soon = true);
        let sql = "INSERT INTO projects (root, path, id, created_at) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (root, path) DO NOTHING";
        let values = [
            Value::Text(column::root(path)),
            Value::Text(path),
            column::id(id),
            column::time(now),
        ];
        self.write_apart(|database| {
            database.execute(sql, &values)?;
            // Another server may have been quicker.
            Ok(find(database, path)?.unwrap_or(id))
        })
    }
}

fn find(database: &mut dyn Database, path: &str) -> Result<Option<u64>, Failure> {
    let sql = "SELECT id FROM projects WHERE root = ?1 AND path = ?2";
    let values = [Value::Text(column::root(path)), Value::Text(path)];
    let row = database.query(sql, &values)?.pop();
    row.map(|mut row| column::read_id(&mut row)).transpose()
}
