//! Rows by many ids, with few statements.

use super::column;
use crate::database::{Database, Row, Value};
use crate::error::Failure;

/// Ids in one statement, at most.
const MOST: usize = 512;

/// The rows of `{select} AND id IN (…){end}`, or with `WHERE` if `select` has no values. They are in the order that
/// `end` asks for within every [`MOST`] ids.
pub(super) fn rows_by_ids(
    database: &mut dyn Database,
    select: &str,
    values: &[Value<'_>],
    ids: &[u64],
    end: &str,
) -> Result<Vec<Row>, Failure> {
    let word = if values.is_empty() { "WHERE" } else { "AND" };
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(MOST) {
        let Some(last) = some.last() else {
            continue;
        };
        // The last one is repeated, so that few different statements are prepared.
        let size = some.len().next_power_of_two();
        let padded = some.iter().chain(std::iter::repeat(last)).take(size);
        let mut all = values.to_vec();
        all.extend(padded.map(|id| column::id(*id)));
        let marks: Vec<String> = (values.len() + 1..=all.len())
            .map(|place| format!("?{place}"))
            .collect();
        let sql = format!("{select} {word} id IN ({}){end}", marks.join(", "));
        found.extend(database.query(&sql, &all)?);
    }
    Ok(found)
}
