//! The index as the parts of the service share it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;
use portcullis_jobs::{Runner, RunnerId, Timestamp};
use portcullis_store::{LaneId, LaneNeeds, QueuePlace};
use tokio::sync::{Notify, oneshot};

use super::class::WaiterId;
use super::contacts::Contacts;
use super::cursor;
use super::index::{Index, LaneOrder, QueueChange};
use super::lane::Served;
use super::verified::Verified;
use crate::details::TakenJob;
use crate::error::CiError;

/// Those who wait for a job, at most. Others are not held.
const MOST_WAITING: usize = 100_000;

/// What somebody who asked for a job is told.
#[derive(Debug)]
pub(crate) enum Answer {
    Job(Box<TakenJob>),
    Nothing,
    Failed(CiError),
}

type Reply = oneshot::Sender<Answer>;

/// The queue in memory.
#[derive(Default)]
pub(crate) struct Queue {
    index: Mutex<Index<Reply>>,
    /// Somebody is to be served.
    pub(crate) ready: Notify,
    pub(crate) verified: Arc<Mutex<Verified>>,
    pub(crate) contacts: Contacts,
    /// When the last refresh began, and what it took.
    pub(crate) refreshed: tokio::sync::Mutex<Option<(Stopwatch, Duration)>>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Somebody who waits. Dropping it means that nobody is there any more to be told.
#[derive(Debug)]
pub(crate) struct Ticket<'q> {
    queue: &'q Queue,
    id: WaiterId,
    answer: oneshot::Receiver<Answer>,
}

impl Queue {
    /// What there is for a runner, as a cursor, and whether a request with this one is held.
    pub(crate) fn cursor(
        &self,
        server: &str,
        runner: &Runner,
        sent: Option<&str>,
    ) -> (String, bool) {
        let changed = self.index.lock().changed_for(runner);
        let is_current = cursor::is_current(sent, server, changed);
        (cursor::write(server, changed), is_current)
    }

    /// Somebody asks for a job, and waits for it. Nothing if too many do.
    pub(crate) fn arrive(&self, runner: Runner, manager: String) -> Option<Ticket<'_>> {
        let (reply, answer) = oneshot::channel();
        let id = {
            let mut index = self.index.lock();
            if index.waiting() >= MOST_WAITING {
                return None;
            }
            index.arrive(runner, manager, reply)
        };
        self.notify();
        let queue = self;
        Some(Ticket { queue, id, answer })
    }

    /// Whether a manager is held, as far as is known: whoever gives it a job knows.
    pub(crate) fn is_held(&self, runner: RunnerId, manager: &str, now: Timestamp) -> bool {
        self.verified.lock().is_held(runner, manager, now)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.index.lock().waiting()
    }

    /// This server changed the queue.
    pub(crate) fn change(&self, changes: Vec<QueueChange>) {
        if changes.is_empty() {
            return;
        }
        {
            let mut index = self.index.lock();
            changes.into_iter().for_each(|change| index.change(change));
        }
        self.notify();
    }

    /// Those who are to be served now, and when that begins, as changes are counted.
    pub(crate) fn orders(&self, most: usize) -> (Vec<LaneOrder>, u64) {
        let mut index = self.index.lock();
        let orders = index.orders(most);
        (orders, index.now())
    }

    /// What came of an order: what was found in its lane, and what each is told, who gets a job of `project` if that
    /// counts. Gives what was for somebody who is gone.
    pub(crate) fn served(
        &self,
        served: &[(LaneId, Served)],
        told: Vec<(WaiterId, Option<Answer>)>,
        since: u64,
    ) -> Vec<TakenJob> {
        let mut lost = Vec::new();
        let mut replies = Vec::new();
        {
            let mut index = self.index.lock();
            let lanes: Vec<LaneId> = served.iter().map(|(lane, _)| *lane).collect();
            for (lane, served) in served {
                index.served(*lane, served, since);
            }
            for (waiter, answer) in told {
                match answer {
                    Some(Answer::Job(mut job)) => {
                        let is_shared = job.is_on_instance_runner();
                        let project = is_shared.then_some(&*job.record.definition.project);
                        let reply = index.given(waiter, project);
                        job.running_on_instance_runners =
                            index.running_of(&job.record.definition.project);
                        match reply {
                            Some(reply) => replies.push((reply, Answer::Job(job))),
                            None => lost.push(*job),
                        }
                    }
                    Some(other) => {
                        let reply = index.given(waiter, None);
                        replies.extend(reply.map(|reply| (reply, other)));
                    }
                    None => {
                        let reply = index.not_given(waiter);
                        replies.extend(reply.map(|reply| (reply, Answer::Nothing)));
                    }
                }
            }
            let done = index.go_on(&lanes).into_iter();
            replies.extend(done.map(|reply| (reply, Answer::Nothing)));
        }
        for (reply, answer) in replies {
            if let Err(Answer::Job(job)) = reply.send(answer) {
                lost.push(*job);
            }
        }
        self.notify();
        lost
    }

    /// The lanes that are known, and when that is, as changes are counted.
    pub(crate) fn known_lanes(&self) -> (HashSet<LaneId>, u64) {
        let index = self.index.lock();
        (index.known_lanes(), index.now())
    }

    /// What the database had at some time after `since`.
    pub(crate) fn refresh(
        &self,
        lanes: Vec<(LaneId, QueuePlace, Option<LaneNeeds>)>,
        running: Vec<(String, u64)>,
        since: u64,
    ) {
        {
            let mut index = self.index.lock();
            index.refresh_running(running, since);
            index.refresh(lanes, since);
        }
        self.notify();
    }

    /// Lets go those who wait for runners of which this is so: they ask again, if they like.
    pub(crate) fn dismiss(&self, is_so: impl Fn(&Runner, &str) -> bool) {
        let replies = self.index.lock().dismiss(is_so);
        for reply in replies {
            // It may be gone.
            let _ = reply.send(Answer::Nothing);
        }
    }

    /// Runners of which somebody waits.
    pub(crate) fn waiting_runners(&self) -> Vec<RunnerId> {
        self.index.lock().waiting_runners().into_iter().collect()
    }

    /// Tells who serves that somebody is to be served.
    fn notify(&self) {
        if self.index.lock().has_assigned() {
            self.ready.notify_one();
        }
    }
}

impl Ticket<'_> {
    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Answer {
        let answer = (&mut self.answer).await;
        answer.unwrap_or(Answer::Nothing)
    }

    /// Whether nothing is known for it yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.queue.index.lock().is_waiting(self.id)
    }

    /// Wants to be answered soon, with whatever there is.
    pub(crate) fn hurry(&self) {
        let reply = self.queue.index.lock().hurry(self.id);
        self.queue.notify();
        // Whoever holds this waits for it.
        reply.map(|reply| reply.send(Answer::Nothing));
    }

    /// The same, but doesn't wait for others to be served.
    pub(crate) fn leave(&self) {
        let reply = self.queue.index.lock().leave(self.id);
        reply.map(|reply| reply.send(Answer::Nothing));
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.queue.index.lock().vanish(self.id);
        self.queue.notify();
    }
}
