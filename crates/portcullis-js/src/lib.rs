//! JavaScript policies, evaluated in a sandbox.
//!
//! A [`PolicySet`] is checked once. A [`Pool`] runs it on a few threads, each with a *hardened
//! realm* that is reused: everything a policy could reach and keep is frozen, and
//! what it leaves on the global object is removed (`docs/decisions/0005-javascript-realms.md`).
//! An evaluation takes plain JSON and returns an [`Evaluation`]: what each policy said, the decision,
//! and the object if it changed. Host calls of policies are answered by a [`Host`];
//! one that waits for it lets others compute. Nothing here knows HTTP, Kubernetes or an async runtime.

mod compile;
mod convert;
mod deferred;
mod evaluate;
mod evaluation_thread;
mod global_context;
mod guard;
mod host;
mod host_access;
mod input;
mod job;
mod key_collisions;
mod lazy;
mod lent;
mod limits;
mod outcome;
mod policy_set;
mod pool;
mod process;
mod program;
mod read_back;
mod realm;
mod replay;
mod scheduling;
mod sources;
mod state;
mod subject;
mod work_queue;
mod worker;

pub use global_context::GlobalContext;
pub use guard::{Guard, GuardEvent, GuardListener, GuardOptions, GuardStatus, WorkerCommand};
pub use host::{Host, HostRequest, NoHost};
pub use input::{Input, Plan};
pub use job::PoolError;
pub use limits::Limits;
pub use outcome::{ConsoleLine, Evaluation, PolicyDenial, PolicyVerdict};
pub use policy_set::PolicySet;
pub use pool::{Pool, PoolOptions};
pub use process::{confine, serve_evaluations};
pub use replay::{Missing, RecordedCalls, Replay, Unknown};
pub use sources::{
    CompileFault, ModuleSource, PolicyCode, PolicySource, SourceName, Sources, may_remember,
};
pub use subject::{PlainSubject, Subject};
