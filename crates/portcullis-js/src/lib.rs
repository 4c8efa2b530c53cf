//! JavaScript policies, evaluated in a sandbox.
//!
//! A [`PolicySet`] is checked once. A [`Pool`] runs it on a few threads, each with a *hardened
//! realm* that is used again and again: everything a policy could reach and keep is frozen, and
//! what it leaves on the global object is swept away (`docs/decisions/0005-javascript-realms.md`).
//! An evaluation gets plain JSON and gives an [`Evaluation`]: what each policy said, the decision,
//! and the object if it changed. Nothing here knows HTTP, Kubernetes or an async runtime.

mod compile;
mod convert;
mod evaluate;
mod global_context;
mod host;
mod input;
mod lazy;
mod limits;
mod outcome;
mod pool;
mod realm;
mod source;
mod state;
mod subject;
mod worker;

pub use compile::{CompileFault, PolicySet, PolicySource};
pub use global_context::GlobalContext;
pub use host::{Host, HostCall, HostFunction, HostRequest, NoHost};
pub use input::{Input, Plan};
pub use limits::{Limit, Limits};
pub use outcome::{ConsoleLine, Denial, Evaluation, Mode, Outcome, Step, Verdict};
pub use pool::{Pool, PoolError, PoolOptions};
pub use subject::{PlainSubject, Subject};
