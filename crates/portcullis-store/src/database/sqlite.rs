//! SQLite: one file, with a write-ahead log beside it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_core::percent;
use portcullis_files::Use;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement, ToSql};

use super::{Change, Database, Dialect, EACH, Field, Row, Table, Value, number, one, unsigned};
use crate::error::{Failure, Kind};

/// How long one waits for another who writes.
const BUSY: Duration = Duration::from_secs(10);

/// How long giving back the log waits for those who read.
const BUSY_TRUNCATING: Duration = Duration::from_millis(100);

/// Bytes of pages that a connection keeps in memory.
const CACHE: usize = 8 << 20;

/// Pages given back in one step.
const VACUUM_STEP: i64 = 1024;

/// The log is cut down to this size when it starts anew.
const LOG_LIMIT: i64 = 16 << 20;

static DIALECT: Dialect = Dialect {
    prefix: "--sqlite:",
    number: "INTEGER",
    text: "TEXT",
    blob: "BLOB",
    for_update: "",
    skip_locked: "",
    has_partitions: false,
};

/// A connection to a file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    connection: Connection,
}

impl Sqlite {
    /// Opens the file for reading and writing; makes it if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        trusted(path)?;
        create(path).map_err(|error| {
            Failure::new(Kind::Other, format!("can't create the file: {error}"))
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut this = Self::with_flags(path, path.as_os_str().as_encoded_bytes(), flags)?;
        this.retried(|this| {
            // The first two count only before the first table.
            this.pragma("page_size = 4096")?;
            this.pragma("auto_vacuum = incremental")?;
            this.pragma("journal_mode = WAL")
        })?;
        this.pragma("synchronous = FULL")?;
        this.pragma("foreign_keys = ON")?;
        this.pragma(&format!("journal_size_limit = {LOG_LIMIT}"))?;
        this.pragma("wal_autocheckpoint = 4000")?;
        Ok(this)
    }

    /// Opens the file for reading alone.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self, Failure> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(Failure::new(Kind::Other, "this is not a file")),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Failure::new(Kind::Missing, "there is no such file"));
            }
            Err(error) => {
                return Err(Failure::new(Kind::Other, format!("can't be read: {error}")));
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let usual = Self::with_flags(path, path.as_os_str().as_encoded_bytes(), flags);
        let usual = usual.and_then(|mut this| this.has_table("counters").map(|_| this));
        match usual {
            // Reading a log needs a file beside it, which not every user may create. Without a log the
            // file alone is complete, as nothing writes to it.
            Err(failure) if failure.kind == Kind::Unavailable && !beside(path, "-wal").exists() => {
                let uri = immutable(path);
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                Self::with_flags(path, uri.as_bytes(), flags)
            }
            usual => usual,
        }
    }

    fn with_flags(path: &Path, name: &[u8], flags: OpenFlags) -> Result<Self, Failure> {
        let name: &Path = Path::new(std::ffi::OsStr::new(
            std::str::from_utf8(name)
                .map_err(|_| Failure::new(Kind::Other, "the path is not UTF-8"))?,
        ));
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(BUSY)?;
        // Plans don't depend on values, or statements with `OR` would be planned again for each.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(128);
        let this = Self {
            path: path.to_owned(),
            connection,
        };
        this.pragma(&format!("cache_size = -{}", CACHE >> 10))?;
        Ok(this)
    }

    fn pragma(&self, pragma: &str) -> Result<(), Failure> {
        let mut statement = self.connection.prepare(&format!("PRAGMA {pragma}"))?;
        let mut rows = statement.query([])?;
        // Some work only as far as their rows are read.
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn pragma_number(&self, pragma: &str) -> Result<i64, Failure> {
        let sql = format!("PRAGMA {pragma}");
        Ok(self.connection.query_row(&sql, [], |row| row.get(0))?)
    }

    /// The change to a write-ahead log doesn't wait for others who do the same.
    fn retried(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for _ in 0..100 {
            match work(self) {
                Err(failure) if failure.kind == Kind::Busy => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => return other,
            }
        }
        work(self)
    }
}

/// Runs a statement for each row of so many values; gives the number of rows it changed.
fn run_for_each(
    statement: &mut Statement<'_>,
    values: &[Value<'_>],
    width: usize,
) -> Result<u64, Failure> {
    let mut changed = 0;
    for row in values.chunks(width) {
        for (index, value) in row.iter().enumerate() {
            statement.raw_bind_parameter(index + 1, value)?;
        }
        changed += statement.raw_execute()?;
    }
    Ok(changed.try_into().unwrap_or(u64::MAX))
}

/// Files that others may have written are not opened.
fn trusted(path: &Path) -> Result<(), Failure> {
    let beside = ["-wal", "-shm", "-journal"].map(|end| beside(path, end));
    for file in std::iter::once(path).chain(beside.iter().map(PathBuf::as_path)) {
        portcullis_files::check_own(file, Use::Data).map_err(|reason| {
            Failure::new(Kind::Other, format!("`{}`: {reason}", file.display()))
        })?;
    }
    Ok(())
}

/// Makes the file, for its owner alone, and the folder it is in.
fn create(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent()
        && !folder.as_os_str().is_empty()
        && !folder.exists()
    {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map(|_| ()),
    }
}

/// The name of a file that SQLite keeps beside the database.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The file as an address that declares it immutable.
fn immutable(path: &Path) -> String {
    let path = percent::encoded_path(path.as_os_str().as_encoded_bytes());
    format!("file:{path}?immutable=1")
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Number(number) => ValueRef::Integer(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let changed = statement.execute(rusqlite::params_from_iter(values))?;
        Ok(changed.try_into().unwrap_or(u64::MAX))
    }

    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let mut fields = Vec::with_capacity(columns);
            for column in 0..columns {
                fields.push(match row.get_ref(column)? {
                    ValueRef::Null => Field::Null,
                    ValueRef::Integer(number) => Field::Number(number),
                    ValueRef::Text(text) => Field::Text(String::from_utf8_lossy(text).into_owned()),
                    ValueRef::Blob(bytes) => Field::Blob(bytes.to_vec()),
                    ValueRef::Real(_) => return Err(Failure::corrupt("a column holds a fraction")),
                });
            }
            found.push(Row::new(fields));
        }
        Ok(found)
    }

    fn query_each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &[&str],
    ) -> Result<Vec<Row>, Failure> {
        let sql = sql.replace(EACH, &format!("?{}", values.len() + 1));
        let mut found = Vec::new();
        for text in each {
            let values = [values, &[Value::Text(text)]].concat();
            found.extend(self.query(&sql, &values)?);
        }
        Ok(found)
    }

    fn insert(&mut self, table: &Table, values: &[Value<'_>]) -> Result<u64, Failure> {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let marks: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
        let mut statement = self.connection.prepare_cached(&format!(
            "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
            table.name,
            names.join(", "),
            marks.join(", "),
        ))?;
        run_for_each(&mut statement, values, names.len())
    }

    fn change(&mut self, change: &Change, values: &[Value<'_>]) -> Result<u64, Failure> {
        let width = change.keys.len();
        let equal = |(place, (name, _)): (usize, &(&str, _))| format!("{name} = ?{place}");
        let keys: Vec<String> = (1..).zip(change.keys).map(equal).collect();
        let sets: Vec<String> = (width + 1..).zip(change.sets).map(equal).collect();
        let (name, keys) = (change.name, change.with_condition(keys));
        let sql = match sets.is_empty() {
            true => format!("DELETE FROM {name} WHERE {keys}"),
            false => format!("UPDATE {name} SET {} WHERE {keys}", sets.join(", ")),
        };
        let mut statement = self.connection.prepare_cached(&sql)?;
        run_for_each(&mut statement, values, change.width())
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.execute("BEGIN IMMEDIATE", &[]).map(|_| ())
    }

    fn begin_reading(&mut self) -> Result<(), Failure> {
        self.execute("BEGIN DEFERRED", &[]).map(|_| ())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.execute("COMMIT", &[]).map(|_| ())
    }

    fn roll_back(&mut self) {
        // Some errors have undone everything already.
        if !self.connection.is_autocommit() {
            let _ = self.execute("ROLLBACK", &[]);
        }
    }

    fn has_table(&mut self, name: &str) -> Result<bool, Failure> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        Ok(!self.query(sql, &[Value::Text(name)])?.is_empty())
    }

    fn lock_migrations(&mut self) -> Result<(), Failure> {
        // Not needed: every transaction that writes is exclusive from its beginning.
        Ok(())
    }

    fn new_ids(&mut self, name: &str, count: usize) -> Result<Vec<i64>, Failure> {
        let count = number(count);
        let sql = "UPDATE counters SET value = value + ?1 WHERE name = ?2 RETURNING value";
        let newest = one(self, sql, &[Value::Number(count), Value::Text(name)])?.number()?;
        Ok((newest - count + 1..=newest).collect())
    }

    fn size_on_disk(&mut self, _: &[&str]) -> Result<u64, Failure> {
        let file = unsigned(self.pragma_number("page_count")?)
            .saturating_mul(unsigned(self.pragma_number("page_size")?));
        let log = fs::metadata(beside(&self.path, "-wal")).map_or(0, |log| log.len());
        Ok(file.saturating_add(log))
    }

    fn size_in_use(&mut self) -> Result<Option<u64>, Failure> {
        let pages = self.pragma_number("page_count")? - self.pragma_number("freelist_count")?;
        let bytes = unsigned(pages).saturating_mul(unsigned(self.pragma_number("page_size")?));
        Ok(Some(bytes))
    }

    fn durability_risk(&mut self) -> Result<Option<String>, Failure> {
        // It is opened with settings that have none.
        Ok(None)
    }

    fn give_space_back(&mut self) -> Result<(), Failure> {
        loop {
            let free = self.pragma_number("freelist_count")?;
            if free == 0 {
                break;
            }
            self.pragma(&format!("incremental_vacuum({VACUUM_STEP})"))?;
            if self.pragma_number("freelist_count")? >= free {
                break;
            }
        }
        // What is written goes into the file, and the log starts anew, if nothing reads from it now.
        self.connection.busy_timeout(BUSY_TRUNCATING)?;
        let truncated = self.pragma("wal_checkpoint(TRUNCATE)");
        self.connection.busy_timeout(BUSY)?;
        match truncated {
            Err(failure) if failure.kind != Kind::Busy => Err(failure),
            _ => Ok(()),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Kind::Corrupt,
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Kind::Unavailable,
            _ => Kind::Other,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address_that_means_it() {
        assert_eq!(
            immutable(Path::new("/a b/x?y#z%.db")),
            "file:/a%20b/x%3Fy%23z%25.db?immutable=1"
        );
    }
}
