//! Who computes, who waits, and what is still to be done: the bookkeeping of a pool.
//!
//! Only so many evaluations compute at a time. One that waits for the world outside lets another
//! compute meanwhile, on another thread, and takes its turn again before anything new begins. One
//! that computes for long goes on without a turn, so that short ones don't wait for it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::state::Thread;
use crate::worker::{Answer, Job};

/// How many threads may be given up inside the engine at a time.
pub(crate) const STUCK: usize = 8;

/// How many may compute without a turn at a time.
const SLOW: usize = 32;

/// What a thread is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// It has nothing to do, or gets ready.
    #[default]
    Idle,
    /// It computes.
    Computing,
    /// It has computed for so long that others got its turn.
    Slow,
    /// It waits for something else, and others may compute.
    Waiting,
    /// It was given up while it computed, and must end with what it is doing.
    LostComputing,
    /// It was given up while it waited, and must end with what it is doing.
    LostWaiting,
}

impl Phase {
    pub(crate) fn is_lost(self) -> bool {
        matches!(self, Self::LostComputing | Self::LostWaiting)
    }
}

/// What a thread is doing, until when, and who waits for it. The phase is changed only by who
/// holds the board.
#[derive(Debug, Default)]
pub(crate) struct Doing {
    pub(crate) phase: Phase,
    pub(crate) job: Option<Running>,
}

/// An evaluation that is being made.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) since: Instant,
    pub(crate) deadline: Instant,
    pub(crate) input: Arc<crate::input::Input>,
    pub(crate) answer: Answer,
}

/// A thread, as others see it.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) thread: Thread,
    pub(crate) wake: Condvar,
    pub(crate) doing: Mutex<Doing>,
}

impl Slot {
    pub(crate) fn phase(&self) -> Phase {
        lock(&self.doing).phase
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        lock(&self.doing).phase = phase;
    }
}

/// The bookkeeping. Whoever changes it must see to what [`Board::pass_on`] says.
#[derive(Debug, Default)]
pub(crate) struct Board {
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
    /// All threads but those that were given up while they computed.
    threads: usize,
    lost_computing: usize,
    lost_waiting: usize,
}

impl Board {
    pub(crate) fn new(turns: usize, extra: usize) -> Self {
        Self {
            turns,
            most: turns + extra,
            ..Self::default()
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
        if self.jobs.is_empty() || self.is_closed {
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

    /// Takes the next job, if it is somebody's turn.
    pub(crate) fn take_job(&mut self, slot: &Slot, now: Instant) -> Option<Job> {
        if self.computing >= self.turns || !self.returning.is_empty() {
            return None;
        }
        let job = self.jobs.pop_front()?;
        self.computing += 1;
        *lock(&slot.doing) = Doing {
            phase: Phase::Computing,
            job: Some(Running {
                since: now,
                deadline: job.deadline,
                input: Arc::clone(&job.input),
                answer: job.answer.clone(),
            }),
        };
        Some(job)
    }

    /// Notes the end of a job. False if the thread was given up meanwhile and must end.
    pub(crate) fn end_job(&mut self, slot: &Slot) -> bool {
        let mut doing = lock(&slot.doing);
        doing.job = None;
        match std::mem::take(&mut doing.phase) {
            Phase::Computing => self.computing = self.computing.saturating_sub(1),
            Phase::Slow => self.slow = self.slow.saturating_sub(1),
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
            Phase::Slow => self.slow = self.slow.saturating_sub(1),
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
            self.slow += 1;
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
            phase @ (Phase::Computing | Phase::Slow) if self.lost_computing < STUCK => {
                slot.set_phase(Phase::LostComputing);
                self.lost_computing += 1;
                match phase {
                    Phase::Slow => self.slow = self.slow.saturating_sub(1),
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
        self.lost_computing >= STUCK
    }

    /// How many threads there are that were not given up while they computed.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
