//! Evaluation threads, a bounded queue before them, and a watchdog behind them.
//!
//! The engine stops policies at their deadline by itself, except inside a few natives. A thread
//! that does not come back is given up: its caller is answered, another thread takes its place, and
//! it ends when it ends. There are never more than a few of those.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::clock;

use crate::compile::PolicySet;
use crate::global_context::GlobalContext;
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::state::Thread;
use crate::worker::{Answer, Job, Slot, Worker, late};

/// How long after its deadline an evaluation is given up.
const GRACE: Duration = Duration::from_millis(50);
/// How often the watchdog looks while there is something to watch.
const LOOK: Duration = Duration::from_millis(20);
/// How many threads may be given up at a time.
const ABANDONED: usize = 8;
/// Stack for what is not the engine's.
const OWN_STACK: usize = 4 << 20;

/// How many threads, and how many evaluations may wait for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// Evaluation threads, at least one.
    pub threads: usize,
    /// Evaluations that may wait.
    pub queue: usize,
}

/// Why there is no evaluation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Too many evaluations wait.
    #[error("too many policy evaluations are waiting")]
    QueueFull,
    /// Too many evaluations never came back.
    #[error("too many policy evaluations had to be given up and are still running")]
    TooManyAbandoned,
    /// The pool has ended.
    #[error("the policy engine has ended")]
    Closed,
    /// The engine failed.
    #[error("the policy engine failed: {0}")]
    Engine(String),
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
    context: GlobalContext,
    capacity: usize,
    queue: Mutex<Queue>,
    filled: Condvar,
    slots: Mutex<Vec<Arc<Slot>>>,
    abandoned: AtomicUsize,
    made: Arc<AtomicU64>,
    /// Whether the watchdog sleeps until told.
    asleep: AtomicBool,
    watch: Mutex<bool>,
    busy: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

impl Pool {
    /// Starts threads for these policies. `context` may be one that served others before.
    pub fn start(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
        context: GlobalContext,
    ) -> Result<Self, PoolError> {
        let shared = Arc::new(Shared {
            set,
            limits,
            context,
            capacity: options.queue,
            queue: Mutex::default(),
            filled: Condvar::new(),
            slots: Mutex::default(),
            abandoned: AtomicUsize::new(0),
            made: Arc::default(),
            asleep: AtomicBool::new(false),
            watch: Mutex::new(false),
            busy: Condvar::new(),
        });
        let pool = Self {
            shared: Arc::clone(&shared),
        };
        for _ in 0..options.threads.max(1) {
            shared.spawn()?;
        }
        let watched = Arc::clone(&shared);
        thread::Builder::new()
            .name("js-watchdog".to_owned())
            .spawn(move || watched.watch())
            .map_err(|e| PoolError::Engine(e.to_string()))?;
        Ok(pool)
    }

    /// Evaluates, and calls back from another thread. An error comes at once.
    pub fn submit(
        &self,
        input: Input,
        deadline: Instant,
        done: impl FnOnce(Result<Evaluation, PoolError>) + Send + 'static,
    ) -> Result<(), PoolError> {
        let shared = &self.shared;
        if shared.abandoned.load(Ordering::Acquire) >= ABANDONED {
            return Err(PoolError::TooManyAbandoned);
        }
        let mut queue = lock(&shared.queue);
        if queue.is_closed {
            return Err(PoolError::Closed);
        }
        if queue.jobs.len() >= shared.capacity {
            return Err(PoolError::QueueFull);
        }
        queue.jobs.push_back(Job {
            input,
            deadline,
            answer: Answer::new(Box::new(done)),
        });
        drop(queue);
        shared.filled.notify_one();
        shared.rouse();
        Ok(())
    }

    /// Evaluates and waits, within the deadline of the limits from now on.
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
        self.shared.abandoned.load(Ordering::Acquire)
    }
}

impl Drop for Pool {
    /// Threads end when they have done what they are doing; nobody waits for them.
    fn drop(&mut self) {
        let jobs = {
            let mut queue = lock(&self.shared.queue);
            queue.is_closed = true;
            std::mem::take(&mut queue.jobs)
        };
        self.shared.filled.notify_all();
        self.shared.rouse();
        for job in jobs {
            job.answer.give(Err(PoolError::Closed));
        }
    }
}

impl Shared {
    fn spawn(self: &Arc<Self>) -> Result<(), PoolError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let slot = Arc::new(Slot {
            thread: Thread {
                number: NEXT.fetch_add(1, Ordering::Relaxed),
                policy: Arc::default(),
            },
            running: Mutex::new(None),
            abandoned: AtomicBool::new(false),
        });
        lock(&self.slots).push(Arc::clone(&slot));
        let shared = Arc::clone(self);
        thread::Builder::new()
            .name(format!("js-{}", slot.thread.number))
            .stack_size(self.limits.stack + OWN_STACK)
            .spawn(move || shared.serve(&slot))
            .map_err(|e| PoolError::Engine(e.to_string()))?;
        Ok(())
    }

    /// The life of an evaluation thread.
    fn serve(&self, slot: &Arc<Slot>) {
        let mut worker = Worker::new(
            self.set.clone(),
            self.limits.clone(),
            self.context.clone(),
            Arc::clone(slot),
            Arc::clone(&self.made),
        );
        while let Some(job) = self.next(slot) {
            worker.work(&job);
            let mut running = lock(&slot.running);
            *running = None;
            if slot.abandoned.load(Ordering::Acquire) {
                drop(running);
                drop(worker);
                self.abandoned.fetch_sub(1, Ordering::AcqRel);
                return;
            }
        }
        lock(&self.slots).retain(|other| other.thread.number != slot.thread.number);
    }

    fn next(&self, slot: &Slot) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                *lock(&slot.running) = Some((job.deadline, job.answer.clone()));
                return Some(job);
            }
            if queue.is_closed {
                return None;
            }
            queue = self
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn rouse(&self) {
        if self.asleep.load(Ordering::Acquire) {
            *lock(&self.watch) = true;
            self.busy.notify_one();
        }
    }

    /// The life of the watchdog.
    fn watch(self: Arc<Self>) {
        loop {
            let is_busy = self.look();
            if !is_busy && lock(&self.queue).is_closed {
                return;
            }
            let mut told = lock(&self.watch);
            if is_busy {
                drop(self.busy.wait_timeout(told, LOOK));
                continue;
            }
            self.asleep.store(true, Ordering::Release);
            // A job that came since the look was told to nobody, and may be running by now.
            if self.is_idle() {
                while !*told {
                    told = self.busy.wait(told).unwrap_or_else(PoisonError::into_inner);
                }
            }
            *told = false;
            self.asleep.store(false, Ordering::Release);
        }
    }

    /// Whether nothing waits, runs or ends. A job goes from waiting to running under the lock of
    /// the queue, so that it is seen here in one place or the other.
    fn is_idle(&self) -> bool {
        let queue = lock(&self.queue);
        let is_running = |slot: &Arc<Slot>| lock(&slot.running).is_some();
        queue.jobs.is_empty() && !queue.is_closed && !lock(&self.slots).iter().any(is_running)
    }

    /// Answers those whose time is over. Whether there is anything to watch.
    fn look(self: &Arc<Self>) -> bool {
        let now = clock::monotonic();
        let (expired, mut is_busy) = {
            let mut queue = lock(&self.queue);
            let (expired, kept): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut queue.jobs)
                .into_iter()
                .partition(|job| job.deadline <= now);
            queue.jobs = kept;
            (expired, !queue.jobs.is_empty())
        };
        for job in expired {
            job.answer.give(Ok(late(None, &self.limits)));
        }
        let slots: Vec<_> = lock(&self.slots).clone();
        for slot in slots {
            let running = lock(&slot.running);
            let Some((deadline, answer)) = running.as_ref() else {
                continue;
            };
            is_busy = true;
            if *deadline + GRACE > now {
                continue;
            }
            let answer = answer.clone();
            let may_replace = self.abandoned.load(Ordering::Acquire) < ABANDONED;
            if may_replace {
                slot.abandoned.store(true, Ordering::Release);
                self.abandoned.fetch_add(1, Ordering::AcqRel);
            }
            drop(running);
            self.context.revoke(slot.thread.number);
            answer.give(Ok(late(self.culprit(&slot), &self.limits)));
            if may_replace {
                lock(&self.slots).retain(|other| other.thread.number != slot.thread.number);
                let _ = self.spawn();
            }
        }
        is_busy
    }

    /// The policy a thread is in.
    fn culprit(&self, slot: &Slot) -> Option<&str> {
        let index = slot.thread.policy.load(Ordering::Relaxed);
        self.set.names().get(index).map(String::as_str)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
