//! How the pools of these tests are started: with threads.

use std::sync::Arc;

use portcullis_js::{GlobalContext, Host, Limits, PolicySet, Pool, PoolOptions};

pub(crate) fn start(
    set: PolicySet,
    limits: Limits,
    options: PoolOptions,
    context: GlobalContext,
    host: Arc<dyn Host>,
) -> Pool {
    Pool::start(set, limits, options, context, host).unwrap()
}
