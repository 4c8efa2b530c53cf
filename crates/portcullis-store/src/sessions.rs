//! Sessions that were ended early: single ones, and all that a subject had.
//!
//! Sessions themselves are not stored, so what is stored here is bounded by those that were ended: each row
//! is deleted when the session would have ended anyway, and a subject has [`MOST`] rows at most.

use std::time::SystemTime;

use crate::database::{Database, Value, number, one, storable, transaction};
use crate::error::{Failure, StoreError};
use crate::store::Store;
use crate::times;

/// Single sessions of one subject; beyond, all of that subject's sessions end.
const MOST: usize = 256;

const ONE: Value<'static> = Value::Number(0);
const ALL: Value<'static> = Value::Number(1);

/// Every session that was ended and would last otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndedSessions {
    /// The ids of single ones.
    pub sessions: Vec<String>,
    /// Subjects, with the time before which all of their sessions began that are ended.
    pub subjects: Vec<(String, SystemTime)>,
}

/// A session to be ended.
#[derive(Debug, Clone, Copy)]
pub struct EndingSession<'a> {
    /// Its id.
    pub id: &'a str,
    /// Whose it is.
    pub subject: &'a str,
    /// When it would end by itself.
    pub expires: SystemTime,
}

impl Store {
    /// Ends one session. Ending it again changes nothing.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone.
    pub fn end_session(
        &mut self,
        session: EndingSession<'_>,
        now: SystemTime,
    ) -> Result<(), StoreError> {
        self.with(|_, database| {
            transaction(database, |database| {
                let subject = storable(session.subject);
                let sql = "SELECT COUNT(*) FROM ended_sessions WHERE subject = ?1 AND scope = ?2";
                let values = [Value::Text(&subject), ONE];
                let ended = one(database, sql, &values)?.number()?;
                if ended >= number(MOST) {
                    return end_all(database, &subject, now, session.expires);
                }
                let ends = [session.id, &subject];
                put(database, ONE, ends, now, session.expires)
            })
        })
    }

    /// Ends all sessions of a subject that began before now; `until` is when the last of them would have
    /// ended by itself.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone.
    pub fn end_sessions_of(
        &mut self,
        subject: &str,
        now: SystemTime,
        until: SystemTime,
    ) -> Result<(), StoreError> {
        self.with(|_, database| {
            transaction(database, |database| {
                end_all(database, &storable(subject), now, until)
            })
        })
    }

    /// Every session that was ended and would last otherwise.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn ended_sessions(&mut self, now: SystemTime) -> Result<EndedSessions, StoreError> {
        self.with(|_, database| {
            let sql = "SELECT scope, name, ended_at FROM ended_sessions WHERE expires_at > ?1 \
                       ORDER BY scope, name";
            let mut ended = EndedSessions::default();
            for mut row in database.query(sql, &[times::value(Some(now))])? {
                let (scope, name, at) = (row.number()?, row.text()?, row.number()?);
                match scope {
                    0 => ended.sessions.push(name),
                    _ => ended.subjects.push((name, times::from_number(at))),
                }
            }
            Ok(ended)
        })
    }
}

fn end_all(
    database: &mut dyn Database,
    subject: &str,
    now: SystemTime,
    until: SystemTime,
) -> Result<(), Failure> {
    let sql = "SELECT MAX(expires_at) FROM ended_sessions WHERE subject = ?1";
    let latest = one(database, sql, &[Value::Text(subject)])?.optional_number()?;
    let until = latest.map_or(until, |latest| until.max(times::from_number(latest)));
    let sql = "DELETE FROM ended_sessions WHERE subject = ?1 AND scope = ?2";
    database.execute(sql, &[Value::Text(subject), ONE])?;
    put(database, ALL, [subject, subject], now, until)
}

fn put(
    database: &mut dyn Database,
    scope: Value<'static>,
    [name, subject]: [&str; 2],
    now: SystemTime,
    until: SystemTime,
) -> Result<(), Failure> {
    let sql = "INSERT INTO ended_sessions (scope, name, subject, ended_at, expires_at) \
               VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (scope, name) DO UPDATE SET \
               ended_at = CASE WHEN excluded.ended_at > ended_sessions.ended_at \
                          THEN excluded.ended_at ELSE ended_sessions.ended_at END, \
               expires_at = CASE WHEN excluded.expires_at > ended_sessions.expires_at \
                            THEN excluded.expires_at ELSE ended_sessions.expires_at END";
    let name = storable(name);
    let values = [
        scope,
        Value::Text(&name),
        Value::Text(subject),
        times::value(Some(now)),
        times::value(Some(until)),
    ];
    database.execute(sql, &values).map(drop)
}

/// Deletes those that would have ended by themselves. Gives how many.
pub(crate) fn sweep(database: &mut dyn Database, now: SystemTime) -> Result<u64, Failure> {
    let sql = "DELETE FROM ended_sessions WHERE expires_at <= ?1";
    database.execute(sql, &[times::value(Some(now))])
}
