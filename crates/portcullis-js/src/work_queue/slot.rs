//! One evaluation thread, as the queue and the watchdog see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Instant;

use portcullis_core::sync::{Condvar, Mutex};

use crate::evaluation_thread::EvaluationThread;
use crate::job::Completion;
use crate::scheduling;

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
/// holds the queue.
#[derive(Debug, Default)]
pub(crate) struct Doing {
    pub(crate) phase: Phase,
    pub(crate) job: Option<Running>,
}

/// An evaluation that is being made.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// The asker.
    pub(crate) asker: u64,
    pub(crate) since: Instant,
    pub(crate) deadline: Instant,
    pub(crate) input: Arc<crate::input::Input>,
    pub(crate) completion: Completion,
}

/// A thread, as others see it.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) thread: EvaluationThread,
    pub(crate) wake: Condvar,
    pub(crate) doing: Mutex<Doing>,
    /// By which number the system knows it; 0 until it runs.
    system: AtomicI32,
    /// Whether its evaluation is made in a process, which it ends by itself.
    is_guarded: AtomicBool,
    /// The process; 0 while there is none.
    worker: AtomicU32,
    /// Whether the process gets less time than others.
    is_put_back: AtomicBool,
}

impl Slot {
    pub(crate) fn phase(&self) -> Phase {
        self.doing.lock().phase
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.doing.lock().phase = phase;
    }

    /// The asker of its job.
    pub(super) fn asker(&self) -> Option<u64> {
        self.doing.lock().job.as_ref().map(|job| job.asker)
    }

    pub(crate) fn of(thread: EvaluationThread) -> Self {
        Self {
            thread,
            ..Self::default()
        }
    }

    /// The number by which the system knows the thread.
    pub(crate) fn system(&self) -> i32 {
        self.system.load(Ordering::Relaxed)
    }

    pub(crate) fn set_system(&self, number: i32) {
        self.system.store(number, Ordering::Relaxed);
    }

    /// Whether its evaluation is made in a process.
    pub(crate) fn is_guarded(&self) -> bool {
        self.is_guarded.load(Ordering::Relaxed)
    }

    /// Notes the process that evaluates for it.
    pub(crate) fn set_worker(&self, number: u32) {
        self.is_put_back.store(false, Ordering::Relaxed);
        self.worker.store(number, Ordering::Release);
    }

    /// Forgets the process. Whether it may be used again.
    pub(crate) fn forget_worker(&self) -> bool {
        self.worker.store(0, Ordering::Release);
        !self.is_put_back.load(Ordering::Relaxed)
    }

    /// The process that evaluates for it; 0 while there is none.
    pub(crate) fn worker(&self) -> u32 {
        self.worker.load(Ordering::Acquire)
    }

    /// Lets the process have less time than others, from which there is no way back.
    pub(crate) fn put_worker_back(&self) {
        let worker = self.worker();
        if worker != 0 && !self.is_put_back.swap(true, Ordering::Relaxed) {
            scheduling::put_group_back(worker);
        }
    }

    pub(crate) fn set_guarded(&self, is_guarded: bool) {
        self.is_guarded.store(is_guarded, Ordering::Relaxed);
    }
}
