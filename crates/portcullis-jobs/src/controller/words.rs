//! The words of a controller's definition.

use portcullis_core::vocabulary;

vocabulary! {
    /// Which jobs a controller is for.
    pub enum ControllerLevel {
        /// Those of every project.
        Instance = "instance",
        /// Those of the projects in a group, at any depth.
        Group = "group",
        /// Those of one project.
        Project = "project",
    }
}

vocabulary! {
    /// What a controller may do.
    pub enum ControllerKind {
        /// Accept or deny.
        Validating = "validating",
        /// Change tags and runners, accept or deny.
        Mutating = "mutating",
        /// The same as mutating.
        Both = "both",
    }
}

impl ControllerKind {
    /// Whether it may change tags and runners.
    pub fn may_mutate(self) -> bool {
        self != Self::Validating
    }
}

vocabulary! {
    /// Whether a controller is asked, and whether its answer counts.
    pub enum ControllerState {
        /// It is asked, and its answer counts.
        Enabled = "enabled",
        /// It is asked, and its answer is only recorded.
        DryRun = "dry_run",
        /// It isn't asked.
        Disabled = "disabled",
        /// It answered 410: it isn't asked, and counts as failing until it is enabled.
        Suspended = "suspended",
    }
}

vocabulary! {
    /// What becomes of a job whose controller fails.
    pub enum FailurePolicy {
        /// It waits until the deadline, and is then denied.
        Closed = "closed",
        /// It goes on without that controller.
        Open = "open",
    }
}
