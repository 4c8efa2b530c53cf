//! What a policy may ask of the world outside: a few functions, each answered by a [`Host`].
//!
//! The engine knows their names and that they may wait; what they do is the host's affair.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::input::Input;

/// A function of the world outside, by the name policies call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostFunction {
    /// `cosignVerify(keyPath)`.
    CosignVerify,
    /// `slsaVerify({SourceURI, BuilderID, ProvenancePath})`.
    SlsaVerify,
    /// `slsaEnsureComingFrom(repositories)`.
    SlsaEnsureComingFrom,
    /// `forwardToAdmissionController(url, {current}?)`.
    ForwardToAdmissionController,
    /// `$harness(...)`: how tests of policies talk with what runs them. Policies never find it.
    Harness,
}

impl HostFunction {
    /// All that policies find.
    pub const ALL: [Self; 4] = [
        Self::CosignVerify,
        Self::SlsaVerify,
        Self::SlsaEnsureComingFrom,
        Self::ForwardToAdmissionController,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CosignVerify => "cosignVerify",
            Self::SlsaVerify => "slsaVerify",
            Self::SlsaEnsureComingFrom => "slsaEnsureComingFrom",
            Self::ForwardToAdmissionController => "forwardToAdmissionController",
            Self::Harness => "$harness",
        }
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter().chain([Self::Harness]);
        all.find(|f| f.as_str() == name)
    }
}

impl fmt::Display for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One call of a policy.
#[derive(Debug, Clone, Copy)]
pub struct HostRequest<'a> {
    /// What is called.
    pub function: HostFunction,
    /// With what; what JSON can't say is null.
    pub arguments: &'a [Value],
    /// The object as the policies have left it so far.
    pub object: &'a Value,
    /// What the evaluation is about, as it came.
    pub input: &'a Input,
    /// When the answer is no longer wanted. A host gives up by itself then.
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
        &HostFunction::ALL
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

/// One call and its answer, for the record.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Name of the policy that called.
    pub policy: String,
    /// What was called.
    pub function: HostFunction,
    /// With what.
    pub arguments: Vec<Value>,
    /// What came of it.
    pub result: Result<Value, String>,
    /// When.
    pub started: Instant,
    /// How long it took.
    pub duration: Duration,
}
