//! What is to be written.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_jobs::{JobId, PipelineId};
use portcullis_record::Written;

use crate::database::{Database, Value, storable};
use crate::error::Failure;
use crate::jobs::column;
use crate::jobs::record::{JobRecord, PipelineRecord, Stored};
use crate::jobs::rows::Rows;

/// What the database has of a job; nothing if it is new.
type Earlier = Option<Stored>;

/// What is to be written.
#[derive(Debug, Default)]
pub(in crate::jobs) struct Staged {
    jobs: BTreeMap<JobId, (JobRecord, Earlier)>,
    /// New pipelines with their definitions as JSON.
    pipelines: BTreeMap<PipelineId, (PipelineRecord, String)>,
    /// Decisions, deliveries and records.
    pub(in crate::jobs) rest: Rows,
    /// What was made ready elsewhere.
    prepared: Vec<Arc<PreparedJobs>>,
}

/// Rows that are ready to be written, and the records of decisions that belong to them.
#[derive(Debug, Default)]
pub struct PreparedJobs {
    rows: Rows,
    pipelines: Vec<(PipelineRecord, String)>,
}

impl PreparedJobs {
    pub(super) fn records(&self) -> impl Iterator<Item = &Written> {
        self.rows.records.iter()
    }
}

impl Staged {
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            jobs,
            pipelines,
            rest,
            prepared,
        } = self;
        jobs.is_empty() && pipelines.is_empty() && rest.is_empty() && prepared.is_empty()
    }

    pub(super) fn job(&self, id: JobId) -> Option<&JobRecord> {
        self.jobs.get(&id).map(|(record, _)| record)
    }

    pub(super) fn stored(&self, id: JobId) -> Option<Earlier> {
        self.jobs.get(&id).map(|(_, stored)| *stored)
    }

    /// A job that is new, or has this version in the database.
    pub(in crate::jobs) fn put_job(&mut self, job: JobRecord, stored: Earlier) {
        self.jobs.insert(job.id, (job, stored));
    }

    pub(super) fn jobs_of(&self, pipeline: PipelineId) -> impl Iterator<Item = &JobRecord> {
        let jobs = self.jobs.values().map(|(record, _)| record);
        jobs.filter(move |job| job.pipeline == Some(pipeline))
    }

    pub(super) fn pipeline(&self, id: PipelineId) -> Option<&PipelineRecord> {
        self.pipelines.get(&id).map(|(record, _)| record)
    }

    /// A new pipeline.
    pub(in crate::jobs) fn put_pipeline(&mut self, pipeline: PipelineRecord, definition: String) {
        self.pipelines.insert(pipeline.id, (pipeline, definition));
    }

    pub(super) fn save_pipeline(&mut self, pipeline: &PipelineRecord) -> bool {
        match self.pipelines.get_mut(&pipeline.id) {
            Some((record, _)) => {
                record.clone_from(pipeline);
                true
            }
            None => false,
        }
    }

    /// What was made ready elsewhere.
    pub(in crate::jobs) fn adopt(&mut self, prepared: Arc<PreparedJobs>) {
        self.prepared.push(prepared);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.jobs.extend(other.jobs);
        self.pipelines.extend(other.pipelines);
        self.rest.merge(other.rest);
        self.prepared.extend(other.prepared);
    }

    /// All of it as rows.
    pub(in crate::jobs) fn into_prepared(self) -> Result<PreparedJobs, Failure> {
        let mut rows = self.rest;
        for (record, stored) in self.jobs.values() {
            match stored {
                None => rows.insert_job(record)?,
                Some(stored) => rows.save_job(record, *stored)?,
            }
        }
        Ok(PreparedJobs {
            rows,
            pipelines: self.pipelines.into_values().collect(),
        })
    }

    /// Writes everything but records, which are still in what is returned.
    pub(super) fn write(
        mut self,
        database: &mut dyn Database,
    ) -> Result<Vec<Arc<PreparedJobs>>, Failure> {
        let mut all = std::mem::take(&mut self.prepared);
        if !self.is_empty() {
            all.push(Arc::new(self.into_prepared()?));
        }
        for (record, definition) in all.iter().flat_map(|one| &one.pipelines) {
            insert_pipeline(database, record, definition)?;
        }
        let rows: Vec<&Rows> = all.iter().map(|one| &one.rows).collect();
        Rows::write(&rows, database)?;
        Ok(all)
    }
}

/// Inserts a new pipeline with its definition as JSON.
fn insert_pipeline(
    database: &mut dyn Database,
    pipeline: &PipelineRecord,
    definition: &str,
) -> Result<(), Failure> {
    let sql = "INSERT INTO pipelines (root, id, project, name, git_ref, for_change, status, live, \
               finished_at, created_at, origin, stages, definition, version) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let from = &pipeline.origin;
    let (name, git_ref) = (storable(&from.name), storable(&from.git_ref));
    let change = from.change.as_deref().map(storable);
    let (origin, stages) = (column::json(from)?, column::json(&pipeline.stages)?);
    let [status, live, finished_at] = pipeline.changing();
    let values = [
        Value::Text(pipeline.root()),
        column::id(pipeline.id),
        Value::Text(&from.project),
        Value::Text(&name),
        Value::Text(&git_ref),
        change.as_deref().into(),
        status,
        live,
        finished_at,
        column::time(pipeline.created_at),
        Value::Text(&origin),
        Value::Text(&stages),
        Value::Text(definition),
        column::id(pipeline.version),
    ];
    database.execute(sql, &values).map(drop)
}
