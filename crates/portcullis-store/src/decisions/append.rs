//! Storing decisions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use portcullis_record::Summary;

use super::body::RAW_LIMIT;
use super::columns::{self, TABLE, Texts};
use super::{Decisions, Entry};
use crate::database::{Database, Value, number, one, storable, transaction};
use crate::error::{Failure, Kind};

/// Batches with fewer lines and fewer bytes than these may become parts of bigger ones.
const LOOSE_LINES: usize = 128;
const LOOSE_RAW: usize = 1 << 20;

/// Digests that are remembered.
const DIGESTS: usize = 4096;

/// A batch before it has its place.
struct Batch {
    lines: usize,
    oldest: String,
    newest: String,
    raw_size: usize,
    body: Vec<u8>,
}

/// The numbers of digests that a transaction stores.
#[derive(Debug, Default)]
pub(crate) struct NewDigests(HashMap<String, i64>);

/// What became of an attempt.
enum Attempt {
    Stored(HashMap<String, i64>),
    /// Some were there already.
    Known,
}

impl Decisions {
    /// Stores these decisions, but those that are there already.
    pub(crate) fn append(
        &mut self,
        database: &mut dyn Database,
        entries: &[Entry<'_>],
    ) -> Result<(), Failure> {
        if entries.is_empty() {
            return Ok(());
        }
        // What takes long is done before others have to wait.
        let batches = self.compress(entries)?;
        database.begin()?;
        let digests = match self.attempt(database, entries, &batches) {
            Ok(Attempt::Stored(digests)) => {
                if let Err(failure) = database.commit() {
                    database.roll_back();
                    return Err(failure);
                }
                digests
            }
            Ok(Attempt::Known) => {
                database.roll_back();
                self.append_unknown(database, entries)?
            }
            Err(failure) => {
                database.roll_back();
                return Err(failure);
            }
        };
        self.remember(NewDigests(digests));
        Ok(())
    }

    /// Stores these decisions in the transaction under way. What is returned is remembered once it is committed.
    pub(crate) fn append_within(
        &mut self,
        database: &mut dyn Database,
        entries: &[Entry<'_>],
    ) -> Result<NewDigests, Failure> {
        if entries.is_empty() {
            return Ok(NewDigests::default());
        }
        let batches = self.compress(entries)?;
        match self.attempt(database, entries, &batches)? {
            Attempt::Stored(digests) => Ok(NewDigests(digests)),
            Attempt::Known => Err(Failure::new(Kind::Other, "duplicate decision id")),
        }
    }

    /// These digests are stored for sure.
    pub(crate) fn remember(&mut self, NewDigests(digests): NewDigests) {
        if self.digests.len() + digests.len() > DIGESTS {
            self.digests.clear();
        }
        self.digests.extend(digests);
    }

    /// Leaves out what is there, and stores the rest.
    fn append_unknown(
        &mut self,
        database: &mut dyn Database,
        entries: &[Entry<'_>],
    ) -> Result<HashMap<String, i64>, Failure> {
        transaction(database, |database| {
            // No other connection stores anything from here on.
            take_numbers(database, 0)?;
            let mut seen = HashSet::new();
            let mut unknown = Vec::new();
            for entry in entries {
                let id = &entry.summary.id;
                let sql = "SELECT number FROM decisions WHERE id = ?1";
                if seen.insert(id) && database.query(sql, &[Value::Text(id)])?.is_empty() {
                    unknown.push(*entry);
                }
            }
            if unknown.is_empty() {
                return Ok(HashMap::new());
            }
            let batches = self.compress(&unknown)?;
            match self.attempt(database, &unknown, &batches)? {
                Attempt::Stored(digests) => Ok(digests),
                Attempt::Known => Err(Failure::corrupt("a decision is there and isn't")),
            }
        })
    }

    /// Cuts the entries into batches and compresses them.
    fn compress(&mut self, entries: &[Entry<'_>]) -> Result<Vec<Batch>, Failure> {
        let mut batches = Vec::new();
        let mut rest = entries;
        while !rest.is_empty() {
            let mut size = 0;
            let fitting = rest.iter().take_while(|entry| {
                size += entry.line.len() + 1;
                size <= RAW_LIMIT
            });
            let (these, others) = rest.split_at(fitting.count().max(1));
            rest = others;
            let lines: Vec<Cow<'_, str>> = these.iter().map(|entry| one_line(entry.line)).collect();
            let (raw_size, body) = self.compressor.lines(lines.iter().map(AsRef::as_ref))?;
            let ids = || these.iter().map(|entry| entry.summary.id.as_str());
            batches.push(Batch {
                lines: these.len(),
                oldest: ids().min().unwrap_or_default().to_owned(),
                newest: ids().max().unwrap_or_default().to_owned(),
                raw_size,
                body,
            });
        }
        Ok(batches)
    }

    /// Writes everything; gives the digests that are stored now.
    fn attempt(
        &self,
        database: &mut dyn Database,
        entries: &[Entry<'_>],
        batches: &[Batch],
    ) -> Result<Attempt, Failure> {
        let last = take_numbers(database, number(entries.len()))?;
        let mut first = last - number(entries.len()) + 1;
        let digests = self.number_digests(database, entries.iter().map(|entry| entry.summary))?;
        let digest = |digest: &Option<String>| {
            let digest = digest.as_ref()?;
            self.digests
                .get(digest)
                .or_else(|| digests.get(digest))
                .copied()
        };
        let mut rest = entries;
        for batch in batches {
            let (these, others) = rest.split_at(batch.lines.min(rest.len()));
            rest = others;
            let texts: Vec<Texts<'_>> = these
                .iter()
                .map(|entry| Texts::new(entry.summary))
                .collect();
            let mut values = Vec::with_capacity(texts.len() * TABLE.columns.len());
            for (place, (text, entry)) in (first..).zip(texts.iter().zip(these)) {
                let digest_number = digest(&entry.summary.digest);
                let gate_number = digest(&entry.summary.gate);
                values.extend(text.values(place, digest_number, gate_number, entry.line));
            }
            let inserted = database.insert(&TABLE, &values)?;
            if inserted < these.len() as u64 {
                return Ok(Attempt::Known);
            }
            let rows = values.chunks(TABLE.columns.len());
            insert_batch(
                database,
                &Head {
                    first,
                    lines: number(batch.lines),
                    oldest: &batch.oldest,
                    newest: &batch.newest,
                    loose: batch.lines < LOOSE_LINES && batch.raw_size < LOOSE_RAW,
                    raw_size: number(batch.raw_size),
                    row_size: number(rows.map(columns::size).sum::<usize>()),
                },
                &batch.body,
            )?;
            first += number(batch.lines);
        }
        Ok(Attempt::Stored(digests))
    }

    /// The numbers of digests that were not known yet, stored where they were not.
    fn number_digests<'a>(
        &self,
        database: &mut dyn Database,
        summaries: impl Iterator<Item = &'a Summary>,
    ) -> Result<HashMap<String, i64>, Failure> {
        let mut numbers = HashMap::new();
        for digest in summaries.flat_map(|summary| [&summary.digest, &summary.gate]) {
            let Some(digest) = digest else {
                continue;
            };
            if self.digests.contains_key(digest) || numbers.contains_key(digest) {
                continue;
            }
            let stored = storable(digest);
            let value = [Value::Text(&stored)];
            let sql = "SELECT number FROM decision_digests WHERE digest = ?1";
            let number = match database.query(sql, &value)?.pop() {
                Some(mut row) => row.number()?,
                None => {
                    let sql = "INSERT INTO decision_digests (number, digest) \
                               SELECT COALESCE(MAX(number), 0) + 1, ?1 FROM decision_digests \
                               RETURNING number";
                    one(database, sql, &value)?.number()?
                }
            };
            numbers.insert(digest.clone(), number);
        }
        Ok(numbers)
    }
}

/// A batch without its body.
pub(super) struct Head<'a> {
    pub(super) first: i64,
    pub(super) lines: i64,
    pub(super) oldest: &'a str,
    pub(super) newest: &'a str,
    pub(super) loose: bool,
    pub(super) raw_size: i64,
    pub(super) row_size: i64,
}

/// Stores a batch.
pub(super) fn insert_batch(
    database: &mut dyn Database,
    head: &Head<'_>,
    body: &[u8],
) -> Result<(), Failure> {
    let sql = "INSERT INTO decision_batches (first, lines, oldest_id, newest_id, loose, raw_size, \
               body_size, row_size, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = [
        Value::Number(head.first),
        Value::Number(head.lines),
        Value::Text(head.oldest),
        Value::Text(head.newest),
        Value::Number(i64::from(head.loose)),
        Value::Number(head.raw_size),
        Value::Number(number(body.len())),
        Value::Number(head.row_size),
        Value::Blob(body),
    ];
    database.execute(sql, &values).map(|_| ())
}

/// Takes the next numbers; gives the last of them. Others who want some wait for the end of the
/// transaction, so a reader that sees a number sees all before it.
fn take_numbers(database: &mut dyn Database, count: i64) -> Result<i64, Failure> {
    let sql = "UPDATE counters SET value = value + ?1 WHERE name = 'decisions' RETURNING value";
    one(database, sql, &[Value::Number(count)])?.number()
}

/// The text without line breaks. In JSON they are only between its parts, where a space does as well.
fn one_line(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\n');
    match memchr::memchr(b'\n', line.as_bytes()) {
        Some(_) => line.replace('\n', " ").into(),
        None => line.into(),
    }
}
