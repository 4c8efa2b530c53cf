//! Autoholds: requests to hold the runner of the next failing run of a job.
//!
//! A hold past its end is expired for every reader, whether or not it was marked so. It stays visible
//! for a day.

use std::time::{Duration, SystemTime};

use crate::database::{Database, Row, Value, number, one, storable, transaction, unsigned};
use crate::error::{Failure, StoreError};
use crate::jobs;
use crate::store::Store;
use crate::times;

/// Holds of a tenant that are not expired.
const LIVE: u64 = 10_000;

/// Holds of a tenant in all: beyond that, the one that expired first makes room.
const ALL: u64 = 2 * LIVE;

/// How long an expired hold can still be seen.
const SEEN: Duration = Duration::from_secs(24 * 60 * 60);

/// What [`read`] reads, in its order.
const SELECT: &str = "SELECT id, tenant, project, job, for_ref, for_change, reason, max_count, \
                      current_count, node_expiration, placed_by, placed_at, expires_at, expired_at \
                      FROM holds";

/// A requested hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHold {
    /// The tenant it is in.
    pub tenant: String,
    /// The project.
    pub project: String,
    /// The job.
    pub job: String,
    /// Only for this ref.
    pub reference: Option<String>,
    /// Only for this change.
    pub change: Option<String>,
    /// The reason, free text.
    pub reason: String,
    /// How many failures it holds.
    pub max_count: u32,
    /// How long what it holds is kept, in seconds.
    pub node_expiration: Option<u64>,
    /// The caller who placed it.
    pub placed_by: String,
    /// When.
    pub placed_at: SystemTime,
    /// When it ends; never without.
    pub expires_at: Option<SystemTime>,
}

/// A hold as it is stored. Times are to the microsecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Its number, never given twice.
    pub id: u64,
    /// The tenant it is in.
    pub tenant: String,
    /// The project.
    pub project: String,
    /// The job.
    pub job: String,
    /// Only for this ref.
    pub reference: Option<String>,
    /// Only for this change.
    pub change: Option<String>,
    /// The reason, free text.
    pub reason: String,
    /// How many failures it holds.
    pub max_count: u32,
    /// How many it held.
    pub current_count: u32,
    /// How long what it holds is kept, in seconds.
    pub node_expiration: Option<u64>,
    /// The caller who placed it.
    pub placed_by: String,
    /// When.
    pub placed_at: SystemTime,
    /// When it ends; never without.
    pub expires_at: Option<SystemTime>,
    /// When it ended, if it did.
    pub expired_at: Option<SystemTime>,
    /// The machines that it keeps from taking jobs, as `runner-3/s_0123456789ab`.
    pub nodes: Vec<String>,
}

/// What became of a wish for a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is never more than one of them"
)]
pub enum Placed {
    /// It is there.
    Done(Hold),
    /// The tenant has as many as it may have.
    Full,
}

impl Store {
    /// Places a hold. Not to be tried again blindly after an error: it may be there.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone.
    pub fn place_hold(&mut self, hold: &NewHold) -> Result<Placed, StoreError> {
        self.with(|_, database| place(database, hold))
    }

    /// The holds of a tenant, or of one project in it, by their numbers.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn holds(
        &mut self,
        tenant: &str,
        project: Option<&str>,
        now: SystemTime,
    ) -> Result<Vec<Hold>, StoreError> {
        self.with(|_, database| list(database, tenant, project, now))
    }

    /// One hold of a tenant.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn hold(
        &mut self,
        tenant: &str,
        id: u64,
        now: SystemTime,
    ) -> Result<Option<Hold>, StoreError> {
        self.with(|_, database| {
            let sql = format!("{SELECT} WHERE tenant = ?1 AND id = ?2");
            let tenant = storable(tenant);
            let values = [Value::Text(&tenant), Value::Number(number(id))];
            let rows = database.query(&sql, &values)?;
            Ok(with_nodes(database, rows, now)?.pop())
        })
    }

    /// Deletes a hold of a tenant, and lets the machines that it keeps take jobs again. Says whether it was there.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone.
    pub fn release_hold(&mut self, tenant: &str, id: u64) -> Result<bool, StoreError> {
        self.with(|_, database| {
            let sql = "DELETE FROM holds WHERE tenant = ?1 AND id = ?2";
            let tenant = storable(tenant);
            let values = [Value::Text(&tenant), Value::Number(number(id))];
            transaction(database, |database| {
                let is_there = database.execute(sql, &values)? > 0;
                if is_there {
                    jobs::release_managers(database, id)?;
                }
                Ok(is_there)
            })
        })
    }
}

fn place(database: &mut dyn Database, hold: &NewHold) -> Result<Placed, Failure> {
    let tenant = storable(&hold.tenant);
    let now = times::to_number(hold.placed_at);
    transaction(database, |database| {
        // No other connection places any from here on.
        take_ids(database, 0)?;
        let sql = "SELECT COUNT(*), COUNT(CASE WHEN expired_at IS NULL \
                   AND (expires_at IS NULL OR expires_at > ?2) THEN 1 END) \
                   FROM holds WHERE tenant = ?1";
        let mut counts = one(database, sql, &[Value::Text(&tenant), Value::Number(now)])?;
        let (all, live) = (unsigned(counts.number()?), unsigned(counts.number()?));
        if live >= LIVE {
            return Ok(Placed::Full);
        }
        if all >= ALL {
            let sql = "DELETE FROM holds WHERE id = (SELECT id FROM holds WHERE tenant = ?1 \
                       AND COALESCE(expired_at, expires_at) <= ?2 \
                       ORDER BY COALESCE(expired_at, expires_at), id LIMIT 1)";
            database.execute(sql, &[Value::Text(&tenant), Value::Number(now)])?;
        }
        let id = take_ids(database, 1)?;
        insert(database, id, hold)?;
        let sql = format!("{SELECT} WHERE id = ?1");
        let row = one(database, &sql, &[Value::Number(id)])?;
        read(row, hold.placed_at).map(Placed::Done)
    })
}

/// Takes the next ids; gives the last of them. Others who want some wait for the end of the
/// transaction.
fn take_ids(database: &mut dyn Database, count: i64) -> Result<i64, Failure> {
    let sql = "UPDATE counters SET value = value + ?1 WHERE name = 'holds' RETURNING value";
    one(database, sql, &[Value::Number(count)])?.number()
}

fn insert(database: &mut dyn Database, id: i64, hold: &NewHold) -> Result<(), Failure> {
    let texts = [
        &hold.tenant,
        &hold.project,
        &hold.job,
        &hold.reason,
        &hold.placed_by,
    ];
    let [tenant, project, job, reason, placed_by] = texts.map(|text| storable(text));
    let reference = hold.reference.as_deref().map(storable);
    let change = hold.change.as_deref().map(storable);
    let node_expiration = hold.node_expiration.map(number);
    let sql = "INSERT INTO holds (id, tenant, project, job, for_ref, for_change, reason, \
               max_count, current_count, node_expiration, placed_by, placed_at, expires_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let values = [
        Value::Number(id),
        Value::Text(&tenant),
        Value::Text(&project),
        Value::Text(&job),
        reference.as_deref().into(),
        change.as_deref().into(),
        Value::Text(&reason),
        Value::Number(hold.max_count.into()),
        Value::Number(0),
        node_expiration.map_or(Value::Null, Value::Number),
        Value::Text(&placed_by),
        times::value(Some(hold.placed_at)),
        times::value(hold.expires_at),
    ];
    database.execute(sql, &values).map(|_| ())
}

fn list(
    database: &mut dyn Database,
    tenant: &str,
    project: Option<&str>,
    now: SystemTime,
) -> Result<Vec<Hold>, Failure> {
    let (tenant, project) = (storable(tenant), project.map(storable));
    let rows = match &project {
        None => {
            let sql = format!("{SELECT} WHERE tenant = ?1 ORDER BY id");
            database.query(&sql, &[Value::Text(&tenant)])?
        }
        Some(project) => {
            let sql = format!("{SELECT} WHERE tenant = ?1 AND project = ?2 ORDER BY id");
            database.query(&sql, &[Value::Text(&tenant), Value::Text(project)])?
        }
    };
    with_nodes(database, rows, now)
}

/// The holds in rows of [`SELECT`], with what they keep.
fn with_nodes(
    database: &mut dyn Database,
    rows: Vec<Row>,
    now: SystemTime,
) -> Result<Vec<Hold>, Failure> {
    let holds = rows.into_iter().map(|row| read(row, now));
    let mut holds = holds.collect::<Result<Vec<Hold>, Failure>>()?;
    let has_held = |hold: &&mut Hold| hold.current_count > 0;
    for hold in holds.iter_mut().filter(has_held) {
        hold.nodes = jobs::nodes_of_hold(database, hold.id, now)?;
    }
    Ok(holds)
}

/// The hold in a row of [`SELECT`].
fn read(mut row: Row, now: SystemTime) -> Result<Hold, Failure> {
    let count = |number: i64| u32::try_from(unsigned(number)).unwrap_or(u32::MAX);
    let time = |number: Option<i64>| number.map(times::from_number);
    let mut hold = Hold {
        id: unsigned(row.number()?),
        tenant: row.text()?,
        project: row.text()?,
        job: row.text()?,
        reference: row.optional_text()?,
        change: row.optional_text()?,
        reason: row.text()?,
        max_count: count(row.number()?),
        current_count: count(row.number()?),
        node_expiration: row.optional_number()?.map(unsigned),
        placed_by: row.text()?,
        placed_at: times::from_number(row.number()?),
        expires_at: time(row.optional_number()?),
        expired_at: time(row.optional_number()?),
        nodes: Vec::new(),
    };
    if hold.expired_at.is_none() {
        hold.expired_at = hold.expires_at.filter(|end| *end <= now);
    }
    Ok(hold)
}

/// Marks those past their end as expired, and deletes those that expired long ago. Gives how many
/// of each.
pub(crate) fn sweep(database: &mut dyn Database, now: SystemTime) -> Result<(u64, u64), Failure> {
    let mark = "UPDATE holds SET expired_at = expires_at \
                WHERE expired_at IS NULL AND expires_at <= ?1";
    let expired = database.execute(mark, &[times::value(Some(now))])?;
    let Some(bound) = now.checked_sub(SEEN) else {
        return Ok((expired, 0));
    };
    let delete = "DELETE FROM holds WHERE expired_at < ?1";
    let deleted = database.execute(delete, &[times::value(Some(bound))])?;
    Ok((expired, deleted))
}
