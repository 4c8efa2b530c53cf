//! Pipelines. Their definitions are long, and are read on their own.

use portcullis_jobs::{PipelineDefinition, PipelineId};

use super::archive;
use super::column;
use super::error::JobsError;
use super::record::PipelineRecord;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Row, Value, number, storable};
use crate::error::Failure;

/// What [`read`] reads, in its order.
const COLUMNS: &str = "id, status, version, created_at, finished_at, origin, stages";

/// The tables: of what is in use, and of the archive.
const TABLES: [&str; 2] = ["pipelines", "archived_pipelines"];

/// Which pipelines are meant. What is absent doesn't matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineMatch<'a> {
    /// The path of their project.
    pub project: &'a str,
    /// Their name.
    pub name: Option<&'a str>,
    /// The branch or tag they are for.
    pub git_ref: Option<&'a str>,
    /// The change they are for.
    pub change: Option<&'a str>,
}

impl JobsReader<'_> {
    /// A pipeline.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn pipeline(&mut self, id: PipelineId) -> Result<Option<PipelineRecord>, JobsError> {
        if let Some(pipeline) = self.unit().and_then(|unit| unit.pipeline(id)) {
            return Ok(Some(pipeline.clone()));
        }
        let both = TABLES.map(|table| format!("SELECT {COLUMNS} FROM {table} WHERE id = ?1"));
        self.with(|database| archive::find(database, &both, &[column::id(id)], read))
    }

    /// A pipeline as it was submitted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn pipeline_definition(
        &mut self,
        id: PipelineId,
    ) -> Result<Option<PipelineDefinition>, JobsError> {
        let both = TABLES.map(|table| format!("SELECT definition FROM {table} WHERE id = ?1"));
        let read = |mut row| column::read_json(&mut row);
        self.with(|database| archive::find(database, &both, &[column::id(id)], read))
    }

    /// Pipelines with numbers below `before`, the newest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list_pipelines(
        &mut self,
        wanted: &PipelineMatch<'_>,
        before: Option<PipelineId>,
        limit: usize,
    ) -> Result<Vec<PipelineRecord>, JobsError> {
        let [current, archived] = TABLES.map(|table| format!("{table} WHERE"));
        let before = before.map_or(i64::MAX, number);
        self.with(|database| {
            let found = matching(database, &current, wanted, [0, before], limit)?;
            archive::both(
                limit,
                |pipeline| pipeline.id,
                found,
                |above| matching(database, &archived, wanted, [number(above), before], limit),
            )
        })
    }

    /// The newest pipeline, finished or not.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn newest_pipeline(
        &mut self,
        wanted: &PipelineMatch<'_>,
    ) -> Result<Option<PipelineRecord>, JobsError> {
        Ok(self.list_pipelines(wanted, None, 1)?.pop())
    }

    /// Pipelines that aren't finished, the newest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn live_pipelines(
        &mut self,
        wanted: &PipelineMatch<'_>,
        before: Option<PipelineId>,
        limit: usize,
    ) -> Result<Vec<PipelineRecord>, JobsError> {
        let before = before.map_or(i64::MAX, number);
        let live = "pipelines WHERE live = 1 AND";
        self.with(|database| matching(database, live, wanted, [0, before], limit))
    }
}

impl JobsTransaction<'_> {
    /// A pipeline that will be changed, or whose jobs will be: no one else changes it until the end of the
    /// transaction. One that is in the archive is moved back, with its jobs.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn pipeline_for_change(
        &mut self,
        id: PipelineId,
    ) -> Result<Option<PipelineRecord>, JobsError> {
        if let Some(pipeline) = self.unit().and_then(|unit| unit.pipeline(id)) {
            return Ok(Some(pipeline.clone()));
        }
        match self.apart(|database| locked(database, id))? {
            Some(pipeline) => Ok(Some(pipeline)),
            None => self.with(|database| archive::lock_pipeline(database, id, locked)),
        }
    }

    /// Inserts a new pipeline. That its id is taken is found at the end of the transaction.
    ///
    /// # Errors
    ///
    /// When it can't be stored.
    pub fn insert_pipeline(
        &mut self,
        pipeline: &mut PipelineRecord,
        definition: &PipelineDefinition,
    ) -> Result<(), JobsError> {
        pipeline.version = 1;
        self.stage(|unit| {
            let definition = column::json(definition)?;
            unit.own.put_pipeline(pipeline.clone(), definition);
            Ok(())
        })
    }

    /// Saves the status of a pipeline that was loaded.
    ///
    /// # Errors
    ///
    /// [`JobsError::Stale`] when it was saved or deleted since it was loaded; when the database doesn't answer.
    pub fn save_pipeline(&mut self, pipeline: &mut PipelineRecord) -> Result<(), JobsError> {
        let changed = PipelineRecord {
            version: pipeline.version + 1,
            ..pipeline.clone()
        };
        if self.gather(|unit| unit.save_pipeline(&changed)) {
            *pipeline = changed;
            return Ok(());
        }
        let [status, live, finished_at] = pipeline.changing();
        let values = [
            Value::Text(pipeline.root()),
            column::id(pipeline.id),
            column::id(pipeline.version),
            status,
            live,
            finished_at,
        ];
        let sql = "UPDATE pipelines SET status = ?4, live = ?5, finished_at = ?6, \
                   version = version + 1 WHERE root = ?1 AND id = ?2 AND version = ?3";
        let saved = self.with(|database| database.execute(sql, &values))?;
        if saved == 0 {
            let (what, id) = ("pipeline", pipeline.id);
            return Err(JobsError::Stale { what, id });
        }
        pipeline.version += 1;
        Ok(())
    }
}

fn locked(database: &mut dyn Database, id: PipelineId) -> Result<Option<PipelineRecord>, Failure> {
    let lock = database.dialect().for_update;
    let sql = format!("SELECT {COLUMNS} FROM pipelines WHERE id = ?1{lock}");
    let row = database.query(&sql, &[column::id(id)])?.pop();
    row.map(read).transpose()
}

/// The newest pipelines with numbers between these, from a table with the beginning of the condition.
fn matching(
    database: &mut dyn Database,
    from: &str,
    wanted: &PipelineMatch<'_>,
    [above, before]: [i64; 2],
    limit: usize,
) -> Result<Vec<PipelineRecord>, Failure> {
    let optional = [
        ("name", wanted.name.map(storable)),
        ("git_ref", wanted.git_ref.map(storable)),
        ("for_change", wanted.change.map(storable)),
    ];
    let mut sql =
        format!("SELECT {COLUMNS} FROM {from} root = ?1 AND project = ?2 AND id < ?3 AND id > ?5");
    let mut values = vec![
        Value::Text(column::root(wanted.project)),
        Value::Text(wanted.project),
        Value::Number(before),
        Value::Number(number(limit)),
        Value::Number(above),
    ];
    for (name, value) in &optional {
        if let Some(value) = value {
            values.push(Value::Text(value));
            sql.push_str(&format!(" AND {name} = ?{}", values.len()));
        }
    }
    sql.push_str(" ORDER BY id DESC LIMIT ?4");
    let rows = database.query(&sql, &values)?;
    rows.into_iter().map(read).collect()
}

/// The pipeline in a row of [`COLUMNS`].
fn read(mut row: Row) -> Result<PipelineRecord, Failure> {
    Ok(PipelineRecord {
        id: column::read_id(&mut row)?,
        status: column::read_word(&mut row)?,
        version: column::read_id(&mut row)?,
        created_at: column::read_time(&mut row)?,
        finished_at: column::read_optional_time(&mut row)?,
        origin: column::read_json(&mut row)?,
        stages: column::read_json(&mut row)?,
    })
}
