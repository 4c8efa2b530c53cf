//! Evaluation threads, a bounded queue in front of them, and a watchdog behind them.
//!
//! The engine stops policies at their deadline by itself, except inside a few natives and in host
//! calls. A thread that does not come back is given up: its caller is answered,
//! another thread takes its place, and it ends on its own. Policies that did this are evaluated in
//! processes from then on ([`Guard`]), so that there are never more than a few of those.
//!
//! Here is what callers see. What the threads do is in `threads`, what the watchdog does in
//! `watchdog`.

mod threads;
mod watchdog;

use std::hash::RandomState;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use portcullis_core::clock;
use portcullis_core::sync::{Condvar, Mutex};

use crate::global_context::GlobalContext;
use crate::guard::Guard;
use crate::host::{Host, NoHost};
use crate::input::Input;
use crate::job::{Completion, Job, PoolError};
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::policy_set::PolicySet;
use crate::process::{ProcessPool, ProcessSpec};
use crate::work_queue::{Slot, WorkQueue};

/// How many threads there may be beyond those that compute.
const EXTRA: usize = 512;

/// How many evaluations may compute, and how many may wait for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// Evaluations that compute at the same time, at least one. Those that wait for the world
    /// outside don't count; there are further threads for them, up to 512.
    pub threads: usize,
    /// Evaluations that may wait.
    pub queue: usize,
}

/// Threads that evaluate one set of policies.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    set: PolicySet,
    limits: Limits,
    turns: usize,
    context: GlobalContext,
    host: Arc<dyn Host>,
    replays: bool,
    capacity: usize,
    queue: Mutex<WorkQueue>,
    slots: Mutex<Vec<Arc<Slot>>>,
    made: Arc<AtomicU64>,
    /// Makes numbers of askers.
    hasher: RandomState,
    guard: Guard,
    /// The processes, where there may be any.
    processes: Option<Arc<ProcessPool>>,
    is_started: AtomicBool,
    /// Whether the watchdog sleeps until it is woken.
    asleep: AtomicBool,
    watch: Mutex<bool>,
    busy: Condvar,
}

impl Pool {
    /// A pool for these policies that does nothing until [`begin`](Self::begin). `context` and
    /// `guard` may be those that served others before. `host` answers the host calls of
    /// policies.
    pub fn build(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
        context: GlobalContext,
        host: Arc<dyn Host>,
        guard: Guard,
    ) -> Self {
        let turns = options.threads.max(1);
        let mut queue = WorkQueue::new(turns, EXTRA);
        let mut processes = None;
        if let Some(wanted) = guard.options() {
            let spec = ProcessSpec {
                command: wanted.command.clone(),
                set: set.clone(),
                limits: limits.clone(),
                context: context.clone(),
                host: Arc::clone(&host),
            };
            let made = ProcessPool::new(spec, guard.clone(), wanted.processes, turns);
            processes = Some(Arc::new(made));
            queue = queue.with_processes();
        }
        Self {
            shared: Arc::new(Shared {
                set,
                limits,
                turns,
                context,
                host,
                replays: false,
                capacity: options.queue,
                queue: Mutex::new(queue),
                slots: Mutex::default(),
                made: Arc::default(),
                hasher: RandomState::new(),
                guard,
                processes,
                is_started: AtomicBool::new(false),
                asleep: AtomicBool::new(false),
                watch: Mutex::new(false),
                busy: Condvar::new(),
            }),
        }
    }

    /// A pool for evaluations that are repeated from a record. Policies find the recorded
    /// time in place of the clock; what is not in the record is noticed; host calls are not
    /// made.
    pub fn build_for_replays(set: PolicySet, limits: Limits, options: PoolOptions) -> Self {
        let context = GlobalContext::new(16 << 20);
        let (host, guard) = (Arc::new(NoHost), Guard::none());
        let mut pool = Self::build(set, limits, options, context, host, guard);
        if let Some(shared) = Arc::get_mut(&mut pool.shared) {
            shared.replays = true;
        }
        pool
    }

    /// Builds a pool without processes, and starts its threads.
    ///
    /// # Errors
    ///
    /// If threads can't be started.
    pub fn start(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
        context: GlobalContext,
        host: Arc<dyn Host>,
    ) -> Result<Self, PoolError> {
        let pool = Self::build(set, limits, options, context, host, Guard::none());
        pool.begin()?;
        Ok(pool)
    }

    /// Builds a pool for replays, and starts its threads.
    ///
    /// # Errors
    ///
    /// If threads can't be started.
    pub fn start_for_replays(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
    ) -> Result<Self, PoolError> {
        let pool = Self::build_for_replays(set, limits, options);
        pool.begin()?;
        Ok(pool)
    }

    /// Starts the threads, unless they were started before.
    ///
    /// # Errors
    ///
    /// If threads can't be started.
    pub fn begin(&self) -> Result<(), PoolError> {
        let shared = &self.shared;
        if shared.is_started.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        for _ in 0..shared.turns {
            shared.queue.lock().hire();
            shared.spawn()?;
        }
        let watched = Arc::clone(shared);
        thread::Builder::new()
            .name("js-watchdog".to_owned())
            .spawn(move || watched.watch())
            .map_err(|e| PoolError::Engine(e.to_string()))?;
        if let Some(processes) = shared.processes.as_ref().filter(|_| shared.guard.is_on()) {
            processes.keep();
        }
        Ok(())
    }

    /// Evaluates, and calls back from another thread. An error comes at once.
    ///
    /// # Errors
    ///
    /// If it can't be taken on.
    pub fn submit(
        &self,
        input: Input,
        deadline: Instant,
        done: impl FnOnce(Result<Evaluation, PoolError>) + Send + 'static,
    ) -> Result<(), PoolError> {
        let shared = &self.shared;
        if !shared.is_started.load(Ordering::Acquire) {
            return Err(PoolError::NotStarted);
        }
        let asker = shared.number_of(input.subject.asker());
        let mut queue = shared.queue.lock();
        if queue.is_closed {
            return Err(PoolError::Closed);
        }
        if queue.has_lost_too_many() {
            return Err(PoolError::TooManyAbandoned);
        }
        if queue.jobs.len() >= shared.capacity || queue.waits_too_often(asker, shared.capacity) {
            return Err(PoolError::QueueFull);
        }
        queue.jobs.push_back(Job {
            asker,
            input: Arc::new(input),
            deadline,
            completion: Completion::new(Box::new(done)),
        });
        let is_short = queue.pass_on();
        drop(queue);
        shared.hire_if(is_short);
        shared.rouse();
        Ok(())
    }

    /// Evaluates and waits, within the deadline of the limits from now on.
    ///
    /// # Errors
    ///
    /// If there is no evaluation.
    pub fn evaluate(&self, input: Input) -> Result<Evaluation, PoolError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let deadline = clock::monotonic() + self.shared.limits.deadline;
        self.submit(input, deadline, move |result| {
            let _ = sender.send(result);
        })?;
        receiver.recv().unwrap_or(Err(PoolError::Closed))
    }

    /// The policies it evaluates.
    pub fn policies(&self) -> &PolicySet {
        &self.shared.set
    }

    /// What an evaluation may use.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// How many realms were made: one per thread, and one for each that had to go.
    pub fn realms_made(&self) -> u64 {
        self.shared.made.load(Ordering::Relaxed)
    }

    /// How many threads were given up and have not ended yet.
    pub fn abandoned(&self) -> usize {
        self.shared.queue.lock().lost()
    }

    /// How many evaluation threads there are now, those that were given up while they computed
    /// not counted.
    pub fn threads(&self) -> usize {
        self.shared.queue.lock().threads()
    }
}

impl Drop for Pool {
    /// Threads end when they have finished their job; nothing waits for them.
    fn drop(&mut self) {
        let jobs = {
            let mut queue = self.shared.queue.lock();
            queue.is_closed = true;
            std::mem::take(&mut queue.jobs)
        };
        for slot in self.shared.slots.lock().iter() {
            slot.wake.notify_all();
        }
        self.shared.rouse();
        if let Some(processes) = &self.shared.processes {
            processes.close();
        }
        for job in jobs {
            job.completion.complete(Err(PoolError::Closed));
        }
    }
}
