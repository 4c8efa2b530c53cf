//! Evaluations in processes that can be killed, on the side that asks.
//!
//! A process gets the policies once, then one evaluation after the other. What it asks of the world
//! outside, and of the `GlobalContext`, is answered by the thread that waits for it, with the same
//! code as in a thread. One that doesn't answer in time, dies, or says what makes no sense is killed.

mod channel;
mod child;
mod message;
mod stable;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{HostFunction, clock};
use serde_json::Value;

use channel::{Broken, Channel};
use message::{Answer, FromWorker, Setup, ToWorker, to_raw, to_value};

pub use child::serve_evaluations;
pub(crate) use stable::{NoProcess, Stable};

use crate::compile::PolicySet;
use crate::gate::Outside;
use crate::global_context::{GlobalContext, Lease};
use crate::guard::WorkerCommand;
use crate::host::{Host, HostRequest};
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::state::Thread;

/// How long a process may take to get ready.
const START: Duration = Duration::from_secs(20);
/// How long a process may take to clean up after an evaluation.
const CLEAN: Duration = Duration::from_secs(2);

/// The lowest priority of the system.
const LAST: i32 = 19;
/// A priority that gets a third of what others get.
const LATER: i32 = 5;

/// What every process of a pool is made from.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) command: WorkerCommand,
    pub(crate) set: PolicySet,
    pub(crate) limits: Limits,
    pub(crate) context: GlobalContext,
    pub(crate) host: Arc<dyn Host>,
}

/// What one evaluation is about, and who answers for it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) set: &'a PolicySet,
    pub(crate) input: &'a Arc<Input>,
    pub(crate) deadline: Instant,
    /// When it is over at the latest.
    pub(crate) end: Instant,
    pub(crate) thread: &'a Thread,
    pub(crate) outside: &'a Outside,
    pub(crate) context: &'a GlobalContext,
}

/// Why a process gave no evaluation.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It did not answer in time.
    Late,
    /// It ended, or said what makes no sense.
    Broken(String),
}

impl From<Broken> for Failed {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Late => Self::Late,
            Broken::Gone(why) => Self::Broken(why),
        }
    }
}

/// A process that is ready for evaluations. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    channel: Channel,
}

impl Process {
    /// Starts one, and waits until it is ready.
    pub(crate) fn start(recipe: &Recipe) -> Result<Self, String> {
        let (own, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
        let program = &recipe.command.program;
        let spawned = Command::new(program)
            .args(&recipe.command.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to the server is not for it.
            .process_group(0)
            .spawn();
        let child = spawned.map_err(|e| format!("{}: {e}", program.display()))?;
        let channel = Channel::new(own, &recipe.limits);
        let mut process = Self { child, channel };
        process.set_up(recipe).map_err(|failed| match failed {
            Failed::Late => "a worker process did not become ready in time".to_owned(),
            Failed::Broken(why) => format!("a worker process did not become ready: {why}"),
        })?;
        Ok(process)
    }

    fn set_up(&mut self, recipe: &Recipe) -> Result<(), Failed> {
        let until = clock::monotonic() + START;
        let setup = Setup {
            sources: recipe.set.sources().clone(),
            limits: recipe.limits.clone(),
            context: recipe.context.cap(),
            functions: recipe.host.functions().to_vec(),
        };
        let setup = ToWorker::Setup(Box::new(setup));
        self.channel.send(&setup, until)?;
        self.gets_ready(until)
    }

    fn gets_ready(&mut self, until: Instant) -> Result<(), Failed> {
        match self.channel.receive(until)? {
            FromWorker::Ready => Ok(()),
            FromWorker::Failed(why) => Err(Failed::Broken(why)),
            _ => Err(out_of_order()),
        }
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Whether it is there.
    pub(crate) fn lives(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it is ready for another evaluation. False if it will not be.
    pub(crate) fn cleans_up(&mut self) -> bool {
        self.gets_ready(clock::monotonic() + CLEAN).is_ok()
    }

    /// Makes one evaluation. After a failure it must not be used again.
    pub(crate) fn evaluate(&mut self, asked: &Asked<'_>) -> Result<Evaluation, Failed> {
        let began = clock::monotonic();
        let left = asked.deadline.saturating_duration_since(began);
        let job = message::job(asked.set, asked.input, left)
            .map_err(|e| Failed::Broken(e.to_string()))?;
        self.channel.send(&job, asked.end)?;
        drop(job);
        let mut lease: Option<Lease> = None;
        loop {
            match self.channel.receive(asked.end)? {
                FromWorker::Policy(index) => asked.thread.enter(index),
                FromWorker::Call {
                    function,
                    arguments,
                    object,
                } => {
                    let answer = asked.call(function, &arguments, &object)?;
                    let is_late = clock::monotonic() >= asked.deadline;
                    let answer = ToWorker::Answer { answer, is_late };
                    self.channel.send(&answer, asked.end)?;
                }
                FromWorker::Acquire => {
                    if lease.is_none() {
                        lease = asked.acquire();
                    }
                    let value = lease.as_ref().map(|lease| to_raw(&lease.value));
                    let value = value.transpose().map_err(|e| unreadable(&e))?;
                    self.channel.send(&ToWorker::Context(value), asked.end)?;
                }
                FromWorker::Store(value) => {
                    let lease = lease.as_ref().ok_or_else(out_of_order)?;
                    if value.get().len() > lease.cap() {
                        return Err(out_of_order());
                    }
                    lease.store(to_value(&value).map_err(|e| unreadable(&e))?);
                }
                FromWorker::Done(report) => {
                    let evaluation = report.evaluation(asked.set, asked.input, began);
                    return evaluation.map_err(Failed::Broken);
                }
                FromWorker::Ready | FromWorker::Failed(_) => return Err(out_of_order()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Asked<'_> {
    /// Asks the world outside, while others compute.
    fn call(
        &self,
        function: HostFunction,
        arguments: &serde_json::value::RawValue,
        object: &serde_json::value::RawValue,
    ) -> Result<Answer, Failed> {
        if !self.outside.host.functions().contains(&function) {
            return Err(out_of_order());
        }
        let Value::Array(arguments) = to_value(arguments).map_err(|e| unreadable(&e))? else {
            return Err(out_of_order());
        };
        let object = to_value(object).map_err(|e| unreadable(&e))?;
        let request = HostRequest {
            function,
            arguments: &arguments,
            object: &object,
            input: self.input,
            deadline: self.deadline,
        };
        let ask = AssertUnwindSafe(|| self.outside.host.call(&request));
        let answer = self.outside.wait(Some(self.deadline), || {
            panic::catch_unwind(ask).unwrap_or_else(|_| Err(format!("{function}: it failed")))
        });
        match answer {
            Ok(value) => to_raw(&value).map(Ok).map_err(|e| unreadable(&e)),
            Err(text) => Ok(Err(text)),
        }
    }

    /// Takes hold of the `GlobalContext`, while others compute.
    fn acquire(&self) -> Option<Lease> {
        let (number, deadline) = (self.thread.number, Some(self.deadline));
        let at_once = self.context.try_acquire(number, deadline);
        at_once.or_else(|| {
            self.outside
                .wait(deadline, || self.context.acquire(number, deadline))
        })
    }
}

fn out_of_order() -> Failed {
    Failed::Broken("a worker process broke the protocol".to_owned())
}

fn unreadable(error: &serde_json::Error) -> Failed {
    Failed::Broken(format!(
        "a worker process sent a value that can't be read: {error}"
    ))
}

/// Lets a thread that can't be ended have only the time that nobody else wants.
pub(crate) fn put_last(thread: i32) {
    if let Some(thread) = rustix::process::Pid::from_raw(thread) {
        let _ = rustix::process::setpriority_process(Some(thread), LAST);
    }
}

/// Lets a process, which is a group of its own, have less time than others. There is no way back.
pub(crate) fn put_group_back(process: u32) {
    let number = i32::try_from(process).ok();
    if let Some(group) = number.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::setpriority_pgrp(Some(group), LATER);
    }
}

/// The number by which the system knows this thread.
pub(crate) fn own_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// How much a thread has computed, where the system says it.
pub(crate) fn computed(thread: i32) -> io::Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat"))?;
    let first = text.split_whitespace().next();
    let nanoseconds = first.and_then(|n| n.parse().ok());
    let nanoseconds = nanoseconds.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Duration::from_nanos(nanoseconds))
}
