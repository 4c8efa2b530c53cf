//! A running `portcullis serve`.

use std::fs::File;
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use portcullis_testing::with_listener;

use super::{Client, Folder, Ran, chain, eventually, free_port, program, run_in, until};

/// What a gate is started with.
#[derive(Debug)]
pub(crate) struct Setup {
    folder: Folder,
    config: Value,
    data_dir: String,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// A running gate in a folder of its own, killed when it goes. It is asked as a [`Client`] asks.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) folder: Folder,
    /// Where everything is served in the clear.
    pub(crate) port: u16,
    client: Client,
    child: Child,
}

impl Setup {
    /// Listeners of this configuration come after the plain one that every gate has.
    pub(crate) fn new(config: Value) -> Self {
        let (arguments, variables) = (Vec::new(), Vec::new());
        Self {
            folder: Folder::new(),
            config,
            data_dir: "data".to_owned(),
            arguments,
            variables,
        }
    }

    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.folder.write(name, content);
        self
    }

    /// Sets a key of the configuration.
    pub(crate) fn key(mut self, name: &str, value: Value) -> Self {
        self.config[name] = value;
        self
    }

    /// Adds a listener.
    pub(crate) fn listener(mut self, listener: Value) -> Self {
        let listeners = self.config["listeners"].take();
        let mut listeners = listeners.as_array().cloned().unwrap_or_default();
        listeners.push(listener);
        self.config["listeners"] = listeners.into();
        self
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path(name)
    }

    pub(crate) fn data_dir(mut self, dir: String) -> Self {
        self.data_dir = dir;
        self
    }

    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|&a| a.to_owned()));
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs what can't start, to its end.
    #[track_caller]
    pub(crate) fn run(self) -> Ran {
        let config = with_listener(free_port(), self.config);
        self.folder.write("portcullis.yaml", config.to_string());
        let serve = ["serve", "--config", "portcullis.yaml", "--data-dir"];
        run_in(&self.folder, &[&serve[..], &[&self.data_dir]].concat())
    }

    /// Starts the gate and waits until it accepts requests, ready or not.
    #[track_caller]
    pub(crate) fn start_unready(self) -> Gate {
        let (folder, port, command) = self.command();
        let mut gate = Gate::spawn_unready(folder, command, |log| log.contains(" started "));
        (gate.port, gate.client) = (port, Client::tcp(port));
        gate
    }

    /// Starts the gate and waits until it is ready.
    #[track_caller]
    pub(crate) fn start(self) -> Gate {
        let (folder, port, command) = self.command();
        Gate::spawn(folder, port, command)
    }

    fn command(self) -> (Folder, u16, Command) {
        let port = free_port();
        self.folder.write(
            "portcullis.yaml",
            with_listener(port, self.config).to_string(),
        );
        let mut command = program(self.folder.root());
        command.args([
            "serve",
            "--config",
            "portcullis.yaml",
            "--data-dir",
            &self.data_dir,
        ]);
        command.args(self.arguments).envs(self.variables);
        (self.folder, port, command)
    }
}

impl Gate {
    /// Starts a gate with just this configuration.
    #[track_caller]
    pub(crate) fn start(config: Value) -> Self {
        Setup::new(config).start()
    }

    /// Starts a gate with just this chain.
    #[track_caller]
    pub(crate) fn of(order: &[&str]) -> Self {
        Self::start(chain(order))
    }

    /// Starts any command as a gate, whose log goes to files in the folder.
    #[track_caller]
    pub(crate) fn spawn(folder: Folder, port: u16, mut command: Command) -> Self {
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let child = command
            .stdout(file("out"))
            .stderr(file("log"))
            .spawn()
            .unwrap();
        let mut gate = Self {
            folder,
            port,
            client: Client::tcp(port),
            child,
        };
        until("ready", || {
            if let Some(status) = gate.child.try_wait().unwrap() {
                panic!("the gate ended with {status}: {}", gate.log());
            }
            gate.is_ready()
        });
        gate
    }

    /// Starts a gate that has no plain port, and waits until its log shows that it is ready.
    #[track_caller]
    pub(crate) fn spawn_unready(
        folder: Folder,
        mut command: Command,
        is_ready: impl Fn(&str) -> bool,
    ) -> Self {
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let command = command.stdout(file("out")).stderr(file("log"));
        let child = command.spawn().unwrap();
        let mut gate = Self {
            folder,
            port: 0,
            client: Client::tcp(0),
            child,
        };
        until("ready", || {
            if let Some(status) = gate.child.try_wait().unwrap() {
                panic!("the gate ended with {status}: {}", gate.log());
            }
            is_ready(&gate.log())
        });
        gate
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path("log")).unwrap()).into_owned()
    }

    pub(crate) fn out(&self) -> String {
        std::fs::read_to_string(self.folder.path("out")).unwrap()
    }

    /// Waits until the metrics say that the last reload was successful, or that it failed.
    #[track_caller]
    pub(crate) fn last_reload_is(&self, successful: bool) {
        until(
            &format!("the last reload is successful: {successful}"),
            || (self.last_reload() > 0.5) == successful,
        );
    }

    /// What the gate says of its last reload: 1 or 0.
    #[track_caller]
    fn last_reload(&self) -> f64 {
        self.metrics()
            .total("portcullis_config_last_reload_successful", &[])
    }

    // Changing.

    /// The configuration that this gate would have with another text, its own listener included.
    pub(crate) fn text_of(&self, config: Value) -> String {
        with_listener(self.port, config).to_string()
    }

    /// Writes the configuration over, in place.
    pub(crate) fn configure(&self, config: Value) {
        self.folder.write("portcullis.yaml", self.text_of(config));
    }

    pub(crate) fn hang_up(&self) {
        self.signal(Signal::SIGHUP);
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    pub(crate) fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    // Ending.

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    #[track_caller]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        eventually("the end of the gate", || self.child.try_wait().unwrap())
    }

    /// Asserts that the gate lives and judges.
    #[track_caller]
    pub(crate) fn lives(&mut self) {
        assert!(self.is_running(), "the gate has ended: {}", self.log());
        self.judges();
    }
}

impl Deref for Gate {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the gate's log ---\n{}---", self.log());
        }
    }
}
