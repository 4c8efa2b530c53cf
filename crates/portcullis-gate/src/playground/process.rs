//! The process that judges, and how it is asked: an order, one line of JSON, perhaps followed by recorded decisions,
//! and one line that answers it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_config::Limits;
use portcullis_core::{PolicyLimit, clock};
use portcullis_js::{WorkerCommand, confine};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, LONGEST};
use super::judge::{MOST, judge};
use super::question::{Posed, Question};
use super::verdict::{Replayed, Verdict};

/// What starting, reading and compiling may take, beside the evaluation.
const AROUND: Duration = Duration::from_secs(5);
/// Decisions that a process has taken but not decided again, at most.
const UNDER_WAY: u32 = 4;
/// Bytes of an order, at most.
const LONGEST_ORDER: u64 = 64 << 20;
/// Bytes of an answer, at most.
const LONGEST_ANSWER: usize = MOST + (64 << 10);

/// Why nothing could be asked.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// No process can be started.
    #[error("cannot start a process to evaluate policies: {0}")]
    NotStarted(String),
}

/// What a process is asked.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    /// One policy over one object.
    Judge(Box<Posed>),
    /// A set of policies over the decisions that follow.
    Replay(Box<Candidate>),
}

impl Order {
    fn limits(&self) -> &Limits {
        match self {
            Self::Judge(posed) => &posed.limits,
            Self::Replay(candidate) => &candidate.limits,
        }
    }
}

/// A process that is killed when it is no longer needed.
#[derive(Debug)]
struct Process {
    child: Child,
    stream: UnixStream,
    until: Instant,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts one that gets so long for all it does, and gives it its order.
    fn start(
        command: &WorkerCommand,
        order: &Order,
        within: Duration,
    ) -> Result<io::Result<Self>, Unanswered> {
        let until = clock::monotonic() + within + AROUND;
        let (child, stream) = command.start().map_err(Unanswered::NotStarted)?;
        let mut process = Self {
            child,
            stream,
            until,
        };
        let told = serde_json::to_string(order).map_err(io::Error::from);
        let told = told.and_then(|text| process.tell(&text));
        Ok(told.map(|()| process))
    }

    /// Sends a line.
    fn tell(&mut self, line: &str) -> io::Result<()> {
        for part in [line, "\n"] {
            self.stream.set_write_timeout(Some(self.left()?))?;
            self.stream.write_all(part.as_bytes())?;
        }
        Ok(())
    }

    /// Reads the line that answers.
    fn answer<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        let (mut answer, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            let count = self.stream.read(&mut buffer)?;
            let read = buffer.get(..count).unwrap_or_default();
            answer.extend_from_slice(read);
            if read.ends_with(b"\n") {
                return Ok(serde_json::from_slice(&answer)?);
            }
            if read.is_empty() || answer.len() > LONGEST_ANSWER {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(clock::monotonic());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// Lets a process judge, and waits for its verdict, for the time that the limits give and a little more. One that
/// doesn't answer is killed, which is a verdict too.
///
/// # Errors
///
/// When no process can be started.
pub fn ask(
    command: &WorkerCommand,
    question: Question,
    globals: &str,
    limits: &Limits,
) -> Result<Verdict, Unanswered> {
    let order = Order::Judge(Box::new(Posed {
        question,
        globals: globals.to_owned(),
        limits: limits.clone(),
    }));
    let process = Process::start(command, &order, limits.deadline.into())?;
    let answer = process.and_then(|mut process| process.answer());
    Ok(answer.unwrap_or_else(|error| match is_late(&error) {
        true => {
            let message = "the policy did not end in time, and was stopped".to_owned();
            Verdict::undecided(message, Some(PolicyLimit::Deadline))
        }
        false => Verdict::undecided("the evaluation ended without a result".to_owned(), None),
    }))
}

/// Sends recorded decisions to a process, one after the other, as long as it takes them.
#[derive(Debug)]
pub struct Feed<'a>(&'a mut Process);

impl Feed<'_> {
    /// Sends one, a line of JSON. False if no more are wanted.
    pub fn send(&mut self, decision: &str) -> bool {
        let decision = decision.trim();
        let is_line = !decision.contains('\n') && !decision.is_empty();
        if !is_line || decision.len() > LONGEST {
            return true;
        }
        self.0.tell(decision).is_ok()
    }
}

/// Lets a process decide again what `source` sends. One that doesn't answer is killed.
///
/// # Errors
///
/// When no process can be started, or the source fails.
pub fn replay<E>(
    command: &WorkerCommand,
    candidate: Candidate,
    source: impl FnOnce(&mut Feed<'_>) -> Result<(), E>,
) -> Result<Result<Replayed, E>, Unanswered> {
    // Those that are under way when the time is up come to their end.
    let each: Duration = candidate.limits.deadline.into();
    let within = candidate.within + each * UNDER_WAY;
    let order = Order::Replay(Box::new(candidate));
    let mut process = match Process::start(command, &order, within)? {
        Ok(process) => process,
        Err(error) => return Ok(Ok(unended(&error))),
    };
    if let Err(error) = source(&mut Feed(&mut process)) {
        return Ok(Err(error));
    }
    // One that wants no more has answered already.
    let _ = process.tell("");
    let answer = process.answer();
    Ok(Ok(answer.unwrap_or_else(|error| unended(&error))))
}

fn unended(error: &io::Error) -> Replayed {
    Replayed::Unended(match is_late(error) {
        true => "the policies did not end in time, and were stopped".to_owned(),
        false => "the evaluation ended without a result".to_owned(),
    })
}

/// Judges for the process at the other end of standard input. Only for a process that was started for that.
///
/// # Errors
///
/// When standard input is not such a socket, or what comes is not an order.
pub fn serve() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = Vec::new();
    reader
        .by_ref()
        .take(LONGEST_ORDER)
        .read_until(b'\n', &mut line)?;
    let order: Order = serde_json::from_slice(&line)?;
    drop(line);
    confine(&portcullis_js::Limits::from(order.limits()));
    let mut answer = match order {
        Order::Judge(posed) => {
            end_with(reader)?;
            serde_json::to_vec(&judge(&posed))?
        }
        Order::Replay(candidate) => serde_json::to_vec(&candidate.replayed(&mut reader))?,
    };
    answer.push(b'\n');
    (&stream).write_all(&answer)
}

/// Ends this process when the other side is gone, whatever is evaluated.
fn end_with(mut reader: impl Read + Send + 'static) -> io::Result<()> {
    let watch = move || {
        let _ = io::copy(&mut reader, &mut io::sink());
        std::process::exit(0);
    };
    thread::Builder::new().spawn(watch).map(|_| ())
}
