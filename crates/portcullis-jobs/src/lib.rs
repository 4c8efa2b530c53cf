//! CI jobs and their admission, as a model: nothing here waits, stores, sends, or reads a clock.

mod admission;
mod allow_failure;
mod controller;
mod exemption;
mod failure;
mod job;
mod paths;
mod pipeline;
mod runners;
mod status;
mod tags;
mod timestamp;
mod transition;
mod variables;
mod verdict;

pub use admission::{
    Admission, AdmissionContext, AdmissionDecision, AdmissionError, AdmissionState, AdmissionView,
    DecisionVerdict, Happened, Judge, Link, Next, RetryPolicy,
};
pub use allow_failure::AllowFailure;
pub use controller::{
    Controller, ControllerBody, ControllerDefinition, ControllerId, ControllerKind,
    ControllerLevel, ControllerState, FailurePolicy, MatchConditions, PolicyCode, PolicySource,
    Transport, chain,
};
pub use exemption::{Exemption, ExemptionBody, ExemptionId};
pub use failure::FailureReason;
pub use job::{JobDefinition, JobId, JobUser, JobView, PipelineId};
pub use paths::{check_path, groups_of, is_in_group, last_name};
pub use pipeline::{
    DEFAULT_STAGE, DEFAULT_STAGES, PipelineJob, PipelinePlan, UnknownStage, all_stages, plan,
};
pub use runners::{
    AccessLevel, Eligibility, Runner, RunnerFilter, RunnerId, RunnerLists, RunnerNeeds, RunnerType,
    could_ever_match, eligible_runners, is_no_runner_left, stuck_reason,
};
pub use status::{JobStatus, PipelineStatus};
pub use tags::{MOST_TAG_BYTES, MOST_TAGS, TagChange, TagFault, TagsChanged, check_tag};
pub use timestamp::Timestamp;
pub use transition::{Effect, Event, EventKind, IllegalTransition, JobState, Transition};
pub use variables::{Variable, Variables};
pub use verdict::{
    AdmissionWord, MOST_BODY_BYTES, MOST_REASON_BYTES, Verdict, VerdictFault, VerdictRules,
    check_mutation, clean_reason, decode,
};
