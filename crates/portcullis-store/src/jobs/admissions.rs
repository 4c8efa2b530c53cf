//! What controllers did with jobs: only ever added to.

use super::column;
use super::error::JobsError;
use super::record::{DecisionRecord, JobRecord};
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Row, Value, unsigned};
use crate::error::Failure;

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
        let mut values = vec![Value::Text(job.root()), column::id(job.id)];
        let (table, condition) = match job.archived {
            None => ("admission_decisions", ""),
            Some(day) => {
                values.push(Value::Number(day.0));
                ("archived_admission_decisions", " AND day = ?3")
            }
        };
        let sql = format!(
            "SELECT position, controller, body FROM {table} \
             WHERE root = ?1 AND job = ?2{condition} ORDER BY attempt, position"
        );
        self.with(|database| {
            database
                .query(&sql, &values)?
                .into_iter()
                .map(read)
                .collect()
        })
    }
}

impl JobsTransaction<'_> {
    /// Adds what a controller did with a job. That there is one for this attempt and position already is found at the
    /// end of the transaction.
    ///
    /// # Errors
    ///
    /// When it can't be stored.
    pub fn append_decision(
        &mut self,
        job: &JobRecord,
        record: &DecisionRecord,
    ) -> Result<(), JobsError> {
        self.stage(|unit| unit.own.rest.append_decision(job, record))
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
