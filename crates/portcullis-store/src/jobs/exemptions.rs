//! Exemptions.

use portcullis_jobs::{Exemption, ExemptionId, Timestamp};

use super::column;
use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Value, number};

impl JobsReader<'_> {
    /// Exemptions that haven't expired, with numbers above `after`, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn live_exemptions(
        &mut self,
        now: Timestamp,
        after: Option<ExemptionId>,
        limit: usize,
    ) -> Result<Vec<Exemption>, JobsError> {
        let sql = "SELECT body FROM exemptions WHERE expires_at > ?1 AND id > ?2 \
                   ORDER BY id LIMIT ?3";
        let values = [
            column::time(now),
            column::id(after.unwrap_or(0)),
            Value::Number(number(limit)),
        ];
        self.apart(|database| {
            let rows = database.query(sql, &values)?.into_iter();
            rows.map(|mut row| column::read_json(&mut row)).collect()
        })
    }
}

impl JobsTransaction<'_> {
    /// Inserts a new exemption.
    ///
    /// # Errors
    ///
    /// When its id is taken, or the database doesn't answer.
    pub fn insert_exemption(&mut self, exemption: &Exemption) -> Result<(), JobsError> {
        self.surroundings_change()?;
        let sql = "INSERT INTO exemptions (id, expires_at, body) VALUES (?1, ?2, ?3)";
        self.with(|database| {
            let body = column::json(exemption)?;
            let expires_at = column::time(exemption.body.until);
            let values = [column::id(exemption.id), expires_at, Value::Text(&body)];
            database.execute(sql, &values).map(drop)
        })
    }

    /// Deletes an exemption; says whether it was there.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delete_exemption(&mut self, id: ExemptionId) -> Result<bool, JobsError> {
        self.surroundings_change()?;
        let sql = "DELETE FROM exemptions WHERE id = ?1";
        let deleted = self.with(|database| database.execute(sql, &[column::id(id)]))?;
        Ok(deleted > 0)
    }

    /// Deletes the exemptions that expired before a time; gives how many.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn sweep_exemptions(&mut self, before: Timestamp) -> Result<u64, JobsError> {
        let sql = "DELETE FROM exemptions WHERE expires_at < ?1";
        self.with(|database| database.execute(sql, &[column::time(before)]))
    }
}
