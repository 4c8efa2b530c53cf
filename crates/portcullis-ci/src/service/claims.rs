//! Controllers that pull: they claim what waits for them.

use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{ControllerId, PayloadEntry, Transport};
use portcullis_store::{AfterTry, ControllerRecord, Delivery, DeliveryTry};

use super::Service;
use crate::delivery::is_asked;
use crate::details::ClaimRequest;
use crate::engine::now;
use crate::error::CiError;
use crate::secrets;

/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How often rows of other servers are looked for.
const PAUSE: Duration = Duration::from_secs(1);
/// The most jobs of one claim.
const MOST: usize = 100;
/// The jobs of a claim that doesn't say how many.
const DEFAULT: usize = 10;

impl Service {
    /// Gives a controller that pulls the jobs that wait for it, and reserves them for its timeout. Waits if there is
    /// none.
    ///
    /// # Errors
    ///
    /// [`CiError::Unauthorized`] when the secret is wrong; when the controller doesn't pull or isn't enabled; when the
    /// store doesn't answer.
    pub async fn claim(
        &self,
        id: ControllerId,
        secret: &str,
        request: ClaimRequest,
    ) -> Result<Vec<PayloadEntry>, CiError> {
        let wait = request
            .wait
            .map_or(Duration::ZERO, portcullis_document::Duration::get);
        let wait = wait.min(LONGEST_WAIT);
        let most = request.max.unwrap_or(DEFAULT).clamp(1, MOST);
        let watch = Stopwatch::start();
        let mut claimable = self.inner.claimable.subscribe();
        loop {
            claimable.mark_unchanged();
            let record = self.authenticated(id, secret).await?;
            let entries = self.claim_once(&record, most).await?;
            let left = wait.saturating_sub(watch.elapsed());
            if !entries.is_empty() || left.is_zero() || self.inner.holds_nothing() {
                return Ok(entries);
            }
            tokio::select! {
                _ = claimable.changed() => {}
                () = tokio::time::sleep(left.min(PAUSE)) => {}
            }
        }
    }

    async fn authenticated(
        &self,
        id: ControllerId,
        secret: &str,
    ) -> Result<ControllerRecord, CiError> {
        let record = match self.inner.controller_record(id).await {
            Err(CiError::NotFound) => return Err(CiError::Unauthorized),
            other => other?,
        };
        if !secrets::is_secret(secret, &record.secrets, now()) {
            return Err(CiError::Unauthorized);
        }
        let definition = &record.controller.definition;
        if definition.transport != Transport::Pull {
            let message = "the controller doesn't pull: it is called".to_owned();
            return Err(CiError::Conflict(message));
        }
        if !is_asked(definition.state) {
            let message = format!("the controller is {}", definition.state);
            return Err(CiError::Conflict(message));
        }
        Ok(record)
    }

    async fn claim_once(
        &self,
        record: &ControllerRecord,
        most: usize,
    ) -> Result<Vec<PayloadEntry>, CiError> {
        let id = record.controller.id;
        let lease = record.controller.definition.timeout.get();
        let shares = vec![(id, most, String::new())];
        let claimed = self.inner.claim(shares, most, lease).await?;
        let mut entries = Vec::new();
        let mut given = Vec::new();
        for (delivery, job) in self.inner.with_jobs(claimed).await? {
            let entry = job.and_then(|job| self.inner.entry(&delivery, &job, record));
            given.push((delivery, entry.is_some()));
            entries.extend(entry);
        }
        if !given.is_empty() {
            self.note_claims(given).await?;
        }
        Ok(entries)
    }

    /// Records that deliveries were claimed. They stay reserved.
    async fn note_claims(&self, given: Vec<(Delivery, bool)>) -> Result<(), CiError> {
        let name = self.inner.name.clone();
        let note = self.inner.database.write(move |store| {
            for (delivery, is_awaited) in &given {
                if !is_awaited {
                    store.finish_delivery(delivery.id, None)?;
                    continue;
                }
                let attempt = DeliveryTry {
                    at: now(),
                    status: None,
                    error: None,
                    duration_ms: 0,
                };
                let again = AfterTry::Again(delivery.next_at);
                store.record_try(delivery.id, &name, attempt, again)?;
            }
            Ok(())
        });
        note.await
    }
}
