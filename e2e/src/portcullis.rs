//! A running Portcullis: the real binary, started the way users start it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::http::get;
use crate::{Authority, Connection, Identity, Process, Signal, free_ports, until};

/// What a Portcullis is started with.
#[derive(Clone, Copy, Debug)]
pub struct PortcullisConfig<'a> {
    /// Where its files go.
    pub directory: &'a Path,
    /// Signs its server certificate.
    pub authority: &'a Authority,
    /// If set, clients must show a certificate signed by this authority.
    pub client_authority: Option<&'a Authority>,
    /// The configuration file, without the listeners.
    pub configuration: &'a str,
    /// Files beside it: name and text.
    pub files: &'a [(&'a str, &'a str)],
}

/// A Portcullis process, or the place where one was and can be again.
///
/// It has two listeners: TLS for the API server, which also answers health
/// questions, and plain TCP for health, metrics and the questions of the suites
/// themselves.
#[derive(Debug)]
pub struct Portcullis {
    program: PathBuf,
    directory: PathBuf,
    port: u16,
    operations_port: u16,
    process: Option<Process>,
}

impl Portcullis {
    /// The binary named by the environment variable `PORTCULLIS`.
    #[must_use]
    pub fn program() -> Option<PathBuf> {
        env::var_os("PORTCULLIS").map(PathBuf::from)
    }

    /// Starts one and waits until it is ready.
    ///
    /// # Panics
    /// When it does not become ready.
    #[must_use]
    pub fn start(config: PortcullisConfig<'_>) -> Self {
        let mut portcullis = Self::prepare(config);
        portcullis.start_again();
        portcullis
    }

    /// Prepares one that is started with [`Portcullis::start_again`]: its address is known before.
    ///
    /// # Panics
    /// When its files cannot be written.
    #[must_use]
    pub fn prepare(config: PortcullisConfig<'_>) -> Self {
        let program = Self::program().expect("PORTCULLIS names the binary");
        let directory = config.directory.to_owned();
        let [port, operations_port] = free_ports();
        write_files(&config, port, operations_port);
        Self {
            program,
            directory,
            port,
            operations_port,
            process: None,
        }
    }

    /// Starts it again on the same ports, with the same files.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn start_again(&mut self) {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.directory).args([
            "serve",
            "--config",
            "portcullis.yaml",
            "--data-dir",
            "data",
        ]);
        let log = self.directory.join("portcullis.log");
        let mut process = Process::start("portcullis", &mut command, &log);
        until("Portcullis to be ready", Duration::from_secs(60), || {
            process.must_run();
            matches!(get(self.operations_port, "/readyz"), Some((200, _)))
        });
        self.process = Some(process);
    }

    /// The address of a path on its TLS listener.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }

    /// The port of its TLS listener.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A connection for reviews, without TLS.
    #[must_use]
    pub fn connection(&self) -> Connection {
        Connection::new(self.operations_port)
    }

    /// What it says of its health, if it answers.
    #[must_use]
    pub fn health(&self) -> Option<String> {
        get(self.operations_port, "/readyz?verbose").map(|(_, text)| text)
    }

    /// Ends it in good order.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.stop();
        }
    }

    /// Waits until it has ended by itself, after a signal.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(&mut self) {
        if let Some(mut process) = self.process.take() {
            until("Portcullis to end", Duration::from_secs(60), || {
                process.ended().is_some()
            });
        }
    }

    /// Kills it, as a machine that goes away would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Sends the process a signal.
    ///
    /// # Panics
    /// When it is not running.
    pub fn signal(&self, signal: Signal) {
        self.process
            .as_ref()
            .expect("Portcullis is running")
            .signal(signal);
    }

    /// Puts another server certificate in place of the present one.
    pub fn replace_certificate(&self, identity: &Identity) {
        identity.write(
            &self.directory.join("tls.crt"),
            &self.directory.join("tls.key"),
        );
    }

    /// The text of a file beside the configuration, or of the configuration itself.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        let path = self.directory.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Puts another text in place of a file beside the configuration, or of
    /// the configuration itself, whole.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn replace_file(&self, name: &str, text: &str) {
        portcullis_testing::replace_file(&self.directory.join(name), text);
    }
}

fn write_files(config: &PortcullisConfig<'_>, port: u16, operations_port: u16) {
    let directory = config.directory;
    let put = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, text))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    let mut tls = String::from("certificate: tls.crt, key: tls.key");
    if let Some(authority) = config.client_authority {
        put("client-ca.crt", &authority.certificate());
        tls.push_str(", clientCA: client-ca.crt");
    }
    let mut text = String::from("listeners:\n");
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "- {{name: hooks, tcp: \"127.0.0.1:{port}\", tls: {{{tls}}}, serves: [kubernetes, health]}}\n\
         - {{name: operations, tcp: \"127.0.0.1:{operations_port}\", serves: [metrics, health, kubernetes]}}\n",
    );
    text.push_str(config.configuration);
    put("portcullis.yaml", &text);
    for (name, text) in config.files {
        put(name, text);
    }
    config
        .authority
        .server("portcullis")
        .write(&directory.join("tls.crt"), &directory.join("tls.key"));
}
