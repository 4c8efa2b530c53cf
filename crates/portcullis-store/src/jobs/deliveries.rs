//! The outbox: what is to be sent to controllers, and what became of it.
//!
//! A delivery is inserted in the transaction in which its job begins to wait. It is `waiting` until it was sent
//! successfully, `delivered` while the controller is to call back, and `done` or `failed` in the end.

mod change;
mod claim;

use portcullis_jobs::{ControllerId, JobId};

use super::archive;
use super::column;
use super::error::JobsError;
use super::record::{Delivery, DeliveryId};
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Database, Value, number};
use crate::error::Failure;

pub use change::AfterTry;
pub use claim::{Claimant, DeliveryShare};

const SELECT: &str = Delivery::SELECT;
const SELECT_ARCHIVED: &str = "SELECT id, project, job, attempt, controller, state, webhook_id, token_hash, \
                               created_at, next_at, leased_until, leased_by, deadline, tries, answer \
                               FROM archived_deliveries";

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
        let both = [SELECT, SELECT_ARCHIVED].map(|select| format!("{select} WHERE id = ?1"));
        self.with(|database| archive::find(database, &both, &[column::id(id)], Delivery::read))
    }

    /// The delivery with this hash of its callback token, unless it is in the archive: by then tokens are no longer
    /// good. Whoever wants to change it loads its job for change, and then the delivery.
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
        let before = before.map_or(i64::MAX, number);
        self.with(|database| {
            let current = list(database, SELECT, filter, [0, before], limit)?;
            archive::both(
                limit,
                |delivery| delivery.id,
                current,
                |above| {
                    let bounds = [number(above), before];
                    list(database, SELECT_ARCHIVED, filter, bounds, limit)
                },
            )
        })
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

    /// Inserts a new delivery. That another one has its id or token is found at the end of the transaction.
    ///
    /// # Errors
    ///
    /// When it can't be stored.
    pub fn insert_delivery(&mut self, delivery: &Delivery) -> Result<(), JobsError> {
        self.stage(|unit| unit.own.rest.insert_delivery(delivery))
    }
}

/// The newest deliveries with numbers between these.
fn list(
    database: &mut dyn Database,
    select: &str,
    filter: DeliveryFilter<'_>,
    [above, before]: [i64; 2],
    limit: usize,
) -> Result<Vec<Delivery>, Failure> {
    let mut values = [before, number(limit), above].map(Value::Number).to_vec();
    let condition = match filter {
        DeliveryFilter::All => "",
        DeliveryFilter::Job(project, job) => {
            values.extend([Value::Text(column::root(project)), column::id(job)]);
            " AND root = ?4 AND job = ?5"
        }
        DeliveryFilter::Controller(controller) => {
            values.push(column::id(controller));
            " AND controller = ?4"
        }
    };
    let sql = format!("{select} WHERE id < ?1 AND id > ?3{condition} ORDER BY id DESC LIMIT ?2");
    rows(database, &sql, &values)
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
    database
        .query(sql, values)?
        .into_iter()
        .map(Delivery::read)
        .collect()
}
