//! Runs one half of a plug-in so that nothing it does gets past the chain.
//!
//! A panic is caught; what it says goes to the process' panic hook, not to the caller. A plug-in that may wait ([`Runs::Detached`]) works on copies on a thread of
//! its own; when the time is up the thread is left behind, and what it does later reaches nobody.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::attributes::Attributes;
use crate::clock;
use crate::plugin::{Finished, Notes, Outcome, Pending, Plugin, PluginError, Runs};
use crate::verdict::Phase;

/// Threads one plug-in may have at work, those left behind included.
pub(crate) const MAX_DETACHED: usize = 64;

/// Time for a plug-in that may wait but has no limit of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a half of a plug-in failed.
pub(crate) enum Failure {
    Error(String),
    Timeout(Duration),
    Panic,
}

/// Runs `phase` of `plugin` on the request. A plug-in that may wait is left behind after `limit`; one
/// that only computes always comes to an end, and the caller sees how long it took.
pub(crate) async fn run(
    plugin: &Arc<dyn Plugin>,
    at_work: &Arc<AtomicUsize>,
    phase: Phase,
    request: &mut Attributes,
    notes: &mut Notes,
    limit: Option<Duration>,
) -> Result<Outcome, Failure> {
    match plugin.runs() {
        Runs::Inline => caught(plugin.as_ref(), phase, request, notes),
        Runs::Detached => detached(plugin, at_work, phase, request, notes, limit),
        Runs::Deferred => deferred(plugin.as_ref(), phase, request, notes, limit).await,
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

fn detached(
    plugin: &Arc<dyn Plugin>,
    at_work: &Arc<AtomicUsize>,
    phase: Phase,
    request: &mut Attributes,
    notes: &mut Notes,
    limit: Option<Duration>,
) -> Result<Outcome, Failure> {
    let limit = limit.unwrap_or(DEFAULT_TIMEOUT);
    let place = Place::take(at_work)?;
    let (send, receive) = sync_channel(1);
    let (plugin, mut its_request, mut its_notes) =
        (Arc::clone(plugin), request.clone(), notes.clone());
    let work = move || {
        let outcome = caught(plugin.as_ref(), phase, &mut its_request, &mut its_notes);
        drop(place);
        let _ = send.send((outcome, its_request, its_notes));
    };
    std::thread::Builder::new()
        .name("plugin".into())
        .spawn(work)
        .map_err(|e| Failure::Error(format!("no thread to run it on: {e}")))?;
    match receive.recv_timeout(limit) {
        Ok((outcome, its_request, its_notes)) => {
            *request = its_request;
            *notes = its_notes;
            outcome
        }
        Err(RecvTimeoutError::Timeout) => Err(Failure::Timeout(limit)),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::Panic),
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

/// A place among the threads of a plug-in, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(at_work: &Arc<AtomicUsize>) -> Result<Self, Failure> {
        let place = Self(Arc::clone(at_work));
        if place.0.fetch_add(1, Ordering::SeqCst) >= MAX_DETACHED {
            return Err(Failure::Error(format!(
                "{MAX_DETACHED} calls are under way already"
            )));
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
