//! One evaluation thread: a realm, and the jobs it takes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_core::clock::{self, Stopwatch};

use crate::evaluate;
use crate::global_context::GlobalContext;
use crate::guard::Guard;
use crate::host_access::HostAccess;
use crate::job::{GRACE, Job, PoolError};
use crate::limits::Limits;
use crate::policy_set::PolicySet;
use crate::process::{EvaluationRequest, NoProcess, ProcessError, ProcessPool};
use crate::realm::Realm;
use crate::work_queue::Slot;

/// Which evaluations are made in processes, and the processes.
#[derive(Debug)]
pub(crate) struct Guarding {
    pub(crate) guard: Guard,
    pub(crate) processes: Arc<ProcessPool>,
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
    access: HostAccess,
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
        access: HostAccess,
        guarding: Option<Guarding>,
    ) -> Self {
        let mut worker = Self {
            set,
            limits,
            shared,
            slot,
            made,
            access,
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
                    &self.access,
                )
                .map_err(|e| PoolError::Engine(e.to_string()))?;
                self.made.fetch_add(1, Ordering::Relaxed);
                Ok(empty.insert(realm))
            }
        }
    }

    /// Makes one evaluation in a process, and answers. False if that is not needed any more.
    fn work_in_process(&self, guarding: &Guarding, job: &Job) -> bool {
        let Guarding { guard, processes } = guarding;
        let late = |culprit| evaluate::late(culprit, &self.set, &job.input, &self.limits);
        let taken = processes.take_ready().map_or_else(
            || {
                // It counts for its asker as one that computes for long: no asker may wait for
                // processes so often that none is left for others.
                self.access.turn.step_aside();
                processes.take(job.deadline)
            },
            Ok,
        );
        let mut process = match taken {
            Ok(process) => process,
            Err(NoProcess::Unneeded) => return false,
            Err(NoProcess::Late) => {
                job.completion.complete(Ok(late(None)));
                return true;
            }
            Err(NoProcess::Fault(why)) => {
                job.completion.complete(Err(PoolError::NoProcess(why)));
                return true;
            }
        };
        self.slot.thread.begin();
        let request = EvaluationRequest {
            set: &self.set,
            input: &job.input,
            deadline: job.deadline,
            end: job.deadline + GRACE,
            thread: &self.slot.thread,
            access: &self.access,
            context: &self.shared,
        };
        self.slot.set_worker(process.number());
        let evaluated = process.evaluate(&request);
        let is_usable = self.slot.forget_worker();
        match evaluated {
            Ok(evaluation) => {
                job.completion.complete(Ok(evaluation));
                match is_usable && process.cleans_up() {
                    true => processes.put_back(process),
                    false => processes.kill(process),
                }
            }
            Err(ProcessError::Late) => {
                processes.kill(process);
                let culprit = self.slot.thread.policy();
                let name = self.set.names().get(culprit);
                // One that was given up waited for a host call; there was nothing to kill.
                if !self.slot.phase().is_lost() {
                    guard.killed(name.map(String::as_str));
                }
                job.completion.complete(Ok(late(Some(culprit))));
            }
            Err(ProcessError::Broken(why)) => {
                processes.kill(process);
                job.completion.complete(Err(PoolError::Engine(why)));
            }
        }
        true
    }

    /// Makes one evaluation, answers, and gets ready for the next.
    pub(crate) fn work(&mut self, job: &Job) {
        if clock::monotonic() >= job.deadline {
            let late = evaluate::late(None, &self.set, &job.input, &self.limits);
            job.completion.complete(Ok(late));
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
        job.completion.complete(result);
        let clean = sound
            && self
                .realm
                .as_ref()
                .is_some_and(|realm| realm.clean_after(watch.elapsed()));
        if !clean {
            self.realm = None;
            if !self.slot.phase().is_lost() {
                let _ = self.prepare();
            }
        }
    }
}
