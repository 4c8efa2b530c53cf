//! Deliveries, and the verdicts that controllers send by themselves.

use std::collections::HashMap;

use portcullis_store::DeliveryFilter as StoredFilter;

use super::Service;
use crate::delivery::is_awaited;
use crate::details::{DeliveryDetails, DeliveryFilter, Page, PageRequest};
use crate::engine::{Callback, CallbackOutcome};
use crate::error::CiError;
use crate::recorder::Observation;
use crate::{secrets, view};

/// The most bytes of a token.
const MOST_TOKEN_BYTES: usize = 256;
/// Deliveries that are read together, where they have to be looked through.
const BATCH: usize = 200;

impl Service {
    /// Deliveries, the newest first.
    ///
    /// # Errors
    ///
    /// When the store doesn't answer.
    pub async fn deliveries(
        &self,
        filter: DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<DeliveryDetails>, CiError> {
        let read = self.inner.database.read(move |reader| {
            let size = page.size();
            let job = match filter.job {
                None => None,
                Some(id) => match reader.job(id)? {
                    Some(job) => Some(job),
                    None => {
                        let items = Vec::new();
                        return Ok(Page { items, next: None });
                    }
                },
            };
            let stored = match (&job, filter.controller) {
                (Some(job), _) => StoredFilter::Job(&job.definition.project, job.id),
                (None, Some(controller)) => StoredFilter::Controller(controller),
                (None, None) => StoredFilter::All,
            };
            let is_wanted = |controller| filter.controller.is_none_or(|one| one == controller);
            let mut found = Vec::new();
            let mut before = page.after;
            // A job has few deliveries, so looking through them for a controller is cheap.
            while found.len() <= size {
                let some = reader.list_deliveries(stored, before, BATCH)?;
                let is_last = some.len() < BATCH;
                before = some.last().map(|delivery| delivery.id).or(before);
                found.extend(some.into_iter().filter(|one| is_wanted(one.controller)));
                if is_last {
                    break;
                }
            }
            let is_more = found.len() > size;
            found.truncate(size);
            let next = found.last().map(|delivery| delivery.id);
            let mut names = HashMap::new();
            let items: Result<Vec<_>, CiError> = found
                .into_iter()
                .map(|delivery| view::delivery(reader, &mut names, delivery))
                .collect();
            Ok(Page {
                items: items?,
                next: next.filter(|_| is_more),
            })
        });
        read.await
    }

    /// A delivery.
    ///
    /// # Errors
    ///
    /// When there is none, or the store doesn't answer.
    pub async fn delivery(&self, id: u64) -> Result<DeliveryDetails, CiError> {
        let read = self.inner.database.read(move |reader| {
            let delivery = reader.delivery(id)?.ok_or(CiError::NotFound)?;
            view::delivery(reader, &mut HashMap::new(), delivery)
        });
        read.await
    }

    /// Sends a delivery again, now.
    ///
    /// # Errors
    ///
    /// When there is none, nobody waits for the answer any more, or the store doesn't answer.
    pub async fn redeliver(&self, id: u64) -> Result<DeliveryDetails, CiError> {
        let turn = self.inner.turn(move |turn| {
            let delivery = turn.store.delivery(id)?.ok_or(CiError::NotFound)?;
            let job = turn.lock_job(delivery.job)?;
            let is_sent =
                is_awaited(&job, &delivery, turn.now) && turn.store.redeliver(id, turn.now)?;
            match is_sent {
                true => Ok(()),
                false => Err(CiError::Conflict(
                    "no verdict is awaited for this delivery any more".to_owned(),
                )),
            }
        });
        turn.await?;
        self.inner.wake();
        self.delivery(id).await
    }

    /// A controller calls back with its verdict.
    ///
    /// # Errors
    ///
    /// [`CiError::Unauthorized`] when the token is unknown; [`CiError::Conflict`] when another verdict came before, or
    /// none is awaited any more; [`CiError::Invalid`] when the verdict is invalid; when the store doesn't answer.
    pub async fn callback(&self, token: &str, body: &[u8]) -> Result<CallbackOutcome, CiError> {
        if token.is_empty() || token.len() > MOST_TOKEN_BYTES {
            self.inner.recorder.observe(&Observation::UnknownToken);
            return Err(CiError::Unauthorized);
        }
        // Only its hash is looked up, so the time that takes says nothing about the token.
        let token_hash = secrets::hash(token);
        let body = body.to_vec();
        let turn = self.inner.turn(move |turn| {
            let (token_hash, body) = (token_hash.as_str(), body.as_slice());
            turn.callback(&Callback { token_hash, body })
        });
        match turn.await {
            Ok((outcome, after)) => {
                let questions = self.inner.settle(after);
                self.inner.evaluate(questions);
                Ok(outcome)
            }
            Err(CiError::Unauthorized) => {
                self.inner.recorder.observe(&Observation::UnknownToken);
                Err(CiError::Unauthorized)
            }
            Err(error) => Err(error),
        }
    }
}
