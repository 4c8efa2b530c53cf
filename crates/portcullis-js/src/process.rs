//! Evaluations in processes that can be killed, on the side that asks.
//!
//! A process gets the policies once, then one evaluation after the other. Its host calls,
//! and its use of the `GlobalContext`, are answered by the thread that waits for it, with the same
//! code as in a thread. One that doesn't answer in time, dies, or sends invalid messages is killed.

mod channel;
mod child;
mod message;
mod pool;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{HostFunction, clock};
use serde_json::Value;

use channel::{Channel, ChannelError};
use message::{CallResult, FromWorker, Setup, ToWorker, to_raw, to_value};

pub use child::{confine, serve_evaluations};
pub(crate) use pool::{NoProcess, ProcessPool};

use crate::evaluation_thread::EvaluationThread;
use crate::global_context::{GlobalContext, Lease};
use crate::guard::WorkerCommand;
use crate::host::{Host, HostRequest};
use crate::host_access::HostAccess;
use crate::input::Input;
use crate::limits::Limits;
use crate::outcome::Evaluation;
use crate::policy_set::PolicySet;

/// How long a process may take to get ready.
const START: Duration = Duration::from_secs(20);
/// How long a process may take to clean up after an evaluation.
const CLEAN: Duration = Duration::from_secs(2);

/// What every process of a pool is made from.
#[derive(Debug)]
pub(crate) struct ProcessSpec {
    pub(crate) command: WorkerCommand,
    pub(crate) set: PolicySet,
    pub(crate) limits: Limits,
    pub(crate) context: GlobalContext,
    pub(crate) host: Arc<dyn Host>,
}

/// What one evaluation is about, and who answers for it.
#[derive(Debug)]
pub(crate) struct EvaluationRequest<'a> {
    pub(crate) set: &'a PolicySet,
    pub(crate) input: &'a Arc<Input>,
    pub(crate) deadline: Instant,
    /// When it is over at the latest.
    pub(crate) end: Instant,
    pub(crate) thread: &'a EvaluationThread,
    pub(crate) access: &'a HostAccess,
    pub(crate) context: &'a GlobalContext,
}

/// Why a process gave no evaluation.
#[derive(Debug)]
pub(crate) enum ProcessError {
    /// It did not answer in time.
    Late,
    /// It ended, or said what makes no sense.
    Broken(String),
}

impl From<ChannelError> for ProcessError {
    fn from(broken: ChannelError) -> Self {
        match broken {
            ChannelError::Late => Self::Late,
            ChannelError::Gone(why) => Self::Broken(why),
        }
    }
}

impl WorkerCommand {
    /// Starts a process that has nothing but one end of a socket, at its standard input. The other end is for the
    /// caller, who sees to it that the process ends.
    ///
    /// # Errors
    ///
    /// When it can't be started.
    pub fn start(&self) -> Result<(Child, UnixStream), String> {
        let (own, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
        let spawned = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to the server is not for it.
            .process_group(0)
            .spawn();
        let child = spawned.map_err(|e| format!("{}: {e}", self.program.display()))?;
        Ok((child, own))
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
    pub(crate) fn start(spec: &ProcessSpec) -> Result<Self, String> {
        let (child, own) = spec.command.start()?;
        let channel = Channel::new(own, &spec.limits);
        let mut process = Self { child, channel };
        process.set_up(spec).map_err(|failed| match failed {
            ProcessError::Late => "a worker process did not become ready in time".to_owned(),
            ProcessError::Broken(why) => format!("a worker process did not become ready: {why}"),
        })?;
        Ok(process)
    }

    fn set_up(&mut self, spec: &ProcessSpec) -> Result<(), ProcessError> {
        let until = clock::monotonic() + START;
        let setup = Setup {
            sources: spec.set.sources().clone(),
            limits: spec.limits.clone(),
            context: spec.context.cap(),
            functions: spec.host.functions().to_vec(),
        };
        let setup = ToWorker::Setup(Box::new(setup));
        self.channel.send(&setup, until)?;
        self.gets_ready(until)
    }

    fn gets_ready(&mut self, until: Instant) -> Result<(), ProcessError> {
        match self.channel.receive(until)? {
            FromWorker::Ready => Ok(()),
            FromWorker::Failed(why) => Err(ProcessError::Broken(why)),
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
    pub(crate) fn evaluate(
        &mut self,
        request: &EvaluationRequest<'_>,
    ) -> Result<Evaluation, ProcessError> {
        let began = clock::monotonic();
        let left = request.deadline.saturating_duration_since(began);
        let job = message::job(request.set, request.input, left)
            .map_err(|e| ProcessError::Broken(e.to_string()))?;
        self.channel.send(&job, request.end)?;
        drop(job);
        let mut lease: Option<Lease> = None;
        loop {
            match self.channel.receive(request.end)? {
                FromWorker::Policy(index) => request.thread.enter(index),
                FromWorker::Call {
                    function,
                    arguments,
                    object,
                } => {
                    let answer = request.call(function, &arguments, &object)?;
                    let is_late = clock::monotonic() >= request.deadline;
                    let answer = ToWorker::Answer { answer, is_late };
                    self.channel.send(&answer, request.end)?;
                }
                FromWorker::Acquire => {
                    if lease.is_none() {
                        lease = request.acquire();
                    }
                    let value = lease.as_ref().map(|lease| to_raw(&lease.value));
                    let value = value.transpose().map_err(|e| unreadable(&e))?;
                    self.channel.send(&ToWorker::Context(value), request.end)?;
                }
                FromWorker::Store(value) => {
                    let lease = lease.as_ref().ok_or_else(out_of_order)?;
                    if value.get().len() > lease.cap() {
                        return Err(out_of_order());
                    }
                    lease.store(to_value(&value).map_err(|e| unreadable(&e))?);
                }
                FromWorker::Done(report) => {
                    let evaluation = report.evaluation(request.set, request.input, began);
                    return evaluation.map_err(ProcessError::Broken);
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

impl EvaluationRequest<'_> {
    /// Makes a host call, while others compute.
    fn call(
        &self,
        function: HostFunction,
        arguments: &serde_json::value::RawValue,
        object: &serde_json::value::RawValue,
    ) -> Result<CallResult, ProcessError> {
        if !self.access.host.functions().contains(&function) {
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
            original: &self.input.object,
            subject: self.input.subject.as_ref(),
            deadline: self.deadline,
        };
        let ask = AssertUnwindSafe(|| self.access.host.call(&request));
        let answer = self.access.wait(Some(self.deadline), || {
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
            self.access
                .wait(deadline, || self.context.acquire(number, deadline))
        })
    }
}

fn out_of_order() -> ProcessError {
    ProcessError::Broken("a worker process broke the protocol".to_owned())
}

fn unreadable(error: &serde_json::Error) -> ProcessError {
    ProcessError::Broken(format!(
        "a worker process sent a value that can't be read: {error}"
    ))
}
