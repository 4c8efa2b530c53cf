//! Evaluation threads, a bounded queue before them, and a watchdog behind them.
//!
//! The engine stops policies at their deadline by itself, except inside a few natives and in calls
//! of the world outside. A thread that does not come back is given up: its caller is answered,
//! another thread takes its place, and it ends when it ends. There are never more than a few of
//! those.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::clock;

use crate::board::{Board, Phase, Slot, lock};
use crate::compile::PolicySet;
use crate::evaluate::late;
use crate::gate::{Gate, Outside};
use crate::global_context::GlobalContext;
use crate::host::{Host, NoHost};
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::state::Thread;
use crate::worker::{Answer, Job, Worker};

/// How long after its deadline an evaluation is given up.
const GRACE: Duration = Duration::from_millis(50);
/// How long an evaluation may compute before others get its turn.
const SLOW: Duration = Duration::from_millis(30);
/// How often the watchdog looks while there is something to watch.
const LOOK: Duration = Duration::from_millis(20);
/// How many threads there may be beyond those that compute.
const EXTRA: usize = 512;
/// How long a thread waits for work before it asks whether it is needed.
const IDLE: Duration = Duration::from_secs(10);
/// Stack for what is not the engine's.
const OWN_STACK: usize = 4 << 20;

/// How many evaluations may compute, and how many may wait for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// Evaluations that compute at the same time, at least one. Those that wait for the world
    /// outside don't count; there are further threads for them, up to 512.
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
    host: Arc<dyn Host>,
    replays: bool,
    capacity: usize,
    board: Mutex<Board>,
    slots: Mutex<Vec<Arc<Slot>>>,
    made: Arc<AtomicU64>,
    /// Whether the watchdog sleeps until told.
    asleep: AtomicBool,
    watch: Mutex<bool>,
    busy: Condvar,
}

impl Pool {
    /// Starts threads for these policies. `context` may be one that served others before. `host`
    /// answers what policies ask of the world outside.
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
        Self::begin(set, limits, options, context, host, false)
    }

    /// Starts threads for evaluations that are made again from a record. Policies find the recorded
    /// time in place of the clock; what is not in the record is noticed; nothing can be asked of the
    /// world outside.
    ///
    /// # Errors
    ///
    /// If threads can't be started.
    pub fn start_for_replays(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
    ) -> Result<Self, PoolError> {
        let context = GlobalContext::new(16 << 20);
        Self::begin(set, limits, options, context, Arc::new(NoHost), true)
    }

    fn begin(
        set: PolicySet,
        limits: Limits,
        options: PoolOptions,
        context: GlobalContext,
        host: Arc<dyn Host>,
        replays: bool,
    ) -> Result<Self, PoolError> {
        let turns = options.threads.max(1);
        let shared = Arc::new(Shared {
            set,
            limits,
            context,
            host,
            replays,
            capacity: options.queue,
            board: Mutex::new(Board::new(turns, EXTRA)),
            slots: Mutex::default(),
            made: Arc::default(),
            asleep: AtomicBool::new(false),
            watch: Mutex::new(false),
            busy: Condvar::new(),
        });
        let pool = Self {
            shared: Arc::clone(&shared),
        };
        for _ in 0..turns {
            lock(&shared.board).hire();
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
        let mut board = lock(&shared.board);
        if board.is_closed {
            return Err(PoolError::Closed);
        }
        if board.has_lost_too_many() {
            return Err(PoolError::TooManyAbandoned);
        }
        if board.jobs.len() >= shared.capacity {
            return Err(PoolError::QueueFull);
        }
        board.jobs.push_back(Job {
            input: Arc::new(input),
            deadline,
            answer: Answer::new(Box::new(done)),
        });
        let is_short = board.pass_on();
        drop(board);
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
        lock(&self.shared.board).lost()
    }

    /// How many evaluation threads there are now, those that were given up while they computed
    /// not counted.
    pub fn threads(&self) -> usize {
        lock(&self.shared.board).threads()
    }
}

impl Drop for Pool {
    /// Threads end when they have done what they are doing; nobody waits for them.
    fn drop(&mut self) {
        let jobs = {
            let mut board = lock(&self.shared.board);
            board.is_closed = true;
            std::mem::take(&mut board.jobs)
        };
        for slot in lock(&self.shared.slots).iter() {
            slot.wake.notify_all();
        }
        self.shared.rouse();
        for job in jobs {
            job.answer.give(Err(PoolError::Closed));
        }
    }
}

/// The gate of one thread of a pool.
#[derive(Debug)]
struct Turnstile {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
}

impl Gate for Turnstile {
    fn leave(&self) {
        let mut board = lock(&self.shared.board);
        board.leave(&self.slot);
        let is_short = board.pass_on();
        drop(board);
        self.shared.hire_if(is_short);
    }

    fn enter(&self, deadline: Option<Instant>) {
        let mut board = lock(&self.shared.board);
        board.come_back(&self.slot);
        loop {
            let now = clock::monotonic();
            let left = deadline.map_or(IDLE, |d| d.saturating_duration_since(now));
            if board.go_on(&self.slot, left.is_zero()) {
                break;
            }
            board = match self.slot.wake.wait_timeout(board, left) {
                Ok((board, _)) => board,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        let is_short = board.pass_on();
        drop(board);
        self.shared.hire_if(is_short);
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
            ..Slot::default()
        });
        lock(&self.slots).push(Arc::clone(&slot));
        let (shared, own) = (Arc::clone(self), Arc::clone(&slot));
        let spawned = thread::Builder::new()
            .name(format!("js-{}", slot.thread.number))
            .stack_size(self.limits.stack + OWN_STACK)
            .spawn(move || shared.serve(&own));
        if let Err(error) = spawned {
            self.forget(&slot);
            lock(&self.board).not_hired();
            return Err(PoolError::Engine(error.to_string()));
        }
        Ok(())
    }

    /// Starts a thread that was noted on the board. If there can't be another one, jobs wait.
    fn hire_if(self: &Arc<Self>, is_short: bool) {
        if is_short {
            let _ = self.spawn();
        }
    }

    fn forget(&self, slot: &Arc<Slot>) {
        lock(&self.slots).retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// The life of an evaluation thread.
    fn serve(self: &Arc<Self>, slot: &Arc<Slot>) {
        let gate = Turnstile {
            shared: Arc::clone(self),
            slot: Arc::clone(slot),
        };
        let outside = Outside {
            host: Arc::clone(&self.host),
            gate: Rc::new(gate),
            replays: self.replays,
        };
        let mut worker = Worker::new(
            self.set.clone(),
            self.limits.clone(),
            self.context.clone(),
            Arc::clone(slot),
            Arc::clone(&self.made),
            outside,
        );
        lock(&self.board).started();
        while let Some(job) = self.next(slot) {
            worker.work(&job);
        }
        self.forget(slot);
    }

    /// Ends the job before, and waits for the next one.
    fn next(self: &Arc<Self>, slot: &Arc<Slot>) -> Option<Job> {
        let mut board = lock(&self.board);
        if !board.end_job(slot) {
            return None;
        }
        loop {
            if let Some(job) = board.take_job(slot, clock::monotonic()) {
                let is_short = board.pass_on();
                drop(board);
                self.hire_if(is_short);
                return Some(job);
            }
            if board.is_closed {
                board.may_go();
                return None;
            }
            board.call_back();
            board.rest(slot);
            let waited = slot.wake.wait_timeout(board, IDLE);
            let (again, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            board = again;
            let was_called = board.rise(slot);
            if timeout.timed_out() && !was_called && board.may_go() {
                return None;
            }
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
            if !is_busy && lock(&self.board).is_closed {
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
        let board = lock(&self.board);
        let is_running = |slot: &Arc<Slot>| lock(&slot.doing).job.is_some();
        board.jobs.is_empty() && !board.is_closed && !lock(&self.slots).iter().any(is_running)
    }

    /// Lets others have the turn of a thread that computes for long.
    fn overtake(self: &Arc<Self>, slot: &Slot) {
        let mut board = lock(&self.board);
        board.overtake(slot);
        let is_short = board.pass_on();
        drop(board);
        self.hire_if(is_short);
    }

    /// Answers those whose time is over. Whether there is anything to watch.
    fn look(self: &Arc<Self>) -> bool {
        let now = clock::monotonic();
        let (expired, mut is_busy) = {
            let mut board = lock(&self.board);
            let (expired, kept): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut board.jobs)
                .into_iter()
                .partition(|job| job.deadline <= now);
            board.jobs = kept;
            (expired, !board.jobs.is_empty())
        };
        for job in expired {
            let late = late(None, &self.set, &job.input, &self.limits);
            job.answer.give(Ok(late));
        }
        let slots: Vec<_> = lock(&self.slots).clone();
        for slot in slots {
            let running = lock(&slot.doing).job.clone();
            let Some(running) = running else {
                continue;
            };
            is_busy = true;
            if running.deadline + GRACE > now {
                if running.since + SLOW < now && slot.phase() == Phase::Computing {
                    self.overtake(&slot);
                }
                continue;
            }
            let mut board = lock(&self.board);
            // It may have ended, or begun another, since.
            let is_still = lock(&slot.doing)
                .job
                .as_ref()
                .is_some_and(|job| job.deadline == running.deadline);
            if !is_still || slot.phase().is_lost() {
                continue;
            }
            let is_short = board.give_up(&slot);
            let is_shorter = board.pass_on();
            drop(board);
            self.context.revoke(slot.thread.number);
            let culprit = slot.thread.policy.load(Ordering::Relaxed);
            let late = late(Some(culprit), &self.set, &running.input, &self.limits);
            running.answer.give(Ok(late));
            self.hire_if(is_short);
            self.hire_if(is_shorter);
        }
        is_busy
    }
}
