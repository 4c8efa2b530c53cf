//! Checks that compare parts of the configuration with each other, with files
//! and with what is registered, and their results.
//!
//! Each check reports everything it finds; nothing stops at the first fault.

mod access;
mod acjs;
mod admission_file;
mod authorization;
mod chain;
mod decisions;
mod graph;
mod kube;
mod listeners;
mod log;
mod managed;
mod namespaces;
mod plugin_files;
mod plugins;
mod policies;

pub(crate) use access::access;
pub(crate) use acjs::acjs_listener;
pub(crate) use authorization::authorization;
pub(crate) use chain::chain;
pub(crate) use decisions::decisions;
pub(crate) use graph::graph;
pub(crate) use kube::kube;
pub(crate) use listeners::listeners;
pub use log::LOG_FILTER_VARIABLE;
pub(crate) use log::log;
pub(crate) use namespaces::check_namespaces;
pub use policies::{
    PolicyChange, PolicyText, TestModules, holds_policies, is_policy_list, test_modules,
};
pub(super) use policies::{PolicyFile, Strictness, policies};
