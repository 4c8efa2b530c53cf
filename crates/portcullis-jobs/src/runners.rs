//! Runners: what is registered, which of them verdicts leave, and which may take a job.
//!
//! The order in which a runner gets jobs is a matter of the queue, not of this module.

mod filter;
mod lists;
mod matching;
mod record;

pub use filter::RunnerFilter;
pub use lists::RunnerLists;
pub(crate) use lists::read_id;
pub use matching::{
    Eligibility, Requirement, RequirementCheck, RunnerNeeds, could_ever_match, eligible_runners,
    is_no_runner_left, stuck_reason,
};
pub use record::{AccessLevel, Runner, RunnerId, RunnerType};
