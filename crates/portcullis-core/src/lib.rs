//! The vocabulary of Portcullis and the one way to decide.
//!
//! A door turns its wire into [`Attributes`], asks a [`Chain`] of [`Plugin`]s, and turns the
//! [`Verdict`] back into its wire; authorization does the same with [`Access`], an
//! [`AuthorizerChain`] and an [`AccessVerdict`]. Deciding is total: it returns a verdict, never an
//! error, whatever a plug-in does.
//!
//! This crate knows no runtime, HTTP, Kubernetes client, SQL or JavaScript, and does no I/O.
//! Start reading at [`chain`].

pub mod access;
pub mod attributes;
pub mod authorizer;
pub mod braces;
pub mod chain;
pub mod clock;
pub mod deep_stack;
pub mod document;
pub mod glob;
mod guard;
pub mod identity;
pub mod json;
mod microseconds;
pub mod patch;
pub mod percent;
pub mod plugin;
pub mod pointer;
pub mod policy_step;
pub mod sync;
pub mod system_error;
pub mod text;
pub mod trace_context;
pub mod tree;
pub mod verdict;
mod vocabulary;

pub use access::{Access, Target};
pub use attributes::{
    Attributes, CI_GROUP, CI_JOB, Door, DoorContext, Kind, Operation, Peer, PeerCertificate,
    Resource, UnixPeer, UserInfo,
};
pub use authorizer::{
    AccessVerdict, Authorizer, AuthorizerChain, AuthorizerError, Opinion, OpinionKind,
};
pub use chain::{Beyond, Chain, ChainEntry, FAILED_OPEN, FailureMode};
pub use document::{Document, DocumentError, Source};
pub use glob::Glob;
pub use identity::{AdminOf, Identity};
pub use plugin::{
    Finished, Notes, Operations, Outcome, Pending, Phases, Plugin, PluginError, Runs,
};
pub use policy_step::{
    HostCallStep, HostFunction, PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep,
};
pub use text::{is_odd, printable};
pub use trace_context::TraceContext;
pub use tree::{Look, Tree};
pub use verdict::{Cause, Decision, DecisionId, Denial, Phase, Step, StepOutcome, Verdict};
pub use vocabulary::UnknownWord;
