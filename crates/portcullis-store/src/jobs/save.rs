//! Inserting and saving jobs, with their places in the queue.

use portcullis_jobs::{JobStatus, RunnerFilter, RunnerId};

use super::column;
use super::error::JobsError;
use super::record::JobRecord;
use super::transaction::JobsTransaction;
use crate::database::{Database, Value, number, storable};
use crate::error::Failure;

impl JobsTransaction<'_> {
    /// Inserts a new job, and puts it into the queue if it is pending.
    ///
    /// # Errors
    ///
    /// When its id is taken, or the database doesn't answer.
    pub fn insert_job(&mut self, job: &mut JobRecord) -> Result<(), JobsError> {
        self.with(|database| {
            insert(database, job)?;
            queue(database, job)
        })?;
        job.version = 1;
        Ok(())
    }

    /// Saves a job that was loaded, and puts it into the queue or takes it out as its status says.
    ///
    /// # Errors
    ///
    /// [`JobsError::Stale`] when it was saved or deleted since it was loaded; when the database doesn't answer.
    pub fn save_job(&mut self, job: &mut JobRecord) -> Result<(), JobsError> {
        let is_saved = self.with(|database| {
            let is_saved = update(database, job)?;
            if is_saved {
                queue(database, job)?;
            }
            Ok(is_saved)
        })?;
        if !is_saved {
            let (what, id) = ("job", job.id);
            return Err(JobsError::Stale { what, id });
        }
        job.version += 1;
        Ok(())
    }
}

fn insert(database: &mut dyn Database, job: &JobRecord) -> Result<(), Failure> {
    let sql = "INSERT INTO jobs (root, id, project, pipeline, stage, name, created_at, definition, \
               status, live, attempt, queued_at, started_at, finished_at, deadline, runner, allowed_to_fail, promoted, \
               state, admission, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
               ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, 1)";
    let definition = column::json(&job.definition)?;
    let (stage, name) = (
        storable(&job.definition.stage),
        storable(&job.definition.name),
    );
    let state = column::json(&job.state)?;
    let admission = job.admission.as_ref().map(column::json).transpose()?;
    let mut values = vec![
        Value::Text(job.root()),
        column::id(job.id),
        Value::Text(&job.definition.project),
        column::optional_id(job.pipeline),
        Value::Text(&stage),
        Value::Text(&name),
        column::time(job.created_at),
        Value::Text(&definition),
    ];
    values.extend(changing(job, &state, admission.as_deref()));
    database.execute(sql, &values).map(drop)
}

fn update(database: &mut dyn Database, job: &JobRecord) -> Result<bool, Failure> {
    let sql = "UPDATE jobs SET status = ?4, live = ?5, attempt = ?6, queued_at = ?7, started_at = ?8, \
               finished_at = ?9, deadline = ?10, runner = ?11, allowed_to_fail = ?12, promoted = ?13, state = ?14, \
               admission = ?15, version = version + 1 WHERE root = ?1 AND id = ?2 AND version = ?3";
    let state = column::json(&job.state)?;
    let admission = job.admission.as_ref().map(column::json).transpose()?;
    let mut values = vec![
        Value::Text(job.root()),
        column::id(job.id),
        column::id(job.version),
    ];
    values.extend(changing(job, &state, admission.as_deref()));
    Ok(database.execute(sql, &values)? == 1)
}

/// The values that change, in the order of both statements.
fn changing<'a>(job: &'a JobRecord, state: &'a str, admission: Option<&'a str>) -> [Value<'a>; 12] {
    let live = !job.state.status.is_finished();
    // Whatever is finished is deleted some day.
    let finished_at = job.state.finished_at.unwrap_or(job.created_at);
    [
        Value::Text(job.state.status.as_str()),
        column::flag(live),
        Value::Number(job.state.attempt.into()),
        column::optional_time(job.state.queued_at),
        column::optional_time(job.state.started_at),
        column::optional_time((!live).then_some(finished_at)),
        column::optional_time(job.deadline),
        column::optional_id(job.state.runner_id),
        column::flag(job.in_pipeline().allowed_to_fail),
        column::flag(job.promoted),
        Value::Text(state),
        admission.into(),
    ]
}

/// Brings the queue in line with the status.
fn queue(database: &mut dyn Database, job: &mut JobRecord) -> Result<(), Failure> {
    let is_pending = job.state.status == JobStatus::Pending;
    let key = [Value::Text(job.root()), column::id(job.id)];
    if job.is_queued {
        let sql = "DELETE FROM pending_jobs WHERE root = ?1 AND job = ?2";
        database.execute(sql, &key)?;
    }
    if is_pending {
        enter(database, job)?;
    }
    job.is_queued = is_pending;
    Ok(())
}

fn enter(database: &mut dyn Database, job: &JobRecord) -> Result<(), Failure> {
    let sql = "INSERT INTO pending_jobs (root, job, project, promoted, protected, tags, accepted, \
               rejected, queued_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut tags = job.tags().to_vec();
    tags.sort();
    tags.dedup();
    let tags = column::json(&tags)?;
    let filter = job.admission.as_ref().map(|admission| &admission.filter);
    let accepted = filter.and_then(RunnerFilter::accepted);
    let accepted = accepted.map(|ids| id_list(ids.iter().copied()));
    let rejected = filter.map(RunnerFilter::rejected);
    let rejected = rejected.filter(|ids| !ids.is_empty());
    let rejected = rejected.map(|ids| id_list(ids.iter().copied()));
    let values = [
        Value::Text(job.root()),
        column::id(job.id),
        Value::Text(&job.definition.project),
        column::flag(job.promoted),
        column::flag(job.definition.ref_protected),
        Value::Text(&tags),
        accepted.as_deref().into(),
        rejected.as_deref().into(),
        column::time(job.state.queued_at.unwrap_or(job.created_at)),
    ];
    database.execute(sql, &values).map(drop)
}

/// Ids as `,1,2,`.
fn id_list(ids: impl Iterator<Item = RunnerId>) -> String {
    ids.fold(String::from(","), |text, id| {
        format!("{text}{},", number(id))
    })
}
