//! PostgreSQL: a connection that reconnects after it was lost.
//!
//! What was under way when it was lost fails once; the next transaction connects again, to the first of several hosts
//! that accepts what is asked of it. Everything runs in a transaction, because only that has timeouts: what is asked
//! outside of one gets one of its own.

mod address;
mod failure;
mod password;
mod session;
mod tls;
mod value;

use postgres::types::Type as Sort;

use super::{Change, Database, Dialect, EACH, Row, Table, Type, Value, number, one, unsigned};
use crate::error::{Failure, Kind};
use session::{Beginning, Session};

pub(crate) use address::Address;

/// The advisory lock of those who bring tables up to date: "portcull" as a number.
const MIGRATIONS: i64 = 0x706f_7274_6375_6c6c;

static DIALECT: Dialect = Dialect {
    prefix: "--postgres:",
    number: "BIGINT",
    // Ordered by code points, as SQLite does, whatever the language of the server.
    text: "TEXT COLLATE \"C\"",
    blob: "BYTEA",
    for_update: " FOR UPDATE",
    skip_locked: " FOR UPDATE SKIP LOCKED",
    has_partitions: true,
};

/// A connection to a server.
pub(crate) struct Postgres {
    address: Address,
    read_only: bool,
    session: Option<Session>,
    /// Inside one, nothing may go on over another connection.
    in_transaction: bool,
}

impl Postgres {
    /// Connects.
    pub(crate) fn open(address: &Address, read_only: bool) -> Result<Self, Failure> {
        let mut this = Self {
            address: address.clone(),
            read_only,
            session: None,
            in_transaction: false,
        };
        this.session()?;
        Ok(this)
    }

    fn session(&mut self) -> Result<&mut Session, Failure> {
        if self.session.as_ref().is_some_and(Session::is_closed) {
            self.session = None;
        }
        match &mut self.session {
            Some(session) => Ok(session),
            None if self.in_transaction => {
                Err(Failure::new(Kind::Unavailable, "the connection was lost"))
            }
            none => Ok(none.insert(Session::connect(&self.address)?)),
        }
    }

    /// Does something with the connection, which is given up if it is of no use any more.
    fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, postgres::Error>,
    ) -> Result<T, Failure> {
        let session = self.session()?;
        let done = work(session);
        let is_closed = session.is_closed();
        done.map_err(|error| {
            if is_closed || failure::ends_session(&error) {
                self.session = None;
            }
            Failure::from(error)
        })
    }

    /// Begins a transaction. A connection that was lost since the last one is noticed only now, and nothing is lost
    /// with it yet: then another one is made.
    fn begin_as(&mut self, beginning: Beginning) -> Result<(), Failure> {
        let is_used = self.session.is_some();
        let mut begun = self.run(|session| session.begin(beginning));
        if is_used && self.session.is_none() {
            begun = self.run(|session| session.begin(beginning));
        }
        self.in_transaction = begun.is_ok();
        if begun.is_err() {
            // Part of it may have succeeded.
            self.session = None;
        }
        begun
    }

    /// Runs one statement: in the transaction under way, or in one of its own.
    fn statement<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, postgres::Error>,
    ) -> Result<T, Failure> {
        if self.in_transaction {
            return self.run(work);
        }
        self.begin()?;
        let done = self.run(work).and_then(|done| {
            self.commit()?;
            Ok(done)
        });
        if done.is_err() {
            self.roll_back();
        }
        done
    }

    /// Runs a statement that takes an array for each of these columns, whose values follow each other row by row.
    fn execute_for_rows(
        &mut self,
        sql: &str,
        columns: &[(&str, Type)],
        values: &[Value<'_>],
    ) -> Result<u64, Failure> {
        let columns: Vec<(Vec<Value<'_>>, Sort)> = (0..)
            .zip(columns)
            .map(|(place, (_, kind))| {
                let column = values.iter().skip(place).step_by(columns.len()).copied();
                let sort = match kind {
                    Type::Number => Sort::INT8_ARRAY,
                    Type::Text => Sort::TEXT_ARRAY,
                };
                (column.collect(), sort)
            })
            .collect();
        self.statement(|session| session.execute_with_columns(sql, &columns))
    }
}

/// The parameters of a statement for many rows: an array for each column.
fn arrays(columns: &[(&str, Type)]) -> String {
    let arrays: Vec<String> = (1..)
        .zip(columns)
        .map(|(place, (_, kind))| match kind {
            Type::Number => format!("?{place}::bigint[]"),
            Type::Text => format!("?{place}::text[]"),
        })
        .collect();
    arrays.join(", ")
}

impl Database for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        self.statement(|session| session.execute(sql, values))
    }

    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let rows = self.statement(|session| session.query(sql, values))?;
        rows.iter().map(value::row).collect()
    }

    fn query_each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &[&str],
    ) -> Result<Vec<Row>, Failure> {
        let sql = format!(
            "SELECT found.* FROM unnest(?{}::text[]) WITH ORDINALITY AS given (text, place), \
             LATERAL ({}) AS found ORDER BY given.place",
            values.len() + 1,
            sql.replace(EACH, "given.text"),
        );
        let column = each.iter().map(|text| Value::Text(text)).collect();
        let column = (column, Sort::TEXT_ARRAY);
        let rows = self.statement(|session| session.query_with_column(&sql, values, &column))?;
        rows.iter().map(value::row).collect()
    }

    fn insert(&mut self, table: &Table, values: &[Value<'_>]) -> Result<u64, Failure> {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let sql = format!(
            "INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING",
            table.name,
            names.join(", "),
            arrays(table.columns),
        );
        self.execute_for_rows(&sql, table.columns, values)
    }

    fn change(&mut self, change: &Change, values: &[Value<'_>]) -> Result<u64, Failure> {
        let columns = [change.keys, change.sets].concat();
        let given: Vec<String> = (1..=columns.len()).map(|n| format!("c{n}")).collect();
        let keys: Vec<String> = (1..)
            .zip(change.keys)
            .map(|(n, (name, _))| format!("t.{name} = given.c{n}"))
            .collect();
        let sets: Vec<String> = (change.keys.len() + 1..)
            .zip(change.sets)
            .map(|(n, (name, _))| format!("{name} = given.c{n}"))
            .collect();
        let rows = format!(
            "unnest({}) AS given ({}) WHERE {}",
            arrays(&columns),
            given.join(", "),
            change.with_condition(keys)
        );
        let name = change.name;
        let sql = match sets.is_empty() {
            true => format!("DELETE FROM {name} AS t USING {rows}"),
            false => format!("UPDATE {name} AS t SET {} FROM {rows}", sets.join(", ")),
        };
        self.execute_for_rows(&sql, &columns, values)
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.begin_as(match self.read_only {
            true => Beginning::Read,
            false => Beginning::Write,
        })
    }

    fn begin_reading(&mut self) -> Result<(), Failure> {
        self.begin_as(Beginning::Snapshot)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        if let Some(warned) = self.run(Session::commit)? {
            return Err(warned);
        }
        self.in_transaction = false;
        Ok(())
    }

    fn roll_back(&mut self) {
        let done = self.run(Session::roll_back);
        if done.is_err() {
            // The end of a connection ends its transaction as well.
            self.session = None;
        }
        self.in_transaction = false;
    }

    fn has_table(&mut self, name: &str) -> Result<bool, Failure> {
        // Asked of the tables themselves: `to_regclass` may answer from before the wait for a lock.
        let sql = "SELECT 1 FROM pg_catalog.pg_class AS c \
                   JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
                   WHERE c.relname = CAST(?1 AS TEXT) AND c.relkind IN ('r', 'p') \
                   AND n.nspname = ANY (current_schemas(false))";
        Ok(!self.query(sql, &[Value::Text(name)])?.is_empty())
    }

    fn lock_migrations(&mut self) -> Result<(), Failure> {
        let sql = "SELECT 1 FROM pg_advisory_xact_lock(?1)";
        self.query(sql, &[Value::Number(MIGRATIONS)]).map(|_| ())
    }

    fn new_ids(&mut self, name: &str, count: usize) -> Result<Vec<i64>, Failure> {
        let sql = "SELECT nextval(CAST(CAST(?1 AS TEXT) AS REGCLASS)) \
                   FROM generate_series(1, CAST(?2 AS BIGINT))";
        let name = format!("{name}_ids");
        let rows = self.query(sql, &[Value::Text(&name), Value::Number(number(count))])?;
        rows.into_iter().map(|mut row| row.number()).collect()
    }

    fn size_on_disk(&mut self, tables: &[&str]) -> Result<u64, Failure> {
        let mut size = 0_u64;
        for table in tables {
            let sql = "SELECT COALESCE(pg_total_relation_size(to_regclass(?1)), 0)";
            size = size.saturating_add(unsigned(one(self, sql, &[Value::Text(table)])?.number()?));
        }
        Ok(size)
    }

    fn size_in_use(&mut self) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    fn time(&mut self) -> Result<Option<i64>, Failure> {
        let sql = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint";
        one(self, sql, &[])?.optional_number()
    }

    fn durability_risk(&mut self) -> Result<Option<String>, Failure> {
        let sql = "SELECT current_setting('fsync'), current_setting('synchronous_commit'), \
                   current_setting('synchronous_standby_names')";
        let mut row = one(self, sql, &[])?;
        let (fsync, commit, standbys) = (row.text()?, row.text()?, row.text()?);
        let lost = "what was acknowledged can be lost";
        Ok(match (fsync.as_str(), commit.as_str()) {
            ("off", _) => Some(format!(
                "the database has `fsync = off`: {lost} when its server crashes"
            )),
            (_, "off") => Some(format!(
                "the database has `synchronous_commit = off`: {lost} when its server crashes"
            )),
            (_, "local") if !standbys.is_empty() => Some(format!(
                "the database has `synchronous_commit = local`, which doesn't wait for its standbys: \
                 {lost} when one is promoted"
            )),
            _ => None,
        })
    }

    fn give_space_back(&mut self) -> Result<(), Failure> {
        // Autovacuum does.
        Ok(())
    }
}
