//! Loading and listing jobs.

use portcullis_jobs::{JobId, JobStatus, PipelineId, PipelineJob};

use super::column;
use super::error::JobsError;
use super::record::{JobRecord, SELECT};
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Value, number};
use crate::error::Failure;

/// Which jobs are listed. What is absent doesn't matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Their status.
    pub status: Option<JobStatus>,
    /// The path of their project.
    pub project: Option<String>,
    /// The first names of their projects' paths.
    pub roots: Option<Vec<String>>,
}

impl JobsReader<'_> {
    /// A job.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn job(&mut self, id: JobId) -> Result<Option<JobRecord>, JobsError> {
        self.with(|database| by_id(database, id, ""))
    }

    /// The jobs of a pipeline, by their numbers.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn jobs_of_pipeline(
        &mut self,
        project: &str,
        pipeline: PipelineId,
    ) -> Result<Vec<JobRecord>, JobsError> {
        self.with(|database| of_pipeline(database, project, pipeline, ""))
    }

    /// The jobs of a pipeline, as far as the pipeline is concerned, by their numbers. Their definitions are not read.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn pipeline_jobs(
        &mut self,
        project: &str,
        pipeline: PipelineId,
    ) -> Result<Vec<PipelineJob>, JobsError> {
        let sql = "SELECT id, stage, status, allowed_to_fail FROM jobs \
                   WHERE root = ?1 AND pipeline = ?2 ORDER BY id";
        let values = [Value::Text(column::root(project)), column::id(pipeline)];
        self.with(|database| {
            let rows = database.query(sql, &values)?.into_iter();
            rows.map(|mut row| {
                Ok(PipelineJob {
                    id: column::read_id(&mut row)?,
                    stage: row.text()?,
                    status: column::read_word(&mut row)?,
                    allowed_to_fail: column::read_flag(&mut row)?,
                })
            })
            .collect()
        })
    }

    /// Jobs with numbers below `before`, the newest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list_jobs(
        &mut self,
        filter: &JobFilter,
        before: Option<JobId>,
        limit: usize,
    ) -> Result<Vec<JobRecord>, JobsError> {
        self.with(|database| list(database, filter, before, limit))
    }
}

impl JobsTransaction<'_> {
    /// A job that will be changed: no one else changes it until the end of the transaction, nor any other job of its
    /// pipeline, since that may have to change as well.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn job_for_change(&mut self, id: JobId) -> Result<Option<JobRecord>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().for_update;
            if !lock.is_empty() {
                let sql = format!(
                    "SELECT id FROM pipelines WHERE id = (SELECT pipeline FROM jobs WHERE id = ?1){lock}"
                );
                database.query(&sql, &[column::id(id)])?;
            }
            by_id(database, id, lock)
        })
    }

    /// The jobs of a pipeline, some of which will be changed.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn jobs_of_pipeline_for_change(
        &mut self,
        project: &str,
        pipeline: PipelineId,
    ) -> Result<Vec<JobRecord>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().for_update;
            of_pipeline(database, project, pipeline, lock)
        })
    }
}

fn by_id(database: &mut dyn Database, id: JobId, lock: &str) -> Result<Option<JobRecord>, Failure> {
    let sql = format!("{SELECT} WHERE id = ?1{lock}");
    let row = database.query(&sql, &[column::id(id)])?.pop();
    row.map(JobRecord::read).transpose()
}

fn of_pipeline(
    database: &mut dyn Database,
    project: &str,
    pipeline: PipelineId,
    lock: &str,
) -> Result<Vec<JobRecord>, Failure> {
    let sql = format!("{SELECT} WHERE root = ?1 AND pipeline = ?2 ORDER BY id{lock}");
    let values = [Value::Text(column::root(project)), column::id(pipeline)];
    let rows = database.query(&sql, &values)?;
    rows.into_iter().map(JobRecord::read).collect()
}

/// Jobs that one index has in the order of their ids: columns, and the values they have.
type Run<'a> = (&'static [&'static str], Vec<&'a str>);

/// The runs that together are what is wanted.
fn runs(filter: &JobFilter) -> Vec<Run<'_>> {
    let status = filter.status.map(JobStatus::as_str);
    match (&filter.project, &filter.roots, status) {
        (Some(project), roots, status) => {
            let root = column::root(project);
            let is_excluded = |roots: &Vec<String>| !roots.iter().any(|one| one == root);
            if roots.as_ref().is_some_and(is_excluded) {
                return Vec::new();
            }
            let all = JobStatus::ALL.map(JobStatus::as_str);
            let statuses = all
                .into_iter()
                .filter(|one| status.is_none_or(|s| s == *one));
            statuses
                .map(|status| -> Run<'_> {
                    (&["root", "project", "status"], vec![root, project, status])
                })
                .collect()
        }
        (None, Some(roots), status) => {
            let mut roots: Vec<&str> = roots.iter().map(String::as_str).collect();
            roots.sort_unstable();
            roots.dedup();
            let run = |root| -> Run<'_> {
                match status {
                    Some(status) => (&["root", "status"], vec![root, status]),
                    None => (&["root"], vec![root]),
                }
            };
            roots.into_iter().map(run).collect()
        }
        (None, None, Some(status)) => vec![(&["status"], vec![status])],
        (None, None, None) => vec![(&[], Vec::new())],
    }
}

fn list(
    database: &mut dyn Database,
    filter: &JobFilter,
    before: Option<JobId>,
    limit: usize,
) -> Result<Vec<JobRecord>, Failure> {
    let mut ids = Vec::new();
    for (columns, equal) in runs(filter) {
        let mut sql = String::from("SELECT id FROM jobs WHERE id < ?1");
        for (place, column) in (3..).zip(columns) {
            sql.push_str(&format!(" AND {column} = ?{place}"));
        }
        sql.push_str(" ORDER BY id DESC LIMIT ?2");
        let before = Value::Number(before.map_or(i64::MAX, number));
        let mut values = vec![before, Value::Number(number(limit))];
        values.extend(equal.into_iter().map(Value::Text));
        for mut row in database.query(&sql, &values)? {
            ids.push(column::read_id(&mut row)?);
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(limit);
    let mut jobs = Vec::with_capacity(ids.len());
    for id in ids {
        // One may be deleted meanwhile.
        jobs.extend(by_id(database, id, "")?);
    }
    Ok(jobs)
}
