//! A pipeline as it is stored.

use portcullis_jobs::{PipelineDefinition, PipelineId, PipelineOrigin, PipelineStatus, Timestamp};

use crate::database::Value;
use crate::jobs::column;

/// A pipeline, without its jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineRecord {
    /// Its number.
    pub id: PipelineId,
    /// Where it comes from; not changed when it is saved.
    pub origin: PipelineOrigin,
    /// Its stages, with the outer ones; not changed when it is saved.
    pub stages: Vec<String>,
    /// How it is.
    pub status: PipelineStatus,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
    /// How often it was saved; 0 if it is new.
    pub(in crate::jobs) version: u64,
}

impl PipelineRecord {
    /// A new pipeline.
    pub fn new(id: PipelineId, definition: &PipelineDefinition, now: Timestamp) -> Self {
        Self {
            id,
            origin: definition.origin.clone(),
            stages: definition.stages.clone(),
            status: PipelineStatus::Created,
            created_at: now,
            finished_at: None,
            version: 0,
        }
    }

    pub(in crate::jobs) fn root(&self) -> &str {
        column::root(&self.origin.project)
    }

    /// The values that change: `status`, `live` and `finished_at`.
    pub(in crate::jobs) fn changing(&self) -> [Value<'_>; 3] {
        let live = matches!(
            self.status,
            PipelineStatus::Created | PipelineStatus::Running
        );
        // Whatever is finished is deleted some day.
        let finished_at = self.finished_at.unwrap_or(self.created_at);
        [
            Value::Text(self.status.as_str()),
            column::flag(live),
            column::optional_time((!live).then_some(finished_at)),
        ]
    }
}
