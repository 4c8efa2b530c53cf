//! CI jobs and their admission, as a model: nothing here waits, stores, sends, or reads a clock.

mod allow_failure;
mod failure;
mod paths;
mod runners;
mod status;
mod tags;
mod timestamp;
mod verdict;

pub use allow_failure::AllowFailure;
pub use failure::FailureReason;
pub use paths::{check_path, groups_of, is_in_group, last_name};
pub use runners::{
    AccessLevel, Eligibility, Runner, RunnerFilter, RunnerId, RunnerLists, RunnerNeeds, RunnerType,
    could_ever_match, eligible_runners, is_no_runner_left, stuck_reason,
};
pub use status::{JobStatus, PipelineStatus};
pub use tags::{MOST_TAG_BYTES, MOST_TAGS, TagChange, TagFault, TagsChanged, check_tag};
pub use timestamp::Timestamp;
pub use verdict::{
    AdmissionWord, MOST_BODY_BYTES, MOST_REASON_BYTES, Verdict, VerdictFault, VerdictRules,
    check_mutation, clean_reason, decode,
};
