//! Controllers, with the secrets that sign what is sent to them.

use std::fmt;

use portcullis_jobs::{Controller, ControllerId, ControllerLevel, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use super::{column, scope};
use crate::database::{Database, Row, Value, number, storable};
use crate::error::Failure;

/// What [`read`] reads, in its order.
const SELECT: &str = "SELECT id, created_at, revision, definition, secrets FROM controllers";

/// A secret of a controller.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerSecret {
    /// The secret as it was shown.
    pub secret: String,
    /// Until when it still signs, after another one has replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl fmt::Debug for ControllerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expires_at = &self.expires_at;
        f.debug_struct("ControllerSecret")
            .field("expires_at", expires_at)
            .finish_non_exhaustive()
    }
}

/// A controller as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerRecord {
    /// The controller.
    pub controller: Controller,
    /// Its secrets, the newest first.
    pub secrets: Vec<ControllerSecret>,
}

impl ControllerRecord {
    fn path(&self) -> &str {
        self.controller.definition.path.as_deref().unwrap_or("")
    }
}

impl JobsReader<'_> {
    /// A controller.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn controller(&mut self, id: ControllerId) -> Result<Option<ControllerRecord>, JobsError> {
        self.apart(|database| by_id(database, id, ""))
    }

    /// Controllers with numbers above `after`, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list_controllers(
        &mut self,
        after: Option<ControllerId>,
        limit: usize,
    ) -> Result<Vec<ControllerRecord>, JobsError> {
        let sql = format!("{SELECT} WHERE id > ?1 ORDER BY id LIMIT ?2");
        let values = [column::id(after.unwrap_or(0)), Value::Number(number(limit))];
        self.with(|database| rows(database, &sql, &values))
    }

    /// All controllers for the jobs of a project, whatever their state: its own, those of its groups, and those of
    /// the instance, by their numbers.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn controllers_for(&mut self, project: &str) -> Result<Vec<ControllerRecord>, JobsError> {
        let words = [
            ControllerLevel::Instance,
            ControllerLevel::Group,
            ControllerLevel::Project,
        ];
        let words = words.map(ControllerLevel::as_str);
        let (condition, values) = scope::for_project(project, "level", words);
        let sql = format!("{SELECT} WHERE {condition} ORDER BY id");
        self.apart(|database| rows(database, &sql, &values))
    }
}

impl JobsTransaction<'_> {
    /// A controller that will be changed: no one else changes it until the end of the transaction.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn controller_for_change(
        &mut self,
        id: ControllerId,
    ) -> Result<Option<ControllerRecord>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().for_update;
            by_id(database, id, lock)
        })
    }

    /// Inserts a new controller.
    ///
    /// # Errors
    ///
    /// [`JobsError::NameTaken`] when another one on its level and path has its name; when the database doesn't
    /// answer.
    pub fn insert_controller(&mut self, record: &ControllerRecord) -> Result<(), JobsError> {
        self.surroundings_change()?;
        let sql = "INSERT INTO controllers (id, created_at, level, path, name, revision, definition, \
                   secrets) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
                   ON CONFLICT (path, level, name) DO NOTHING";
        let controller = &record.controller;
        let inserted = self.with(|database| {
            let (definition, secrets) = bodies(record)?;
            let name = storable(&controller.definition.name);
            let values = [
                column::id(controller.id),
                column::time(controller.created_at),
                Value::Text(controller.definition.level.as_str()),
                Value::Text(record.path()),
                Value::Text(&name),
                column::id(controller.revision),
                Value::Text(&definition),
                Value::Text(&secrets),
            ];
            database.execute(sql, &values)
        })?;
        if inserted == 0 {
            return Err(JobsError::NameTaken(controller.definition.name.clone()));
        }
        Ok(())
    }

    /// Saves a controller that was loaded, and raises its revision.
    ///
    /// # Errors
    ///
    /// [`JobsError::NameTaken`]; [`JobsError::Stale`] when it was saved or deleted since it was loaded; when the
    /// database doesn't answer.
    pub fn save_controller(&mut self, record: &mut ControllerRecord) -> Result<(), JobsError> {
        self.surroundings_change()?;
        let id = record.controller.id;
        if self.is_name_taken(record)? {
            let name = record.controller.definition.name.clone();
            return Err(JobsError::NameTaken(name));
        }
        let sql = "UPDATE controllers SET level = ?3, path = ?4, name = ?5, definition = ?6, \
                   secrets = ?7, revision = revision + 1 WHERE id = ?1 AND revision = ?2";
        let saved = self.with(|database| {
            let (definition, secrets) = bodies(record)?;
            let name = storable(&record.controller.definition.name);
            let values = [
                column::id(id),
                column::id(record.controller.revision),
                Value::Text(record.controller.definition.level.as_str()),
                Value::Text(record.path()),
                Value::Text(&name),
                Value::Text(&definition),
                Value::Text(&secrets),
            ];
            database.execute(sql, &values)
        })?;
        if saved == 0 {
            let what = "controller";
            return Err(JobsError::Stale { what, id });
        }
        record.controller.revision += 1;
        Ok(())
    }

    fn is_name_taken(&mut self, record: &ControllerRecord) -> Result<bool, JobsError> {
        let sql =
            "SELECT id FROM controllers WHERE path = ?1 AND level = ?2 AND name = ?3 AND id <> ?4";
        let name = storable(&record.controller.definition.name);
        let values = [
            Value::Text(record.path()),
            Value::Text(record.controller.definition.level.as_str()),
            Value::Text(&name),
            column::id(record.controller.id),
        ];
        let rows = self.with(|database| database.query(sql, &values))?;
        Ok(!rows.is_empty())
    }

    /// Deletes a controller; says whether it was there. Its deliveries stay.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delete_controller(&mut self, id: ControllerId) -> Result<bool, JobsError> {
        self.surroundings_change()?;
        let sql = "DELETE FROM controllers WHERE id = ?1";
        let deleted = self.with(|database| database.execute(sql, &[column::id(id)]))?;
        Ok(deleted > 0)
    }
}

fn bodies(record: &ControllerRecord) -> Result<(String, String), Failure> {
    let definition = column::json(&record.controller.definition)?;
    Ok((definition, column::json(&record.secrets)?))
}

fn by_id(
    database: &mut dyn Database,
    id: ControllerId,
    lock: &str,
) -> Result<Option<ControllerRecord>, Failure> {
    let sql = format!("{SELECT} WHERE id = ?1{lock}");
    Ok(rows(database, &sql, &[column::id(id)])?.pop())
}

fn rows(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<ControllerRecord>, Failure> {
    database.query(sql, values)?.into_iter().map(read).collect()
}

/// The controller in a row of [`SELECT`].
fn read(mut row: Row) -> Result<ControllerRecord, Failure> {
    Ok(ControllerRecord {
        controller: Controller {
            id: column::read_id(&mut row)?,
            created_at: column::read_time(&mut row)?,
            revision: column::read_id(&mut row)?,
            definition: column::read_json(&mut row)?,
        },
        secrets: column::read_json(&mut row)?,
    })
}
