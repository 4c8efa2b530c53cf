//! A server in this process that listens nowhere.
//!
//! Everything is built of a configuration file as [`run`](crate::run::run) does it. A connection is one end of a
//! pair of streams; the other is admitted and served as if a listener had accepted it. What is left out is what
//! belongs to a process: binding, accepting, TLS, signals, reloads, the log.

use std::fmt::Display;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use portcullis_config::{Bind, ConfigSource, Listening, LoadOptions};
use portcullis_core::Peer;
use portcullis_gate::policies::WorkerCommand;
use portcullis_testing::policies::native;
use portcullis_testing::with_listener;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::assembly;
use crate::http::connections::{Admission, Connections};
use crate::http::listener::{Accepting, Socket, handle};
use crate::http::peer;
use crate::http::setup::ListenerSetup;
use crate::http::trust::Phase;
use crate::run::{RunError, RunOptions, build, start};
use crate::server::Server;

pub(super) use portcullis_testing::{
    Answer, Client, Connection, Folder, Pki, Review, Verdict, access, chain, container, eventually,
    path_access, pod, pod_security, pod_with, privileged, request, until,
};

/// A port for listeners that only exist in process.
const NEVER_BOUND: u16 = 1;

/// The file that everything is built of.
const FILE: &str = "portcullis.yaml";

/// What a gate is built of.
#[derive(Debug)]
pub(super) struct Setup {
    folder: Folder,
    config: Value,
}

/// A gate at work, in a folder of its own. It is asked as a [`Client`] asks.
#[derive(Debug)]
pub(super) struct Gate {
    /// Gone with the gate.
    _folder: Folder,
    /// At the listener for reviews, health and metrics that every gate has.
    client: Client,
    running: Arc<Running>,
}

/// The server, and what would accept connections for it.
#[derive(Debug)]
struct Running {
    server: Arc<Server>,
    listeners: Vec<Listener>,
    runtime: Option<Runtime>,
}

#[derive(Debug)]
struct Listener {
    bind: Bind,
    accepting: Accepting<Arc<Server>>,
    /// Ends its connections when it goes.
    _phase: watch::Sender<Phase>,
}

impl Setup {
    /// Listeners of this configuration come after the one that every gate has.
    pub(super) fn new(config: Value) -> Self {
        Self {
            folder: Folder::new(),
            config,
        }
    }

    pub(super) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.folder.write(name, content);
        self
    }

    /// Builds the gate, and waits until it is ready.
    #[track_caller]
    pub(super) fn start(self) -> Gate {
        let Self { folder, config } = self;
        let config = without_store(with_listener(NEVER_BOUND, config));
        folder.write(FILE, config.to_string());
        let running = Arc::new(Running::new(&folder));
        let client = running.client("all");
        until("ready", || client.is_ready());
        Gate {
            _folder: folder,
            client,
            running,
        }
    }
}

impl Gate {
    /// A gate with just this configuration.
    #[track_caller]
    pub(super) fn start(config: Value) -> Self {
        Setup::new(config).start()
    }

    /// A gate with just this chain.
    #[track_caller]
    pub(super) fn of(order: &[&str]) -> Self {
        Self::start(chain(order))
    }

    /// A client at the listener of this name.
    #[track_caller]
    pub(super) fn at(&self, listener: &'static str) -> Client {
        self.running.client(listener)
    }
}

impl Deref for Gate {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Decisions are stored where the API can read them, or where a test requires it.
fn without_store(mut config: Value) -> Value {
    let listeners = config["listeners"].as_array();
    let serves_api = listeners.is_some_and(|all| all.iter().any(|one| one["serves"][0] == "api"));
    if config.get("decisions").is_none() && !serves_api {
        config["decisions"] = json!({"store": false});
    }
    config
}

/// This very program, as a process that tries policies.
fn playground() -> WorkerCommand {
    let arguments = [
        "--exact",
        "tests::harness::tries_for_another_process",
        "--ignored",
    ];
    WorkerCommand {
        program: std::env::current_exe().expect("a program"),
        arguments: arguments.map(Into::into).to_vec(),
    }
}

/// Not a test: what the other tests start as a process.
#[test]
#[ignore = "a process for other tests"]
fn tries_for_another_process() {
    drop(portcullis_gate::playground::serve());
}

/// Calls this with what the configuration in a folder is loaded by.
fn with_options<T>(folder: &Folder, run: impl FnOnce(RunOptions<'_>) -> T) -> T {
    let registry = portcullis_gate::registry();
    let file = folder.path(FILE);
    run(RunOptions {
        load: LoadOptions {
            source: ConfigSource::File(&file),
            admission_control: None,
            admission_control_config_file: None,
            known_plugins: &registry.names(),
            listeners: Listening::Needed,
            objects: None,
            coverage: false,
            env: &|_| None,
        },
        data_dir: folder.path("data"),
        on_ready: None,
        sign_in_link: None,
        is_demonstration: false,
        colours: false,
        worker: None,
        playground: Some(playground()),
    })
}

/// What `check` says is wrong with the configuration in a folder; empty if nothing is.
pub(super) fn examined(folder: &Folder) -> String {
    let report = with_options(folder, |options| assembly::examine(&options.load));
    lines(&report.faults)
}

fn lines<T: Display>(faults: impl IntoIterator<Item = T>) -> String {
    let each = faults.into_iter().map(|fault| format!("{fault:#}"));
    each.collect::<Vec<_>>().join("\n")
}

/// The same by `serve`, which must not get as far as to serve.
#[track_caller]
pub(super) fn not_served(folder: &Folder) -> String {
    let served = with_options(folder, |options| {
        let loaded = portcullis_config::load(&options.load).map_err(RunError::Configuration)?;
        build(&options, &loaded, None)
    });
    match served {
        Err(RunError::Configuration(faults)) => lines(faults.iter()),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("taken"),
    }
}

/// A server with an acjs file, at a unix socket. It is asked at the root, as acjs is.
#[derive(Debug)]
pub(super) struct Acjs {
    pub(super) folder: Folder,
    client: Client,
}

impl Acjs {
    /// The listener is added.
    #[track_caller]
    pub(super) fn start(mut config: Value) -> Self {
        let folder = Folder::new();
        config["listener"] = json!({"path": {"socketPath": "acjs.sock"}});
        folder.write(FILE, without_store(config).to_string());
        let running = Arc::new(Running::new(&folder));
        let client = running.client_at(0);
        until("ready", || client.is_ready());
        Self { folder, client }
    }

    /// A server with these policies, each a name and a text.
    #[track_caller]
    pub(super) fn of(policies: &[(&str, &str)]) -> Self {
        Self::start(native(policies))
    }

    /// Any request, with these headers besides the usual ones.
    #[track_caller]
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let length = body.len().to_string();
        let mut all = headers.to_vec();
        if method != "POST" && !body.is_empty() {
            all.push(("Content-Length", &length));
        }
        let answer = self.raw(&request(method, path, &all, body));
        answer.expect("the connection was dropped")
    }

    #[track_caller]
    pub(super) fn ask(&self, review: &Review) -> Verdict {
        self.ask_at("/", review)
    }

    #[track_caller]
    pub(super) fn ask_at(&self, path: &str, review: &Review) -> Verdict {
        self.client.ask(path, review)
    }
}

impl Deref for Acjs {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Running {
    #[track_caller]
    fn new(folder: &Folder) -> Self {
        let (server, wanted) = with_options(folder, |options| {
            let loaded = portcullis_config::load(&options.load);
            let loaded = loaded.unwrap_or_else(|faults| panic!("{faults}"));
            build(&options, &loaded, None).expect("built")
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(start(&server)).expect("started");
        server.health.set_bound();
        Self {
            listeners: listeners(&server, wanted),
            runtime: Some(runtime),
            server,
        }
    }

    #[track_caller]
    fn client(self: &Arc<Self>, name: &'static str) -> Client {
        let place = self.listeners.iter().position(|one| one.name() == name);
        let place = place.unwrap_or_else(|| panic!("no listener {name}"));
        self.client_at(place)
    }

    fn client_at(self: &Arc<Self>, place: usize) -> Client {
        let running = Arc::clone(self);
        Client::new(move || running.connect(&running.listeners[place]))
    }

    fn connect(&self, listener: &Listener) -> io::Result<Connection> {
        let (own, accepted) = std::os::unix::net::UnixStream::pair()?;
        accepted.set_nonblocking(true)?;
        let runtime = self.runtime.as_ref().expect("the runtime is there");
        let _entered = runtime.enter();
        let stream = UnixStream::from_std(accepted)?;
        let peer = match listener.bind {
            Bind::Unix(_) => peer::of_unix(&stream),
            Bind::Tcp(_) => Peer {
                address: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000))),
                ..Peer::default()
            },
        };
        let accepting = listener.accepting.clone();
        runtime.spawn(async move {
            let address = peer.address.map(|address| address.ip());
            let admission = accepting.connections.admit(accepting.room, address);
            if let Admission::Admitted(admitted) = admission.await {
                handle(Socket::Unix(stream), peer, accepting, admitted).await;
            }
        });
        Connection::pair(own)
    }
}

impl Listener {
    fn name(&self) -> String {
        self.accepting.setup.load().name.clone()
    }
}

fn listeners(server: &Arc<Server>, wanted: Vec<ListenerSetup>) -> Vec<Listener> {
    let counts = (&server.gate.load().limits).into();
    let connections = Connections::new(counts);
    let mut rooms = Vec::new();
    let mut made = Vec::new();
    for setup in wanted {
        let (room, most) = (connections.room(), setup.connections);
        rooms.push((room, most));
        let (phase, wanted) = watch::channel(Phase::Open(setup.trust()));
        made.push(Listener {
            bind: setup.bind.clone(),
            accepting: Accepting {
                handler: Arc::clone(server),
                setup: Arc::new(ArcSwap::from_pointee(setup)),
                connections: connections.clone(),
                room,
                phase: wanted,
            },
            _phase: phase,
        });
    }
    connections.share_out(counts, &rooms);
    made
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.decisions.finish(Duration::ZERO);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
