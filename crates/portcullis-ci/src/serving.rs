//! Serving runners: takes jobs for those who are assigned to lanes, and keeps the queue in memory true.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::JobId;
use portcullis_store::{JobsReader, LaneId, LaneNeeds, QueuePlace};

use crate::details::TakenJob;
use crate::engine::{Given, LaneResult, now};
use crate::error::CiError;
use crate::inner::Inner;
use crate::queue::{Answer, LaneOrder, Served};

/// Jobs that are taken together, at most.
const BATCH: usize = 128;
/// Lanes that are read together.
const LANES: usize = 1000;
/// How often the store is looked at for what other servers did, while somebody waits: at least and at most.
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The part of the time that refreshing may take.
const SHARE: u32 = 20;
/// A request that is to be answered at once trusts what was read so long ago.
const FRESH: Duration = Duration::from_millis(50);
/// The same, as a part of the time that refreshing may take.
const FRESH_SHARE: u32 = 5;

impl Inner {
    /// Serves runners until the service is shut down. Two of these work at a time: while one waits for the disk, the
    /// other gathers.
    pub(crate) async fn serve_runners(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        loop {
            let (orders, since) = self.queue.orders(BATCH);
            if !orders.is_empty() {
                self.serve(orders, since).await;
                continue;
            }
            if self.is_stopping() {
                return;
            }
            tokio::select! {
                () = self.queue.ready.notified() => {}
                _ = stopping.changed() => {}
            }
        }
    }

    async fn serve(self: &Arc<Self>, orders: Vec<LaneOrder>, since: u64) {
        let verified = Arc::clone(&self.queue.verified);
        let wanted = Arc::new(orders);
        let orders = Arc::clone(&wanted);
        let taken = self.turn(move |turn| turn.take_jobs(&orders, &verified));
        let (served, told) = match taken.await {
            Ok((results, after)) => {
                let questions = self.settle(after);
                self.evaluate(questions);
                outcome(&wanted, results)
            }
            Err(error) => failed(&wanted, &error),
        };
        for lost in self.queue.served(&served, told, since) {
            self.give_back(lost.job, lost.attempt);
        }
    }

    /// Puts a job back into the queue that was taken for somebody who is gone.
    fn give_back(self: &Arc<Self>, job: JobId, attempt: u32) {
        let inner = Arc::clone(self);
        self.spawn(async move {
            let turn = inner.turn(move |turn| turn.give_back(job, attempt));
            match turn.await {
                Ok(((), after)) => {
                    let questions = inner.settle(after);
                    inner.evaluate(questions);
                }
                // The lease ends some time.
                Err(CiError::NotFound | CiError::Conflict(_)) => {}
                Err(error) => inner.trouble(&error),
            }
        });
    }

    /// Keeps the queue in memory true while somebody waits, and writes who was heard of.
    pub(crate) async fn watch_queue(self: Arc<Self>) {
        let mut stopping = self.stopping.subscribe();
        let mut version = None;
        while !self.is_stopping() {
            if let Err(error) = self.watch_queue_once(&mut version).await {
                self.trouble(&error);
            }
            let cost = self.queue.refreshed.lock().await.map(|(_, cost)| cost);
            let pause = cost.unwrap_or_default().saturating_mul(SHARE);
            tokio::select! {
                () = tokio::time::sleep(pause.clamp(PAUSE, LONGEST_PAUSE)) => {}
                _ = stopping.changed() => {}
            }
        }
    }

    async fn watch_queue_once(&self, version: &mut Option<u64>) -> Result<(), CiError> {
        let contacts = self.queue.contacts.take();
        if !contacts.is_empty() {
            let note = self
                .database
                .write(move |store| Ok(store.note_managers(&contacts)?));
            note.await?;
        }
        if self.queue.waiting() == 0 {
            return Ok(());
        }
        self.refresh_queue(PAUSE / 2).await?;
        self.let_changed_runners_go(version).await
    }

    /// Lets those go whose runner was changed by another server, or whose manager is held or was let go.
    async fn let_changed_runners_go(&self, version: &mut Option<u64>) -> Result<(), CiError> {
        let known = *version;
        let waiting = self.queue.waiting_runners();
        let read = self.database.read(move |reader| {
            let version = reader.surroundings_version()?;
            if known == Some(version) {
                return Ok(None);
            }
            Ok(Some((version, reader.runners_by_id(&waiting)?, waiting)))
        });
        let Some((newest, runners, asked)) = read.await? else {
            return Ok(());
        };
        *version = Some(newest);
        let runners: HashMap<_, _> = runners
            .into_iter()
            .map(|runner| (runner.id, runner))
            .collect();
        let asked: HashSet<_> = asked.into_iter().collect();
        let held = self.held_managers().await?;
        self.queue.dismiss(|runner, manager| {
            let is_changed = runners.get(&runner.id) != Some(runner);
            let is_held = held.contains(&(runner.id, manager.to_owned()));
            asked.contains(&runner.id) && (is_changed || is_held)
        });
        Ok(())
    }

    /// Managers that are given no job now.
    pub(crate) async fn held_managers(&self) -> Result<HashSet<(u64, String)>, CiError> {
        let read = self
            .database
            .read(|reader| Ok(reader.held_managers(now())?));
        let held = read.await?.into_iter();
        Ok(held
            .map(|manager| (manager.contact.runner, manager.contact.system_id))
            .collect())
    }

    /// Reads what there is, unless that was done a short time ago. Those who want it at the same time share it.
    pub(crate) async fn refresh_queue(&self, within: Duration) -> Result<(), CiError> {
        let mut refreshed = self.queue.refreshed.lock().await;
        if let Some((began, cost)) = *refreshed
            && began.elapsed() < within.max(cost.saturating_mul(FRESH_SHARE))
        {
            return Ok(());
        }
        let watch = Stopwatch::start();
        let (known, since) = self.queue.known_lanes();
        let read = self.database.read(move |reader| {
            let mut found: Vec<(LaneId, QueuePlace, Option<LaneNeeds>)> = Vec::new();
            loop {
                let after = found.last().map(|(lane, ..)| *lane);
                let some = reader.lanes(after, LANES)?;
                let is_all = some.len() < LANES;
                for (lane, first) in some {
                    let needs = needs_of(reader, lane, known.contains(&lane))?;
                    found.push((lane, first, needs));
                }
                if is_all {
                    return Ok((found, reader.shared_running_counts()?));
                }
            }
        });
        let (lanes, running) = read.await?;
        self.queue.refresh(lanes, running, since);
        *refreshed = Some((watch, watch.elapsed()));
        Ok(())
    }

    /// The same for a request that is to be answered at once.
    pub(crate) async fn refresh_queue_now(&self) -> Result<(), CiError> {
        self.refresh_queue(FRESH).await
    }
}

fn needs_of(
    reader: &mut JobsReader<'_>,
    lane: LaneId,
    is_known: bool,
) -> Result<Option<LaneNeeds>, CiError> {
    match is_known {
        true => Ok(None),
        false => Ok(reader.lane_needs(lane)?),
    }
}

type Told = Vec<(u64, Option<Answer>)>;

/// What was found in lanes, and what everyone is told.
fn outcome(orders: &[LaneOrder], results: Vec<LaneResult>) -> (Vec<(LaneId, Served)>, Told) {
    let mut served = Vec::with_capacity(orders.len());
    let mut told = Vec::new();
    for (order, result) in orders.iter().zip(results) {
        served.push((order.lane, result.served));
        for (assignment, given) in order.assignments.iter().zip(result.given) {
            let answer = match given {
                Given::Job(job) => {
                    let (record, runner) = *job;
                    let manager = assignment.manager.clone();
                    let taken = TakenJob::new(record, runner, manager);
                    Some(Answer::Job(Box::new(taken)))
                }
                Given::Unfit => Some(Answer::Nothing),
                Given::Nothing => None,
            };
            told.push((assignment.waiter, answer));
        }
    }
    (served, told)
}

/// Nothing was taken, as far as is known: the lanes are as they were.
fn failed(orders: &[LaneOrder], error: &CiError) -> (Vec<(LaneId, Served)>, Told) {
    let mut served = Vec::with_capacity(orders.len());
    let mut told = Vec::new();
    for order in orders {
        let asked = order.assignments.len();
        let nothing = Served {
            asked,
            is_unknown: true,
            ..Served::default()
        };
        served.push((order.lane, nothing));
        for assignment in &order.assignments {
            let error = CiError::Unavailable(error.to_string());
            told.push((assignment.waiter, Some(Answer::Failed(error))));
        }
    }
    (served, told)
}
