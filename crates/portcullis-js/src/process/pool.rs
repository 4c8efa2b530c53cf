//! The processes of a pool: a few that are ready, and a thread that starts them.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::{Condvar, Mutex, MutexGuard};

use super::{Process, ProcessSpec};
use crate::guard::Guard;

/// How long after a failure another process is tried.
const AGAIN: Duration = Duration::from_secs(1);

/// After how many failures in a row it is reported that no process can be started.
const FAILURES: u32 = 2;

/// Why there is no process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoProcess {
    /// None became free in time.
    Late,
    /// None can be started.
    Fault(String),
    /// Evaluations are made in threads again.
    Unneeded,
}

/// Processes, and what they are made from.
pub(crate) struct ProcessPool {
    spec: ProcessSpec,
    guard: Guard,
    /// How many there may be.
    most: usize,
    /// How many shall be ready.
    spare: usize,
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl fmt::Debug for ProcessPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessPool").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Inner {
    ready: Vec<Process>,
    /// All that there are, those that are being started included.
    living: usize,
    /// How many evaluations wait for one.
    waiting: usize,
    fault: Option<String>,
    is_closed: bool,
    has_keeper: bool,
}

impl ProcessPool {
    /// No processes yet.
    pub(crate) fn new(spec: ProcessSpec, guard: Guard, most: usize, spare: usize) -> Self {
        Self {
            spec,
            guard,
            most: most.max(1),
            spare: spare.max(1),
            inner: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Sees to it that there are processes, from now until the guard ends.
    pub(crate) fn keep(self: &Arc<Self>) {
        let mut inner = self.inner.lock();
        if inner.has_keeper || inner.is_closed {
            return;
        }
        let own = Arc::clone(self);
        let builder = thread::Builder::new().name("js-processes".to_owned());
        match builder.spawn(move || own.start_what_is_needed()) {
            Ok(_) => inner.has_keeper = true,
            Err(error) => {
                let why = format!("cannot start a thread that starts processes: {error}");
                inner.fault = Some(why.clone());
                drop(inner);
                self.guard.no_process(&why);
            }
        }
    }

    /// A process that is ready now.
    pub(crate) fn take_ready(&self) -> Option<Process> {
        let mut inner = self.inner.lock();
        let taken = self.pop(&mut inner);
        drop(inner);
        self.changed.notify_all();
        taken
    }

    fn pop(&self, inner: &mut Inner) -> Option<Process> {
        while let Some(mut process) = inner.ready.pop() {
            if process.lives() {
                return Some(process);
            }
            inner.living = inner.living.saturating_sub(1);
        }
        None
    }

    /// Waits for a process until the deadline.
    pub(crate) fn take(self: &Arc<Self>, deadline: Instant) -> Result<Process, NoProcess> {
        self.keep();
        let mut inner = self.inner.lock();
        inner.waiting += 1;
        self.changed.notify_all();
        let taken = loop {
            if let Some(process) = self.pop(&mut inner) {
                break Ok(process);
            }
            if let Some(fault) = &inner.fault {
                break Err(NoProcess::Fault(fault.clone()));
            }
            if !self.guard.is_on() {
                break Err(NoProcess::Unneeded);
            }
            let left = deadline.saturating_duration_since(clock::monotonic());
            if left.is_zero() || inner.is_closed {
                break Err(NoProcess::Late);
            }
            inner = self.wait(inner, left);
        };
        inner.waiting = inner.waiting.saturating_sub(1);
        taken
    }

    /// Takes one back that is ready for another evaluation.
    pub(crate) fn put_back(&self, process: Process) {
        let mut inner = self.inner.lock();
        let is_wanted = inner.ready.len() < self.spare.max(inner.waiting);
        if inner.is_closed || !self.guard.is_on() || !is_wanted {
            inner.living = inner.living.saturating_sub(1);
            drop(inner);
            drop(process);
        } else {
            inner.ready.push(process);
            drop(inner);
        }
        self.changed.notify_all();
    }

    /// Kills one that is not to be used again.
    pub(crate) fn kill(&self, process: Process) {
        drop(process);
        let mut inner = self.inner.lock();
        inner.living = inner.living.saturating_sub(1);
        drop(inner);
        self.changed.notify_all();
    }

    /// Kills those that have nothing to do, and starts no more.
    pub(crate) fn close(&self) {
        let ready = {
            let mut inner = self.inner.lock();
            inner.is_closed = true;
            let ready = std::mem::take(&mut inner.ready);
            inner.living = inner.living.saturating_sub(ready.len());
            ready
        };
        self.changed.notify_all();
        drop(ready);
    }

    /// The life of the keeper. Only this starts processes.
    fn start_what_is_needed(self: Arc<Self>) {
        let mut inner = self.inner.lock();
        let mut failures = 0_u32;
        loop {
            if inner.is_closed || !self.guard.is_on() {
                inner.has_keeper = false;
                inner.fault = None;
                let ready = std::mem::take(&mut inner.ready);
                inner.living = inner.living.saturating_sub(ready.len());
                drop(inner);
                self.changed.notify_all();
                return;
            }
            let wanted = self.spare.max(inner.waiting);
            if inner.ready.len() > wanted {
                let unneeded = inner.ready.pop();
                inner.living = inner.living.saturating_sub(1);
                drop(inner);
                drop(unneeded);
                inner = self.inner.lock();
                continue;
            }
            if inner.ready.len() >= wanted || inner.living >= self.most {
                inner = self.wait(inner, AGAIN);
                continue;
            }
            inner.living += 1;
            drop(inner);
            let started = Process::start(&self.spec);
            inner = self.inner.lock();
            match started {
                Ok(process) => {
                    failures = 0;
                    inner.fault = None;
                    inner.ready.push(process);
                    drop(inner);
                    self.changed.notify_all();
                    self.guard.has_process();
                    inner = self.inner.lock();
                }
                Err(why) => {
                    inner.living = inner.living.saturating_sub(1);
                    failures = failures.saturating_add(1);
                    // A single one may have been killed from outside.
                    if failures < FAILURES {
                        continue;
                    }
                    inner.fault = Some(why.clone());
                    drop(inner);
                    self.changed.notify_all();
                    self.guard.no_process(&why);
                    inner = self.inner.lock();
                    inner = self.rest(inner);
                }
            }
        }
    }

    /// Waits before the next try, however often it is woken.
    fn rest<'a>(&self, mut inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        let until = clock::monotonic() + AGAIN;
        loop {
            let left = until.saturating_duration_since(clock::monotonic());
            if left.is_zero() || inner.is_closed {
                return inner;
            }
            inner = self.wait(inner, left);
        }
    }

    fn wait<'a>(&self, inner: MutexGuard<'a, Inner>, most: Duration) -> MutexGuard<'a, Inner> {
        self.changed.wait_timeout(inner, most).0
    }
}
