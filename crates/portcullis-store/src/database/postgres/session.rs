//! One connection. Nothing stays with it from one transaction to the next, so that a pooler may give every transaction
//! another one: statements have no names, and settings are made in each transaction, together with its beginning.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::sync::Mutex;
use postgres::error::Severity;
use postgres::types::{ToSql, Type};
use postgres::{Client, Row, Statement};

use super::address::Address;
use super::{tls, value};
use crate::database::Value;
use crate::error::{Failure, Kind};

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may be silent before it is given up.
const SILENT: Duration = Duration::from_secs(30);

/// What a transaction asks of the server, unless the address says otherwise.
///
/// Every query that is repeated has an index that gives its rows in their order. The planner doesn't know that: the
/// statistics of a queue are those of another moment, when it was empty perhaps, and then reading all of a table or
/// sorting all that waits looks as cheap. Those ways have such a high cost here that they are taken only where there is no
/// other, and a high cost must not have queries compiled.
const SETTINGS: &[(&str, &str)] = &[
    ("statement_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("enable_seqscan", "off"),
    ("enable_sort", "off"),
    ("jit", "off"),
];

/// Prepared statements that are kept, where the address asks for them.
const STATEMENTS: usize = 128;

/// How a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// For reading and writing.
    Write,
    /// For reading alone: each statement sees what is committed by then.
    Read,
    /// For reading alone: all statements see the same.
    Snapshot,
}

/// A parameter, whatever it is.
type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection to a server.
pub(super) struct Session {
    client: Client,
    /// What every transaction sets, as statements.
    settings: String,
    /// Statements that the server keeps for this connection; none behind a pooler.
    prepared: Option<HashMap<String, Statement>>,
    /// What the server warned of last.
    warning: Arc<Mutex<Option<String>>>,
}

impl Session {
    pub(super) fn connect(address: &Address) -> Result<Self, Failure> {
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
        let warning: Arc<Mutex<Option<String>>> = Arc::default();
        let last = Arc::clone(&warning);
        config.notice_callback(move |notice| {
            if notice.parsed_severity() == Some(Severity::Warning) {
                *last.lock() = Some(notice.message().to_owned());
            }
        });
        let options = config.get_options().unwrap_or_default();
        let settings = SETTINGS
            .iter()
            .filter(|(name, _)| !options.contains(name))
            .map(|(name, value)| format!("; SET LOCAL {name} = '{value}'"))
            .collect();
        let client = match tls::connector(address.tls())? {
            Some(connector) => config.connect(connector)?,
            None => config.connect(postgres::NoTls)?,
        };
        Ok(Self {
            client,
            settings,
            prepared: address.has_prepared_statements().then(HashMap::new),
            warning,
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Begins a transaction, with its settings, in one round trip.
    pub(super) fn begin(&mut self, beginning: Beginning) -> Result<(), postgres::Error> {
        let begin = match beginning {
            Beginning::Write => "BEGIN",
            Beginning::Read => "BEGIN READ ONLY",
            Beginning::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.client
            .batch_execute(&format!("{begin}{}", self.settings))
    }

    /// Ends a transaction. A server that warns has not done what was asked: it had no transaction, or stopped waiting
    /// for its standby.
    pub(super) fn commit(&mut self) -> Result<Option<Failure>, postgres::Error> {
        *self.warning.lock() = None;
        self.client.batch_execute("COMMIT")?;
        let warning = self.warning.lock().take();
        Ok(warning.map(|text| Failure::new(Kind::Unavailable, text)))
    }

    pub(super) fn roll_back(&mut self) -> Result<(), postgres::Error> {
        self.client.batch_execute("ROLLBACK")
    }

    pub(super) fn execute(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<u64, postgres::Error> {
        match self.prepare(sql)? {
            Some(statement) => self.client.execute(&statement, &parameters(values)),
            None => self.client.execute_typed(&dollars(sql), &typed(values)),
        }
    }

    pub(super) fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, postgres::Error> {
        match self.prepare(sql)? {
            Some(statement) => self.client.query(&statement, &parameters(values)),
            None => self.client.query_typed(&dollars(sql), &typed(values)),
        }
    }

    /// Runs a query whose last value is a whole column.
    pub(super) fn query_with_column(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        (column, kind): &(Vec<Value<'_>>, Type),
    ) -> Result<Vec<Row>, postgres::Error> {
        match self.prepare(sql)? {
            Some(statement) => {
                let mut all = parameters(values);
                all.push(column);
                self.client.query(&statement, &all)
            }
            None => {
                let mut all = typed(values);
                all.push((column, kind.clone()));
                self.client.query_typed(&dollars(sql), &all)
            }
        }
    }

    /// Runs a statement whose values are whole columns.
    pub(super) fn execute_with_columns(
        &mut self,
        sql: &str,
        columns: &[(Vec<Value<'_>>, Type)],
    ) -> Result<u64, postgres::Error> {
        let values = || {
            columns
                .iter()
                .map(|(column, kind)| (column as Parameter<'_>, kind))
        };
        match self.prepare(sql)? {
            Some(statement) => {
                let values: Vec<_> = values().map(|(column, _)| column).collect();
                self.client.execute(&statement, &values)
            }
            None => {
                let values: Vec<_> = values()
                    .map(|(column, kind)| (column, kind.clone()))
                    .collect();
                self.client.execute_typed(&dollars(sql), &values)
            }
        }
    }

    /// The statement, prepared once for each connection, if this one keeps any.
    fn prepare(&mut self, sql: &str) -> Result<Option<Statement>, postgres::Error> {
        let Some(prepared) = &mut self.prepared else {
            return Ok(None);
        };
        if let Some(statement) = prepared.get(sql) {
            return Ok(Some(statement.clone()));
        }
        let statement = self.client.prepare(&dollars(sql))?;
        if prepared.len() >= STATEMENTS {
            prepared.clear();
        }
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(Some(statement))
    }
}

/// The statement with its values as PostgreSQL has them.
fn dollars(sql: &str) -> String {
    sql.replace('?', "$")
}

fn parameters<'a>(values: &'a [Value<'a>]) -> Vec<Parameter<'a>> {
    values.iter().map(|value| value as Parameter<'a>).collect()
}

fn typed<'a>(values: &'a [Value<'a>]) -> Vec<(Parameter<'a>, Type)> {
    let values = values.iter();
    values
        .map(|value| (value as Parameter<'a>, value::kind(value)))
        .collect()
}
