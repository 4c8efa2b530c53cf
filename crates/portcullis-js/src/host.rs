//! Host calls of a policy: a few functions, each answered by a [`Host`].
//!
//! The engine knows that they may wait; what they do is up to the host.

use std::fmt;
use std::time::Instant;

use portcullis_core::{HostFunction, Tree};
use serde_json::Value;

use crate::subject::Subject;

/// One call of a policy.
#[derive(Debug, Clone, Copy)]
pub struct HostRequest<'a> {
    /// What is called.
    pub function: HostFunction,
    /// With what; what JSON can't say is null.
    pub arguments: &'a [Value],
    /// The object as the policies have left it so far.
    pub object: &'a Value,
    /// The object as it came; null where there is none.
    pub original: &'a Tree,
    /// The request the evaluation is about.
    pub subject: &'a dyn Subject,
    /// When the answer is no longer needed. A host gives up by itself then.
    pub deadline: Instant,
}

/// Answers the calls of policies. Called on an evaluation thread, which it may block until the
/// deadline of the request and no longer.
pub trait Host: Send + Sync + fmt::Debug {
    /// Answers one call. An error is thrown to the policy with this text.
    ///
    /// # Errors
    ///
    /// Whenever the answer is not known for sure.
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String>;

    /// The functions that are there to be called.
    fn functions(&self) -> &'static [HostFunction] {
        &HostFunction::FOR_POLICIES
    }
}

/// A host that answers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        Err(format!("{} is not available here", request.function))
    }
}
