//! CI jobs: pipelines, jobs, their admission, controllers, deliveries, runners and exemptions.
//!
//! What jobs do is decided in `portcullis-jobs`; here they are only stored. An *operation* loads, computes and saves
//! in one transaction, which is [`Store::jobs`](crate::Store::jobs) for one and [`JobsWriter`] for many at a time.
//! What an operation loads in order to change it stays locked until the end of its transaction, so several servers
//! can work on one PostgreSQL. To stay out of each other's way, operations lock in one order: a job first, which
//! locks its pipeline before itself, then the other jobs of the pipeline, then deliveries. Jobs past their deadline
//! are claimed in an operation of their own. Operations that still get in each other's way are run again.
//!
//! To scale further on PostgreSQL, without a change here:
//! - *Sharding*: `root` is the first column of the primary keys of everything that belongs to a job, and all writes
//!   name it. `controllers`, `runners`, `exemptions` and `ci_keys` are small, and copied to every node.
//! - *Partitioning by time*: ids grow with time, and are a part of those primary keys. So `pipelines`, `jobs` and
//!   `deliveries` can be partitioned by ranges of `id`, and `admission_decisions` by ranges of `job`; old partitions
//!   are dropped where [`JobsTransaction::delete_finished`] would delete row by row. The unique index of callback
//!   tokens is then one for each partition, which is enough: tokens are unique by how they are made.

mod admissions;
mod column;
mod controllers;
mod counts;
mod deliveries;
mod error;
mod exemptions;
mod keys;
mod load;
mod operation;
mod pipelines;
mod record;
mod retention;
mod run;
mod runners;
mod save;
mod scope;
mod transaction;
mod writer;

pub use admissions::DecisionRecord;
pub use controllers::{ControllerRecord, ControllerSecret};
pub use deliveries::{
    AfterTry, Claimant, Delivery, DeliveryFilter, DeliveryId, DeliveryShare, DeliveryState,
    DeliveryTry,
};
pub use error::JobsError;
pub use load::JobFilter;
pub use pipelines::{PipelineMatch, PipelineRecord};
pub use record::JobRecord;
pub use retention::DeletedJobs;
pub use runners::RunnerRecord;
pub use transaction::{IdKind, JobsReader, JobsTransaction};
pub use writer::JobsWriter;
