//! What has ids.

use portcullis_core::vocabulary;

vocabulary! {
    /// What has ids of its own.
    pub enum IdKind {
        /// Pipelines.
        Pipeline = "pipelines",
        /// Jobs.
        Job = "jobs",
        /// Controllers.
        Controller = "controllers",
        /// Deliveries.
        Delivery = "deliveries",
        /// Runners.
        Runner = "runners",
        /// Exemptions.
        Exemption = "exemptions",
        /// Projects.
        Project = "projects",
    }
}
