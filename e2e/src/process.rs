//! A child process that ends when its owner ends, even if the owner is killed.
//!
//! A suite shares one cluster through a `static`, and statics are never
//! dropped. So beside each process stands a watchdog: a shell that waits for
//! the end of its standard input, which comes when the suite is gone for
//! whatever reason, and then kills that one process by its id.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

const WATCHDOG: &str = r#"read -r _; kill -KILL "$1""#;

/// A running program, its output in a log file. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    watchdog: Child,
    log: PathBuf,
}

/// The signals the suites send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `SIGTERM`: end in good order.
    Terminate,
    /// `SIGHUP`: read the configuration again.
    Reload,
    /// `SIGSTOP`: stand still, as an overloaded machine would make it.
    Pause,
    /// `SIGCONT`: go on.
    Resume,
}

impl Process {
    /// Starts a command that inherits nothing but the `PATH`, its output in `log`.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Self {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap_or_else(|error| panic!("{}: {error}", log.display()));
        let errors = output.try_clone().expect("a file handle can be cloned");
        let child = bare(command)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {name} ({command:?}): {error}"));
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "watchdog", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh can be started");
        Self {
            name: name.to_owned(),
            child,
            watchdog,
            log: log.to_owned(),
        }
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When the process is gone.
    pub fn signal(&self, signal: Signal) {
        let name = match signal {
            Signal::Terminate => "-TERM",
            Signal::Reload => "-HUP",
            Signal::Pause => "-STOP",
            Signal::Resume => "-CONT",
        };
        let sent = Command::new("kill")
            .args([name, &self.child.id().to_string()])
            .status()
            .expect("kill can be run");
        assert!(
            sent.success(),
            "{} is not there to get {signal:?}",
            self.name
        );
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// What it wrote so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Fails with the end of the log when the process has ended.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn must_run(&mut self) {
        if let Some(status) = self.ended() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let tail = lines
                .get(lines.len().saturating_sub(15)..)
                .unwrap_or_default();
            panic!(
                "{} ended: {status}; {}:\n{}",
                self.name,
                self.log.display(),
                tail.join("\n")
            );
        }
    }

    /// Asks it to end, waits up to ten seconds, then kills it.
    pub fn stop(&mut self) {
        if self.ended().is_none() {
            self.signal(Signal::Resume);
            self.signal(Signal::Terminate);
            for _ in 0..500 {
                if self.ended().is_some() {
                    break;
                }
                sleep(Duration::from_millis(20));
            }
        }
        self.kill();
    }

    /// Kills it, as a machine that goes away would.
    pub fn kill(&mut self) {
        for child in [&mut self.watchdog, &mut self.child] {
            // Either may be gone already; that is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The command with no environment but the `PATH`: no proxy, no home directory.
pub(crate) fn bare(command: &mut Command) -> &mut Command {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
}
