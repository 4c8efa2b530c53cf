//! The process that evaluates, for a parent that may kill it at any time.
//!
//! It has nothing but a socket at its standard input: no environment, no other files, no secrets but
//! those in the objects it is given. One thread reads the socket and ends the process when the other
//! side is gone, whatever the engine is doing; the other thread evaluates.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use portcullis_core::HostFunction;
use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::sync::Mutex;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;

use super::channel::{frame, receive_trusted};
use super::message::{CallResult, FromWorker, Job, Report, Setup, ToWorker, to_raw, to_value};
use crate::evaluate;
use crate::evaluation_thread::{EvaluationThread, Reporter};
use crate::global_context::{Elsewhere, GlobalContext};
use crate::host::{Host, HostRequest};
use crate::host_access::HostAccess;
use crate::limits::Limits;
use crate::policy_set::PolicySet;
use crate::realm::Realm;

/// Address space beside what evaluations may use. Allocators reserve much that they never touch.
const ADDRESS_SPACE: u64 = 8 << 30;

/// Evaluates for the process at the other end of standard input, until it is gone. Only for a
/// process that was started for that.
///
/// # Errors
///
/// When standard input is not such a socket, or no thread can be started.
pub fn serve_evaluations() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let ToWorker::Setup(setup) = receive_trusted(&stream)? else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    confine(&setup.limits);
    let (sender, inbox) = mpsc::channel();
    let link = Arc::new(Link {
        stream: stream.try_clone()?,
        inbox: Mutex::new(inbox),
    });
    let stack = setup.limits.thread_stack();
    let evaluating = thread::Builder::new()
        .name("js".to_owned())
        .stack_size(stack);
    evaluating.spawn(move || {
        let ended = panic::catch_unwind(AssertUnwindSafe(|| evaluate_all(&setup, &link)));
        leave(ended.is_err());
    })?;
    while let Ok(message) = receive_trusted::<ToWorker>(&stream) {
        if sender.send(message).is_err() {
            break;
        }
    }
    leave(false);
}

/// Ends this process, though the other thread may be anywhere.
fn leave(is_broken: bool) -> ! {
    std::process::exit(i32::from(is_broken))
}

/// Takes from this process, which evaluates for another one, what it doesn't need. What the system refuses is not
/// needed to be safe.
pub fn confine(limits: &Limits) {
    let at_most = |most: u64| Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    // An image of its memory would have objects in it.
    let _ = setrlimit(Resource::Core, at_most(0));
    let memory = u64::try_from(limits.memory).unwrap_or(u64::MAX);
    let space = memory.saturating_mul(8).saturating_add(ADDRESS_SPACE);
    let _ = setrlimit(Resource::As, at_most(space));
}

fn evaluate_all(setup: &Setup, link: &Arc<Link>) {
    let set = match PolicySet::compile(&setup.sources) {
        Ok(set) => set,
        Err(faults) => {
            let first = faults.first().map(ToString::to_string);
            let _ = link.tell(&FromWorker::Failed(first.unwrap_or_default()));
            return;
        }
    };
    let access = HostAccess {
        host: Arc::new(AwayHost {
            link: Arc::clone(link),
            functions: setup.functions.clone().leak(),
        }),
        ..HostAccess::none()
    };
    let mut engine = Engine {
        context: GlobalContext::elsewhere(setup.context, Arc::clone(link) as _),
        thread: EvaluationThread::reporting(Arc::clone(link) as _),
        access,
        set,
        limits: setup.limits.clone(),
        realm: None,
    };
    loop {
        if let Err(why) = engine.prepare() {
            let _ = link.tell(&FromWorker::Failed(why));
            return;
        }
        if link.tell(&FromWorker::Ready).is_err() {
            return;
        }
        let Some(ToWorker::Job(job)) = link.hear() else {
            return;
        };
        if engine.evaluate(&job, link).is_none() {
            return;
        }
    }
}

/// A realm and what it is made of.
struct Engine {
    set: PolicySet,
    limits: Limits,
    context: GlobalContext,
    thread: EvaluationThread,
    access: HostAccess,
    realm: Option<Realm>,
}

impl Engine {
    fn prepare(&mut self) -> Result<(), String> {
        if self.realm.is_none() {
            let thread = self.thread.clone();
            let realm = Realm::new(&self.set, &self.limits, &self.context, thread, &self.access);
            self.realm = Some(realm.map_err(|e| e.to_string())?);
        }
        Ok(())
    }

    /// Makes one evaluation; nothing if that is not possible.
    fn evaluate(&mut self, job: &Job, link: &Link) -> Option<()> {
        let began = clock::monotonic();
        let watch = Stopwatch::start();
        let input = Arc::new(job.input().ok()?);
        let realm = self.realm.take()?;
        realm.state.deadline.set(Some(began + job.left));
        let evaluation = evaluate::run(&realm, &self.set, &input, &self.limits);
        let report = Report::of(evaluation, began).ok()?;
        link.tell(&FromWorker::Done(Box::new(report))).ok()?;
        drop(input);
        if realm.clean_after(watch.elapsed()) {
            self.realm = Some(realm);
        }
        Some(())
    }
}

/// The way to the other side.
#[derive(Debug)]
struct Link {
    stream: UnixStream,
    inbox: Mutex<Receiver<ToWorker>>,
}

impl Link {
    fn tell(&self, message: &FromWorker) -> io::Result<()> {
        (&self.stream).write_all(&frame(message)?)
    }

    fn hear(&self) -> Option<ToWorker> {
        self.inbox.lock().recv().ok()
    }

    fn ask(&self, question: &FromWorker) -> Option<ToWorker> {
        self.tell(question).ok()?;
        self.hear()
    }
}

impl Reporter for Link {
    fn policy(&self, index: usize) {
        let _ = self.tell(&FromWorker::Policy(index));
    }
}

impl Elsewhere for Link {
    fn acquire(&self) -> Option<Value> {
        match self.ask(&FromWorker::Acquire)? {
            ToWorker::Context(value) => to_value(&value?).ok(),
            _ => None,
        }
    }

    fn store(&self, value: &Value) {
        if let Ok(value) = to_raw(value) {
            let _ = self.tell(&FromWorker::Store(value));
        }
    }
}

/// The host, whose calls the other side makes.
#[derive(Debug)]
struct AwayHost {
    link: Arc<Link>,
    functions: &'static [HostFunction],
}

impl AwayHost {
    fn ask(&self, request: &HostRequest<'_>) -> Option<CallResult> {
        let arguments = Value::from(request.arguments.to_vec());
        let call = FromWorker::Call {
            function: request.function,
            arguments: to_raw(&arguments).ok()?,
            object: to_raw(request.object).ok()?,
        };
        match self.link.ask(&call)? {
            ToWorker::Answer { answer, is_late } => {
                // The deadline is a little later here, by the time the request took to come.
                if is_late {
                    let left = request
                        .deadline
                        .saturating_duration_since(clock::monotonic());
                    std::thread::sleep(left);
                }
                Some(answer)
            }
            _ => None,
        }
    }
}

impl Host for AwayHost {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        let lost = || format!("{}: there is no answer", request.function);
        let answer = self.ask(request).ok_or_else(lost)??;
        to_value(&answer).map_err(|error| format!("{}: {error}", request.function))
    }

    fn functions(&self) -> &'static [HostFunction] {
        self.functions
    }
}
