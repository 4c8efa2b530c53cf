//! Finding one thing, wherever it is.

use crate::database::{Database, Row, Value};
use crate::error::Failure;

/// The row of the first query, of the table in use, or else of the first or second: both in one statement, which can't
/// miss what moves meanwhile.
pub(in crate::jobs) fn find<T>(
    database: &mut dyn Database,
    [current, archived]: &[String; 2],
    values: &[Value<'_>],
    read: fn(Row) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    let mut found = database.query(current, values)?.pop();
    if found.is_none() {
        let either = format!("{current} UNION ALL {archived}");
        found = database.query(&either, values)?.pop();
    }
    found.map(read).transpose()
}
