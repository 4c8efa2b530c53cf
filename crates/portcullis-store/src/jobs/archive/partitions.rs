//! The partitions of the archive and of what runners send, where there are any: one of each table for each day.
//!
//! Creating one holds up neither those who read nor those who write; dropping one holds up both for a moment. Only
//! runners that send traces and artifacts notice: submitting and admitting jobs never waits for this.

use super::part::daily_tables;
use crate::database::{Database, Value};
use crate::error::Failure;
use crate::jobs::day::Day;

/// The advisory lock of those who create partitions: "portcull" plus one.
const CREATING: i64 = 0x706f_7274_6375_6c6d;

/// How long dropping waits for those who read the archive; they wait behind it.
const PATIENCE: &str = "SET LOCAL lock_timeout = '2s'";

fn name(table: &str, day: Day) -> String {
    format!("{table}_{}", day.date())
}

/// Has the partitions of a day ready.
pub(in crate::jobs) fn ensure(database: &mut dyn Database, day: Day) -> Result<(), Failure> {
    if !database.dialect().has_partitions {
        return Ok(());
    }
    // The last one is created last.
    if let Some(last) = daily_tables().next_back()
        && database.has_table(&name(&last, day))?
    {
        return Ok(());
    }
    let lock = "SELECT 1 FROM pg_advisory_xact_lock(?1)";
    database.query(lock, &[Value::Number(CREATING)])?;
    for table in daily_tables() {
        let partition = name(&table, day);
        // Another server may have been quicker.
        if database.has_table(&partition)? {
            continue;
        }
        let create = format!("CREATE TABLE {partition} (LIKE {table} INCLUDING ALL)");
        database.execute(&create, &[])?;
        // Unlike a table that is created as a partition, this doesn't wait until no one reads.
        let (from, to) = (day.0, day.next().0);
        let attach = format!(
            "ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES FROM ({from}) TO ({to})"
        );
        database.execute(&attach, &[])?;
    }
    Ok(())
}

/// Drops the partitions of the oldest day before this one, if there is such a day. Says whether there was.
pub(in crate::jobs) fn drop_before(
    database: &mut dyn Database,
    bound: Day,
) -> Result<bool, Failure> {
    let mut oldest: Option<String> = None;
    for table in daily_tables() {
        let sql = "SELECT CAST(c.relname AS TEXT) FROM pg_catalog.pg_inherits AS i \
                   JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid \
                   WHERE i.inhparent = to_regclass(?1)";
        for mut row in database.query(sql, &[Value::Text(&table)])? {
            let partition = row.text()?;
            let date = partition.strip_prefix(&format!("{table}_"));
            // Others that are attached are not ours.
            let is_date = |date: &&str| date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit());
            let Some(date) = date.filter(is_date) else {
                continue;
            };
            let is_older = oldest.as_deref().is_none_or(|oldest| date < oldest);
            if is_older && date < bound.date().as_str() {
                oldest = Some(date.to_owned());
            }
        }
    }
    let Some(date) = oldest else {
        return Ok(false);
    };
    database.execute(PATIENCE, &[])?;
    let partitions: Vec<String> = daily_tables()
        .map(|table| format!("{table}_{date}"))
        .collect();
    let drop = format!("DROP TABLE IF EXISTS {}", partitions.join(", "));
    database.execute(&drop, &[])?;
    Ok(true)
}
