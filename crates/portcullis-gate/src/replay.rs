//! Recorded requests decided again by another policy set or configuration.
//!
//! There is no second evaluator: a recorded review is read by `portcullis_kube::review` and judged by
//! [`Chain::decide`](portcullis_core::Chain::decide), as it was originally. Answers of host calls come
//! from the record; nothing is called, nothing listens. What the record doesn't have (masked values, state
//! between requests) is noticed when it is read: the result is "can't tell" then.
//!
//! ```text
//! lines -> bounded queue -> Worker, one per core (Decision -> Outcome) -> Report
//!                             |
//!                             +-> whole: a configuration decides all of it
//!                             +-> policies: only the policies are new, the rest is as recorded
//! ```

mod access;
mod apply;
mod calls;
mod compare;
mod context;
mod counted;
mod current;
mod engine;
mod facts;
mod in_force;
mod masked;
mod masks;
mod outcome;
mod outgoing;
mod policies;
mod report;
mod review;
mod trace;
mod value;
mod whole_chain;
mod worker;

pub use engine::{Line, Progress, Replay, RunError};
pub use in_force::InForce;
pub use outcome::{Answered, Change, ChangeKind, Outcome};
pub use report::{Example, Failed, Group, Report, Unclear};
pub use worker::Worker;

use portcullis_record::MASKED as MASK;

#[cfg(test)]
mod tests;
