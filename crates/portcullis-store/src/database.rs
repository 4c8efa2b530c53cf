//! A connection to a database, the same for SQLite and PostgreSQL.
//!
//! SQL is written once, in what both understand, with values as `?1`, `?2`. Answers are read completely, so
//! every query has a limit or is small by nature.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::borrow::Cow;

use crate::error::{Failure, Kind};

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reading and writing: it is made if it is not there, and brought up to date.
    ReadWrite,
    /// Reading alone: nothing is made or changed.
    ReadOnly,
}

/// A value that goes in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Number(i64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

/// A value that comes out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field {
    Null,
    Number(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// One row of an answer; its fields are taken in order.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Field>);

impl Row {
    pub(crate) fn new(fields: Vec<Field>) -> Self {
        Self(fields.into_iter())
    }

    fn unexpected(wanted: &str) -> Failure {
        Failure::corrupt(format!("unexpected column type: expected {wanted}"))
    }

    pub(crate) fn optional_number(&mut self) -> Result<Option<i64>, Failure> {
        match self.0.next() {
            Some(Field::Number(number)) => Ok(Some(number)),
            Some(Field::Null) => Ok(None),
            _ => Err(Self::unexpected("number")),
        }
    }

    pub(crate) fn number(&mut self) -> Result<i64, Failure> {
        self.optional_number()?
            .ok_or_else(|| Self::unexpected("number"))
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, Failure> {
        match self.0.next() {
            Some(Field::Text(text)) => Ok(Some(text)),
            Some(Field::Null) => Ok(None),
            _ => Err(Self::unexpected("text")),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        self.optional_text()?
            .ok_or_else(|| Self::unexpected("text"))
    }

    pub(crate) fn blob(&mut self) -> Result<Vec<u8>, Failure> {
        match self.0.next() {
            Some(Field::Blob(bytes)) => Ok(bytes),
            _ => Err(Self::unexpected("bytes")),
        }
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Number,
    Text,
}

/// A table whose rows are inserted in numbers.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Type)],
}

/// Rows that are changed in numbers: those with these keys get these values, or are deleted if there is nothing to set.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [(&'static str, Type)],
    /// What else must be true of them; nothing if it is empty.
    pub(crate) condition: &'static str,
    pub(crate) sets: &'static [(&'static str, Type)],
}

impl Change {
    /// Values for each row.
    pub(crate) fn width(&self) -> usize {
        self.keys.len() + self.sets.len()
    }

    /// All that must be true of a row.
    pub(crate) fn with_condition(&self, mut keys: Vec<String>) -> String {
        if !self.condition.is_empty() {
            keys.push(format!("({})", self.condition));
        }
        keys.join(" AND ")
    }
}

/// Where [`Database::query_each`] puts its texts.
pub(crate) const EACH: &str = "<each>";

/// A connection to one of the databases.
pub(crate) trait Database: Send {
    /// Which parts of a migration are meant.
    fn dialect(&self) -> &'static Dialect;

    /// Runs one statement; gives the number of rows it changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failure>;

    /// Runs one query.
    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure>;

    /// Runs one query for each of these texts, which stands for [`EACH`] in it; gives the rows of all, in their order.
    fn query_each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &[&str],
    ) -> Result<Vec<Row>, Failure>;

    /// Inserts rows that follow each other in `values`, but not those that are there already. Gives
    /// the number of those inserted.
    fn insert(&mut self, table: &Table, values: &[Value<'_>]) -> Result<u64, Failure>;

    /// Changes rows. Their keys, and what is set, follow each other in `values`. Gives the number of those that were
    /// there.
    fn change(&mut self, change: &Change, values: &[Value<'_>]) -> Result<u64, Failure>;

    /// The time of the database server, in seconds since 1970; none if it is the one of this machine.
    fn time(&mut self) -> Result<Option<i64>, Failure> {
        Ok(None)
    }

    /// Begins a transaction that will write.
    fn begin(&mut self) -> Result<(), Failure>;

    /// Begins a transaction that only reads: all of it sees the same state, and holds up no one who writes.
    fn begin_reading(&mut self) -> Result<(), Failure>;

    /// Ends a transaction; what it did stays, or nothing of it.
    fn commit(&mut self) -> Result<(), Failure>;

    /// Ends a transaction, undoing what it did.
    fn roll_back(&mut self);

    /// Whether there is a table of this name.
    fn has_table(&mut self, name: &str) -> Result<bool, Failure>;

    /// Waits until no other process brings this database up to date; until the end of the transaction.
    fn lock_migrations(&mut self) -> Result<(), Failure>;

    /// How much is on disk, with what is free in between: all, or what these tables take where others
    /// share the database.
    fn size_on_disk(&mut self, tables: &[&str]) -> Result<u64, Failure>;

    /// How much of it is in use, where the database knows at once.
    fn size_in_use(&mut self) -> Result<Option<u64>, Failure>;

    /// Takes so many new ids of this name. None is given twice, though some may never be used.
    fn new_ids(&mut self, name: &str, count: usize) -> Result<Vec<i64>, Failure>;

    /// What in the settings of the server would lose what was committed, in words.
    fn durability_risk(&mut self) -> Result<Option<String>, Failure>;

    /// Gives unused space back, in steps that don't block others for long.
    fn give_space_back(&mut self) -> Result<(), Failure>;
}

/// What differs in the SQL of both.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) prefix: &'static str,
    pub(crate) number: &'static str,
    pub(crate) text: &'static str,
    pub(crate) blob: &'static str,
    /// The end of a query for rows that will be changed: nobody else may, until the end of the transaction. Empty
    /// where a transaction is alone anyway.
    pub(crate) for_update: &'static str,
    /// The same, without those that somebody else holds.
    pub(crate) skip_locked: &'static str,
    /// Whether large tables have partitions.
    pub(crate) has_partitions: bool,
}

/// Runs `work` in a transaction: all of it, or nothing.
pub(crate) fn transaction<T>(
    database: &mut dyn Database,
    work: impl FnOnce(&mut dyn Database) -> Result<T, Failure>,
) -> Result<T, Failure> {
    database.begin()?;
    match work(database) {
        Ok(done) => {
            if let Err(failure) = database.commit() {
                database.roll_back();
                return Err(failure);
            }
            Ok(done)
        }
        Err(failure) => {
            database.roll_back();
            Err(failure)
        }
    }
}

/// The one row of a query that always has one.
pub(crate) fn one(
    database: &mut dyn Database,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Row, Failure> {
    let mut rows = database.query(sql, values)?;
    match rows.pop() {
        Some(row) => Ok(row),
        None => Err(Failure::new(Kind::Corrupt, "an expected row is missing")),
    }
}

/// A size or count for the database.
pub(crate) fn number(size: impl TryInto<i64>) -> i64 {
    size.try_into().unwrap_or(i64::MAX)
}

/// A size or count from the database.
pub(crate) fn unsigned(size: i64) -> u64 {
    size.try_into().unwrap_or(0)
}

/// The text as both databases can store it: PostgreSQL can't store U+0000.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}").into(),
        false => text.into(),
    }
}

/// Holds off everybody else who deletes or merges, until the end of the transaction.
pub(crate) fn lock_upkeep(database: &mut dyn Database) -> Result<(), Failure> {
    let sql = "UPDATE counters SET value = value + ?1 WHERE name = 'upkeep'";
    database.execute(sql, &[Value::Number(1)]).map(|_| ())
}
