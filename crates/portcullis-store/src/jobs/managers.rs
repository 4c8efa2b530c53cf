//! Managers: the machines that ask for jobs with the token of a runner. One that is held is given no job.

use std::collections::BTreeSet;
use std::time::SystemTime;

use portcullis_jobs::{RunnerId, Timestamp};
use serde_json::Value as Json;

use super::column;
use super::error::JobsError;
use super::surroundings;
use super::transaction::{JobsReader, JobsTransaction};
use crate::database::{Change, Database, Row, Table, Type, Value, number, storable};
use crate::error::Failure;
use crate::times;

/// Managers that are remembered of one runner, at most: those that were heard of last, and those that are held.
const MOST: usize = 1000;

/// What [`read`] reads, in its order.
const SELECT: &str = "SELECT runner, system_id, contacted_at, address, info, hold, held_until \
                      FROM runner_managers";

static NEW: Table = Table {
    name: "runner_managers",
    columns: &[
        ("runner", Type::Number),
        ("system_id", Type::Text),
        ("contacted_at", Type::Number),
        ("address", Type::Text),
        ("info", Type::Text),
    ],
};

static CONTACTED: Change = Change {
    name: "runner_managers",
    keys: &[("runner", Type::Number), ("system_id", Type::Text)],
    condition: "",
    sets: &[
        ("contacted_at", Type::Number),
        ("address", Type::Text),
        ("info", Type::Text),
    ],
};

/// A manager that was heard of.
#[derive(Debug, Clone, PartialEq)]
pub struct ManagerContact {
    /// Its runner.
    pub runner: RunnerId,
    /// Its name.
    pub system_id: String,
    /// When it asked.
    pub at: Timestamp,
    /// Where it called from.
    pub address: Option<String>,
    /// What it says of itself.
    pub info: Json,
}

/// A manager as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ManagerRecord {
    /// The last that was heard of it.
    pub contact: ManagerContact,
    /// The hold because of which it is given no job, and until when.
    pub held: Option<(u64, Timestamp)>,
}

impl JobsReader<'_> {
    /// The managers of a runner, by their names.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn managers(&mut self, runner: RunnerId) -> Result<Vec<ManagerRecord>, JobsError> {
        let sql = format!("{SELECT} WHERE runner = ?1 ORDER BY system_id");
        self.with(|database| rows(database, &sql, &[column::id(runner)]))
    }

    /// The managers that are held after this time.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn held_managers(&mut self, now: Timestamp) -> Result<Vec<ManagerRecord>, JobsError> {
        let sql = format!("{SELECT} WHERE hold IS NOT NULL AND held_until > ?1");
        self.apart(|database| rows(database, &sql, &[column::time(now)]))
    }
}

impl JobsTransaction<'_> {
    /// Remembers managers that were heard of. Each may be named once.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn note_managers(&mut self, contacts: &[ManagerContact]) -> Result<(), JobsError> {
        let texts: Result<Vec<_>, Failure> = contacts.iter().map(texts).collect();
        let runners: BTreeSet<RunnerId> = contacts.iter().map(|one| one.runner).collect();
        self.write_apart(|database| {
            let texts = texts?;
            let mut values = Vec::with_capacity(contacts.len() * NEW.columns.len());
            for (contact, [system_id, address, info]) in contacts.iter().zip(&texts) {
                values.extend([
                    column::id(contact.runner),
                    Value::Text(system_id),
                    column::time(contact.at),
                    contact.address.as_ref().map(|_| &**address).into(),
                    Value::Text(info),
                ]);
            }
            if values.is_empty() {
                return Ok(());
            }
            let inserted = database.insert(&NEW, &values)?;
            database.change(&CONTACTED, &values)?;
            if inserted > 0 {
                for runner in runners {
                    forget_oldest(database, runner)?;
                }
            }
            Ok(())
        })
    }

    /// Gives a manager no job until this time, or until the hold is released. One that was never heard of is held as
    /// well. Says whether that is new: one that is held already stays with its hold.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn hold_manager(
        &mut self,
        (runner, system_id): (RunnerId, &str),
        hold: u64,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<bool, JobsError> {
        self.surroundings_change()?;
        let insert = "INSERT INTO runner_managers (runner, system_id, contacted_at, info) \
                      VALUES (?1, ?2, ?3, 'null') ON CONFLICT DO NOTHING";
        let update = "UPDATE runner_managers SET hold = ?3, held_until = ?4 WHERE runner = ?1 \
                      AND system_id = ?2 AND (hold IS NULL OR hold = ?3 OR held_until <= ?5)";
        let system_id = storable(system_id);
        let (runner, system_id) = (column::id(runner), Value::Text(&system_id));
        let [until, now] = [until, now].map(column::time);
        self.write_apart(|database| {
            database.execute(insert, &[runner, system_id, now])?;
            let values = [runner, system_id, column::id(hold), until, now];
            Ok(database.execute(update, &values)? > 0)
        })
    }

    /// Lets the managers of a hold take jobs again; says how many there were.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn release_managers(&mut self, hold: u64) -> Result<u64, JobsError> {
        self.surroundings_change()?;
        self.write_apart(|database| release(database, hold))
    }

    /// Forgets a manager; says whether it was there. One that is held stays held.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn delete_manager(&mut self, runner: RunnerId, system_id: &str) -> Result<bool, JobsError> {
        let find = "SELECT 1 FROM runner_managers WHERE runner = ?1 AND system_id = ?2";
        let delete = "DELETE FROM runner_managers WHERE runner = ?1 AND system_id = ?2 \
                      AND hold IS NULL";
        let system_id = storable(system_id);
        let key = [column::id(runner), Value::Text(&system_id)];
        self.write_apart(|database| {
            let is_there = !database.query(find, &key)?.is_empty();
            database.execute(delete, &key)?;
            Ok(is_there)
        })
    }

    /// Forgets managers that were not heard of since, unless they are held.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn sweep_managers(&mut self, before: Timestamp, now: Timestamp) -> Result<u64, JobsError> {
        let sql = "DELETE FROM runner_managers WHERE contacted_at < ?1 \
                   AND (hold IS NULL OR held_until <= ?2)";
        let values = [before, now].map(column::time);
        self.write_apart(|database| database.execute(sql, &values))
    }
}

/// Lets the managers of a hold take jobs again.
pub(crate) fn release_managers(database: &mut dyn Database, hold: u64) -> Result<(), Failure> {
    surroundings::raise(database)?;
    release(database, hold).map(drop)
}

fn release(database: &mut dyn Database, hold: u64) -> Result<u64, Failure> {
    let sql = "UPDATE runner_managers SET hold = NULL, held_until = NULL WHERE hold = ?1";
    database.execute(sql, &[column::id(hold)])
}

/// The managers that a hold keeps from taking jobs, as `runner-3/s_0123456789ab`.
pub(crate) fn nodes_of_hold(
    database: &mut dyn Database,
    hold: u64,
    now: SystemTime,
) -> Result<Vec<String>, Failure> {
    let sql = format!("{SELECT} WHERE hold = ?1 AND held_until > ?2 ORDER BY runner, system_id");
    let held = rows(database, &sql, &[column::id(hold), times::value(Some(now))])?;
    let name = |record: ManagerRecord| match record.contact {
        ManagerContact {
            runner, system_id, ..
        } if system_id.is_empty() => {
            format!("runner-{runner}")
        }
        ManagerContact {
            runner, system_id, ..
        } => format!("runner-{runner}/{system_id}"),
    };
    Ok(held.into_iter().map(name).collect())
}

fn texts(contact: &ManagerContact) -> Result<[String; 3], Failure> {
    let address = contact.address.as_deref().unwrap_or_default();
    Ok([
        storable(&contact.system_id).into_owned(),
        storable(address).into_owned(),
        column::json(&contact.info)?,
    ])
}

fn forget_oldest(database: &mut dyn Database, runner: RunnerId) -> Result<(), Failure> {
    let sql = "DELETE FROM runner_managers WHERE runner = ?1 AND hold IS NULL AND system_id IN \
               (SELECT system_id FROM runner_managers WHERE runner = ?1 \
               ORDER BY contacted_at DESC, system_id LIMIT 100000 OFFSET ?2)";
    let values = [column::id(runner), Value::Number(number(MOST))];
    database.execute(sql, &values).map(drop)
}

fn rows(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<ManagerRecord>, Failure> {
    database.query(sql, values)?.into_iter().map(read).collect()
}

/// The manager in a row of [`SELECT`].
fn read(mut row: Row) -> Result<ManagerRecord, Failure> {
    Ok(ManagerRecord {
        contact: ManagerContact {
            runner: column::read_id(&mut row)?,
            system_id: row.text()?,
            at: column::read_time(&mut row)?,
            address: row.optional_text()?,
            info: column::read_json(&mut row)?,
        },
        held: {
            let hold = column::read_optional_id(&mut row)?;
            hold.zip(column::read_optional_time(&mut row)?)
        },
    })
}
