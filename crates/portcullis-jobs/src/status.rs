//! The states of jobs and pipelines. Which state follows which is in [`crate::transition`].

use portcullis_core::vocabulary;

vocabulary! {
    /// Where a job is.
    pub enum JobStatus {
        /// Known, waiting for its stage.
        Created = "created",
        /// Waiting for its prerequisites, of which admission is one.
        Preparing = "preparing",
        /// In the queue: runners may take it.
        Pending = "pending",
        /// A runner has it.
        Running = "running",
        /// Finished well.
        Success = "success",
        /// Finished badly, or denied; the failure reason says why.
        Failed = "failed",
        /// Stopped by a user.
        Canceled = "canceled",
        /// Never started, because an earlier stage failed.
        Skipped = "skipped",
    }
}

impl JobStatus {
    /// Whether nothing happens to the job any more unless it is retried or revived.
    pub fn is_finished(self) -> bool {
        matches!(
            self,
            Self::Success | Self::Failed | Self::Canceled | Self::Skipped
        )
    }
}

vocabulary! {
    /// Where a pipeline is.
    pub enum PipelineStatus {
        /// No job has started.
        Created = "created",
        /// Some job is yet to finish.
        Running = "running",
        /// Every job succeeded, or was allowed to fail.
        Success = "success",
        /// A job failed that wasn't allowed to.
        Failed = "failed",
        /// A job was canceled, and none failed.
        Canceled = "canceled",
    }
}
