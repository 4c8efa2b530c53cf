//! The archive: where pipelines and jobs are some time after they finished, with what belongs to them.
//!
//! Work is done on few rows that way, however much is kept, and retention deletes nothing row by row on PostgreSQL:
//! the archive has a partition for each day, which is dropped whole. A pipeline moves with all its jobs, so it is in
//! one place or the other, never in both; what is changed again moves back first, in the same transaction. Reading
//! looks at both places, see `find` and `list`.

mod find;
mod list;
mod moving;
mod part;
mod partitions;
mod restoring;

pub use moving::ArchivedJobs;

pub(super) use find::find;
pub(super) use list::both;
pub(super) use part::daily_tables;
pub(super) use partitions::{drop_before, ensure as ensure_day};
pub(super) use restoring::{lock_job, lock_pipeline};
