//! What evaluation threads do: take a job, run it, take the next, and end when they are not needed.

use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::clock;

use super::Shared;
use crate::evaluation_thread::EvaluationThread;
use crate::host_access::{HostAccess, Turn};
use crate::job::{Job, PoolError};
use crate::scheduling;
use crate::work_queue::{Phase, Slot};
use crate::worker::{Guarding, Worker};

/// How long a thread waits for work before it asks whether it is needed.
const IDLE: Duration = Duration::from_secs(10);

/// The turn of one thread of a pool.
#[derive(Debug)]
struct PoolTurn {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
}

impl Turn for PoolTurn {
    fn leave(&self) {
        let mut queue = self.shared.queue.lock();
        queue.leave(&self.slot);
        let is_short = queue.pass_on();
        drop(queue);
        self.shared.hire_if(is_short);
    }

    fn step_aside(&self) {
        self.shared.overtake(&self.slot);
    }

    fn enter(&self, deadline: Option<Instant>) {
        let mut queue = self.shared.queue.lock();
        queue.come_back(&self.slot);
        loop {
            let now = clock::monotonic();
            let left = deadline.map_or(IDLE, |d| d.saturating_duration_since(now));
            if queue.go_on(&self.slot, left.is_zero()) {
                break;
            }
            (queue, _) = self.slot.wake.wait_timeout(queue, left);
        }
        let is_short = queue.pass_on();
        drop(queue);
        self.shared.hire_if(is_short);
    }
}

impl Shared {
    /// A number for who asks; 0 where that is not known.
    pub(super) fn number_of(&self, asker: &str) -> u64 {
        match asker.is_empty() {
            true => 0,
            false => self.hasher.hash_one(asker).max(1),
        }
    }

    pub(super) fn spawn(self: &Arc<Self>) -> Result<(), PoolError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot::of(EvaluationThread::new(number)));
        self.slots.lock().push(Arc::clone(&slot));
        let (shared, own) = (Arc::clone(self), Arc::clone(&slot));
        let spawned = thread::Builder::new()
            .name(format!("js-{}", slot.thread.number))
            .stack_size(self.limits.thread_stack())
            .spawn(move || shared.serve(&own));
        if let Err(error) = spawned {
            self.forget(&slot);
            self.queue.lock().not_hired();
            return Err(PoolError::Engine(error.to_string()));
        }
        Ok(())
    }

    /// Starts a thread that the queue counts already. If there can't be another one, jobs wait.
    pub(super) fn hire_if(self: &Arc<Self>, is_short: bool) {
        if is_short {
            let _ = self.spawn();
        }
    }

    fn forget(&self, slot: &Arc<Slot>) {
        self.slots.lock().retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// The life of an evaluation thread.
    fn serve(self: &Arc<Self>, slot: &Arc<Slot>) {
        slot.set_system(scheduling::own_number());
        let turn = PoolTurn {
            shared: Arc::clone(self),
            slot: Arc::clone(slot),
        };
        let access = HostAccess {
            host: Arc::clone(&self.host),
            turn: Rc::new(turn),
            replays: self.replays,
        };
        let mut worker = Worker::new(
            self.set.clone(),
            self.limits.clone(),
            self.context.clone(),
            Arc::clone(slot),
            Arc::clone(&self.made),
            access,
            self.processes.clone().map(|processes| Guarding {
                guard: self.guard.clone(),
                processes,
            }),
        );
        self.queue.lock().started();
        while let Some(job) = self.next(slot) {
            worker.work(&job);
        }
        self.forget(slot);
    }

    /// Ends the job before, and waits for the next one.
    fn next(self: &Arc<Self>, slot: &Arc<Slot>) -> Option<Job> {
        let mut queue = self.queue.lock();
        let was_lost = slot.phase() == Phase::LostComputing;
        if !queue.end_job(slot) {
            drop(queue);
            if was_lost {
                self.guard.came_back();
            }
            return None;
        }
        loop {
            if let Some(job) = queue.take_job(slot, clock::monotonic()) {
                let is_short = queue.pass_on();
                drop(queue);
                self.hire_if(is_short);
                return Some(job);
            }
            if queue.is_closed {
                queue.may_go();
                return None;
            }
            queue.call_back();
            queue.rest(slot);
            let timeout;
            (queue, timeout) = slot.wake.wait_timeout(queue, IDLE);
            let was_called = queue.rise(slot);
            if timeout.timed_out() && !was_called && queue.may_go() {
                return None;
            }
        }
    }
}
