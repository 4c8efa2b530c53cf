//! One evaluation thread: a realm, and the jobs it takes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::sync::Mutex;

use crate::board::Slot;
use crate::compile::PolicySet;
use crate::evaluate;
use crate::gate::Outside;
use crate::global_context::GlobalContext;
use crate::guard::Guard;
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::pool::{GRACE, PoolError};
use crate::process::{Asked, Failed, NoProcess, Stable};
use crate::realm::Realm;

/// An evaluation longer than this is followed by a full garbage collection.
pub(crate) const LONG: Duration = Duration::from_millis(5);

/// Stack for what is not the engine's.
pub(crate) const OWN_STACK: usize = 4 << 20;

type Callback = Box<dyn FnOnce(Result<Evaluation, PoolError>) + Send>;

/// Where an answer goes. The first answer counts.
#[derive(Clone)]
pub(crate) struct Answer(Arc<Mutex<Option<Callback>>>);

impl Answer {
    pub(crate) fn new(callback: Callback) -> Self {
        Self(Arc::new(Mutex::new(Some(callback))))
    }

    pub(crate) fn give(&self, result: Result<Evaluation, PoolError>) {
        let callback = self.0.lock().take();
        if let Some(callback) = callback {
            // A caller that panics must not take the thread with it.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| callback(result)));
        }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answer")
    }
}

/// One evaluation to be made.
#[derive(Debug)]
pub(crate) struct Job {
    /// Who asks for it, as a number.
    pub(crate) asker: u64,
    pub(crate) input: Arc<Input>,
    pub(crate) deadline: Instant,
    pub(crate) answer: Answer,
}

/// Which evaluations are made in processes, and the processes.
#[derive(Debug)]
pub(crate) struct Guarding {
    pub(crate) guard: Guard,
    pub(crate) stable: Arc<Stable>,
}

/// The thread's realm and what it is made of.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) set: PolicySet,
    pub(crate) limits: Limits,
    pub(crate) shared: GlobalContext,
    pub(crate) slot: Arc<Slot>,
    /// Counts the realms made.
    pub(crate) made: Arc<AtomicU64>,
    outside: Outside,
    realm: Option<Realm>,
    guarding: Option<Guarding>,
}

impl Worker {
    pub(crate) fn new(
        set: PolicySet,
        limits: Limits,
        shared: GlobalContext,
        slot: Arc<Slot>,
        made: Arc<AtomicU64>,
        outside: Outside,
        guarding: Option<Guarding>,
    ) -> Self {
        let mut worker = Self {
            set,
            limits,
            shared,
            slot,
            made,
            outside,
            realm: None,
            guarding,
        };
        let _ = worker.prepare();
        worker
    }

    fn prepare(&mut self) -> Result<&Realm, PoolError> {
        match &mut self.realm {
            Some(realm) => Ok(realm),
            empty => {
                let realm = Realm::new(
                    &self.set,
                    &self.limits,
                    &self.shared,
                    self.slot.thread.clone(),
                    &self.outside,
                )
                .map_err(|e| PoolError::Engine(e.to_string()))?;
                self.made.fetch_add(1, Ordering::Relaxed);
                Ok(empty.insert(realm))
            }
        }
    }

    /// Makes one evaluation in a process, and answers. False if that is not needed any more.
    fn work_in_process(&self, guarding: &Guarding, job: &Job) -> bool {
        let Guarding { guard, stable } = guarding;
        let late = |culprit| evaluate::late(culprit, &self.set, &job.input, &self.limits);
        let taken = stable.take_ready().map_or_else(
            || {
                // It counts for who asks as one that computes for long: nobody may wait for
                // processes so often that none is left for others.
                self.outside.gate.step_aside();
                stable.take(job.deadline)
            },
            Ok,
        );
        let mut process = match taken {
            Ok(process) => process,
            Err(NoProcess::Unneeded) => return false,
            Err(NoProcess::Late) => {
                job.answer.give(Ok(late(None)));
                return true;
            }
            Err(NoProcess::Fault(why)) => {
                job.answer.give(Err(PoolError::NoProcess(why)));
                return true;
            }
        };
        self.slot.thread.begin();
        let asked = Asked {
            set: &self.set,
            input: &job.input,
            deadline: job.deadline,
            end: job.deadline + GRACE,
            thread: &self.slot.thread,
            outside: &self.outside,
            context: &self.shared,
        };
        self.slot.set_worker(process.number());
        let evaluated = process.evaluate(&asked);
        let is_usable = self.slot.forget_worker();
        match evaluated {
            Ok(evaluation) => {
                job.answer.give(Ok(evaluation));
                match is_usable && process.cleans_up() {
                    true => stable.put_back(process),
                    false => stable.kill(process),
                }
            }
            Err(Failed::Late) => {
                stable.kill(process);
                let culprit = self.slot.thread.policy();
                let name = self.set.names().get(culprit);
                // One that was given up waited for the world outside; nothing was to be killed.
                if !self.slot.phase().is_lost() {
                    guard.killed(name.map(String::as_str));
                }
                job.answer.give(Ok(late(Some(culprit))));
            }
            Err(Failed::Broken(why)) => {
                stable.kill(process);
                job.answer.give(Err(PoolError::Engine(why)));
            }
        }
        true
    }

    /// Makes one evaluation, answers, and gets ready for the next.
    pub(crate) fn work(&mut self, job: &Job) {
        if clock::monotonic() >= job.deadline {
            let late = evaluate::late(None, &self.set, &job.input, &self.limits);
            job.answer.give(Ok(late));
            return;
        }
        if let Some(guarding) = &self.guarding
            && guarding.guard.covers(&self.set, &job.input)
        {
            self.slot.set_guarded(true);
            let is_done = self.work_in_process(guarding, job);
            self.slot.set_guarded(false);
            if is_done {
                return;
            }
        }
        let watch = Stopwatch::start();
        let (set, limits) = (self.set.clone(), self.limits.clone());
        let result = match self.prepare() {
            Ok(realm) => {
                realm.state.deadline.set(Some(job.deadline));
                let run = || evaluate::run(realm, &set, &job.input, &limits);
                panic::catch_unwind(AssertUnwindSafe(run))
                    .map_err(|_| PoolError::Engine("the evaluation panicked".to_owned()))
            }
            Err(error) => Err(error),
        };
        let sound = result.is_ok();
        job.answer.give(result);
        let clean = sound
            && self
                .realm
                .as_ref()
                .is_some_and(|realm| realm.clean(watch.elapsed() > LONG));
        if !clean {
            self.realm = None;
            if !self.slot.phase().is_lost() {
                let _ = self.prepare();
            }
        }
    }
}
