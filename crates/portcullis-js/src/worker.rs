//! One evaluation thread: a realm, and the jobs it takes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portcullis_core::clock::{self, Stopwatch};

use crate::board::Slot;
use crate::compile::PolicySet;
use crate::evaluate;
use crate::gate::Outside;
use crate::global_context::GlobalContext;
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::pool::PoolError;
use crate::realm::Realm;

/// An evaluation longer than this is followed by a full garbage collection.
const LONG: Duration = Duration::from_millis(5);

type Callback = Box<dyn FnOnce(Result<Evaluation, PoolError>) + Send>;

/// Where an answer goes. The first answer counts.
#[derive(Clone)]
pub(crate) struct Answer(Arc<Mutex<Option<Callback>>>);

impl Answer {
    pub(crate) fn new(callback: Callback) -> Self {
        Self(Arc::new(Mutex::new(Some(callback))))
    }

    pub(crate) fn give(&self, result: Result<Evaluation, PoolError>) {
        let callback = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
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
    pub(crate) input: Arc<Input>,
    pub(crate) deadline: Instant,
    pub(crate) answer: Answer,
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
}

impl Worker {
    pub(crate) fn new(
        set: PolicySet,
        limits: Limits,
        shared: GlobalContext,
        slot: Arc<Slot>,
        made: Arc<AtomicU64>,
        outside: Outside,
    ) -> Self {
        let mut worker = Self {
            set,
            limits,
            shared,
            slot,
            made,
            outside,
            realm: None,
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

    /// Makes one evaluation, answers, and gets ready for the next.
    pub(crate) fn work(&mut self, job: &Job) {
        if clock::monotonic() >= job.deadline {
            let late = evaluate::late(None, &self.set, &job.input, &self.limits);
            job.answer.give(Ok(late));
            return;
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
