//! Loading and listing jobs.

use std::collections::HashSet;

use portcullis_jobs::{JobId, JobStatus, PipelineId, PipelineJob};

use super::archive;
use super::by_ids::rows_by_ids;
use super::column;
use super::day::Day;
use super::error::JobsError;
use super::record::{JobRecord, SELECT, SELECT_ARCHIVED, SELECT_NO_DAY};
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
        if let Some(job) = self.unit().and_then(|unit| unit.job(id)) {
            return Ok(Some(job.clone()));
        }
        self.apart(|database| by_id(database, id))
    }

    /// Those of these jobs that there are, in no order.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn jobs_by_id(&mut self, ids: &[JobId]) -> Result<Vec<JobRecord>, JobsError> {
        self.with(|database| in_use(database, ids))
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
        if let Some(jobs) = self.new_jobs_of_pipeline(pipeline) {
            return Ok(jobs);
        }
        self.with(|database| {
            let found = of_pipeline(database, project, pipeline, "")?;
            if !found.is_empty() {
                return Ok(found);
            }
            let sql = format!("{SELECT_ARCHIVED} WHERE root = ?1 AND pipeline = ?2 ORDER BY id");
            let values = [Value::Text(column::root(project)), column::id(pipeline)];
            let rows = database.query(&sql, &values)?;
            rows.into_iter().map(JobRecord::read_with_day).collect()
        })
    }

    /// The jobs of a pipeline that is not written yet.
    fn new_jobs_of_pipeline(&self, pipeline: PipelineId) -> Option<Vec<JobRecord>> {
        let unit = self.unit()?;
        unit.pipeline(pipeline).map(|_| unit.jobs_of(pipeline))
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
        if let Some(jobs) = self.new_jobs_of_pipeline(pipeline) {
            return Ok(jobs.iter().map(|job| job.in_pipeline()).collect());
        }
        let select = |table: &str| {
            format!(
                "SELECT id, stage, status, allowed_to_fail FROM {table} \
                 WHERE root = ?1 AND pipeline = ?2 ORDER BY id"
            )
        };
        let values = [Value::Text(column::root(project)), column::id(pipeline)];
        self.with(|database| {
            let mut rows = database.query(&select("jobs"), &values)?;
            if rows.is_empty() {
                rows = database.query(&select("archived_jobs"), &values)?;
            }
            let rows = rows.into_iter();
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
    /// pipeline, since that may have to change as well. One that is in the archive is moved back.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn job_for_change(&mut self, id: JobId) -> Result<Option<JobRecord>, JobsError> {
        let mut found = self.unit().and_then(|unit| unit.job(id)).cloned();
        if found.is_none() {
            found = self.gather(|unit| unit.ahead.job(id));
        }
        if found.is_none() {
            found = self.apart(|database| locked(database, id))?;
        }
        if found.is_none() {
            found = self.with(|database| archive::lock_job(database, id, locked))?;
        }
        if let Some(job) = &found {
            self.gather(|unit| unit.lock(job));
        }
        Ok(found)
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
        let staged = self.new_jobs_of_pipeline(pipeline);
        let jobs = match staged {
            Some(jobs) => jobs,
            None => self.with(|database| {
                let lock = database.dialect().for_update;
                of_pipeline(database, project, pipeline, lock)
            })?,
        };
        self.gather(|unit| jobs.iter().for_each(|job| unit.lock(job)));
        Ok(jobs)
    }
}

fn by_id(database: &mut dyn Database, id: JobId) -> Result<Option<JobRecord>, Failure> {
    let both = [SELECT_NO_DAY, SELECT_ARCHIVED].map(|select| format!("{select} WHERE id = ?1"));
    archive::find(database, &both, &[column::id(id)], JobRecord::read_with_day)
}

fn locked(database: &mut dyn Database, id: JobId) -> Result<Option<JobRecord>, Failure> {
    let lock = database.dialect().for_update;
    if !lock.is_empty() {
        let sql = format!(
            "SELECT id FROM pipelines WHERE id = (SELECT pipeline FROM jobs WHERE id = ?1){lock}"
        );
        database.query(&sql, &[column::id(id)])?;
    }
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

/// A job of a list: where it is, and its number.
type Place = (JobId, Option<Day>);

fn list(
    database: &mut dyn Database,
    filter: &JobFilter,
    before: Option<JobId>,
    limit: usize,
) -> Result<Vec<JobRecord>, Failure> {
    let before = before.map_or(i64::MAX, number);
    let current = places(database, filter, "jobs", [0, before], limit)?;
    // What is in the archive has finished.
    let has_archived = filter.status.is_none_or(JobStatus::is_finished);
    let found = archive::both(
        limit,
        |(id, _)| *id,
        current,
        |above| match has_archived {
            true => places(
                database,
                filter,
                "archived_jobs",
                [number(above), before],
                limit,
            ),
            false => Ok(Vec::new()),
        },
    )?;
    let mut jobs = Vec::with_capacity(found.len());
    for same_day in found.chunk_by(|(_, one), (_, other)| one == other) {
        let ids: Vec<JobId> = same_day.iter().map(|(id, _)| *id).collect();
        // One may be deleted meanwhile.
        jobs.extend(match same_day.first() {
            Some((_, Some(day))) => in_day(database, &ids, *day)?,
            _ => in_use(database, &ids)?,
        });
    }
    jobs.sort_by_key(|job: &JobRecord| std::cmp::Reverse(job.id));
    Ok(jobs)
}

/// The newest jobs of a table with numbers between these.
fn places(
    database: &mut dyn Database,
    filter: &JobFilter,
    table: &str,
    [above, before]: [i64; 2],
    limit: usize,
) -> Result<Vec<Place>, Failure> {
    let is_archived = table == "archived_jobs";
    let day = if is_archived { ", day" } else { "" };
    let mut found = Vec::new();
    for (columns, equal) in runs(filter) {
        let mut sql = format!("SELECT id{day} FROM {table} WHERE id < ?1 AND id > ?2");
        for (place, column) in (4..).zip(columns) {
            sql.push_str(&format!(" AND {column} = ?{place}"));
        }
        sql.push_str(" ORDER BY id DESC LIMIT ?3");
        let bounds = [before, above, number(limit)].map(Value::Number);
        let values: Vec<_> = bounds
            .into_iter()
            .chain(equal.into_iter().map(Value::Text))
            .collect();
        for mut row in database.query(&sql, &values)? {
            let id = column::read_id(&mut row)?;
            let day = is_archived.then(|| row.number().map(Day)).transpose()?;
            found.push((id, day));
        }
    }
    Ok(found)
}

/// Jobs in use, or of the archive if they were moved meanwhile.
fn in_use(database: &mut dyn Database, ids: &[JobId]) -> Result<Vec<JobRecord>, Failure> {
    let rows = rows_by_ids(database, SELECT_NO_DAY, &[], ids, "")?.into_iter();
    let mut jobs: Vec<JobRecord> = rows
        .map(JobRecord::read_with_day)
        .collect::<Result<_, _>>()?;
    if jobs.len() < ids.len() {
        let found: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
        for id in ids.iter().filter(|id| !found.contains(id)) {
            jobs.extend(by_id(database, *id)?);
        }
    }
    Ok(jobs)
}

/// Jobs of the archive, of which one partition is looked at.
fn in_day(database: &mut dyn Database, ids: &[JobId], day: Day) -> Result<Vec<JobRecord>, Failure> {
    let select = format!("{SELECT_ARCHIVED} WHERE day = ?1");
    let rows = rows_by_ids(database, &select, &[Value::Number(day.0)], ids, "")?.into_iter();
    rows.map(JobRecord::read_with_day).collect()
}
