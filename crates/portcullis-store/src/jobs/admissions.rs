//! What controllers did with jobs: only ever added to.

use portcullis_jobs::{AdmissionDecision, ControllerId};

use super::column;
use super::error::JobsError;
use super::record::JobRecord;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Row, Value, number, unsigned};
use crate::error::Failure;

/// What one controller did with one attempt of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Its place in the chain of the attempt.
    pub position: usize,
    /// The controller; none for the configured policies.
    pub controller: Option<ControllerId>,
    /// What it did.
    pub decision: AdmissionDecision,
}

impl JobsReader<'_> {
    /// What controllers did with a job in all attempts, in this order.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn admission_decisions(
        &mut self,
        job: &JobRecord,
    ) -> Result<Vec<DecisionRecord>, JobsError> {
        let sql = "SELECT position, controller, body FROM admission_decisions \
                   WHERE root = ?1 AND job = ?2 ORDER BY attempt, position";
        let values = [Value::Text(job.root()), column::id(job.id)];
        self.with(|database| {
            database
                .query(sql, &values)?
                .into_iter()
                .map(read)
                .collect()
        })
    }
}

impl JobsTransaction<'_> {
    /// Adds what a controller did with a job.
    ///
    /// # Errors
    ///
    /// When there is one for this attempt and position already, or the database doesn't answer.
    pub fn append_decision(
        &mut self,
        job: &JobRecord,
        record: &DecisionRecord,
    ) -> Result<(), JobsError> {
        let sql = "INSERT INTO admission_decisions (root, job, attempt, position, controller, \
                   verdict, decided_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.with(|database| {
            let decision = &record.decision;
            let body = column::json(decision)?;
            let values = [
                Value::Text(job.root()),
                column::id(job.id),
                Value::Number(decision.attempt.into()),
                Value::Number(number(record.position)),
                column::optional_id(record.controller),
                Value::Text(decision.verdict.as_str()),
                column::time(decision.at),
                Value::Text(&body),
            ];
            database.execute(sql, &values).map(drop)
        })
    }
}

fn read(mut row: Row) -> Result<DecisionRecord, Failure> {
    let position = unsigned(row.number()?);
    Ok(DecisionRecord {
        position: usize::try_from(position).unwrap_or(usize::MAX),
        controller: column::read_optional_id(&mut row)?,
        decision: column::read_json(&mut row)?,
    })
}
