//! The life of a server: load, build, bind, serve, reload, drain, end.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use portcullis_js::GlobalContext;
use tokio::signal::unix::{SignalKind, signal};

use crate::assembly::{self, Assembled};
use crate::config::{Faults, LoadOptions, Shutdown};
use crate::health::Health;
use crate::listeners::{BindError, Listeners};
use crate::logging;
use crate::metrics::Metrics;
use crate::reload::{FreshlyLoaded, Reloader};
use crate::server::Server;

/// Told once, when every listener is bound: name and address of each.
pub type OnReady = fn(&[(String, String)]);

/// How to run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// What to load, now and at every reload.
    pub load: LoadOptions<'a>,
    /// Where the server keeps what it makes.
    pub data_dir: PathBuf,
    /// Who wants to know that requests are taken.
    pub on_ready: Option<OnReady>,
}

/// Why a server did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration is faulty.
    #[error("{0}")]
    Configuration(Faults),
    /// A listener can't be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The system refuses something.
    #[error("{what}")]
    System {
        /// What it refuses.
        what: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl RunError {
    fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

/// An error with its causes, on one line.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

/// Why a running server stops.
enum Stop {
    /// Asked politely: finish what is under way.
    Terminate,
    /// By hand at a terminal: the same, without the delay for load balancers.
    Interrupt,
}

/// Runs until told to end. Everything is checked and bound before the first request is answered.
///
/// # Errors
///
/// When the configuration is faulty or the system refuses what it asks for.
pub fn run(options: RunOptions<'_>) -> Result<(), RunError> {
    let loaded = FreshlyLoaded::new(&options.load).map_err(RunError::Configuration)?;
    logging::init(&loaded.configuration.log);
    for warning in &loaded.configuration.warnings {
        tracing::warn!("{warning}");
    }
    let context = assembly::global_context(&loaded.configuration);
    let assembled = assembly::assemble(&loaded.configuration, Some(&options.data_dir), &context)
        .map_err(RunError::Configuration)?;
    assembly::log_policies(&loaded.configuration);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(RunError::system("no threads to run on"))?;
    runtime.block_on(serve(options, &loaded, assembled, context))
}

async fn serve(
    options: RunOptions<'_>,
    loaded: &FreshlyLoaded,
    assembled: Assembled,
    global_context: GlobalContext,
) -> Result<(), RunError> {
    let signals = RunError::system;
    let mut hangup = signal(SignalKind::hangup()).map_err(signals("no signal handler"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(signals("no signal handler"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(signals("no signal handler"))?;

    let connections = assembled.gate.limits.connections;
    let server = Arc::new(Server {
        gate: ArcSwap::from_pointee(assembled.gate),
        health: Health::default(),
        metrics: Metrics::new(),
        global_context,
    });
    let mut listeners = Listeners::new(Arc::clone(&server), connections);
    let prepared = listeners.prepare(assembled.listeners).await?;
    listeners.apply(prepared, connections);
    server.metrics.reloaded(true);
    server.health.set_bound();
    if let Some(tell) = options.on_ready {
        let places = listeners
            .places()
            .map(|(n, p)| (n.to_owned(), p.to_owned()));
        tell(&places.collect::<Vec<_>>());
    }

    let mut reloader = Reloader::new(options.load, options.data_dir, Arc::clone(&server), loaded);
    let stop = loop {
        tokio::select! {
            trigger = reloader.changed(&mut hangup) => reloader.reload(trigger, &mut listeners).await,
            _ = terminate.recv() => break Stop::Terminate,
            _ = interrupt.recv() => break Stop::Interrupt,
        }
    };
    drain(
        &server,
        listeners,
        &loaded.configuration.shutdown,
        stop,
        async {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        },
    )
    .await;
    Ok(())
}

/// Unready first, so that load balancers send no more; then finish what is under way. A second
/// signal ends it at once.
async fn drain(
    server: &Server,
    mut listeners: Listeners,
    shutdown: &Shutdown,
    stop: Stop,
    hurry: impl Future<Output = ()>,
) {
    server.health.set_ending();
    tracing::info!("ending: finishing the requests under way");
    let finish = async {
        if matches!(stop, Stop::Terminate) {
            tokio::time::sleep(shutdown.delay.into()).await;
        }
        if tokio::time::timeout(shutdown.grace.into(), listeners.finish())
            .await
            .is_err()
        {
            tracing::warn!("some requests were not finished in time");
        }
    };
    tokio::select! {
        () = finish => {}
        () = hurry => tracing::warn!("told to end at once"),
    }
}
