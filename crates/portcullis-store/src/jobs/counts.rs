//! Numbers of jobs for metrics and pages, from indexes and narrow tables, and bounded where finished jobs are counted.

use portcullis_jobs::{JobStatus, Timestamp};

use super::column;
use super::error::JobsError;
use super::transaction::JobsReader;
use crate::database::{Database, Value, number, one, unsigned};
use crate::error::Failure;

/// Jobs of one status that are counted by their project; what is in narrow tables is counted to a larger number.
const MOST: usize = 5_000;
const MOST_NARROW: usize = 100_000;

/// How many jobs of a project have a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCount {
    /// The path of the project.
    pub project: String,
    /// The status.
    pub status: JobStatus,
    /// How many.
    pub count: u64,
}

/// How many jobs of a project have waited how long in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCount {
    /// The path of the project.
    pub project: String,
    /// The place of the first time after which they were queued; the number of times if they were queued before all.
    pub class: usize,
    /// How many.
    pub count: u64,
    /// When the first of them was queued.
    pub oldest: Timestamp,
}

/// Jobs, counted by project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// By status.
    pub jobs: Vec<JobCount>,
    /// Those in the queue by waiting time.
    pub waiting: Vec<WaitingCount>,
    /// Statuses of which there may be more than were counted.
    pub at_least: Vec<JobStatus>,
}

impl JobsReader<'_> {
    /// How many jobs of a project have this status; at most so many are counted.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn count_jobs(
        &mut self,
        project: &str,
        status: JobStatus,
        most: usize,
    ) -> Result<usize, JobsError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE root = ?1 AND project = ?2 \
                   AND status = ?3 LIMIT ?4) AS found";
        let values = [
            Value::Text(column::root(project)),
            Value::Text(project),
            Value::Text(status.as_str()),
            Value::Number(number(most)),
        ];
        let count = self.with(|database| one(database, sql, &values)?.number())?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// How many jobs there are of each status that isn't finished.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn live_job_counts(&mut self) -> Result<Vec<(JobStatus, u64)>, JobsError> {
        let live = JobStatus::ALL.into_iter();
        live.filter(|status| !status.is_finished())
            .map(|status| {
                let sql = "SELECT COUNT(*) FROM jobs WHERE status = ?1";
                let values = [Value::Text(status.as_str())];
                let count = self.with(|database| one(database, sql, &values)?.number())?;
                Ok((status, unsigned(count)))
            })
            .collect()
    }

    /// Jobs by project and status, and those in the queue by the times, the latest first, after which they were queued.
    /// The newest of each status are counted, up to a bound.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn job_counts(&mut self, times: &[Timestamp]) -> Result<JobCounts, JobsError> {
        self.with(|database| {
            let mut counts = JobCounts::default();
            for status in JobStatus::ALL {
                let (found, is_at_least) = by_project(database, status)?;
                counts.jobs.extend(found);
                if is_at_least {
                    counts.at_least.push(status);
                }
            }
            counts.waiting = waiting(database, times)?;
            Ok(counts)
        })
    }
}

/// Jobs of a status by project; whether there may be more.
fn by_project(
    database: &mut dyn Database,
    status: JobStatus,
) -> Result<(Vec<JobCount>, bool), Failure> {
    let word = Value::Text(status.as_str());
    let counted = |database: &mut dyn Database, from: &str, values: &[Value<'_>]| {
        let sql = format!(
            "SELECT project, COUNT(*) FROM ({from}) AS found GROUP BY project ORDER BY project"
        );
        let rows = database.query(&sql, values)?.into_iter();
        rows.map(|mut row| {
            Ok(JobCount {
                project: row.text()?,
                status,
                count: unsigned(row.number()?),
            })
        })
        .collect::<Result<Vec<_>, Failure>>()
    };
    let all = |found: &[JobCount]| found.iter().map(|one| one.count).sum::<u64>();
    // Every pending or running job has a row in a narrow table.
    let narrow = match status {
        JobStatus::Pending => Some("pending_jobs"),
        JobStatus::Running => Some("running_jobs"),
        _ => None,
    };
    if let Some(table) = narrow {
        let from = format!("SELECT project FROM {table} LIMIT ?1");
        let found = counted(database, &from, &[Value::Number(number(MOST_NARROW))])?;
        let is_at_least = all(&found) >= MOST_NARROW as u64;
        return Ok((found, is_at_least));
    }
    let from = "SELECT project FROM jobs WHERE status = ?1 ORDER BY id DESC LIMIT ?2";
    let mut found = counted(database, from, &[word, Value::Number(number(MOST))])?;
    let left = (MOST as u64).saturating_sub(all(&found));
    // What is in the archive has finished.
    if status.is_finished() && left > 0 {
        let from = "SELECT project FROM archived_jobs WHERE status = ?1 LIMIT ?2";
        let archived = counted(database, from, &[word, Value::Number(number(left))])?;
        found.extend(archived);
    }
    let is_at_least = all(&found) >= MOST as u64;
    Ok((found, is_at_least))
}

/// Jobs in the queue by project and waiting time.
fn waiting(database: &mut dyn Database, times: &[Timestamp]) -> Result<Vec<WaitingCount>, Failure> {
    let mut values = vec![Value::Number(number(MOST_NARROW))];
    let mut class = String::from("CASE");
    for (place, time) in times.iter().enumerate() {
        values.push(column::time(*time));
        class.push_str(&format!(" WHEN queued_at > ?{} THEN {place}", values.len()));
    }
    class.push_str(&format!(" ELSE {} END", times.len()));
    let class = if times.is_empty() { "0" } else { &class };
    let sql = format!(
        "SELECT project, class, COUNT(*), MIN(queued_at) FROM \
         (SELECT project, {class} AS class, queued_at FROM pending_jobs LIMIT ?1) AS found \
         GROUP BY project, class ORDER BY project, class"
    );
    let rows = database.query(&sql, &values)?.into_iter();
    rows.map(|mut row| {
        Ok(WaitingCount {
            project: row.text()?,
            class: usize::try_from(row.number()?).unwrap_or(usize::MAX),
            count: unsigned(row.number()?),
            oldest: column::read_time(&mut row)?,
        })
    })
    .collect()
}
