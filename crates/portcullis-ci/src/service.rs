//! The service: what the API and the program call.

mod artifacts;
mod claims;
mod code_quota;
mod controllers;
mod deliveries;
mod exemptions;
mod jobs;
mod payload;
mod queue;
mod reports;
mod requests;
mod runners;
mod stats;
mod traces;
mod trial;

pub use reports::RunningJob;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use portcullis_store::Location;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::engine::now;
use crate::error::OpenError;
use crate::gate::{Gate, OpenGate};
use crate::inner::Inner;
use crate::judge::PolicyJudge;
use crate::recorder::{Observation, Recorder};
use crate::secrets::{self, ServerKey};
use crate::settings::Settings;

/// The name of the key that makes the tokens of callbacks and jobs.
const KEY: &str = "callbacks";

/// CI jobs and everything that happens to them. Cheap to clone; what runs in the background ends with the last clone,
/// or with [`Service::shut_down`].
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
    _background: Arc<Background>,
}

/// Ends what runs in the background with the last clone of the service.
struct Background(Arc<Inner>);

impl Drop for Background {
    fn drop(&mut self) {
        self.0.stopping.send_replace(true);
        self.0.tasks.lock().abort_all();
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("database", &self.inner.database)
            .finish_non_exhaustive()
    }
}

impl Service {
    /// Opens the store, and goes on with what is under way in it. The settings must name the `public_url` that
    /// controllers call back. Must be called in a runtime, where everything in the background runs.
    ///
    /// # Errors
    ///
    /// When the store can't be opened.
    pub async fn open(
        location: &Location,
        settings: Settings,
        judge: Arc<dyn PolicyJudge>,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Self, OpenError> {
        Self::open_behind(Arc::new(OpenGate), location, settings, judge, recorder).await
    }

    /// The same behind a gate, which is asked from the beginning. What it held back before, and doesn't any more,
    /// goes on with [`Service::resume`].
    ///
    /// # Errors
    ///
    /// When the store can't be opened.
    pub async fn open_behind(
        gate: Arc<dyn Gate>,
        location: &Location,
        settings: Settings,
        judge: Arc<dyn PolicyJudge>,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Self, OpenError> {
        let other = |error: crate::CiError| OpenError::Other(error.to_string());
        let database = Database::open(location).await?;
        if let Some(risk) = database.durability_risk.clone() {
            recorder.observe(&Observation::Durability { risk });
        }
        let key = database.write(|store| Ok(store.server_key(KEY, now())?));
        let key = ServerKey::new(&key.await.map_err(other)?);
        let name = secrets::unique("server-").map_err(other)?;
        let inner = Arc::new(Inner::new(
            database, settings, judge, recorder, gate, key, name,
        ));
        inner.spawn(Arc::clone(&inner).dispatch());
        inner.spawn(Arc::clone(&inner).sweep());
        inner.spawn(Arc::clone(&inner).keep_up());
        inner.spawn(Arc::clone(&inner).watch_queue());
        for _ in 0..2 {
            inner.spawn(Arc::clone(&inner).serve_runners());
        }
        let background = Arc::new(Background(Arc::clone(&inner)));
        Ok(Self {
            inner,
            _background: background,
        })
    }

    /// Has these settings from now on. Deadlines that are set stay as they are.
    pub fn change(&self, settings: Settings) {
        self.inner.change(settings);
    }

    /// Asks this one about policies from now on.
    pub fn set_judge(&self, judge: Arc<dyn PolicyJudge>) {
        self.inner.set_judge(judge);
    }

    /// Asks this one from now on whether pipelines go on.
    pub fn set_gate(&self, gate: Arc<dyn Gate>) {
        self.inner.set_gate(gate);
    }

    /// Answers the requests that are held, and holds no more: the server is about to end. Everything else goes on.
    pub fn stop_holding(&self) {
        self.inner.is_hurrying.store(true, Ordering::Relaxed);
        self.inner.queue.dismiss(|_, _| true);
        self.inner.wake();
    }

    /// Stops claiming and evaluating, and waits for what is under way, but no longer than this. What is left is done
    /// by other servers, or after the next start.
    pub async fn shut_down(&self, within: Duration) {
        self.inner.stopping.send_replace(true);
        self.inner.queue.dismiss(|_, _| true);
        self.inner.wake();
        let mut tasks: JoinSet<()> = std::mem::take(&mut *self.inner.tasks.lock());
        let all = async { while tasks.join_next().await.is_some() {} };
        // Those that take too long are stopped with their set.
        let _ = tokio::time::timeout(within, all).await;
    }
}
