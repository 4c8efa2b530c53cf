//! Which evaluations compute, which wait, and which are queued: the bookkeeping of a pool.
//!
//! Only so many evaluations compute at a time. One that waits for a host call lets another
//! compute meanwhile, on another thread, and takes its turn again before anything new begins. One
//! that computes for long goes on without a turn, so that short ones don't wait for it. A user with
//! several of those gets no more turns until one of them ends: other users are not hindered.

mod slot;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use crate::job::Job;

pub(crate) use slot::{Doing, Phase, Running, Slot};

/// How many threads may be given up inside the engine at a time, where there are no processes to
/// go on in.
pub(crate) const STUCK: usize = 8;

/// How many may compute without a turn at a time.
const SLOW: usize = 48;

/// How many of those may belong to one asker before no more of its jobs begin. On larger machines
/// as many as there are turns.
const SHARE: usize = 4;

/// The bookkeeping. Callers that change it must do what [`WorkQueue::pass_on`] says.
#[derive(Debug, Default)]
pub(crate) struct WorkQueue {
    /// How many may compute at a time.
    turns: usize,
    /// How many threads there may be.
    most: usize,
    pub(crate) jobs: VecDeque<Job>,
    pub(crate) is_closed: bool,
    /// Threads without work; the last one worked last.
    idle: Vec<Arc<Slot>>,
    /// Threads that want to compute again.
    returning: VecDeque<Arc<Slot>>,
    /// How many idle threads were woken and have not looked yet.
    called: usize,
    starting: usize,
    computing: usize,
    slow: usize,
    /// How many of the slow ones each asker has; askers without any are not in it.
    slow_of: HashMap<u64, usize>,
    /// How many threads may be given up while they compute.
    stuck: usize,
    /// All threads but those that were given up while they computed.
    threads: usize,
    lost_computing: usize,
    lost_waiting: usize,
}

impl WorkQueue {
    pub(crate) fn new(turns: usize, extra: usize) -> Self {
        Self {
            turns,
            most: turns + extra,
            stuck: STUCK,
            ..Self::default()
        }
    }

    /// Lets any number of threads be given up: those who come later don't compute in threads.
    #[must_use]
    pub(crate) fn with_processes(self) -> Self {
        Self {
            stuck: usize::MAX,
            ..self
        }
    }

    /// Whether no more jobs of this asker may begin for now. Never so where it is not known who asks.
    pub(crate) fn is_held_back(&self, asker: u64) -> bool {
        let slow = self.slow_of.get(&asker).copied().unwrap_or_default();
        asker != 0 && slow >= SHARE.max(self.turns)
    }

    /// Whether an asker who is held back has so many jobs waiting that others might find no room.
    pub(crate) fn waits_too_often(&self, asker: u64, capacity: usize) -> bool {
        let waiting = || self.jobs.iter().filter(|job| job.asker == asker).count();
        self.is_held_back(asker) && waiting() >= (capacity / 4).max(1)
    }

    /// The place of the first job that may begin.
    fn next_job(&self) -> Option<usize> {
        if self.slow_of.is_empty() {
            return (!self.jobs.is_empty()).then_some(0);
        }
        let mut jobs = self.jobs.iter();
        jobs.position(|job| !self.is_held_back(job.asker))
    }

    fn now_slow(&mut self, asker: u64) {
        self.slow += 1;
        *self.slow_of.entry(asker).or_default() += 1;
    }

    fn no_longer_slow(&mut self, asker: Option<u64>) {
        self.slow = self.slow.saturating_sub(1);
        let Some(asker) = asker else {
            return;
        };
        if let Some(count) = self.slow_of.get_mut(&asker) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.slow_of.remove(&asker);
            }
        }
    }

    /// Notes that a thread is being started.
    pub(crate) fn hire(&mut self) {
        self.starting += 1;
        self.threads += 1;
    }

    /// Notes that a thread could not be started.
    pub(crate) fn not_hired(&mut self) {
        self.starting = self.starting.saturating_sub(1);
        self.threads = self.threads.saturating_sub(1);
    }

    /// Notes that a thread is ready for work.
    pub(crate) fn started(&mut self) {
        self.starting = self.starting.saturating_sub(1);
    }

    /// Wakes who may compute now. True if another thread must be started, which is noted already.
    pub(crate) fn pass_on(&mut self) -> bool {
        if self.computing >= self.turns {
            return false;
        }
        if self.call_back() {
            return false;
        }
        if self.next_job().is_none() || self.is_closed {
            return false;
        }
        if let Some(slot) = self.idle.pop() {
            self.called += 1;
            slot.wake.notify_one();
            return false;
        }
        let is_needed = self.starting + self.called + self.computing < self.turns;
        let is_possible = self.threads < self.most;
        if is_needed && is_possible {
            self.hire();
        }
        is_needed && is_possible
    }

    /// Wakes a thread that wants to compute again, if there is one and it may.
    pub(crate) fn call_back(&mut self) -> bool {
        let first = self.returning.front();
        let first = first.filter(|_| self.computing < self.turns);
        if let Some(slot) = first {
            slot.wake.notify_one();
        }
        first.is_some()
    }

    /// Takes the next job, if there is a turn for one.
    pub(crate) fn take_job(&mut self, slot: &Slot, now: Instant) -> Option<Job> {
        if self.computing >= self.turns || !self.returning.is_empty() {
            return None;
        }
        let job = self.jobs.remove(self.next_job()?)?;
        self.computing += 1;
        *slot.doing.lock() = Doing {
            phase: Phase::Computing,
            job: Some(Running {
                asker: job.asker,
                since: now,
                deadline: job.deadline,
                input: Arc::clone(&job.input),
                completion: job.completion.clone(),
            }),
        };
        Some(job)
    }

    /// Notes the end of a job. False if the thread was given up meanwhile and must end.
    pub(crate) fn end_job(&mut self, slot: &Slot) -> bool {
        let mut doing = slot.doing.lock();
        let asker = doing.job.take().map(|job| job.asker);
        match std::mem::take(&mut doing.phase) {
            Phase::Computing => self.computing = self.computing.saturating_sub(1),
            Phase::Slow => self.no_longer_slow(asker),
            Phase::LostComputing => {
                self.lost_computing = self.lost_computing.saturating_sub(1);
                return false;
            }
            Phase::LostWaiting => {
                self.lost_waiting = self.lost_waiting.saturating_sub(1);
                self.threads = self.threads.saturating_sub(1);
                return false;
            }
            Phase::Idle | Phase::Waiting => {}
        }
        true
    }

    /// Notes that a thread has nothing to do.
    pub(crate) fn rest(&mut self, slot: &Arc<Slot>) {
        self.idle.push(Arc::clone(slot));
    }

    /// Notes that a thread looks for work again. Whether it was woken to do so.
    pub(crate) fn rise(&mut self, slot: &Arc<Slot>) -> bool {
        let place = self.idle.iter().position(|other| Arc::ptr_eq(other, slot));
        match place {
            Some(place) => {
                self.idle.remove(place);
            }
            None => self.called = self.called.saturating_sub(1),
        }
        place.is_none()
    }

    /// Lets an idle thread go if there are enough of them, or in the end.
    pub(crate) fn may_go(&mut self) -> bool {
        let may_go = self.is_closed || self.threads > self.turns;
        if may_go {
            self.threads = self.threads.saturating_sub(1);
        }
        may_go
    }

    /// Notes that a thread waits for something else.
    pub(crate) fn leave(&mut self, slot: &Slot) {
        match slot.phase() {
            Phase::Computing => self.computing = self.computing.saturating_sub(1),
            Phase::Slow => self.no_longer_slow(slot.asker()),
            _ => return,
        }
        slot.set_phase(Phase::Waiting);
    }

    /// Takes the turn from a thread that has had it for long; it goes on without. Nothing happens
    /// if there are too many of those already.
    pub(crate) fn overtake(&mut self, slot: &Slot) {
        if slot.phase() == Phase::Computing && self.slow < SLOW {
            slot.set_phase(Phase::Slow);
            self.computing = self.computing.saturating_sub(1);
            self.now_slow(slot.asker().unwrap_or_default());
        }
    }

    /// Notes that a thread wants to compute again.
    pub(crate) fn come_back(&mut self, slot: &Arc<Slot>) {
        self.returning.push_back(Arc::clone(slot));
    }

    /// Lets a thread compute again: if it is its turn, or it can't wait any longer. True if it has
    /// not to wait any more.
    pub(crate) fn go_on(&mut self, slot: &Arc<Slot>, is_late: bool) -> bool {
        let is_lost = slot.phase().is_lost();
        if self.computing >= self.turns && !is_late && !is_lost {
            return false;
        }
        self.returning.retain(|other| !Arc::ptr_eq(other, slot));
        if !is_lost {
            self.computing += 1;
            slot.set_phase(Phase::Computing);
        }
        true
    }

    /// Gives a thread up that is long past its deadline, if there may be one more of those. True if
    /// another must be started in its place, which is noted already.
    pub(crate) fn give_up(&mut self, slot: &Slot) -> bool {
        match slot.phase() {
            phase @ (Phase::Computing | Phase::Slow) if self.lost_computing < self.stuck => {
                slot.set_phase(Phase::LostComputing);
                self.lost_computing += 1;
                match phase {
                    Phase::Slow => self.no_longer_slow(slot.asker()),
                    _ => self.computing = self.computing.saturating_sub(1),
                }
                self.threads = self.threads.saturating_sub(1);
            }
            Phase::Waiting => {
                slot.set_phase(Phase::LostWaiting);
                self.lost_waiting += 1;
            }
            _ => return false,
        }
        let is_needed = self.threads < self.turns;
        if is_needed {
            self.hire();
        }
        is_needed
    }

    /// How many threads were given up and have not ended.
    pub(crate) fn lost(&self) -> usize {
        self.lost_computing + self.lost_waiting
    }

    /// Whether so many were given up that nothing new may begin: they use up the machine.
    pub(crate) fn has_lost_too_many(&self) -> bool {
        self.lost_computing >= self.stuck
    }

    /// How many threads there are that were not given up while they computed.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

#[cfg(test)]
mod tests;
