//! What may happen to a job, and what follows: the closed table of transitions.
//!
//! ```text
//! created -> preparing -> pending -> running -> success, failed, canceled
//!    |           \-> failed  ^----------/ (not acknowledged)        |
//!    \-> skipped -> created (revived)     created (retried) <-------/
//! ```
//!
//! What is not in the table is an error, never ignored. Effects are values: who stores the state carries them
//! out with it.

mod event;
mod state;
mod table;

pub use event::{Effect, Event, EventKind};
pub use state::JobState;
pub use table::{IllegalTransition, Transition};
