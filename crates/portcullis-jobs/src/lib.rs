//! CI jobs and their admission, as a model: nothing here waits, stores, sends, or reads a clock.
//!
//! ```text
//! body or file -> read_job, read_pipeline, read_ci_file -> JobDefinition
//! plan_pipeline -> Event::Prepare -> JobState::apply -> effects
//! controller_chain -> Admission::advance -> Next -> Event -> JobState::apply -> effects
//! body of an answer -> classify_answer -> decode_verdict -> Happened::Answered -> Admission::advance
//! ```
//!
//! [`Job`] is what a store keeps of a job, and [`JobDetails`] what the API shows of it. Times and random
//! numbers are arguments; what is wrong with a submission is a list of `Fault`s with paths.

mod admission;
mod allow_failure;
mod controller;
mod delivery;
mod exemption;
mod expiry;
mod failure;
mod job;
mod paths;
mod payload;
mod pipeline;
mod prerequisites;
mod record;
mod runner_payload;
mod runners;
mod schema;
mod status;
mod submission;
mod tags;
mod timestamp;
mod transition;
mod variables;
mod verdict;
mod work;

pub use admission::{
    Admission, AdmissionContext, AdmissionDecision, AdmissionError, AdmissionState, AdmissionView,
    DecisionVerdict, Happened, Judge, Link, Next, RetryPolicy, RunnerChange, runner_changes,
};
pub use allow_failure::AllowFailure;
pub use controller::{
    Controller, ControllerBody, ControllerDefinition, ControllerId, ControllerKind,
    ControllerLevel, ControllerState, FailurePolicy, MatchConditions, PolicyCode, PolicySource,
    Transport, controller_chain,
};
pub use delivery::{
    Answer, Breaker, BreakerState, Permission, TokenBucket, classify_answer, next_try,
    read_retry_after,
};
pub use exemption::{Exemption, ExemptionBody, ExemptionId};
pub use expiry::{Expiry, read_expiry};
pub use failure::FailureReason;
pub use job::{JobDefinition, JobId, JobUser, JobView, PipelineId};
pub use paths::{check_path, groups_of, is_in_group, last_name};
pub use payload::{
    PAYLOAD_VERSION, PayloadEntry, is_predefined_name, mutation_of_object, policy_object,
    predefined_variables, visible_variables,
};
pub use pipeline::{
    DEFAULT_STAGE, DEFAULT_STAGES, PipelineJob, PipelinePlan, UnknownStage, all_stages,
    plan_pipeline,
};
pub use prerequisites::{Prerequisite, PrerequisiteState, Prerequisites};
pub use record::{Job, JobDetails};
pub use runner_payload::{Dependency, DependencyFile, RunnerPayload, TakenBy};
pub use runners::{
    AccessLevel, Eligibility, Requirement, RequirementCheck, Runner, RunnerFilter, RunnerId,
    RunnerLists, RunnerNeeds, RunnerType, could_ever_match, eligible_runners, is_no_runner_left,
    stuck_reason,
};
pub use status::{JobStatus, PipelineStatus};
pub use submission::{
    DEFAULT_PIPELINE, JobBody, PipelineBody, PipelineDefinition, PipelineOrigin, read_ci_file,
    read_job, read_pipeline,
};
pub use tags::{MOST_TAG_BYTES, MOST_TAGS, TagChange, TagFault, TagsChanged, check_tag};
pub use timestamp::Timestamp;
pub use transition::{Effect, Event, EventKind, IllegalTransition, JobState, Transition};
pub use variables::{Variable, Variables};
pub use verdict::{
    AdmissionWord, MOST_BODY_BYTES, MOST_REASON_BYTES, Verdict, VerdictFault, VerdictRules,
    check_mutation, clean_reason, decode_verdict,
};
pub use work::{Artifacts, Cache, CachePolicy, JobWork, SaveWhen};

#[cfg(test)]
mod tests;
