//! Decisions: a narrow row each for lists and filters, and their full lines in compressed batches.
//!
//! Every decision gets the next number when it is stored. Numbers become visible in their order, so
//! "after this number" is all a follower needs. A batch holds the lines of consecutive numbers, so a
//! decision's line is found by its number alone; merging batches changes no row of a decision.

mod append;
mod body;
mod columns;
mod consolidate;
mod filter;
mod read;
mod retention;
mod scan;
mod tally;
mod thin;
mod ulid;

use std::collections::HashMap;

use portcullis_record::Summary;

use crate::database::{Database, one, unsigned};
use crate::error::Failure;

pub(crate) use append::NewDigests;
pub use filter::Filter;
pub(crate) use retention::Pruned;
pub use retention::Retention;
pub use tally::{Bounds, Counted, Course, Part, Tally};

/// All our tables.
const TABLES: &[&str] = &[
    "counters",
    "decision_digests",
    "decisions",
    "decision_batches",
    "holds",
    "tenant_states",
];

/// A decision to be stored.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// What lists show.
    pub summary: &'a Summary,
    /// All of it, as one line of JSON.
    pub line: &'a str,
}

/// Which part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The `next` of the page before; none for the first.
    pub after: Option<String>,
    /// How many, at most. More than 10,000 are never given at once.
    pub limit: usize,
}

/// A page of decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The decisions, newest first.
    pub items: Vec<Summary>,
    /// Where the next page begins; none when this is the last.
    pub next: Option<String>,
}

/// A place in the order in which decisions were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mark(u64);

impl Mark {
    /// The mark of this number, as [`Mark::number`] gave it; 0 is before everything.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Its number, to be kept elsewhere.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// How much is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    /// How many decisions.
    pub decisions: u64,
    /// In how many batches.
    pub batches: u64,
    /// Bytes on disk, as far as the database can say.
    pub bytes: u64,
    /// The oldest decision.
    pub oldest: Option<String>,
    /// The newest.
    pub newest: Option<String>,
}

/// What is kept between calls.
#[derive(Default)]
pub(crate) struct Decisions {
    compressor: body::Compressor,
    /// The numbers of digests that are stored for sure.
    digests: HashMap<String, i64>,
}

impl Decisions {
    /// The mark after everything stored so far.
    pub(crate) fn newest(&mut self, database: &mut dyn Database) -> Result<Mark, Failure> {
        let sql = "SELECT value FROM counters WHERE name = 'decisions'";
        Ok(Mark(unsigned(one(database, sql, &[])?.number()?)))
    }

    /// How many there are.
    pub(crate) fn count(
        &mut self,
        database: &mut dyn Database,
        filter: &Filter,
    ) -> Result<u64, Failure> {
        let conditions = filter.conditions();
        let sql = if conditions.is_empty() {
            "SELECT CAST(COALESCE(SUM(lines - removed), 0) AS BIGINT) FROM decision_batches"
                .to_owned()
        } else {
            format!("SELECT COUNT(*) FROM decisions {}", conditions.sql())
        };
        Ok(unsigned(
            one(database, &sql, &conditions.values())?.number()?,
        ))
    }

    /// How much is there.
    pub(crate) fn statistics(
        &mut self,
        database: &mut dyn Database,
    ) -> Result<Statistics, Failure> {
        let sql = "SELECT (SELECT MIN(id) FROM decisions), (SELECT MAX(id) FROM decisions), \
                   CAST(COALESCE(SUM(lines - removed), 0) AS BIGINT), COUNT(*) FROM decision_batches";
        let mut row = one(database, sql, &[])?;
        Ok(Statistics {
            oldest: row.optional_text()?,
            newest: row.optional_text()?,
            decisions: unsigned(row.number()?),
            batches: unsigned(row.number()?),
            bytes: database.size_on_disk(TABLES)?,
        })
    }
}
