//! How the pools of these tests are started: so that every evaluation runs in a process.

use std::sync::Arc;

use portcullis_js::{
    GlobalContext, Guard, GuardOptions, Host, Limits, PolicySet, Pool, PoolOptions, WorkerCommand,
};

/// This very program, as a process that evaluates.
pub(crate) fn command() -> WorkerCommand {
    let arguments = ["--exact", "evaluates_for_another_process", "--ignored"];
    WorkerCommand {
        program: std::env::current_exe().unwrap(),
        arguments: arguments.map(Into::into).to_vec(),
    }
}

pub(crate) fn start(
    set: PolicySet,
    limits: Limits,
    options: PoolOptions,
    context: GlobalContext,
    host: Arc<dyn Host>,
) -> Pool {
    let guard = Guard::new(GuardOptions::new(command()), None);
    guard.cover_everything();
    let pool = Pool::build(set, limits, options, context, host, guard);
    pool.begin().unwrap();
    pool
}
