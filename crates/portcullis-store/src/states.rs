//! The states of tenants: whether new pipelines are paused or discarded, and results held back.
//!
//! A state past its end is normal for every reader, whether or not it was deleted.

use std::time::SystemTime;

use crate::database::{Database, Row, Value, one, storable, transaction};
use crate::error::{Failure, StoreError};
use crate::store::Store;
use crate::times;

/// The columns that [`read`] reads, in its order.
const COLUMNS: &str = "trigger_queue_discarding, trigger_queue_paused, result_queue_paused, \
                       reason, set_by, set_at, expires_at";

/// The state of a tenant; normal by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantState {
    /// New pipelines are rejected.
    pub trigger_queue_discarding: bool,
    /// New pipelines wait.
    pub trigger_queue_paused: bool,
    /// Finished jobs start nothing.
    pub result_queue_paused: bool,
    /// The reason, free text.
    pub reason: Option<String>,
    /// The caller who set it last.
    pub set_by: Option<String>,
    /// When, to the microsecond.
    pub set_at: Option<SystemTime>,
    /// When it becomes normal again; never by itself without.
    pub expires_at: Option<SystemTime>,
}

/// A change of a state. Fields that are none stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChange {
    /// Whether new pipelines are rejected.
    pub trigger_queue_discarding: Option<bool>,
    /// Whether new pipelines wait.
    pub trigger_queue_paused: Option<bool>,
    /// Whether finished jobs start nothing.
    pub result_queue_paused: Option<bool>,
    /// Another reason, or none any more.
    pub reason: Option<Option<String>>,
    /// Another end, or none any more.
    pub expires_at: Option<Option<SystemTime>>,
}

impl TenantState {
    /// Whether anything is held back.
    pub fn is_paused(&self) -> bool {
        self.trigger_queue_discarding || self.trigger_queue_paused || self.result_queue_paused
    }

    fn is_ended(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// What it is at this time.
    fn at(self, now: SystemTime) -> Self {
        match self.is_ended(now) {
            true => Self::default(),
            false => self,
        }
    }

    fn change(&mut self, change: &StateChange, by: &str, now: SystemTime) {
        let flags = [
            (
                &mut self.trigger_queue_discarding,
                change.trigger_queue_discarding,
            ),
            (&mut self.trigger_queue_paused, change.trigger_queue_paused),
            (&mut self.result_queue_paused, change.result_queue_paused),
        ];
        for (flag, wanted) in flags {
            *flag = wanted.unwrap_or(*flag);
        }
        if let Some(reason) = &change.reason {
            self.reason.clone_from(reason);
        }
        if let Some(end) = change.expires_at {
            self.expires_at = end;
        }
        let is_normal = !self.trigger_queue_discarding
            && !self.trigger_queue_paused
            && !self.result_queue_paused;
        if is_normal {
            self.expires_at = None;
        }
        self.set_by = Some(by.to_owned());
        self.set_at = Some(now);
    }
}

impl Store {
    /// The state of a tenant.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn tenant_state(
        &mut self,
        tenant: &str,
        now: SystemTime,
    ) -> Result<TenantState, StoreError> {
        self.with(|_, database| {
            let sql = format!("SELECT {COLUMNS} FROM tenant_states WHERE tenant = ?1");
            let row = database
                .query(&sql, &[Value::Text(&storable(tenant))])?
                .pop();
            let state = row.map(read).transpose()?.unwrap_or_default();
            Ok(state.at(now))
        })
    }

    /// The states of all tenants with one that was set and has not expired, by their names.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn tenant_states(
        &mut self,
        now: SystemTime,
    ) -> Result<Vec<(String, TenantState)>, StoreError> {
        self.with(|_, database| {
            let sql = format!("SELECT tenant, {COLUMNS} FROM tenant_states ORDER BY tenant");
            let mut states = Vec::new();
            for mut row in database.query(&sql, &[])? {
                let (tenant, state) = (row.text()?, read(row)?);
                if !state.is_ended(now) {
                    states.push((tenant, state));
                }
            }
            Ok(states)
        })
    }

    /// Changes the state of a tenant, and gives what it is then. Changes of different parts made at
    /// once all stay. Where nothing is paused or discarded in the end, the state does not expire.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer, or was opened for reading alone. Then nothing is changed,
    /// or, where the connection was lost, all of it; to change it again is harmless.
    pub fn change_tenant_state(
        &mut self,
        tenant: &str,
        change: &StateChange,
        by: &str,
        now: SystemTime,
    ) -> Result<TenantState, StoreError> {
        self.with(|_, database| {
            transaction(database, |database| {
                self::change(database, tenant, change, by, now)
            })
        })
    }
}

fn change(
    database: &mut dyn Database,
    tenant: &str,
    change: &StateChange,
    by: &str,
    now: SystemTime,
) -> Result<TenantState, Failure> {
    let tenant = storable(tenant);
    // Makes sure of a row and locks it, so that no other connection changes it before the end of the
    // transaction.
    let sql = format!(
        "INSERT INTO tenant_states (tenant, trigger_queue_discarding, trigger_queue_paused, \
         result_queue_paused) VALUES (?1, 0, 0, 0) \
         ON CONFLICT (tenant) DO UPDATE SET tenant = excluded.tenant RETURNING {COLUMNS}"
    );
    let row = one(database, &sql, &[Value::Text(&tenant)])?;
    let mut state = read(row)?.at(now);
    state.change(change, by, now);
    let reason = state.reason.as_deref().map(storable);
    let set_by = state.set_by.as_deref().map(storable);
    let sql = format!(
        "UPDATE tenant_states SET trigger_queue_discarding = ?2, trigger_queue_paused = ?3, \
         result_queue_paused = ?4, reason = ?5, set_by = ?6, set_at = ?7, expires_at = ?8 \
         WHERE tenant = ?1 RETURNING {COLUMNS}"
    );
    let values = [
        Value::Text(&tenant),
        Value::Number(state.trigger_queue_discarding.into()),
        Value::Number(state.trigger_queue_paused.into()),
        Value::Number(state.result_queue_paused.into()),
        reason.as_deref().into(),
        set_by.as_deref().into(),
        times::value(state.set_at),
        times::value(state.expires_at),
    ];
    Ok(read(one(database, &sql, &values)?)?.at(now))
}

/// The state in these columns.
fn read(mut row: Row) -> Result<TenantState, Failure> {
    Ok(TenantState {
        trigger_queue_discarding: row.number()? != 0,
        trigger_queue_paused: row.number()? != 0,
        result_queue_paused: row.number()? != 0,
        reason: row.optional_text()?,
        set_by: row.optional_text()?,
        set_at: row.optional_number()?.map(times::from_number),
        expires_at: row.optional_number()?.map(times::from_number),
    })
}

/// Deletes those past their end. Gives how many.
pub(crate) fn sweep(database: &mut dyn Database, now: SystemTime) -> Result<u64, Failure> {
    let sql = "DELETE FROM tenant_states WHERE expires_at <= ?1";
    database.execute(sql, &[times::value(Some(now))])
}
