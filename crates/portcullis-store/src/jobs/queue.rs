//! What operators see of the queue: jobs that have not started, and how many pipelines of a project are under way.
//! Finished ones are not looked at.

use portcullis_jobs::{JobId, JobStatus, PipelineId, PipelineStatus};

use super::column;
use super::error::JobsError;
use super::transaction::JobsReader;
use crate::database::{Value, number, unsigned};

/// A job that has not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedJob {
    /// Its number.
    pub id: JobId,
    /// The path of its project.
    pub project: String,
    /// Its pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
}

/// How many pipelines of one name and status a project has under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePipelines {
    /// The path of the project.
    pub project: String,
    /// Their name.
    pub name: String,
    /// How they are.
    pub status: PipelineStatus,
    /// How many there are.
    pub count: u64,
}

impl JobsReader<'_> {
    /// Jobs that have not started, with numbers above `after`, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn created_jobs(
        &mut self,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<CreatedJob>, JobsError> {
        let sql = "SELECT id, project, pipeline FROM jobs WHERE status = ?1 AND id > ?2 \
                   ORDER BY id LIMIT ?3";
        let values = [
            Value::Text(JobStatus::Created.as_str()),
            Value::Number(after.map_or(0, number)),
            Value::Number(number(limit)),
        ];
        self.with(|database| {
            let rows = database.query(sql, &values)?.into_iter();
            rows.map(|mut row| {
                Ok(CreatedJob {
                    id: column::read_id(&mut row)?,
                    project: row.text()?,
                    pipeline: column::read_optional_id(&mut row)?,
                })
            })
            .collect()
        })
    }

    /// How many pipelines are under way, by project, name and status.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn live_pipeline_counts(&mut self) -> Result<Vec<LivePipelines>, JobsError> {
        let sql = "SELECT project, name, status, COUNT(*) FROM pipelines WHERE live = 1 \
                   GROUP BY project, name, status ORDER BY project, name, status";
        self.with(|database| {
            let rows = database.query(sql, &[])?.into_iter();
            rows.map(|mut row| {
                Ok(LivePipelines {
                    project: row.text()?,
                    name: row.text()?,
                    status: column::read_word(&mut row)?,
                    count: unsigned(row.number()?),
                })
            })
            .collect()
        })
    }
}
