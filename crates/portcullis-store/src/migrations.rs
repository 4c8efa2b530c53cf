//! Brings the tables of a database up to date.
//!
//! A migration is a file in `migrations/`, the same for both databases. Which ones were applied, and
//! in which form, is recorded in the table `portcullis_migrations`. They never change once released: a
//! database that had another form applied is rejected.

use portcullis_core::clock;

use crate::database::{Database, Dialect, Value, number, transaction, unsigned};
use crate::error::{Failure, Kind};

/// One step; its version is its place, from 1.
struct Migration {
    name: &'static str,
    text: &'static str,
}

/// All steps, in order. New ones are added at the end.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "0001-decisions",
        text: include_str!("../migrations/0001-decisions.sql"),
    },
    Migration {
        name: "0002-holds-and-states",
        text: include_str!("../migrations/0002-holds-and-states.sql"),
    },
    Migration {
        name: "0003-ended-sessions",
        text: include_str!("../migrations/0003-ended-sessions.sql"),
    },
    Migration {
        name: "0004-shares-of-the-store",
        text: include_str!("../migrations/0004-shares-of-the-store.sql"),
    },
    Migration {
        name: "0005-jobs",
        text: include_str!("../migrations/0005-jobs.sql"),
    },
    Migration {
        name: "0006-surroundings",
        text: include_str!("../migrations/0006-surroundings.sql"),
    },
    Migration {
        name: "0007-archive",
        text: include_str!("../migrations/0007-archive.sql"),
    },
    Migration {
        name: "0008-queue",
        text: include_str!("../migrations/0008-queue.sql"),
    },
    Migration {
        name: "0009-runner-output",
        text: include_str!("../migrations/0009-runner-output.sql"),
    },
    Migration {
        name: "0010-holds-of-jobs",
        text: include_str!("../migrations/0010-holds-of-jobs.sql"),
    },
    Migration {
        name: "0011-uses-of-exemptions",
        text: include_str!("../migrations/0011-uses-of-exemptions.sql"),
    },
];

const TABLE: &str = "portcullis_migrations";

/// The version of the newest tables.
pub(crate) fn version() -> u64 {
    MIGRATIONS.len() as u64
}

/// Applies what is missing.
pub(crate) fn bring_up_to_date(database: &mut dyn Database) -> Result<(), Failure> {
    if database.has_table(TABLE)? && missing(database)? == 0 {
        return Ok(());
    }
    transaction(database, |database| {
        database.lock_migrations()?;
        if !database.has_table(TABLE)? {
            let sql = "CREATE TABLE portcullis_migrations (version {number} PRIMARY KEY, name {text} NOT NULL, \
                       checksum {text} NOT NULL, applied {number} NOT NULL)";
            database.execute(&typed(sql, database.dialect()), &[])?;
        }
        let known = MIGRATIONS.len();
        let missing = missing(database)?;
        for (index, migration) in MIGRATIONS.iter().enumerate().skip(known - missing) {
            for statement in statements(migration.text, database.dialect()) {
                database.execute(&statement, &[])?;
            }
            let now = clock::wall().duration_since(std::time::UNIX_EPOCH);
            database.execute(
                "INSERT INTO portcullis_migrations (version, name, checksum, applied) VALUES (?1, ?2, ?3, ?4)",
                &[
                    Value::Number(number(index + 1)),
                    Value::Text(migration.name),
                    Value::Text(&checksum(migration.text)),
                    Value::Number(number(now.map_or(0, |now| now.as_secs()))),
                ],
            )?;
        }
        Ok(())
    })
}

/// Rejects a database that is not up to date.
pub(crate) fn check(database: &mut dyn Database) -> Result<(), Failure> {
    if !database.has_table(TABLE)? {
        return Err(Failure::new(Kind::Missing, "it has no Portcullis tables"));
    }
    let missing = missing(database)?;
    let needed = MIGRATIONS.len() as u64;
    let found = needed.saturating_sub(missing as u64);
    match found {
        0 => Err(Failure::new(Kind::Missing, "it has no Portcullis tables")),
        _ if missing > 0 => Err(Failure::new(Kind::Older { found, needed }, "")),
        _ => Ok(()),
    }
}

/// How many of the last migrations were not applied. Fails if others were.
fn missing(database: &mut dyn Database) -> Result<usize, Failure> {
    let sql = "SELECT version, checksum FROM portcullis_migrations ORDER BY version";
    let mut applied = Vec::new();
    for mut row in database.query(sql, &[])? {
        applied.push((row.number()?, row.text()?));
    }
    if let Some((newest, _)) = applied.last()
        && *newest > number(MIGRATIONS.len())
    {
        let (found, known) = (unsigned(*newest), MIGRATIONS.len() as u64);
        return Err(Failure::new(Kind::Newer { found, known }, ""));
    }
    for (index, (version, found)) in applied.iter().enumerate() {
        let same = MIGRATIONS.get(index).is_some_and(|migration| {
            *version == number(index + 1) && *found == checksum(migration.text)
        });
        if !same {
            return Err(Failure::new(
                Kind::Other,
                format!("its schema version {version} differs from the one of this program"),
            ));
        }
    }
    Ok(MIGRATIONS.len().saturating_sub(applied.len()))
}

fn checksum(text: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    let bytes = digest.as_ref().iter();
    bytes.fold(String::from("sha256:"), |text, byte| {
        format!("{text}{byte:02x}")
    })
}

fn typed(sql: &str, dialect: &Dialect) -> String {
    sql.replace("{number}", dialect.number)
        .replace("{text}", dialect.text)
        .replace("{blob}", dialect.blob)
}

/// The statements of a migration for one database.
fn statements(text: &str, dialect: &Dialect) -> Vec<String> {
    let mut statements = Vec::new();
    let mut statement = String::new();
    for line in text.lines() {
        let line = line.strip_prefix(dialect.prefix).unwrap_or(line);
        if line.trim_start().starts_with("--") || line.trim().is_empty() {
            continue;
        }
        statement.push_str(line);
        statement.push('\n');
        if line.trim_end().ends_with(';') {
            statements.push(typed(std::mem::take(&mut statement).trim_end(), dialect));
        }
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALECT: Dialect = Dialect {
        prefix: "--one:",
        number: "N",
        text: "T",
        blob: "B",
        for_update: "",
        skip_locked: "",
        has_partitions: false,
    };

    #[test]
    fn a_migration_is_cut_into_statements_of_one_database() {
        let text = "-- Why; because.\nCREATE TABLE x (\n    -- how\n    a {number},\n    b {blob}\n);\n\n\
                    --one:ALTER {text};\n--two:DROP x;\n";
        assert_eq!(
            statements(text, &DIALECT),
            ["CREATE TABLE x (\n    a N,\n    b B\n);", "ALTER T;"]
        );
    }

    #[test]
    fn migrations_are_numbered_by_their_place() {
        for (index, migration) in MIGRATIONS.iter().enumerate() {
            assert!(migration.name.starts_with(&format!("{:04}-", index + 1)));
            assert!(
                migration.text.trim_end().ends_with(';'),
                "{}",
                migration.name
            );
        }
    }
}
