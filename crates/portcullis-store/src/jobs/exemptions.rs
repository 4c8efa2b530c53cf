//! Exemptions.

use portcullis_jobs::{Exemption, ExemptionId, Timestamp};

use super::column;
use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Row, Value, number, unsigned};

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

/// How often an exemption made a denial not count, and when last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExemptionUses {
    /// Which.
    pub exemption: ExemptionId,
    /// How often.
    pub count: u64,
    /// When last.
    pub last_at: Timestamp,
}

impl JobsReader<'_> {
    /// The uses of exemptions with numbers from `first` to `last`; those that were never used are left out.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn exemption_uses(
        &mut self,
        first: ExemptionId,
        last: ExemptionId,
    ) -> Result<Vec<ExemptionUses>, JobsError> {
        let sql = "SELECT exemption, COUNT(*), MAX(used_at) FROM exemption_uses \
                   WHERE exemption BETWEEN ?1 AND ?2 GROUP BY exemption ORDER BY exemption";
        self.with(|database| {
            let rows = database.query(sql, &[column::id(first), column::id(last)])?;
            let read = |mut row: Row| {
                Ok(ExemptionUses {
                    exemption: unsigned(row.number()?),
                    count: unsigned(row.number()?),
                    last_at: column::read_time(&mut row)?,
                })
            };
            rows.into_iter().map(read).collect()
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
        let uses = "DELETE FROM exemption_uses WHERE exemption = ?1";
        let sql = "DELETE FROM exemptions WHERE id = ?1";
        let deleted = self.with(|database| {
            database.execute(uses, &[column::id(id)])?;
            database.execute(sql, &[column::id(id)])
        })?;
        Ok(deleted > 0)
    }

    /// Deletes the exemptions that expired before a time; gives how many.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn sweep_exemptions(&mut self, before: Timestamp) -> Result<u64, JobsError> {
        let sql = "DELETE FROM exemptions WHERE expires_at < ?1";
        let uses = "DELETE FROM exemption_uses WHERE exemption IN \
                    (SELECT id FROM exemptions WHERE expires_at < ?1)";
        self.with(|database| {
            database.execute(uses, &[column::time(before)])?;
            database.execute(sql, &[column::time(before)])
        })
    }
}
