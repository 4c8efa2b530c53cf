//! When evaluations run in processes that can be killed, and which.
//!
//! Threads are faster, but a thread that is inside a native of the engine can't be ended. The first
//! policy that is caught there is *suspect* from then on: evaluations that would run it run in
//! processes, and those of other policies stay in threads. When many threads are lost, or it is not
//! known which policy took one, all evaluations run in processes. That ends when all lost threads
//! have ended and nothing had to be killed for a while.
//!
//! Here is only the state, shared by successive pools. Detection is in
//! `pool::watchdog`, how processes work in `process`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::Mutex;

use crate::input::{Input, Plan};
use crate::policy_set::PolicySet;

/// With so many threads lost at a time, everything is made in processes.
const MANY: usize = 8;
/// How long it must have been quiet.
const CALM: Duration = Duration::from_secs(600);
/// How many processes a pool may have at a time.
const PROCESSES: usize = 128;

/// How to start a process that evaluates policies: a program that calls
/// [`serve_evaluations`](crate::serve_evaluations), and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// How a guard works.
#[derive(Debug, Clone)]
pub struct GuardOptions {
    /// How to start a process.
    pub command: WorkerCommand,
    /// How long it must have been quiet before evaluations are made in threads again.
    pub calm: Duration,
    /// How many processes a pool may have at a time.
    pub processes: usize,
}

impl GuardOptions {
    /// The usual ones.
    pub fn new(command: WorkerCommand) -> Self {
        Self {
            command,
            calm: CALM,
            processes: PROCESSES,
        }
    }
}

/// Something that the people who run this should know of. Policies are named where it is known
/// which one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardEvent<'a> {
    /// An evaluation computes inside a native that doesn't look at the clock.
    Stuck(Option<&'a str>),
    /// A thread did not come back in time, and was given up.
    GivenUp(Option<&'a str>),
    /// A thread that was given up has ended.
    CameBack,
    /// A process did not answer in time, and was killed.
    Killed(Option<&'a str>),
    /// Evaluations that run this policy are made in processes from now on.
    Suspect(&'a str),
    /// All evaluations are made in processes from now on.
    Everything,
    /// No process can be started, which is tried again.
    NoProcess(&'a str),
    /// Processes can be started again.
    ProcessAgain,
    /// Evaluations are made in threads again.
    Ended,
}

/// Receives such events. Called by threads that have work to do: it must not block.
pub trait GuardListener: Send + Sync + fmt::Debug {
    /// This happened; this is how things are now.
    fn noticed(&self, event: GuardEvent<'_>, status: &GuardStatus);
}

/// How things are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardStatus {
    /// Policies that are evaluated in processes.
    pub suspects: Vec<String>,
    /// Whether everything is.
    pub is_everything: bool,
    /// How many threads were given up while they computed, and have not ended.
    pub lost_threads: usize,
    /// Why no process can be started, if none can.
    pub fault: Option<String>,
}

impl GuardStatus {
    /// Whether some evaluations are made in processes.
    pub fn is_on(&self) -> bool {
        self.is_everything || !self.suspects.is_empty()
    }
}

/// Says which evaluations are made in processes. Shared by the pools that follow one another.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    options: Option<GuardOptions>,
    listener: Option<Arc<dyn GuardListener>>,
    /// What the state says, for a look without a lock.
    is_on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    suspects: BTreeSet<String>,
    is_everything: bool,
    lost: usize,
    fault: Option<String>,
    /// When something last went wrong.
    last: Option<Instant>,
}

impl State {
    fn status(&self) -> GuardStatus {
        GuardStatus {
            suspects: self.suspects.iter().cloned().collect(),
            is_everything: self.is_everything,
            lost_threads: self.lost,
            fault: self.fault.clone(),
        }
    }
}

impl Guard {
    /// A guard that can start processes.
    pub fn new(options: GuardOptions, listener: Option<Arc<dyn GuardListener>>) -> Self {
        Self {
            inner: Arc::new(Inner {
                options: Some(options),
                listener,
                ..Inner::default()
            }),
        }
    }

    /// A guard that has no processes: for commands that end soon.
    pub fn none() -> Self {
        Self::default()
    }

    /// How things are.
    pub fn status(&self) -> GuardStatus {
        self.inner.state.lock().status()
    }

    /// Makes all evaluations in processes from now on, until it has been quiet for long enough.
    pub fn cover_everything(&self) {
        self.suspect(None);
    }

    pub(crate) fn options(&self) -> Option<&GuardOptions> {
        self.inner.options.as_ref()
    }

    /// Whether some evaluations are made in processes.
    pub(crate) fn is_on(&self) -> bool {
        self.inner.is_on.load(Ordering::Relaxed)
    }

    /// Whether this evaluation must be made in a process.
    pub(crate) fn covers(&self, set: &PolicySet, input: &Input) -> bool {
        if !self.is_on() {
            return false;
        }
        let state = self.inner.state.lock();
        let mut policies = set.names().iter().enumerate();
        state.is_everything
            || policies.any(|(index, name)| {
                input.plan(index) != Plan::Skip && state.suspects.contains(name)
            })
    }

    /// An evaluation computes where it can't be stopped.
    pub(crate) fn stuck(&self, policy: Option<&str>) {
        self.change(GuardEvent::Stuck(policy), |_| {});
        self.suspect(policy);
    }

    /// A thread was given up while it computed. That alone makes nothing suspect: where the machine
    /// is busy it may just not have had its turn to end.
    pub(crate) fn given_up(&self, policy: Option<&str>) {
        self.change(GuardEvent::GivenUp(policy), |state| state.lost += 1);
        if self.inner.state.lock().lost >= MANY {
            self.suspect(None);
        }
    }

    /// A thread that was given up while it computed has ended.
    pub(crate) fn came_back(&self) {
        self.change(GuardEvent::CameBack, |state| {
            state.lost = state.lost.saturating_sub(1);
        });
    }

    /// A process was killed.
    pub(crate) fn killed(&self, policy: Option<&str>) {
        self.change(GuardEvent::Killed(policy), |_| {});
    }

    /// No process can be started. Said once.
    pub(crate) fn no_process(&self, why: &str) {
        if self.inner.state.lock().fault.as_deref() != Some(why) {
            self.change(GuardEvent::NoProcess(why), |state| {
                state.fault = Some(why.to_owned());
            });
        }
    }

    /// A process was started.
    pub(crate) fn has_process(&self) {
        if self.inner.state.lock().fault.is_some() {
            self.change(GuardEvent::ProcessAgain, |state| state.fault = None);
        }
    }

    /// Goes back to threads if it has been quiet for long enough.
    pub(crate) fn relax(&self, now: Instant) {
        let Some(options) = &self.inner.options else {
            return;
        };
        let is_calm = |state: &State| {
            let last = state.last.unwrap_or(now);
            state.lost == 0 && now.saturating_duration_since(last) >= options.calm
        };
        let is_over = {
            let mut state = self.inner.state.lock();
            let is_over = self.is_on() && is_calm(&state);
            if is_over {
                *state = State::default();
                self.inner.is_on.store(false, Ordering::Relaxed);
            }
            is_over
        };
        if is_over {
            self.tell(GuardEvent::Ended);
        }
    }

    /// Puts this policy, or everything if it is not known which, into processes.
    fn suspect(&self, policy: Option<&str>) {
        if self.inner.options.is_none() {
            return;
        }
        let (is_new, is_everything) = {
            let mut state = self.inner.state.lock();
            let is_new = policy.is_some_and(|name| state.suspects.insert(name.to_owned()));
            let is_everything = policy.is_none() && !state.is_everything;
            state.is_everything |= policy.is_none();
            state.last = Some(clock::monotonic());
            self.inner.is_on.store(true, Ordering::Relaxed);
            (is_new, is_everything)
        };
        if let (Some(name), true) = (policy, is_new) {
            self.tell(GuardEvent::Suspect(name));
        }
        if is_everything {
            self.tell(GuardEvent::Everything);
        }
    }

    /// Notes that something went wrong, or right again.
    fn change(&self, event: GuardEvent<'_>, change: impl FnOnce(&mut State)) {
        {
            let mut state = self.inner.state.lock();
            change(&mut state);
            state.last = Some(clock::monotonic());
        }
        self.tell(event);
    }

    fn tell(&self, event: GuardEvent<'_>) {
        if let Some(listener) = &self.inner.listener {
            listener.noticed(event, &self.status());
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::PolicyMode;
    use serde_json::Value;

    use super::*;
    use crate::sources::{PolicySource, Sources};

    fn guard() -> Guard {
        let command = WorkerCommand {
            program: PathBuf::from("worker"),
            arguments: Vec::new(),
        };
        Guard::new(GuardOptions::new(command), None)
    }

    fn two() -> (PolicySet, Input, Input) {
        let sources = Sources {
            policies: vec![PolicySource::body("A", ""), PolicySource::body("B", "")],
            ..Sources::default()
        };
        let only = |first, second| Input {
            plan: vec![first, second],
            ..Input::new(&Value::Null)
        };
        let (run, skip) = (Plan::Run(PolicyMode::Enforce), Plan::Skip);
        let set = PolicySet::compile(&sources).unwrap();
        (set, only(run, skip), only(skip, run))
    }

    #[test]
    fn only_the_policy_that_was_caught_goes_to_processes() {
        let ((set, a, b), guard) = (two(), guard());
        assert!(!guard.covers(&set, &a));
        guard.stuck(Some("A"));
        assert!(guard.covers(&set, &a) && !guard.covers(&set, &b));
        assert_eq!(guard.status().suspects, ["A"]);
    }

    #[test]
    fn everything_goes_to_processes_when_many_threads_are_lost_or_nobody_knows_why() {
        let ((set, _, b), guard) = (two(), guard());
        (1..MANY).for_each(|_| guard.given_up(Some("A")));
        assert!(!guard.covers(&set, &b) && !guard.status().is_on());
        guard.given_up(Some("A"));
        assert!(guard.covers(&set, &b));
        let guard = self::guard();
        guard.stuck(None);
        assert!(guard.covers(&set, &b));
    }

    #[test]
    fn it_ends_when_all_threads_are_back_and_it_was_quiet() {
        let guard = guard();
        guard.stuck(Some("A"));
        guard.given_up(Some("A"));
        let later = || clock::monotonic() + CALM;
        guard.relax(later());
        assert!(guard.is_on(), "a thread is still lost");
        guard.came_back();
        guard.relax(clock::monotonic());
        assert!(guard.is_on(), "it was not quiet yet");
        guard.relax(later());
        assert!(!guard.is_on() && !guard.status().is_on());
    }

    #[test]
    fn what_was_asked_for_lasts_as_long_as_what_was_noticed() {
        let ((set, a, _), guard) = (two(), guard());
        guard.cover_everything();
        guard.relax(clock::monotonic());
        assert!(guard.covers(&set, &a));
        guard.relax(clock::monotonic() + CALM);
        assert!(!guard.covers(&set, &a));
    }

    #[test]
    fn without_processes_nothing_changes() {
        let ((set, a, _), guard) = (two(), Guard::none());
        guard.given_up(Some("A"));
        guard.stuck(None);
        assert!(!guard.covers(&set, &a) && !guard.status().is_on());
    }
}
