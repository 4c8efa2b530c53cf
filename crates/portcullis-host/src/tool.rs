//! Running other programs: without a shell, with little environment, and for a limited time.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use portcullis_core::sync::{Condvar, Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::environment;
use crate::program;
use crate::text::excerpt;

/// The most a program may print on each of its outputs.
const OUTPUT: usize = 4 << 20;

/// The most of it that a message repeats.
const SHOWN: usize = 1024;

/// Runs programs, a limited number at the same time.
#[derive(Debug)]
pub(crate) struct Tools {
    turns: Semaphore,
    /// How many run, or are about to.
    running: Mutex<usize>,
    ended: Condvar,
}

/// Counts a program until it and its group have ended.
struct Counted<'a>(&'a Tools);

impl<'a> Counted<'a> {
    fn new(tools: &'a Tools) -> Self {
        *tools.count() += 1;
        Self(tools)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        *self.0.count() -= 1;
        self.0.ended.notify_all();
    }
}

/// What a program printed before it ended well.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
}

/// Why a program did not end well.
#[derive(Debug)]
pub(crate) struct ToolError {
    /// Its name.
    pub(crate) tool: String,
    pub(crate) failure: Failure,
}

/// How a program failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It did not start.
    Start(io::Error),
    /// Its output could not be read.
    Read(io::Error),
    /// It did not end in time.
    Deadline,
    /// It printed too much.
    TooMuch,
    /// It ended badly, with this output.
    Ended(ExitStatus, String),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.failure {
            Failure::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{tool} can't be started: no such program")
            }
            Failure::Start(error) => write!(f, "{tool} can't be started: {error}"),
            Failure::Read(error) => write!(f, "the output of {tool} can't be read: {error}"),
            Failure::Deadline => write!(f, "{tool} did not end before the deadline"),
            Failure::TooMuch => write!(f, "{tool} printed more than {} MiB", OUTPUT >> 20),
            Failure::Ended(status, output) => {
                write!(f, "{tool} {}", how(*status))?;
                if output.is_empty() {
                    f.write_str(" and printed nothing")
                } else {
                    write!(f, ": {output}")
                }
            }
        }
    }
}

/// In words, how a program ended.
pub(crate) fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "failed".to_owned(),
    }
}

/// A program that runs in a process group of its own, which ends with it.
#[derive(Debug)]
struct Group(Child);

impl Group {
    /// Kills the program and everything it started. Does nothing once it has been waited for: its
    /// number may be another's by then.
    fn kill(&self) {
        if let Some(id) = self.0.id().and_then(|id| i32::try_from(id).ok()) {
            // The only failure is that no process is left to kill.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Tools {
    /// At most this many at the same time.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            turns: Semaphore::new(limit.min(Semaphore::MAX_PERMITS)),
            running: Mutex::new(0),
            ended: Condvar::new(),
        }
    }

    fn count(&self) -> MutexGuard<'_, usize> {
        self.running.lock()
    }

    /// Waits until no program runs, but not longer than this; says whether none does.
    pub(crate) fn wait_for_all(&self, longest: Duration) -> bool {
        let running = self.count();
        let waited = self
            .ended
            .wait_timeout_while(running, longest, |running| *running > 0);
        *waited.0 == 0
    }

    /// Runs a program and gives what it printed, if it ended well and in time.
    pub(crate) async fn run(
        &self,
        program: &Path,
        arguments: &[OsString],
        deadline: Instant,
    ) -> Result<Output, ToolError> {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let result = self.run_group(program, arguments, deadline).await;
        result.map_err(|failure| ToolError {
            tool: excerpt(name.to_string_lossy().as_bytes(), 64),
            failure,
        })
    }

    async fn run_group(
        &self,
        program: &Path,
        arguments: &[OsString],
        deadline: Instant,
    ) -> Result<Output, Failure> {
        let turn = timeout_at(deadline.into(), self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(Failure::Deadline);
        };
        let _counted = Counted::new(self);
        let program = program::find(program, std::env::var_os("PATH")).map_err(Failure::Start)?;
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment::passed(std::env::vars_os()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(Failure::Start)?;
        let mut group = Group(child);
        let ended = timeout_at(deadline.into(), finish(&mut group.0)).await;
        match ended.unwrap_or(Err(Failure::Deadline)) {
            Ok(finished) => finished.judge(),
            Err(failure) => {
                group.kill();
                let _ = group.0.wait().await;
                Err(failure)
            }
        }
    }
}

struct Finished {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Finished {
    fn judge(self) -> Result<Output, Failure> {
        if self.status.success() {
            return Ok(Output {
                stdout: self.stdout,
            });
        }
        let mut printed = self.stdout;
        printed.truncate(if self.stderr.is_empty() {
            SHOWN * 4
        } else {
            SHOWN / 2
        });
        printed.push(b'\n');
        printed.extend(self.stderr);
        Err(Failure::Ended(self.status, excerpt(&printed, SHOWN)))
    }
}

/// Reads everything, then waits: so the group keeps its number while any process holds an output.
async fn finish(child: &mut Child) -> Result<Finished, Failure> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = tokio::try_join!(read(stdout), read(stderr))?;
    let status = child.wait().await.map_err(Failure::Read)?;
    Ok(Finished {
        status,
        stdout,
        stderr,
    })
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let Some(pipe) = pipe else {
        return Ok(bytes);
    };
    let mut limited = pipe.take(OUTPUT as u64 + 1);
    limited
        .read_to_end(&mut bytes)
        .await
        .map_err(Failure::Read)?;
    if bytes.len() > OUTPUT {
        return Err(Failure::TooMuch);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_core::clock;
    use portcullis_testing::until;
    use std::sync::Arc;
    use tokio::runtime::Builder;

    #[test]
    fn programs_end_with_the_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("started");
        let script = format!(
            "sleep 1000 & echo $! > '{0}.new'; mv '{0}.new' '{0}'; wait",
            file.display()
        );
        let tools = Arc::new(Tools::new(4));
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let shared = Arc::clone(&tools);
        runtime.spawn(async move {
            let deadline = clock::monotonic() + Duration::from_secs(600);
            let arguments = ["-c".into(), script.into()];
            shared.run(Path::new("/bin/sh"), &arguments, deadline).await
        });
        until("it runs", || file.exists());
        assert!(!tools.wait_for_all(Duration::ZERO));
        runtime.shutdown_background();
        assert!(tools.wait_for_all(Duration::from_secs(60)));
        assert!(tools.wait_for_all(Duration::ZERO));
        let child = std::fs::read_to_string(&file).unwrap();
        until("it is gone", || !is_alive(child.trim()));
    }

    fn is_alive(id: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    }
}
