//! A job as the runner that took it gets it: the body of the 201 of `POST /api/v4/jobs/request`.
//!
//! Runners of ten years read it. What some require is always there, `run` never is, and what they don't know they
//! ignore.

mod body;
mod git;
mod taken_by;
mod variables;

pub use body::{Dependency, DependencyFile, RunnerPayload};
pub use taken_by::TakenBy;

#[cfg(test)]
mod tests;
