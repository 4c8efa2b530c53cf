//! One evaluation thread: a realm, and the jobs it takes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portcullis_core::clock::{self, Stopwatch};

use crate::compile::PolicySet;
use crate::evaluate;
use crate::global_context::GlobalContext;
use crate::input::Input;
use crate::limits::{Limit, Limits};
use crate::outcome::{Denial, Evaluation, Verdict};
use crate::pool::PoolError;
use crate::realm::Realm;
use crate::state::Thread;

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
            callback(result);
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
    pub(crate) input: Input,
    pub(crate) deadline: Instant,
    pub(crate) answer: Answer,
}

/// What the watchdog sees of a thread.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) thread: Thread,
    /// What it is doing: until when, and who waits for it.
    pub(crate) running: Mutex<Option<(Instant, Answer)>>,
    /// Whether the thread was given up, and must end with what it is doing.
    pub(crate) abandoned: AtomicBool,
}

/// The refusal of a request whose time ran out where no policy is to blame by name.
pub(crate) fn late(policy: Option<&str>, limits: &Limits) -> Evaluation {
    let message = evaluate::limit_message(Limit::Deadline, limits);
    Evaluation {
        verdict: Verdict::Deny(Denial {
            policy: policy.map(str::to_owned),
            message: match policy {
                Some(name) => format!("{name}: {message}"),
                None => message,
            },
            reason: "INTERNAL_ERROR".to_owned(),
            code: None,
            limit: Some(Limit::Deadline),
            failure: true,
        }),
        steps: Vec::new(),
        warnings: Vec::new(),
        console: Vec::new(),
        host_calls: Vec::new(),
        object: None,
    }
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
    realm: Option<Realm>,
}

impl Worker {
    pub(crate) fn new(
        set: PolicySet,
        limits: Limits,
        shared: GlobalContext,
        slot: Arc<Slot>,
        made: Arc<AtomicU64>,
    ) -> Self {
        let mut worker = Self {
            set,
            limits,
            shared,
            slot,
            made,
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
            job.answer.give(Ok(late(None, &self.limits)));
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
            if !self.slot.abandoned.load(Ordering::Acquire) {
                let _ = self.prepare();
            }
        }
    }
}
