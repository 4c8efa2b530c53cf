//! The ordered chain of plug-ins, and the one way to decide.
//!
//! ```text
//! Attributes ──> admit A ──> admit B ──> … ──> validate A ──> validate B ──> … ──> Verdict
//!                   │ first denial ends it                         │
//!                   └──────────────> Verdict <─────────────────────┘
//! ```
//!
//! INVARIANT: plug-ins run in the configured order; nothing runs after a denial, unless that is asked for,
//! and then it changes nothing in the verdict; the first `validate` runs after the last `admit`.
//! INVARIANT: [`Chain::decide`] returns a verdict whatever plug-ins do. Errors, timeouts and panics
//! are steps of the trace, and only here a [`FailureMode`] says what follows from them.

mod block_on;
mod changes;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;

use self::changes::Changes;
use crate::attributes::Attributes;
use crate::clock::{self, Stopwatch};
use crate::guard::{self, Failure};
use crate::plugin::{Notes, Outcome, Plugin, Runs};
use crate::verdict::{Decision, DecisionId, Denial, Phase, Step, StepOutcome, Verdict};
use crate::vocabulary;

vocabulary! {
    /// What happens when a plug-in can't decide.
    #[derive(Default, JsonSchema)]
    pub enum FailureMode {
        /// The request is denied.
        #[default]
        Closed = "closed",
        /// The plug-in is passed over, and what it changed is undone.
        Open = "open",
    }
}

/// The audit annotation that names everything that could not decide and was passed over.
pub const FAILED_OPEN: &str = "failed-open";

/// A plug-in at its place in the chain.
#[derive(Clone)]
pub struct ChainEntry {
    name: Arc<str>,
    plugin: Arc<dyn Plugin>,
    failure: FailureMode,
    timeout: Option<Duration>,
}

impl ChainEntry {
    /// A plug-in under its name, failing closed.
    pub fn new(name: &str, plugin: Arc<dyn Plugin>) -> Self {
        Self {
            name: name.into(),
            plugin,
            failure: FailureMode::Closed,
            timeout: None,
        }
    }

    /// The plug-in.
    pub fn plugin(&self) -> &Arc<dyn Plugin> {
        &self.plugin
    }

    /// The same with another failure mode.
    #[must_use]
    pub fn failure(mut self, failure: FailureMode) -> Self {
        self.failure = failure;
        self
    }

    /// The same with a limit on its time.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }
}

impl fmt::Debug for ChainEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainEntry")
            .field("name", &self.name)
            .field("failure", &self.failure)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Plug-ins in the order in which they are asked.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    entries: Vec<ChainEntry>,
}

/// How long plug-ins are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until the first denial.
    Refused,
    /// Until all were asked.
    Asked,
}

/// The answers of plug-ins that ran after a denial. Nothing of it is in the verdict.
#[derive(Debug, Clone, Default)]
pub struct Beyond {
    /// What they did, in order.
    pub trace: Vec<Step>,
    /// Their remarks for the person who asked.
    pub warnings: Vec<String>,
}

/// A denial, and whose it is.
struct Refusal {
    plugin: Arc<str>,
    denial: Denial,
}

impl Chain {
    /// A chain of these plug-ins, in this order.
    pub fn new(entries: Vec<ChainEntry>) -> Self {
        Self { entries }
    }

    /// Names of the plug-ins, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_ref())
    }

    /// Judges the request, and waits for the verdict.
    pub fn decide(&self, request: &mut Attributes) -> Verdict {
        block_on::block_on(self.decide_later(request))
    }

    /// Judges the request. The object in it is left as the plug-ins changed it.
    pub async fn decide_later(&self, request: &mut Attributes) -> Verdict {
        self.ask(request, Until::Refused).await.0
    }

    /// Judges the request, waits for the verdict, and asks on after a denial.
    pub fn decide_and_ask_on(&self, request: &mut Attributes) -> (Verdict, Beyond) {
        block_on::block_on(self.ask(request, Until::Asked))
    }

    async fn ask(&self, request: &mut Attributes, until: Until) -> (Verdict, Beyond) {
        let stopwatch = Stopwatch::start();
        let mut trace = Vec::with_capacity(self.entries.len() * 2);
        let mut notes = Notes::default();
        let mut refusal = None;
        let mut changes = Changes::default();
        let (mut beyond, mut other_notes) = (Beyond::default(), Notes::default());
        'asking: for phase in Phase::ALL {
            for entry in &self.entries {
                if refusal.is_some() {
                    let steps = &mut beyond.trace;
                    entry.ask(phase, request, &mut other_notes, steps).await;
                    continue;
                }
                refusal = entry.ask(phase, request, &mut notes, &mut trace).await;
                changes.note(&trace, request);
                if refusal.is_some() && (until == Until::Refused || is_late(request)) {
                    break 'asking;
                }
            }
        }
        beyond.warnings = other_notes.warnings;
        let patch = match (&refusal, &request.object) {
            (None, Some(object)) => object.patch(),
            _ => Vec::new(),
        };
        changes.write_down(&mut trace, refusal.is_some());
        let (decision, plugin) = match refusal {
            None => (Decision::Allow, None),
            Some(r) => (Decision::Deny(r.denial), Some(r.plugin)),
        };
        if !notes.failed_open.is_empty() {
            let all = notes.failed_open.join("; ");
            notes.annotate(FAILED_OPEN, all);
        }
        let verdict = Verdict {
            id: DecisionId::new(clock::wall()),
            decision,
            plugin,
            policy: notes.policy,
            warnings: notes.warnings,
            annotations: notes
                .annotations
                .into_iter()
                .map(|(k, v)| (k.into_owned(), v))
                .collect(),
            patch,
            trace,
            duration: stopwatch.elapsed(),
        };
        (verdict, beyond)
    }
}

impl ChainEntry {
    /// Asks one half of the plug-in, writes the step down, and returns the denial if it is one.
    async fn ask(
        &self,
        phase: Phase,
        request: &mut Attributes,
        notes: &mut Notes,
        trace: &mut Vec<Step>,
    ) -> Option<Refusal> {
        let phases = self.plugin.phases();
        let has_phase = match phase {
            Phase::Admit => phases.admit,
            Phase::Validate => phases.validate,
        };
        if !has_phase {
            return None;
        }
        if !self.plugin.handles(request.operation) {
            let why = format!("does not handle {}", request.operation);
            trace.push(self.step(
                phase,
                StepOutcome::Skipped,
                Some(why.into()),
                Duration::ZERO,
            ));
            return None;
        }
        let stopwatch = Stopwatch::start();
        let before = self.checkpoint(request, notes);
        let (revision_before, warnings_before) = (revision(request), notes.warnings.len());
        let limit = self.limit(request, stopwatch);
        let answer = match limit {
            Some(Duration::ZERO) => Err(Failure::Timeout(Duration::ZERO)),
            limit => guard::run(self.plugin.as_ref(), phase, request, notes, limit).await,
        };
        let took = stopwatch.elapsed();
        let answer = match limit {
            // What is deferred keeps the time itself, and says it better.
            Some(limit)
                if answer.is_ok() && took > limit && self.plugin.runs() != Runs::Deferred =>
            {
                Err(Failure::Timeout(limit))
            }
            _ => answer,
        };
        let passed_over = std::mem::take(&mut notes.passed_over);
        let mut failed_open = !passed_over.is_empty();
        if failed_open {
            let policies = passed_over.join(", ");
            notes.failed_open.push(format!("{}: {policies}", self.name));
        }
        let (outcome, detail, denial) = match answer {
            Ok(Outcome::NotApplicable(why)) => (StepOutcome::Skipped, Some(why), None),
            Ok(Outcome::Pass) if revision(request) != revision_before => {
                (StepOutcome::Changed, None, None)
            }
            Ok(Outcome::Pass) => (StepOutcome::Passed, None, None),
            Ok(Outcome::Deny(denial)) => {
                let detail = Cow::Owned(denial.message.clone());
                (StepOutcome::Denied, Some(detail), Some(denial))
            }
            Ok(Outcome::Undecided(denial)) => {
                let detail = Cow::Owned(denial.message.clone());
                (StepOutcome::Error, Some(detail), Some(denial))
            }
            Err(failure) => {
                let failed = self.failed(failure, before, request, notes);
                failed_open |= failed.2.is_none();
                failed
            }
        };
        trace.push(Step {
            failed_open,
            policies: std::mem::take(&mut notes.policies),
            host_calls: std::mem::take(&mut notes.host_calls),
            warnings: notes.warnings.len().saturating_sub(warnings_before),
            ..self.step(phase, outcome, detail, took)
        });
        denial.map(|denial| Refusal {
            plugin: Arc::clone(&self.name),
            denial,
        })
    }

    /// The time it has: its own limit, or what is left of the request's.
    fn limit(&self, request: &Attributes, now: Stopwatch) -> Option<Duration> {
        let left = request
            .deadline
            .map(|d| d.saturating_duration_since(now.started()));
        match (self.timeout, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    }

    /// What to go back to if the plug-in fails and is passed over.
    fn checkpoint(&self, request: &Attributes, notes: &Notes) -> Option<(Attributes, Notes)> {
        (self.failure == FailureMode::Open).then(|| (request.clone(), notes.clone()))
    }

    fn failed(
        &self,
        failure: Failure,
        before: Option<(Attributes, Notes)>,
        request: &mut Attributes,
        notes: &mut Notes,
    ) -> (StepOutcome, Option<Cow<'static, str>>, Option<Denial>) {
        let (outcome, what) = match failure {
            Failure::Error(text) => (StepOutcome::Error, format!("could not decide: {text}")),
            Failure::Panic => (
                StepOutcome::Panic,
                "could not decide: it panicked".to_owned(),
            ),
            Failure::Timeout(Duration::ZERO) => (
                StepOutcome::Timeout,
                "could not decide: the request's time was up".to_owned(),
            ),
            Failure::Timeout(limit) => (
                StepOutcome::Timeout,
                format!("could not decide: no answer within {limit:?}"),
            ),
        };
        match before {
            Some((request_before, notes_before)) => {
                *request = request_before;
                *notes = notes_before;
                notes.failed_open.push(self.name.to_string());
                (outcome, Some(format!("{what} (passed over)").into()), None)
            }
            None => {
                let denial = Denial::undecided(format!("{}: {what}", self.name));
                (outcome, Some(what.into()), Some(denial))
            }
        }
    }

    fn step(
        &self,
        phase: Phase,
        outcome: StepOutcome,
        detail: Option<Cow<'static, str>>,
        duration: Duration,
    ) -> Step {
        Step {
            plugin: Arc::clone(&self.name),
            phase,
            outcome,
            detail,
            failed_open: false,
            warnings: 0,
            policies: Vec::new(),
            host_calls: Vec::new(),
            patch: Vec::new(),
            duration,
        }
    }
}

/// Whether there is no time left to ask anyone.
fn is_late(request: &Attributes) -> bool {
    let deadline = request.deadline;
    deadline.is_some_and(|deadline| deadline <= clock::monotonic())
}

fn revision(request: &Attributes) -> Option<u32> {
    request
        .object
        .as_ref()
        .map(crate::document::Document::revision)
}

#[cfg(test)]
mod tests;
