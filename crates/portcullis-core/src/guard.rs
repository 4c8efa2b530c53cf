//! Runs one half of a plug-in so that nothing it does gets past the chain.
//!
//! A panic is caught; what it says goes to the process' panic hook, not to the caller. A plug-in that
//! judges elsewhere ([`Runs::Deferred`]) is awaited without a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::attributes::Attributes;
use crate::clock;
use crate::plugin::{Finished, Notes, Outcome, Pending, Plugin, PluginError, Runs};
use crate::verdict::Phase;

/// How a half of a plug-in failed.
pub(crate) enum Failure {
    Error(String),
    Timeout(Duration),
    Panic,
}

/// Runs `phase` of `plugin` on the request. A plug-in that judges elsewhere is given the remaining time;
/// one that only computes always comes to an end, and the caller sees how long it took.
pub(crate) async fn run(
    plugin: &dyn Plugin,
    phase: Phase,
    request: &mut Attributes,
    notes: &mut Notes,
    limit: Option<Duration>,
) -> Result<Outcome, Failure> {
    match plugin.runs() {
        Runs::Inline => caught(plugin, phase, request, notes),
        Runs::Deferred => deferred(plugin, phase, request, notes, limit).await,
    }
}

async fn deferred(
    plugin: &dyn Plugin,
    phase: Phase,
    request: &mut Attributes,
    notes: &mut Notes,
    limit: Option<Duration>,
) -> Result<Outcome, Failure> {
    let deadline = limit.map(|limit| clock::monotonic() + limit);
    let begin = AssertUnwindSafe(|| plugin.begin(phase, request, deadline));
    let pending = catch_unwind(begin).map_err(|_| Failure::Panic)?;
    let Finished {
        outcome,
        notes: its_notes,
        object,
    } = Caught(pending).await.ok_or(Failure::Panic)?;
    notes.absorb(its_notes);
    if let (Some(value), Some(document)) = (object, &mut request.object) {
        document
            .replace(value)
            .map_err(|e| Failure::Error(e.to_string()))?;
    }
    outcome.map_err(Failure::from)
}

/// Work whose panic ends it, and nothing else.
struct Caught(Pending);

impl Future for Caught {
    type Output = Option<Finished>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(poll) => poll.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }
}

impl From<PluginError> for Failure {
    fn from(error: PluginError) -> Self {
        match error {
            PluginError::Timeout(limit) => Self::Timeout(limit),
            PluginError::Failed(text) => Self::Error(text),
        }
    }
}

fn caught(
    plugin: &dyn Plugin,
    phase: Phase,
    request: &mut Attributes,
    notes: &mut Notes,
) -> Result<Outcome, Failure> {
    let half = AssertUnwindSafe(|| match phase {
        Phase::Admit => plugin.admit(request, notes),
        Phase::Validate => plugin.validate(request, notes),
    });
    match catch_unwind(half) {
        Ok(outcome) => outcome.map_err(Failure::from),
        Err(_) => Err(Failure::Panic),
    }
}
