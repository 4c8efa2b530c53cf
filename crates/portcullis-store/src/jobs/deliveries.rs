//! The outbox: what is to be sent to controllers, and what became of it.
//!
//! A delivery is inserted in the transaction in which its job begins to wait. It is `waiting` until it was sent
//! successfully, `delivered` while the controller is to call back, and `done` or `failed` in the end.

mod change;
mod claim;

use portcullis_core::vocabulary;
use portcullis_jobs::{ControllerId, JobId, Timestamp};
use serde::{Deserialize, Serialize};

use super::column;
use super::error::JobsError;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Row, Value, number};
use crate::error::Failure;

pub use change::AfterTry;
pub use claim::{Claimant, DeliveryShare};

/// What [`read`] reads, in its order.
const SELECT: &str = "SELECT id, project, job, attempt, controller, state, webhook_id, token_hash, \
                      created_at, next_at, leased_until, leased_by, deadline, tries, answer \
                      FROM deliveries";

/// The number of a delivery.
pub type DeliveryId = u64;

vocabulary! {
    /// Where a delivery is.
    pub enum DeliveryState {
        /// It is to be sent, or sent again.
        Waiting = "waiting",
        /// It was sent, and the controller will call back.
        Delivered = "delivered",
        /// It is no longer tried, or no longer wanted.
        Failed = "failed",
        /// The verdict is there.
        Done = "done",
    }
}

/// One try to send a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryTry {
    /// When.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
}

/// A delivery: one attempt of a job for one controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its number.
    pub id: DeliveryId,
    /// The path of the job's project.
    pub project: String,
    /// The job.
    pub job: JobId,
    /// The attempt of the job.
    pub attempt: u32,
    /// The controller.
    pub controller: ControllerId,
    /// Where it is.
    pub state: DeliveryState,
    /// The same for every try.
    pub webhook_id: String,
    /// The hash of its callback token, which no other delivery has.
    pub token_hash: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is sent next; while it is claimed, when it is sent again if nothing is heard.
    pub next_at: Timestamp,
    /// Until when it is claimed.
    pub leased_until: Option<Timestamp>,
    /// Who has or had claimed it.
    pub leased_by: Option<String>,
    /// When an answer counts no longer.
    pub deadline: Timestamp,
    /// What was tried, the oldest first.
    pub tries: Vec<DeliveryTry>,
    /// A digest of the answer that ended it.
    pub answer: Option<String>,
}

/// Which deliveries are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryFilter<'a> {
    /// All.
    All,
    /// Those of a job in this project.
    Job(&'a str, JobId),
    /// Those for a controller.
    Controller(ControllerId),
}

impl JobsReader<'_> {
    /// A delivery.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, JobsError> {
        self.with(|database| by_id(database, id, ""))
    }

    /// The delivery with this hash of its callback token. Whoever wants to change it loads its job for change, and
    /// then the delivery.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delivery_by_token(&mut self, token_hash: &str) -> Result<Option<Delivery>, JobsError> {
        let sql = format!("{SELECT} WHERE token_hash = ?1");
        let mut found = self.with(|database| rows(database, &sql, &[Value::Text(token_hash)]))?;
        Ok(found.pop())
    }

    /// Deliveries with numbers below `before`, the newest first.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn list_deliveries(
        &mut self,
        filter: DeliveryFilter<'_>,
        before: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Vec<Delivery>, JobsError> {
        let mut values = vec![
            Value::Number(before.map_or(i64::MAX, number)),
            Value::Number(number(limit)),
        ];
        let condition = match filter {
            DeliveryFilter::All => "",
            DeliveryFilter::Job(project, job) => {
                values.extend([Value::Text(column::root(project)), column::id(job)]);
                " AND root = ?3 AND job = ?4"
            }
            DeliveryFilter::Controller(controller) => {
                values.push(column::id(controller));
                " AND controller = ?3"
            }
        };
        let sql = format!("{SELECT} WHERE id < ?1{condition} ORDER BY id DESC LIMIT ?2");
        self.with(|database| rows(database, &sql, &values))
    }
}

impl JobsTransaction<'_> {
    /// A delivery that will be changed: no one else changes it until the end of the transaction.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delivery_for_change(&mut self, id: DeliveryId) -> Result<Option<Delivery>, JobsError> {
        self.with(|database| {
            let lock = database.dialect().for_update;
            by_id(database, id, lock)
        })
    }

    /// Inserts a new delivery.
    ///
    /// # Errors
    ///
    /// When another one has its id or token, or the database doesn't answer.
    pub fn insert_delivery(&mut self, delivery: &Delivery) -> Result<(), JobsError> {
        self.with(|database| insert(database, delivery))
    }
}

fn insert(database: &mut dyn Database, delivery: &Delivery) -> Result<(), Failure> {
    let sql = "INSERT INTO deliveries (root, id, project, job, attempt, controller, state, webhook_id, \
               token_hash, created_at, next_at, leased_until, leased_by, deadline, tries, answer) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
    let tries = column::json(&delivery.tries)?;
    let values = [
        Value::Text(column::root(&delivery.project)),
        column::id(delivery.id),
        Value::Text(&delivery.project),
        column::id(delivery.job),
        Value::Number(delivery.attempt.into()),
        column::id(delivery.controller),
        Value::Text(delivery.state.as_str()),
        Value::Text(&delivery.webhook_id),
        Value::Text(&delivery.token_hash),
        column::time(delivery.created_at),
        column::time(delivery.next_at),
        column::optional_time(delivery.leased_until),
        delivery.leased_by.as_deref().into(),
        column::time(delivery.deadline),
        Value::Text(&tries),
        delivery.answer.as_deref().into(),
    ];
    database.execute(sql, &values).map(drop)
}

fn by_id(
    database: &mut dyn Database,
    id: DeliveryId,
    lock: &str,
) -> Result<Option<Delivery>, Failure> {
    let sql = format!("{SELECT} WHERE id = ?1{lock}");
    Ok(rows(database, &sql, &[column::id(id)])?.pop())
}

fn rows(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Delivery>, Failure> {
    database.query(sql, values)?.into_iter().map(read).collect()
}

/// The delivery in a row of [`SELECT`].
fn read(mut row: Row) -> Result<Delivery, Failure> {
    Ok(Delivery {
        id: column::read_id(&mut row)?,
        project: row.text()?,
        job: column::read_id(&mut row)?,
        attempt: u32::try_from(row.number()?).unwrap_or(u32::MAX),
        controller: column::read_id(&mut row)?,
        state: column::read_word(&mut row)?,
        webhook_id: row.text()?,
        token_hash: row.text()?,
        created_at: column::read_time(&mut row)?,
        next_at: column::read_time(&mut row)?,
        leased_until: column::read_optional_time(&mut row)?,
        leased_by: row.optional_text()?,
        deadline: column::read_time(&mut row)?,
        tries: column::read_json(&mut row)?,
        answer: row.optional_text()?,
    })
}
