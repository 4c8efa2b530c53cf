//! CI jobs: pipelines, jobs, their admission, controllers, deliveries, runners and exemptions.
//!
//! What jobs do is decided in `portcullis-jobs`; here they are only stored. An *operation* loads, computes and saves
//! in one transaction, which is [`Store::jobs`](crate::Store::jobs) for one and [`JobsWriter`] for many at a time.
//! What an operation loads in order to change it stays locked until the end of its transaction, so several servers
//! can work on one PostgreSQL. To stay out of each other's way, operations lock in one order: a job first, which
//! locks its pipeline before itself, then the other jobs of the pipeline, then deliveries. Jobs past their deadline
//! are claimed in an operation of their own. Operations that still get in each other's way are run again.
//!
//! What finished moves to the *archive* after some time, and back when it is changed again; readers find it in either
//! place. The archive is partitioned by day on PostgreSQL.
//!
//! What runners send, traces and artifacts, stays in its tables, which are partitioned by day in the same way.
//!
//! For a PostgreSQL that shards, `root` is the first column of the primary keys of everything that belongs to a job, and
//! all writes name it. `controllers`, `runners`, `exemptions` and `ci_keys` are small, and copied to every node.

mod admissions;
mod ahead;
mod archive;
mod artifacts;
mod by_ids;
mod column;
mod controllers;
mod counts;
mod day;
mod deliveries;
mod draft;
mod error;
mod exemptions;
mod failures;
mod keys;
mod lane;
mod load;
mod managers;
mod operation;
mod pipelines;
mod projects;
mod queue;
mod record;
mod retention;
mod rows;
mod run;
mod runners;
mod save;
mod scope;
mod surroundings;
mod take;
mod traces;
mod transaction;
mod unit;
mod writer;

pub use ahead::WillChange;
pub use archive::ArchivedJobs;
pub use artifacts::ArtifactRecord;
pub use controllers::{ControllerRecord, ControllerSecret};
pub use counts::{JobCount, JobCounts, WaitingCount};
pub use deliveries::{AfterTry, Claimant, DeliveryFilter, DeliveryShare};
pub use draft::JobsDraft;
pub use error::JobsError;
pub use exemptions::ExemptionUses;
pub use failures::HeldManager;
pub use lane::{LaneId, LaneNeeds, QueuePlace};
pub use load::JobFilter;
pub use managers::{ManagerContact, ManagerRecord};
pub(crate) use managers::{nodes_of_hold, release_managers};
pub use pipelines::PipelineMatch;
pub use queue::{CreatedJob, LivePipelines};
pub use record::{
    DecisionRecord, Delivery, DeliveryId, DeliveryState, DeliveryTry, IdKind, JobRecord,
    PipelineRecord, Taker,
};
pub use retention::ExpiredJobs;
pub use runners::RunnerRecord;
pub use traces::{JobRun, TraceState};
pub use transaction::{JobsReader, JobsTransaction};
pub use unit::PreparedJobs;
pub use writer::JobsWriter;
