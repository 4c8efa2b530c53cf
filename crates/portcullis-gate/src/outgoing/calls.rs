//! Calls of plug-ins: made on a runtime of their own, or answered from a record.

use std::sync::{Arc, OnceLock};

use portcullis_core::{Finished, Notes, Outcome, Pending, PluginError};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::observer::{Observer, OutgoingCall};

/// Threads that calls are made on.
const THREADS: usize = 2;

/// Most threads that wait for what can't be waited for otherwise, such as names being looked up.
const BLOCKING: usize = 64;

/// Makes the calls of plug-ins.
#[derive(Debug)]
pub(crate) struct Outgoing {
    observer: Option<Arc<dyn Observer>>,
    /// Started by the first call.
    runtime: OnceLock<Result<Runtime, String>>,
}

impl Outgoing {
    /// Makes no call yet. An observer that replays answers all of them.
    pub(super) fn new(observer: Option<Arc<dyn Observer>>) -> Self {
        Self {
            observer: observer.filter(|observer| observer.replays()),
            runtime: OnceLock::new(),
        }
    }

    /// What the record has as answer; none if the call is to be made.
    pub(super) fn recorded(&self, call: &OutgoingCall<'_>) -> Option<Result<Value, String>> {
        let observer = self.observer.as_ref()?;
        Some(observer.outgoing(call))
    }

    /// Does what a plug-in begins, apart from the thread that asks.
    pub(super) fn begin(&self, work: impl Future<Output = Finished> + Send + 'static) -> Pending {
        let start = || {
            Builder::new_multi_thread()
                .worker_threads(THREADS)
                .max_blocking_threads(BLOCKING)
                .thread_name("outgoing-calls")
                .enable_all()
                .build()
                .map_err(|error| format!("other servers can't be asked: {error}"))
        };
        let runtime = match self.runtime.get_or_init(start) {
            Ok(runtime) => runtime,
            Err(error) => return ended(Err(PluginError::Failed(error.clone()))),
        };
        let work = runtime.spawn(work);
        Box::pin(async move {
            work.await.unwrap_or_else(|_| {
                let failed = PluginError::Failed("it ended without an answer".to_owned());
                finished(Err(failed))
            })
        })
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        if let Some(Ok(runtime)) = self.runtime.take() {
            // A runtime must not be waited for where it may be dropped.
            runtime.shutdown_background();
        }
    }
}

/// An end without remarks.
pub(super) fn finished(outcome: Result<Outcome, PluginError>) -> Finished {
    Finished {
        outcome,
        notes: Notes::default(),
        object: None,
    }
}

/// What is known without asking.
pub(super) fn ended(outcome: Result<Outcome, PluginError>) -> Pending {
    Box::pin(std::future::ready(finished(outcome)))
}
