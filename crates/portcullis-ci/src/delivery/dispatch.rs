//! Claiming what is due, and trying it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{
    Admission, ControllerDefinition, ControllerId, ControllerState, FailurePolicy, JobId, Judge,
    PayloadEntry, Timestamp, Transport,
};
use portcullis_store::{
    Claimant, ControllerRecord, Delivery, DeliveryShare, JobRecord, WillChange,
};

use super::attempt::{Message, send};
use crate::engine::{Tried, TryResult, now};
use crate::error::CiError;
use crate::inner::Inner;
use crate::lanes::Room;
use crate::recorder::{DeliveryOutcome, Observation};

/// How often rows of other servers are looked for.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest pause when something is due soon.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
/// How long a claim waits for more room while calls are under way. A claim costs the database about the same for one
/// row as for many; without this, every call that ends would lead to a claim of its own.
const GATHERING: Duration = Duration::from_millis(5);
/// How much longer than a try may take another server leaves a row to this one.
const GRACE: Duration = Duration::from_secs(5);
/// Rows that are claimed together.
const BATCH: usize = 256;
/// How often the result of a try is stored that could not be.
const TRIES: u32 = 4;

impl Inner {
    /// Sends what is due until the service is shut down.
    pub(crate) async fn dispatch(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        while !self.is_stopping() {
            let pause = match self.dispatch_once().await {
                Ok(pause) => pause,
                Err(error) => {
                    self.trouble(&error);
                    PAUSE
                }
            };
            self.gather().await;
            tokio::select! {
                () = self.due.notified() => {}
                () = tokio::time::sleep(pause) => {}
                _ = stopping.changed() => {}
            }
        }
    }

    /// Waits until half of every lane is free, but not long.
    async fn gather(&self) {
        let mut end = std::pin::pin!(tokio::time::sleep(GATHERING));
        while self.lanes.are_busy() {
            tokio::select! {
                () = self.half_free.notified() => {}
                () = &mut end => return,
            }
        }
    }

    /// Begins what may begin now, and says when to look again.
    async fn dispatch_once(self: &Arc<Self>) -> Result<Duration, CiError> {
        let found = self.database.read(|reader| {
            let now = now();
            let mut found = Vec::new();
            for (controller, first) in reader.due_controllers()? {
                let record = match first <= now {
                    true => reader.controller(controller)?,
                    false => None,
                };
                found.push((first, record));
            }
            Ok(found)
        });
        let found = found.await?;
        let now = now();
        let mut pause = PAUSE;
        let mut open = Vec::new();
        let mut broken = Vec::new();
        for (first, record) in found {
            let later = first.since(now);
            if !later.is_zero() {
                pause = pause.min(later);
                continue;
            }
            let Some(record) = record.filter(is_called) else {
                continue;
            };
            let definition = &record.controller.definition;
            match self.lanes.room(record.controller.id, definition, now) {
                Room::For(room, last) => open.push((record, room, last)),
                Room::Broken(_) if goes_on(definition) => broken.push(record),
                Room::Broken(at) | Room::Later(at) => pause = pause.min(at.since(now)),
                Room::Full => {}
            }
        }
        self.pass_over(broken).await?;
        if open.is_empty() {
            return Ok(pause.max(SHORTEST_PAUSE));
        }
        // Each lease fits the slowest of them.
        let slowest = open.iter().map(|(record, ..)| timeout(record)).max();
        let lease = slowest.unwrap_or_default() + GRACE;
        let shares: Vec<(ControllerId, usize, String)> = open
            .iter()
            .map(|(record, room, last)| (record.controller.id, *room, last.clone()))
            .collect();
        let claimed = self.claim(shares, BATCH, lease).await?;
        let is_more = !claimed.is_empty();
        for (delivery, job) in self.with_jobs(claimed).await? {
            let mut records = open.iter().map(|(record, ..)| record);
            let record = records.find(|record| record.controller.id == delivery.controller);
            let Some(record) = record.cloned() else {
                continue;
            };
            self.lanes
                .begin(delivery.controller, &delivery.project, now);
            let inner = Arc::clone(self);
            self.spawn(async move { inner.deliver(delivery, job, record).await });
        }
        // What is left over, because lanes are full, goes on when a call ends.
        Ok(if is_more { SHORTEST_PAUSE } else { pause })
    }

    /// Jobs don't wait for controllers that fail open, or are on a dry run, while these aren't called.
    async fn pass_over(self: &Arc<Self>, broken: Vec<ControllerRecord>) -> Result<(), CiError> {
        if broken.is_empty() {
            return Ok(());
        }
        let shares = broken.iter().map(|record| record.controller.id);
        let shares = shares.map(|id| (id, BATCH, String::new())).collect();
        for delivery in self.claim(shares, BATCH, GRACE).await? {
            let tried = Tried {
                at: now(),
                status: None,
                took: Duration::ZERO,
                result: TryResult::Failed {
                    error: "not called: too many calls failed".to_owned(),
                    retry_after: None,
                },
            };
            self.store_try(&delivery, &tried).await?;
        }
        Ok(())
    }

    /// Claims deliveries of these controllers.
    pub(crate) async fn claim(
        &self,
        shares: Vec<(ControllerId, usize, String)>,
        limit: usize,
        lease: Duration,
    ) -> Result<Vec<Delivery>, CiError> {
        let name = self.name.clone();
        let claim = self.database.write(move |store| {
            let now = now();
            let shares: Vec<DeliveryShare<'_>> = shares
                .iter()
                .map(|(controller, most, after)| DeliveryShare {
                    controller: *controller,
                    most: *most,
                    after,
                })
                .collect();
            let claimant = Claimant {
                name: &name,
                now,
                until: now.after(lease),
            };
            Ok(store.claim_deliveries(&shares, limit, claimant)?)
        });
        claim.await
    }

    /// Deliveries with their jobs, those that there are.
    pub(crate) async fn with_jobs(
        &self,
        deliveries: Vec<Delivery>,
    ) -> Result<Vec<(Delivery, Option<JobRecord>)>, CiError> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<JobId> = deliveries.iter().map(|delivery| delivery.job).collect();
        let read = self
            .database
            .read(move |reader| Ok(reader.jobs_by_id(&ids)?));
        let jobs = read.await?.into_iter().map(|job| (job.id, job));
        let mut jobs: HashMap<JobId, JobRecord> = jobs.collect();
        let with_job = |delivery: Delivery| {
            let job = jobs.remove(&delivery.job);
            (delivery, job)
        };
        Ok(deliveries.into_iter().map(with_job).collect())
    }

    /// Tries a delivery that was claimed, and stores what became of it.
    async fn deliver(
        self: Arc<Self>,
        delivery: Delivery,
        job: Option<JobRecord>,
        record: ControllerRecord,
    ) {
        let watch = Stopwatch::start();
        let entry = job.and_then(|job| self.entry(&delivery, &job, &record));
        let tried = match entry {
            Some(entry) => self.try_once(&delivery, &record, &entry).await,
            None => None,
        };
        let id = delivery.controller;
        let name = &record.controller.definition.name;
        let is_success = match &tried {
            Some(tried) => {
                let outcome = match tried.result {
                    TryResult::Answered(_) => DeliveryOutcome::Answered,
                    TryResult::Deferred => DeliveryOutcome::Deferred,
                    TryResult::Gone => DeliveryOutcome::Gone,
                    TryResult::Failed { .. } => DeliveryOutcome::Failed,
                };
                self.recorder.observe(&Observation::Delivery {
                    controller: id,
                    name: name.clone(),
                    outcome,
                    took: watch.elapsed(),
                });
                Some(outcome != DeliveryOutcome::Failed)
            }
            None => None,
        };
        let ended = self.lanes.end(id, is_success, now());
        if let Some(state) = ended.breaker {
            self.recorder.observe(&Observation::Breaker {
                controller: id,
                name: name.clone(),
                state,
            });
        }
        let stored = match tried {
            Some(tried) => self.store_try(&delivery, &tried).await,
            None => self.give_up(&delivery).await,
        };
        if let Err(error) = stored {
            self.trouble(&error);
        }
        self.due.notify_one();
        if ended.is_half_free {
            self.half_free.notify_one();
        }
    }

    /// One try; nothing if the controller isn't called.
    async fn try_once(
        &self,
        delivery: &Delivery,
        record: &ControllerRecord,
        entry: &PayloadEntry,
    ) -> Option<Tried> {
        let definition = &record.controller.definition;
        let Transport::Webhook(url) = &definition.transport else {
            return None;
        };
        let settings = self.settings();
        let outlet = self
            .lanes
            .outlet(delivery.controller, url, &settings.webhooks);
        let within = timeout(record).min(delivery.deadline.since(now()));
        let tried = match outlet {
            Err(error) => Tried {
                at: now(),
                status: None,
                took: Duration::ZERO,
                result: TryResult::Failed {
                    error,
                    retry_after: None,
                },
            },
            Ok(outlet) => {
                let message = Message {
                    webhook_id: &delivery.webhook_id,
                    body: entry.body(),
                    secrets: &record.secrets,
                    within,
                };
                send(&outlet, message).await
            }
        };
        Some(tried)
    }

    /// What a controller is told with a delivery; nothing if the answer is no longer awaited.
    pub(crate) fn entry(
        &self,
        delivery: &Delivery,
        job: &JobRecord,
        record: &ControllerRecord,
    ) -> Option<PayloadEntry> {
        if !is_awaited(job, delivery, now()) {
            return None;
        }
        let variables = &record.controller.definition.variables;
        let url = self.callback_url(delivery);
        let admission = job.admission.as_ref()?;
        let view = admission.job_view(job.id, job.pipeline, &job.definition);
        Some(PayloadEntry::new(&view, variables, url, admission.deadline))
    }

    fn callback_url(&self, delivery: &Delivery) -> String {
        let token = self
            .key
            .callback_token(delivery.job, delivery.attempt, delivery.controller);
        self.url_of_callback(&token)
    }

    /// Where a verdict is sent with this token.
    pub(crate) fn url_of_callback(&self, token: &str) -> String {
        let settings = self.settings();
        let base = settings.public_url.as_deref().unwrap_or_default();
        format!(
            "{}/api/v1/admission/callback/{token}",
            base.trim_end_matches('/')
        )
    }

    async fn store_try(
        self: &Arc<Self>,
        delivery: &Delivery,
        tried: &Tried,
    ) -> Result<(), CiError> {
        let mut tries = 1;
        loop {
            let (delivery, tried) = (delivery.clone(), tried.clone());
            let name = self.name.clone();
            let is_gone = matches!(tried.result, TryResult::Gone);
            let controller = delivery.controller;
            let changes = WillChange::delivery(&delivery);
            let turn = self.turn_on(changes, move |turn| {
                turn.record_try(&delivery, &name, &tried)
            });
            match turn.await {
                Ok(((), after)) => {
                    let questions = self.settle(after);
                    self.evaluate(questions);
                    if is_gone {
                        self.wake_waiting(controller).await?;
                    }
                    return Ok(());
                }
                Err(CiError::NotFound) => return Ok(()),
                Err(CiError::Unavailable(_) | CiError::TooManyRequests { .. }) if tries < TRIES => {
                    tokio::time::sleep(Duration::from_millis(50 << tries)).await;
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn give_up(&self, delivery: &Delivery) -> Result<(), CiError> {
        let id = delivery.id;
        let finish = self
            .database
            .write(move |store| Ok(store.finish_delivery(id, None)?));
        finish.await.map(drop)
    }
}

/// Whether a controller is called by this server.
fn is_called(record: &ControllerRecord) -> bool {
    let definition = &record.controller.definition;
    matches!(definition.transport, Transport::Webhook(_)) && is_asked(definition.state)
}

/// Whether jobs go on without a controller that fails.
fn goes_on(definition: &ControllerDefinition) -> bool {
    definition.failure_policy == FailurePolicy::Open || !definition.is_enforced()
}

/// Whether controllers in this state are asked.
pub(crate) fn is_asked(state: ControllerState) -> bool {
    matches!(state, ControllerState::Enabled | ControllerState::DryRun)
}

fn timeout(record: &ControllerRecord) -> Duration {
    record.controller.definition.timeout.get()
}

/// Whether a job waits for the answer to a delivery.
pub(crate) fn is_awaited(job: &JobRecord, delivery: &Delivery, now: Timestamp) -> bool {
    let admission = job.admission.as_ref();
    let admission = admission.filter(|one| one.attempt == delivery.attempt && now < one.deadline);
    let current = admission.and_then(Admission::current);
    current.is_some_and(|link| link.judge == Judge::Controller(delivery.controller))
}
