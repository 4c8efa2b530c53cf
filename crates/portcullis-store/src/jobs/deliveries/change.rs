//! What becomes of deliveries after they were claimed.

use portcullis_jobs::Timestamp;

use super::{by_id, column};
use crate::database::{Database, Value};
use crate::error::Failure;
use crate::jobs::error::JobsError;
use crate::jobs::record::{Delivery, DeliveryId, DeliveryState, DeliveryTry, JobRecord};
use crate::jobs::transaction::JobsTransaction;
use crate::jobs::unit::Unit;

/// Tries that are kept; the oldest ones make room.
const MOST_TRIES: usize = 50;

/// What happens after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTry<'a> {
    /// It is tried again then.
    Again(Timestamp),
    /// The controller will call back.
    Delivered,
    /// It is given up.
    Failed,
    /// The answer was the verdict; a digest of it.
    Done(&'a str),
}

impl JobsTransaction<'_> {
    /// Records a try of a delivery that `by` has claimed, and gives the delivery as it is then. Nothing if it isn't
    /// waiting any more, or someone else has claimed it since: then nothing is changed.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn record_try(
        &mut self,
        id: DeliveryId,
        by: &str,
        attempted: DeliveryTry,
        after: AfterTry<'_>,
    ) -> Result<Option<Delivery>, JobsError> {
        let is_claimed = |delivery: &Delivery| {
            delivery.state == DeliveryState::Waiting && delivery.leased_by.as_deref() == Some(by)
        };
        let found = self.delivery_to_save(id)?;
        let Some(mut delivery) = found.filter(is_claimed) else {
            return Ok(None);
        };
        delivery.tries.push(attempted);
        let surplus = delivery.tries.len().saturating_sub(MOST_TRIES);
        delivery.tries.drain(..surplus);
        match after {
            AfterTry::Again(at) => delivery.next_at = at,
            AfterTry::Delivered => delivery.state = DeliveryState::Delivered,
            AfterTry::Failed => delivery.state = DeliveryState::Failed,
            AfterTry::Done(answer) => {
                delivery.state = DeliveryState::Done;
                delivery.answer = Some(answer.to_owned());
            }
        }
        release(&mut delivery);
        self.stage(|unit| {
            unit.ahead.forget_delivery(id);
            unit.own.rest.save_delivery(&delivery)
        })?;
        Ok(Some(delivery))
    }

    /// A delivery that is saved at the end of the transaction.
    fn delivery_to_save(&mut self, id: DeliveryId) -> Result<Option<Delivery>, JobsError> {
        let find = |database: &mut dyn Database| {
            let lock = database.dialect().for_update;
            by_id(database, id, lock)
        };
        if self.unit().is_some_and(|unit| unit.saves_delivery(id)) {
            return self.with(find);
        }
        match self.gather(|unit| unit.ahead.delivery(id)) {
            Some(known) => Ok(Some(known)),
            None => self.apart(find),
        }
    }

    /// Ends a delivery: with the digest of the verdict, or as failed without one. Says whether it was waiting or
    /// delivered; otherwise nothing is changed.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn finish_delivery(
        &mut self,
        id: DeliveryId,
        answer: Option<&str>,
    ) -> Result<bool, JobsError> {
        let state = match answer {
            Some(_) => DeliveryState::Done,
            None => DeliveryState::Failed,
        };
        self.change(id, |delivery| {
            delivery.state = state;
            delivery.answer = answer.map(str::to_owned);
        })
    }

    /// Sends a delivery again, now. Says whether it wasn't done yet; otherwise nothing is changed.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn redeliver(&mut self, id: DeliveryId, now: Timestamp) -> Result<bool, JobsError> {
        self.gather(|unit| unit.ahead.forget_delivery(id));
        self.with(|database| {
            let lock = database.dialect().for_update;
            let found = by_id(database, id, lock)?;
            let Some(mut delivery) = found.filter(|one| one.state != DeliveryState::Done) else {
                return Ok(false);
            };
            delivery.state = DeliveryState::Waiting;
            delivery.next_at = now;
            release(&mut delivery);
            save(database, &delivery)?;
            Ok(true)
        })
    }

    /// Ends all deliveries of a job that are waiting or delivered. Their tokens become invalid.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn cancel_deliveries(&mut self, job: &JobRecord) -> Result<(), JobsError> {
        let is_new = |unit: &Unit| unit.has_no_delivery(job.id);
        if self.unit().is_some_and(is_new) {
            return Ok(());
        }
        if self
            .unit()
            .is_some_and(|unit| unit.has_new_delivery(job.id))
        {
            // What is canceled must be in the database.
            self.with(|_| Ok(()))?;
        }
        self.gather(|unit| {
            unit.ahead.forget_deliveries_of(job.id);
            unit.own.rest.cancel_deliveries(job);
        });
        Ok(())
    }

    /// Changes a delivery that is waiting or delivered.
    fn change(
        &mut self,
        id: DeliveryId,
        change: impl FnOnce(&mut Delivery),
    ) -> Result<bool, JobsError> {
        self.gather(|unit| unit.ahead.forget_delivery(id));
        self.with(|database| {
            let lock = database.dialect().for_update;
            let found = by_id(database, id, lock)?;
            let is_live = |delivery: &Delivery| {
                matches!(
                    delivery.state,
                    DeliveryState::Waiting | DeliveryState::Delivered
                )
            };
            let Some(mut delivery) = found.filter(is_live) else {
                return Ok(false);
            };
            change(&mut delivery);
            release(&mut delivery);
            save(database, &delivery)?;
            Ok(true)
        })
    }
}

fn release(delivery: &mut Delivery) {
    delivery.leased_until = None;
    delivery.leased_by = None;
}

fn save(database: &mut dyn Database, delivery: &Delivery) -> Result<(), Failure> {
    let sql = "UPDATE deliveries SET state = ?3, next_at = ?4, leased_until = ?5, leased_by = ?6, \
               tries = ?7, answer = ?8 WHERE root = ?1 AND id = ?2";
    let tries = column::json(&delivery.tries)?;
    let values = [
        Value::Text(column::root(&delivery.project)),
        column::id(delivery.id),
        Value::Text(delivery.state.as_str()),
        column::time(delivery.next_at),
        column::optional_time(delivery.leased_until),
        delivery.leased_by.as_deref().into(),
        Value::Text(&tries),
        delivery.answer.as_deref().into(),
    ];
    database.execute(sql, &values).map(drop)
}
