//! Persistent data: decisions, autoholds, states of tenants and CI jobs, in SQLite or PostgreSQL.
//!
//! Everything here blocks, so callers give it threads of their own. What a record contains, and that no
//! secret is in it, is the task of `portcullis-record`.
//!
//! `database` is the base of everything stored: a connection to either database behind
//! one small trait. `migrations` brings the tables up to date. `decisions` is what is stored about
//! decisions; `holds` and `states` are what operators set over the API, `sessions` those that were ended
//! early; `sweep` deletes what of these is over. `jobs` is everything about CI jobs. SQL is the same for both
//! databases.

mod database;
mod decisions;
mod error;
mod holds;
mod jobs;
mod location;
mod migrations;
mod sessions;
mod states;
mod store;
mod sweep;
mod times;

pub use database::Mode;
pub use decisions::{Bounds, Counted, Course, Entry, Filter, Mark, Page, Part, Retention, Tally};
pub use error::StoreError;
pub use holds::{Hold, NewHold, Placed};
pub use jobs::{
    AfterTry, ArchivedJobs, ArtifactRecord, Claimant, ControllerRecord, ControllerSecret,
    CreatedJob, DecisionRecord, Delivery, DeliveryFilter, DeliveryId, DeliveryShare, DeliveryState,
    DeliveryTry, ExemptionUses, ExpiredJobs, HeldManager, IdKind, JobCount, JobCounts, JobFilter,
    JobRecord, JobRun, JobsDraft, JobsError, JobsReader, JobsTransaction, JobsWriter, LaneId,
    LaneNeeds, LivePipelines, ManagerContact, ManagerRecord, PipelineMatch, PipelineRecord,
    PreparedJobs, QueuePlace, RunnerRecord, Taker, TraceState, WaitingCount, WillChange,
};
pub use location::Location;
pub use sessions::{EndedSessions, EndingSession};
pub use states::{StateChange, TenantState};
pub use store::Store;
pub use sweep::Swept;
