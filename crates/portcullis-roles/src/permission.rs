//! Permissions, and their conditions.

use std::fmt;

/// Something a role may permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Permission {
    /// See a tenant, or the root of the API.
    Read,
    /// Place and release holds.
    Autohold,
    /// Run a pipeline again.
    Enqueue,
    /// Cancel what a pipeline runs.
    Dequeue,
    /// Move changes to the front.
    Promote,
    /// Pause and resume a tenant.
    TenantState,
    /// Submit jobs.
    SubmitJob,
    /// Run a job again.
    RetryJob,
    /// Cancel a job.
    CancelJob,
    /// Add, change and remove admission controllers.
    ManageControllers,
    /// Add, change and remove runners.
    ManageRunners,
    /// Grant and revoke exemptions.
    ManageExemptions,
    /// End sessions of others.
    ManageSessions,
    /// Read the decision log.
    ReadDecisions,
    /// Look at the relationship graph.
    ReadGraph,
    /// Try policies.
    Playground,
}

/// Something about a request that a permission may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// The project.
    Project,
    /// The pipeline.
    Pipeline,
    /// The git reference.
    Ref,
    /// The change, like `12,1`.
    Change,
    /// The name of the job.
    Job,
    /// The name of the admission controller.
    Controller,
}

impl Permission {
    /// All of them. The role `admin` has each, also those that are added here later.
    pub const ALL: &'static [Self] = &[
        Self::Read,
        Self::Autohold,
        Self::Enqueue,
        Self::Dequeue,
        Self::Promote,
        Self::TenantState,
        Self::SubmitJob,
        Self::RetryJob,
        Self::CancelJob,
        Self::ManageControllers,
        Self::ManageRunners,
        Self::ManageExemptions,
        Self::ManageSessions,
        Self::ReadDecisions,
        Self::ReadGraph,
        Self::Playground,
    ];

    /// Its name in roles and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Autohold => "autohold",
            Self::Enqueue => "enqueue",
            Self::Dequeue => "dequeue",
            Self::Promote => "promote",
            Self::TenantState => "tenant-state",
            Self::SubmitJob => "submit-job",
            Self::RetryJob => "retry-job",
            Self::CancelJob => "cancel-job",
            Self::ManageControllers => "manage-controllers",
            Self::ManageRunners => "manage-runners",
            Self::ManageExemptions => "manage-exemptions",
            Self::ManageSessions => "manage-sessions",
            Self::ReadDecisions => "read-decisions",
            Self::ReadGraph => "read-graph",
            Self::Playground => "playground",
        }
    }

    /// The permission of this name; `set-tenant-state` is another name of `tenant-state`.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "set-tenant-state" {
            return Some(Self::TenantState);
        }
        Self::ALL.iter().copied().find(|p| p.name() == name)
    }

    /// What it may depend on.
    pub fn conditions(self) -> &'static [Condition] {
        use Condition::{Change, Controller, Job, Pipeline, Project, Ref};
        match self {
            Self::Enqueue | Self::Dequeue => &[Project, Pipeline, Ref, Change],
            Self::Promote => &[Pipeline],
            Self::Autohold => &[Project, Job, Ref],
            Self::SubmitJob | Self::RetryJob | Self::CancelJob => &[Project, Ref, Job],
            Self::ManageControllers | Self::ManageExemptions => &[Project, Controller],
            Self::ManageRunners | Self::ReadDecisions => &[Project],
            Self::Read
            | Self::TenantState
            | Self::ManageSessions
            | Self::ReadGraph
            | Self::Playground => &[],
        }
    }
}

impl Condition {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Project,
        Self::Pipeline,
        Self::Ref,
        Self::Change,
        Self::Job,
        Self::Controller,
    ];

    /// Its name in roles and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Pipeline => "pipeline",
            Self::Ref => "ref",
            Self::Change => "change",
            Self::Job => "job",
            Self::Controller => "controller",
        }
    }

    /// The condition of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
