//! The lifecycle of a server: load, build, bind, serve, reload, drain, end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use nix::sys::signal::Signal as NixSignal;
use portcullis_core::clock::Stopwatch;
use portcullis_store::StoreError;
use portcullis_telemetry::{Running, SettingsError, Telemetry, Unstarted};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::alarm;
use crate::assembly;
use crate::ci::{self, CiJobs};
use crate::decisions::{self, DecisionLog, Settings};
use crate::demonstration::{self, Prepared};
use crate::health::Health;
use crate::http::budget::Budget;
use crate::http::setup::ListenerSetup;
use crate::job_door;
use crate::listeners::{BindError, Listeners};
use crate::logging;
use crate::managed::ManagedCertificates;
use crate::metrics::Metrics;
use crate::operator_state::OperatorState;
use crate::playground::Playground;
use crate::policy_changes::PolicyChanges;
use crate::reload::{FreshlyLoaded, Reloader, Trigger};
use crate::server::Server;
use crate::service_manager::ServiceManager;
use crate::sign_in_link::{SignInLink, Waiting};
use crate::standing::Standing;
use portcullis_config::{LoadOptions, Loaded, Shutdown};
use portcullis_document::Faults;
use portcullis_gate::Before;
use portcullis_gate::UnixNames;
use portcullis_gate::policies::WorkerCommand;

/// The longest that the end waits for telemetry to be delivered.
const FLUSH: Duration = Duration::from_secs(5);

/// How long a reload is under way before another SIGHUP restarts it, so that many signals can't keep
/// it from ever ending.
const RESTART_AFTER: Duration = Duration::from_secs(1);

/// What deliveries of jobs get to end when requests have used up the time to end.
const LAST_JOBS: Duration = Duration::from_secs(1);

/// What decisions get to be kept when requests have used up the time to end.
const LAST_DECISIONS: Duration = Duration::from_secs(1);

/// What there is to tell when requests are accepted.
#[derive(Debug)]
pub struct Ready<'a> {
    /// Name and address of each listener.
    pub listeners: &'a [(String, String)],
    /// Where the server keeps what it makes.
    pub data_dir: &'a Path,
    /// What was prepared for a demonstration.
    pub demonstration: Option<Prepared>,
    /// Path and query of the link that signs a person in.
    pub sign_in_link: Option<String>,
}

/// Told once, when every listener is bound.
pub type OnReady = fn(&Ready<'_>);

/// How to run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// What to load, now and at every reload.
    pub load: LoadOptions<'a>,
    /// Where the server keeps what it makes.
    pub data_dir: PathBuf,
    /// Is called when requests are accepted.
    pub on_ready: Option<OnReady>,
    /// A link that signs a person in, once.
    pub sign_in_link: Option<SignInLink>,
    /// Whether the log may use colours.
    pub colours: bool,
    /// Whether this is the demonstration, which has controllers of CI jobs from the start.
    pub is_demonstration: bool,
    /// How to start a process that evaluates policies. Without one, too many evaluations that can't
    /// be stopped keep all others from beginning.
    pub worker: Option<WorkerCommand>,
    /// How to start a process that tries policies. Without one there is no playground.
    pub playground: Option<WorkerCommand>,
}

/// Why a server did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration is faulty.
    #[error("{0}")]
    Configuration(Faults),
    /// A variable for telemetry can't be followed.
    #[error(transparent)]
    Telemetry(#[from] SettingsError),
    /// A listener can't be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The data directory, or a file in it, can't be trusted or used.
    #[error("{0}")]
    DataDirectory(String),
    /// The store can't be opened.
    #[error("the store can't be opened")]
    Store(#[from] StoreError),
    /// Jobs can't be kept.
    #[error("CI jobs can't be served")]
    Jobs(#[source] portcullis_ci::OpenError),
    /// Policies can't be evaluated.
    #[error("{0}")]
    Policies(String),
    /// The objects of a graph can't be followed.
    #[error("{0}")]
    Graph(String),
    /// The objects of the cluster can't be watched.
    #[error("{0}")]
    Cluster(String),
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

/// Why a running server stops.
enum Stop {
    /// Asked politely: finish what is under way.
    Terminate,
    /// By hand at a terminal: the same, without the delay for load balancers.
    Interrupt,
}

/// How it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// What was under way is finished, or had its time.
    InTime,
    /// A second signal came, or the first one before anything was served.
    AtOnce,
}

/// Runs until it is stopped. Everything is checked and bound before the first request is answered.
///
/// # Errors
///
/// When the configuration is faulty or the system refuses what it asks for.
pub fn run(options: RunOptions<'_>) -> Result<(), RunError> {
    let loaded = FreshlyLoaded::new(&options.load).map_err(RunError::Configuration)?;
    let telemetry = Telemetry::from_environment()?;
    let told = telemetry.as_ref().map(|(telemetry, _)| telemetry);
    logging::init_with(&loaded.configuration.log, options.colours, told);
    assembly::log_warnings(&loaded.configuration);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(RunError::system("cannot start threads"))?;
    outlive_file_size_limit(&runtime)
        .map_err(RunError::system("cannot install a signal handler"))?;
    let (telemetry, exporters) = telemetry.unzip();
    let (server, listeners) = build(&options, &loaded.configuration, telemetry)?;
    let ended = runtime.block_on(serve(options, &loaded, &server, listeners, exporters));
    // In time, they are recorded already; otherwise there is no time left.
    server.decisions.finish(Duration::ZERO);
    // A store that is being opened, say, must not hold up the end.
    runtime.shutdown_background();
    if ended.is_ok() {
        tracing::info!("stopped");
    }
    ended.map(|_| ())
}

/// Builds everything that connections share, and the setup of every listener. Policies can be evaluated and
/// decisions kept from here on; nothing is bound.
pub(crate) fn build(
    options: &RunOptions<'_>,
    loaded: &Loaded,
    telemetry: Option<Telemetry>,
) -> Result<(Arc<Server>, Vec<ListenerSetup>), RunError> {
    for warning in data_directory(options, loaded)? {
        tracing::warn!("{warning}");
    }
    let settings = Settings::new(&loaded.decisions, &options.data_dir);
    let store = decisions::open_first(&settings)?;
    let metrics = Metrics::new().with_telemetry(telemetry.as_ref());
    let context = portcullis_gate::global_context(loaded);
    let data_dir = Some(options.data_dir.as_path());
    let guard = alarm::guard(options.worker.clone(), metrics.guard());
    let before = Before {
        watcher: Some(&metrics.graphs),
        guard: Some(&guard),
        ..Before::default()
    };
    let managed = ManagedCertificates::default();
    let assembled = assembly::assemble(loaded, data_dir, &context, &managed, before)
        .map_err(RunError::Configuration)?;
    // First, so that the engines are made while the rest starts.
    assembled.gate.engine.start().map_err(RunError::Policies)?;
    metrics.graphs.show(&assembled.gate.graphs);
    metrics.cluster.show(&assembled.gate.cluster);
    assembly::log_policies(loaded);
    assembly::log_access(&assembled.gate.access);
    let health = Health::default();
    health.set_tenants(&assembled.gate.access.left_out);
    let location = decisions::location(&loaded.decisions, &options.data_dir);
    let log = DecisionLog::start(settings, store, metrics.decisions.clone())
        .map_err(RunError::system("cannot start the decision log thread"))?;
    let budget = Budget::new(loaded.limits.request_memory.bytes());
    let policy_changes = PolicyChanges::default();
    policy_changes.started(&assembled.gate.policies);
    let server = Arc::new(Server {
        budget,
        gate: ArcSwap::from_pointee(assembled.gate),
        health,
        standing: Standing::new(options.is_demonstration),
        policy_changes,
        metrics,
        managed,
        decisions: log,
        ci: CiJobs::new(location.clone(), loaded, &options.data_dir),
        operator_state: Arc::new(OperatorState::new(location)),
        unix_names: UnixNames::default(),
        ending: watch::Sender::new(false),
        reloads: watch::Sender::new(0),
        global_context: context,
        guard,
        sign_in_link: Waiting::new(options.sign_in_link.clone()),
        playground: Playground::new(options.playground.clone()),
        telemetry,
    });
    Ok((server, assembled.listeners))
}

/// Starts what runs beside requests, and learns what must be known before the first one.
pub(crate) async fn start(server: &Server) -> Result<(), RunError> {
    tokio::spawn(Arc::clone(&server.operator_state).sweep());
    let (graphs, cluster) = {
        let gate = server.gate.load();
        (gate.graphs.clone(), gate.cluster.clone())
    };
    server.learn_ended_sessions().await;
    graphs.start().await.map_err(RunError::Graph)?;
    cluster.start().await.map_err(RunError::Cluster)
}

/// A write beyond the limit on the size of files fails, as on a full disk, instead of ending the process:
/// the system sends a signal first, which ends a process that does not handle it.
fn outlive_file_size_limit(runtime: &Runtime) -> std::io::Result<()> {
    let _runtime = runtime.enter();
    // The handler stays when this goes.
    signal(SignalKind::from_raw(NixSignal::SIGXFSZ as i32)).map(|_| ())
}

/// Makes the data directory if something is to be kept there, and checks it if it is there. Says what
/// is odd about it.
fn data_directory(options: &RunOptions<'_>, loaded: &Loaded) -> Result<Vec<String>, RunError> {
    let is_stored = loaded.decisions.is_stored || ci::is_served(loaded);
    let is_needed = is_stored && loaded.decisions.location.is_none();
    if !is_needed && !options.data_dir.exists() {
        return Ok(Vec::new());
    }
    portcullis_files::prepare_directory(&options.data_dir).map_err(RunError::DataDirectory)
}

async fn serve(
    options: RunOptions<'_>,
    loaded: &FreshlyLoaded,
    server: &Arc<Server>,
    wanted: Vec<ListenerSetup>,
    exporters: Option<Unstarted>,
) -> Result<Ended, RunError> {
    let signals = RunError::system;
    let mut hangup =
        signal(SignalKind::hangup()).map_err(signals("cannot install a signal handler"))?;
    let mut terminate =
        signal(SignalKind::terminate()).map_err(signals("cannot install a signal handler"))?;
    let mut interrupt =
        signal(SignalKind::interrupt()).map_err(signals("cannot install a signal handler"))?;

    let exporters = exporters.map(Unstarted::start);
    let counts = (&server.gate.load().limits).into();
    let mut listeners = Listeners::new(Arc::clone(server), counts);
    let starting = async {
        start(server).await?;
        listeners.prepare(wanted).await.map_err(RunError::Bind)
    };
    let prepared = tokio::select! {
        prepared = starting => prepared?,
        _ = terminate.recv() => return Ok(Ended::AtOnce),
        _ = interrupt.recv() => return Ok(Ended::AtOnce),
    };
    server
        .ci
        .set_listener(listeners.place_for_jobs(&prepared).as_deref());
    let opening = job_door::begin(server, ci::is_served(&loaded.configuration));
    opening.await.map_err(RunError::Jobs)?;
    let demonstration = match options.is_demonstration {
        true => Some(demonstrate(server, &options.data_dir).await?),
        false => None,
    };
    let following = Arc::clone(server);
    tokio::spawn(async move {
        let has_sessions = || following.has_sessions();
        following.operator_state.follow_sessions(has_sessions).await;
    });
    let manager = ServiceManager::new(options.load.env);
    listeners.apply(prepared, counts);
    server.metrics.reloaded(true);
    server.health.set_bound();
    let (load, data_dir) = (&options.load, &options.data_dir);
    assembly::log_start(load, &loaded.configuration, data_dir, listeners.places());
    if let Some(tell) = options.on_ready {
        let places = listeners
            .places()
            .map(|(n, p)| (n.to_owned(), p.to_owned()));
        tell(&Ready {
            listeners: &places.collect::<Vec<_>>(),
            data_dir: &options.data_dir,
            demonstration,
            sign_in_link: options.sign_in_link.as_ref().map(SignInLink::path),
        });
    }

    manager.ready("listening");
    tokio::spawn(manager.clone().keep_alive());
    tokio::spawn(manager.clone().follow(Arc::clone(server)));

    let mut reloader = Reloader::new(options.load, options.data_dir, Arc::clone(server), loaded);
    let stop = 'running: loop {
        let mut trigger = tokio::select! {
            trigger = reloader.changed(&mut hangup) => trigger,
            _ = terminate.recv() => break Stop::Terminate,
            _ = interrupt.recv() => break Stop::Interrupt,
        };
        // One that is tried again changes nothing that was asked for.
        if trigger == Trigger::Wanted {
            manager.reloading();
        }
        // A reload can wait long for a graph: what is asked meanwhile is not.
        loop {
            tokio::select! {
                () = reloader.reload(trigger, &mut listeners) => break,
                () = again(&mut hangup) => trigger = Trigger::Wanted,
                _ = terminate.recv() => break 'running Stop::Terminate,
                _ = interrupt.recv() => break 'running Stop::Interrupt,
            }
        }
        manager.ready(&server.standing.words_of_reload());
    };
    manager.stopping();
    let ended = drain(
        Arc::clone(server),
        listeners,
        exporters,
        &loaded.configuration.shutdown,
        stop,
        async {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        },
    )
    .await;
    Ok(ended)
}

/// Prepares what the demonstration has.
async fn demonstrate(server: &Arc<Server>, data_dir: &Path) -> Result<Prepared, RunError> {
    let jobs = job_door::service(server).await.map_err(RunError::Jobs)?;
    let prepared = demonstration::prepare(&jobs, data_dir).await;
    prepared.map_err(RunError::DataDirectory)
}

/// The signal to reload, while a reload is under way.
async fn again(hangup: &mut Signal) {
    tokio::time::sleep(RESTART_AFTER).await;
    hangup.recv().await;
}

/// Unready first, so that load balancers send no more; then finish what is under way. A second
/// signal ends it at once.
async fn drain(
    server: Arc<Server>,
    mut listeners: Listeners,
    exporters: Option<Running>,
    shutdown: &Shutdown,
    stop: Stop,
    hurry: impl Future<Output = ()>,
) -> Ended {
    server.health.set_ending();
    server.ending.send_replace(true);
    let signal = match stop {
        Stop::Terminate => "SIGTERM",
        Stop::Interrupt => "SIGINT",
    };
    tracing::info!("{signal} received, draining");
    let finish = async {
        server.ci.stop_holding().await;
        if matches!(stop, Stop::Terminate) {
            tokio::time::sleep(shutdown.delay.into()).await;
        }
        let grace: Duration = shutdown.grace.into();
        let finishing = Stopwatch::start();
        if tokio::time::timeout(grace, listeners.finish())
            .await
            .is_err()
        {
            tracing::warn!("some requests were not finished in time");
        }
        if let Some(exporters) = exporters {
            let left = grace.saturating_sub(finishing.elapsed());
            exporters.finish(left.min(FLUSH)).await;
        }
        // What jobs decided last is recorded too.
        let left = grace.saturating_sub(finishing.elapsed()).max(LAST_JOBS);
        server.ci.shut_down(left).await;
        // Decisions have what is left of the time, and a moment in any case.
        let left = grace
            .saturating_sub(finishing.elapsed())
            .max(LAST_DECISIONS);
        let keeping = tokio::task::spawn_blocking(move || server.decisions.finish(left));
        let _ = keeping.await;
    };
    tokio::select! {
        () = finish => Ended::InTime,
        () = hurry => {
            tracing::warn!("second signal received, stopping at once");
            Ended::AtOnce
        }
    }
}
