//! The admission of one attempt of a job: who was asked, what they said, and what comes next.
//!
//! [`Admission`] is stored with the job. [`Admission::advance`] takes what happened and the world as it is now,
//! and says what to do; the caller carries it out and applies the matching [`Event`](crate::Event).

mod advance;
mod decision;
mod record;
mod runner_changes;
mod state;

pub use advance::{AdmissionContext, AdmissionError, Happened, Next};
pub use decision::{AdmissionDecision, DecisionVerdict};
pub use runner_changes::{RunnerChange, runner_changes};
pub use state::{Admission, AdmissionState, AdmissionView, Judge, Link, RetryPolicy};

#[cfg(test)]
mod tests;
