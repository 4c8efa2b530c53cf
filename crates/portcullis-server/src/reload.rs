//! Puts a changed configuration in force: everything is built first, then swapped as a whole.
//!
//! A configuration that is faulty in any part changes nothing; why is logged, counted and shown by
//! `/readyz?verbose`. Files are polled every second rather than watched through the kernel: that
//! sees every way to change a file, on every file system.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portcullis_store::Store;
use tokio::signal::unix::Signal;

use crate::assembly::{self, Assembled};
use crate::causes::with_causes;
use crate::ci;
use crate::decisions::{self, Settings};
use crate::job_door;
use crate::listeners::Listeners;
use crate::server::Server;
use portcullis_config::{self as config, LoadOptions, Loaded};
use portcullis_document::Faults;
use portcullis_files::Fingerprint;
use portcullis_gate::Before;
use portcullis_gate::Inventory;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A file that is still being written changes again soon.
const SETTLE: Duration = Duration::from_millis(150);
const SETTLE_AT_MOST: u32 = 10;
/// The longest that a new graph may take to know its objects.
const CATCH_UP_WITHIN: Duration = Duration::from_secs(60);
/// After a failure everything is tried again without a change: what was wrong may be a file that is
/// not there yet, or an address that is in use.
const RETRY_EVERY: Duration = Duration::from_secs(5);

/// A configuration, and how its files were before they were read.
#[derive(Debug)]
pub(crate) struct FreshlyLoaded {
    pub(crate) configuration: Loaded,
    seen: Fingerprint,
}

impl FreshlyLoaded {
    /// Which files there are is known only after reading them, so they are read twice: a change in
    /// between is either in the configuration or different from `seen`, never lost.
    pub(crate) fn new(options: &LoadOptions<'_>) -> Result<Self, Faults> {
        let seen = Fingerprint::take(&config::load(options)?.files);
        let configuration = config::load(options)?;
        Ok(Self {
            configuration,
            seen,
        })
    }
}

/// Why a reload is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Files changed, or the signal came.
    Wanted,
    /// The last one failed.
    Retry,
}

/// Keeps the server's configuration what the files say.
pub(crate) struct Reloader<'a> {
    options: LoadOptions<'a>,
    data_dir: PathBuf,
    server: Arc<Server>,
    files: Vec<PathBuf>,
    seen: Fingerprint,
    /// What is in force, to find what changes.
    inventory: Inventory,
    /// Why the last reload failed, if it did.
    failure: Option<String>,
}

impl<'a> Reloader<'a> {
    /// Starts from a configuration in force.
    pub(crate) fn new(
        options: LoadOptions<'a>,
        data_dir: PathBuf,
        server: Arc<Server>,
        loaded: &FreshlyLoaded,
    ) -> Self {
        let (files, seen) = (loaded.configuration.files.clone(), loaded.seen.clone());
        Self {
            options,
            data_dir,
            server,
            files,
            seen,
            inventory: Inventory::of(&loaded.configuration),
            failure: None,
        }
    }

    /// Waits until files have changed, the signal comes, or it is time to try again.
    pub(crate) async fn changed(&self, hangup: &mut Signal) -> Trigger {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        let retry = tokio::time::sleep(RETRY_EVERY);
        let mut retry = std::pin::pin!(retry);
        loop {
            tokio::select! {
                _ = hangup.recv() => return Trigger::Wanted,
                () = &mut retry, if self.failure.is_some() => return Trigger::Retry,
                _ = looks.tick() => if Fingerprint::take(&self.files) != self.seen {
                    return Trigger::Wanted;
                },
            }
        }
    }

    /// Reads everything again, and puts it in force if it is good.
    ///
    /// INVARIANT: nothing is awaited between the first and the last thing that is put in force, so that
    /// dropping this future leaves either everything as it was or everything new.
    pub(crate) async fn reload(&mut self, trigger: Trigger, listeners: &mut Listeners) {
        self.settle().await;
        let outcome = self.try_reload(listeners).await;
        self.server.metrics.reloaded(outcome.is_ok());
        match outcome {
            Ok(now) => {
                self.failure = None;
                self.server.health.set_reload(None);
                let changes = now.since(&self.inventory).to_string();
                tracing::info!(changes, "configuration reloaded");
                self.server.standing.reloaded(Ok(changes));
                self.inventory = now;
            }
            Err(why) => {
                // Tried again and again, logged once.
                if trigger == Trigger::Wanted || self.failure.as_ref() != Some(&why) {
                    tracing::error!("the last good configuration stays in force: {why}");
                }
                let first = why.lines().next().map(str::to_owned);
                let told = first.clone().unwrap_or_default();
                self.server.standing.reloaded(Err(told));
                self.server.health.set_reload(first);
                self.failure = Some(why);
            }
        }
    }

    /// Opens the store, if it is not the one that is open already.
    async fn another_store(&self, settings: &Settings) -> Result<Option<Store>, String> {
        if settings.location == self.server.decisions.location() {
            return Ok(None);
        }
        let settings = settings.clone();
        let opened = tokio::task::spawn_blocking(move || decisions::open_first(&settings)).await;
        match opened {
            Ok(Ok(store)) => Ok(store),
            Ok(Err(error)) => Err(with_causes(&error)),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn settle(&mut self) {
        for _ in 0..SETTLE_AT_MOST {
            let now = Fingerprint::take(&self.files);
            tokio::time::sleep(SETTLE).await;
            if now == Fingerprint::take(&self.files) {
                self.seen = now;
                return;
            }
        }
    }

    async fn try_reload(&mut self, listeners: &mut Listeners) -> Result<Inventory, String> {
        let FreshlyLoaded {
            configuration: loaded,
            seen,
        } = FreshlyLoaded::new(&self.options).map_err(|faults| faults.to_string())?;
        let cap = portcullis_gate::global_context_cap(&loaded);
        let context = self.server.global_context.with_cap(cap);
        let before = self.server.gate.load_full();
        let before = Before {
            access: Some(&before.access),
            graphs: Some(&before.graphs),
            cluster: Some(&before.cluster),
            watcher: Some(&self.server.metrics.graphs),
            guard: Some(&self.server.guard),
        };
        let (data_dir, managed) = (Some(self.data_dir.as_path()), &self.server.managed);
        let assembled = assembly::assemble(&loaded, data_dir, &context, managed, before);
        let Assembled {
            gate,
            listeners: wanted,
        } = assembled.map_err(|faults| faults.to_string())?;
        // Requests are not denied because a graph is still catching up, or objects are not synced yet.
        gate.graphs.start().await?;
        gate.cluster.start().await?;
        gate.graphs.caught_up(CATCH_UP_WITHIN).await?;
        gate.cluster.synced(CATCH_UP_WITHIN).await?;
        let settings = Settings::new(&loaded.decisions, &self.data_dir);
        let store = self.another_store(&settings).await?;
        let prepared = listeners
            .prepare(wanted)
            .await
            .map_err(|e| with_causes(&e))?;
        // The last that can go wrong: until here nothing of it runs.
        gate.engine.start()?;
        assembly::log_warnings(&loaded);
        assembly::log_policies(&loaded);
        assembly::log_access(&gate.access);
        self.server.health.set_tenants(&gate.access.left_out);
        let location = decisions::location(&loaded.decisions, &self.data_dir);
        let counts = (&gate.limits).into();
        self.server
            .budget
            .set_limit(gate.limits.request_memory.bytes());
        self.server.metrics.graphs.show(&gate.graphs);
        self.server.metrics.cluster.show(&gate.cluster);
        self.server.policy_changes.reloaded(&gate.policies);
        self.server.gate.store(Arc::new(gate));
        self.server.decisions.change(settings, store);
        self.server.operator_state.move_to(location.clone());
        let place = listeners.place_for_jobs(&prepared);
        let ci = &self.server.ci;
        ci.change(location, &loaded, &self.data_dir, place.as_deref());
        listeners.apply(prepared, counts);
        // Answers that go on for long look again at what their callers may see.
        self.server.reloads.send_modify(|count| *count += 1);
        let server = Arc::clone(&self.server);
        let is_served = ci::is_served(&loaded);
        tokio::spawn(async move {
            job_door::follow(&server, is_served).await;
            server.learn_ended_sessions().await;
        });
        let inventory = Inventory::of(&loaded);
        (self.files, self.seen) = (loaded.files, seen);
        Ok(inventory)
    }
}
