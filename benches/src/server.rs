//! Server processes: configured, started, waited for, and ended with the benchmark.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::certificate::Certificate;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::log::Log;
use crate::peers::{Job, Peer};
use crate::plain;
use crate::scenario::Subject;
use crate::setup::Setup;
use crate::transport::{Places, Transport};

/// How long a server may take to get ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is asked meanwhile.
const PAUSE: Duration = Duration::from_micros(100);

/// A server at work, killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
    started: Instant,
}

/// What is needed to start servers.
#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    /// The program `portcullis`.
    pub(crate) portcullis: &'a Path,
    /// Where the programs of peers are.
    pub(crate) peers: &'a Path,
    /// Where everything of this run lies.
    pub(crate) dir: &'a Path,
    /// What servers show over TLS.
    pub(crate) certificate: &'a Certificate,
}

impl Workshop<'_> {
    /// Starts the server that answers over this transport, in a directory of this name, and waits
    /// until it is ready.
    pub(crate) fn start(
        &self,
        name: &str,
        subject: Subject,
        transport: Transport,
    ) -> Result<(Server, Places)> {
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).context(dir.display())?;
        let places = Places::free(&dir)?;
        let mut command = match subject {
            Subject::Ceiling => self.ceiling(&places)?,
            Subject::Portcullis(setup, log) => {
                let file = write_configuration((setup, log), &dir, &places, self.certificate)?;
                portcullis(self.portcullis, &file, &dir)
            }
            Subject::Peer(peer, set) => peer.command(&Job {
                peers: self.peers,
                set,
                transport,
                dir: &dir,
                places: &places,
                certificate: self.certificate,
            })?,
        };
        let mut server = Server::spawn(&mut command, &dir)?;
        match subject {
            // Not every peer says when it is ready: it is, when it takes connections.
            Subject::Peer(..) => server.wait_until(|| Peer::is_listening(&places, transport))?,
            _ => server.wait_until_ready(places.tcp)?,
        };
        Ok((server, places))
    }

    fn ceiling(&self, places: &Places) -> Result<Command> {
        let own = std::env::current_exe().context("no path to this program")?;
        let mut command = Command::new(own);
        command.arg("ceiling").arg("--unix").arg(&places.unix);
        command
            .arg("--tcp")
            .arg(places.tcp.to_string())
            .arg("--tls")
            .arg(places.tls.to_string());
        command
            .arg("--certificate")
            .arg(&self.certificate.certificate);
        command.arg("--key").arg(&self.certificate.key);
        Ok(command)
    }
}

/// The command that serves this configuration. It exports to nobody.
pub(crate) fn portcullis(program: &Path, configuration: &Path, data_dir: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("serve")
        .arg("--config")
        .arg(configuration)
        .arg("--data-dir")
        .arg(data_dir)
        .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
    command
}

/// Writes the configuration and the files beside it.
pub(crate) fn write_configuration(
    (setup, log): (Setup, Log),
    dir: &Path,
    places: &Places,
    certificate: &Certificate,
) -> Result<PathBuf> {
    let text = listeners(places, certificate) + &setup.configuration() + log.configuration();
    let file = dir.join("portcullis.yaml");
    std::fs::write(&file, text).context(file.display())?;
    for (name, text) in setup.files() {
        let path = dir.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).context(folder.display())?;
        }
        std::fs::write(path, text).context(name)?;
    }
    Ok(file)
}

/// The `listeners` key: every transport, for reviews and health.
pub(crate) fn listeners(places: &Places, certificate: &Certificate) -> String {
    let quoted = |path: &Path| serde_json::Value::from(path.to_string_lossy()).to_string();
    format!(
        "listeners:\n\
         - {{name: plain, tcp: \"{tcp}\", serves: [kubernetes, health, metrics]}}\n\
         - {{name: socket, unix: {{path: {unix}}}, serves: [kubernetes, health]}}\n\
         - {{name: tls, tcp: \"{tls}\", tls: {{certificate: {crt}, key: {key}}}, serves: [kubernetes, health]}}\n",
        tcp = places.tcp,
        unix = quoted(&places.unix),
        tls = places.tls,
        crt = quoted(&certificate.certificate),
        key = quoted(&certificate.key),
    )
}

impl Server {
    /// Starts a process whose words go to a file in this directory.
    pub(crate) fn spawn(command: &mut Command, dir: &Path) -> Result<Self> {
        let log = dir.join("log");
        let file = File::create(&log).context(log.display())?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        let started = clock::now();
        let child = command
            .spawn()
            .context(Path::new(command.get_program()).display())?;
        Ok(Self {
            child,
            log,
            started,
        })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `/readyz` is answered with 200, and says how long that took from the start.
    pub(crate) fn wait_until_ready(&mut self, address: SocketAddr) -> Result<Duration> {
        self.wait_until(|| is_ready(address))
    }

    /// Waits until it is so, and says how long that took from the start.
    fn wait_until(&mut self, is_so: impl Fn() -> bool) -> Result<Duration> {
        loop {
            if is_so() {
                return Ok(clock::now().saturating_duration_since(self.started));
            }
            let ended = self.child.try_wait().context("a server's state")?;
            let waited = clock::now().saturating_duration_since(self.started);
            if let Some(status) = ended {
                return Err(self.failed(&format!("a server ended at once, with {status}")));
            }
            if waited > PATIENCE {
                return Err(self.failed("a server did not get ready"));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Asks it to end, and waits until it has, with everything in its place.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.pid()).context("a server's id")?;
        signal::kill(Pid::from_raw(pid), Signal::SIGTERM).context("ending a server")?;
        let began = clock::now();
        loop {
            let ended: Option<ExitStatus> = self.child.try_wait().context("a server's state")?;
            match ended {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.failed(&format!("a server ended with {status}"))),
                None if clock::now().saturating_duration_since(began) > PATIENCE => {
                    return Err(self.failed("a server did not end"));
                }
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    fn failed(&self, what: &str) -> Failure {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        Failure::new(format!("{what}; it said:\n{log}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether `/readyz` says yes.
fn is_ready(address: SocketAddr) -> bool {
    matches!(plain::get(address, "/readyz"), Ok((200, _)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_configuration_says_what_becomes_of_decisions() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::free(dir.path()).unwrap();
        let certificate = Certificate::make(dir.path()).unwrap();
        let text = |setup, log| {
            let file = write_configuration((setup, log), dir.path(), &places, &certificate);
            std::fs::read_to_string(file.unwrap()).unwrap()
        };
        let off = text(Setup::PodSecurity, Log::Off);
        assert!(off.ends_with("\ndecisions: {store: false}\n"), "{off}");
        let kept = text(Setup::AlwaysAdmit, Log::Kept);
        assert!(
            kept.contains("\ndecisions: {store: true, required: false, maxSize:"),
            "{kept}"
        );
        let required = text(Setup::Everything, Log::Required);
        assert!(required.contains("\ndecisions: {store: true, required: true, maxSize:"));
        assert!(required.contains("\nadmission:") && required.contains("\npolicies: ["));
    }
}
