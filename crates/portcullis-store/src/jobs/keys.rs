//! Keys that all servers share.

use portcullis_jobs::Timestamp;

use super::column;
use super::error::JobsError;
use super::transaction::JobsTransaction;
use crate::database::{Value, one};
use crate::error::{Failure, Kind};

/// Bytes of a key.
const BYTES: usize = 32;

impl JobsTransaction<'_> {
    /// The key of this name: 32 random bytes, created when they are first asked for. All servers get the same.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or the system has no random numbers.
    pub fn server_key(&mut self, name: &str, now: Timestamp) -> Result<Vec<u8>, JobsError> {
        let find = "SELECT value FROM ci_keys WHERE name = ?1";
        let create = "INSERT INTO ci_keys (name, value, created_at) VALUES (?1, ?2, ?3) \
                      ON CONFLICT (name) DO NOTHING";
        self.with(|database| {
            if let Some(mut row) = database.query(find, &[Value::Text(name)])?.pop() {
                return row.blob();
            }
            let mut key = [0; BYTES];
            aws_lc_rs::rand::fill(&mut key)
                .map_err(|_| Failure::new(Kind::Unavailable, "no random numbers"))?;
            let values = [Value::Text(name), Value::Blob(&key), column::time(now)];
            database.execute(create, &values)?;
            // Another server may have been quicker.
            one(database, find, &[Value::Text(name)])?.blob()
        })
    }
}
