//! PostgreSQL: a connection that reconnects after it was lost.
//!
//! What was under way when it was lost fails once; the next call connects again.

mod address;
mod password;
mod tls;
mod value;

use std::collections::HashMap;
use std::error::Error as _;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Statement};

use super::{Database, Dialect, Row, Table, Type, Value, number, one, unsigned};
use crate::error::{Failure, Kind};

pub(crate) use address::Address;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may be silent before it is given up.
const SILENT: Duration = Duration::from_secs(30);

/// What a session asks of the server, unless the address says otherwise.
const SETTINGS: &[(&str, &str)] = &[
    ("statement_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("client_min_messages", "warning"),
];

/// Prepared statements that are kept.
const STATEMENTS: usize = 128;

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
};

/// A connection to a server.
pub(crate) struct Postgres {
    address: Address,
    read_only: bool,
    session: Option<Session>,
    /// Inside one, nothing may go on over another connection.
    in_transaction: bool,
}

struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
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
        if self
            .session
            .as_ref()
            .is_some_and(|session| session.client.is_closed())
        {
            self.session = None;
        }
        match &mut self.session {
            Some(session) => Ok(session),
            None if self.in_transaction => Err(lost()),
            none => {
                let client = connect(&self.address, self.read_only)?;
                Ok(none.insert(Session {
                    client,
                    statements: HashMap::new(),
                }))
            }
        }
    }

    fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, postgres::Error>,
    ) -> Result<T, Failure> {
        let session = self.session()?;
        let done = work(session);
        let closed = session.client.is_closed();
        done.map_err(|error| {
            if closed || error.is_closed() {
                self.session = None;
            }
            Failure::from(error)
        })
    }
}

fn lost() -> Failure {
    Failure::new(Kind::Unavailable, "the connection was lost")
}

fn connect(address: &Address, read_only: bool) -> Result<Client, Failure> {
    let mut config = address.config();
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENT);
    }
    config.keepalives_idle(SILENT);
    if config.get_application_name().is_none() {
        config.application_name("portcullis");
    }
    let options = config.get_options().unwrap_or_default().to_owned();
    let mut client = match tls::connector(address.tls())? {
        Some(connector) => config.connect(connector)?,
        None => config.connect(postgres::NoTls)?,
    };
    let mut settings = String::new();
    for (name, value) in SETTINGS {
        if !options.contains(name) {
            settings.push_str(&format!("SET {name} = '{value}';"));
        }
    }
    if read_only {
        settings.push_str("SET default_transaction_read_only = on;");
    }
    client.batch_execute(&settings)?;
    Ok(client)
}

impl Session {
    /// The statement, prepared once for each connection.
    fn prepared(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&sql.replace('?', "$"))?;
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

fn parameters<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let values = values.iter();
    values.map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl Database for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        self.run(|session| {
            let statement = session.prepared(sql)?;
            session.client.execute(&statement, &parameters(values))
        })
    }

    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let rows = self.run(|session| {
            let statement = session.prepared(sql)?;
            session.client.query(&statement, &parameters(values))
        })?;
        rows.iter().map(value::row).collect()
    }

    fn insert(&mut self, table: &Table, values: &[Value<'_>]) -> Result<u64, Failure> {
        let width = table.columns.len();
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let arrays: Vec<String> = (1..)
            .zip(table.columns)
            .map(|(place, (_, kind))| match kind {
                Type::Number => format!("?{place}::bigint[]"),
                Type::Text => format!("?{place}::text[]"),
            })
            .collect();
        let sql = format!(
            "INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING",
            table.name,
            names.join(", "),
            arrays.join(", "),
        );
        let columns: Vec<Vec<Value<'_>>> = (0..width)
            .map(|column| values.iter().skip(column).step_by(width).copied().collect())
            .collect();
        self.run(|session| {
            let statement = session.prepared(&sql)?;
            let parameters = columns.iter().map(|column| column as &(dyn ToSql + Sync));
            session
                .client
                .execute(&statement, &parameters.collect::<Vec<_>>())
        })
    }

    fn begin(&mut self) -> Result<(), Failure> {
        self.run(|session| session.client.batch_execute("BEGIN"))?;
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.run(|session| session.client.batch_execute("COMMIT"))?;
        self.in_transaction = false;
        Ok(())
    }

    fn roll_back(&mut self) {
        let done = self.run(|session| session.client.batch_execute("ROLLBACK"));
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

    fn give_space_back(&mut self) -> Result<(), Failure> {
        // Autovacuum does.
        Ok(())
    }
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else {
            let mut reason = error.to_string();
            let mut cause = error.source();
            while let Some(error) = cause {
                reason.push_str(&format!(": {error}"));
                cause = error.source();
            }
            return Self::new(without_answer(&error), reason);
        };
        let code = said.code();
        let class = code.code().get(..2).unwrap_or_default();
        let kind = match class {
            // Connection, resources, being shut down.
            "08" | "53" | "57" | "58" if *code != SqlState::QUERY_CANCELED => Kind::Unavailable,
            // Too slow, locked.
            "57" | "55" => Kind::Busy,
            // Deadlock, serialization.
            "40" => Kind::Conflict,
            "XX" if *code != SqlState::INTERNAL_ERROR => Kind::Corrupt,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Kind::Unavailable,
            _ if *code == SqlState::INVALID_CATALOG_NAME || *code == SqlState::UNDEFINED_TABLE => {
                Kind::Missing
            }
            _ => Kind::Other,
        };
        Self::new(kind, format!("{} ({})", said.message(), code.code()))
    }
}

/// The kind of an error that the server didn't send.
fn without_answer(error: &postgres::Error) -> Kind {
    let text = error.to_string();
    // The library distinguishes them by their messages only.
    let other = [
        "invalid",
        "authentication",
        "serializing",
        "expected",
        "TLS",
        "encoding",
    ];
    match other.iter().any(|part| text.contains(part)) {
        true => Kind::Other,
        false => Kind::Unavailable,
    }
}
