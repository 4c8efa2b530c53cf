//! Why a job failed.

use portcullis_core::vocabulary;

vocabulary! {
    /// Why a job failed: those of admission, then GitLab's.
    pub enum FailureReason {
        /// A controller or policy denied it.
        AdmissionDenied = "admission_denied",
        /// The deadline passed before every controller had answered.
        AdmissionTimeout = "admission_timeout",
        /// The runner lists of the verdicts leave no registered runner.
        AdmissionNoRunner = "admission_no_runner",
        /// Its script exited with another code than 0.
        ScriptFailure = "script_failure",
        /// The runner failed.
        RunnerSystemFailure = "runner_system_failure",
        /// It ran longer than its timeout.
        JobExecutionTimeout = "job_execution_timeout",
        /// No runner took it in time, or its runner was lost.
        StuckOrTimeoutFailure = "stuck_or_timeout_failure",
        /// No reason is known.
        UnknownFailure = "unknown_failure",
        /// The API of the server failed.
        ApiFailure = "api_failure",
        /// A job it depends on has no artifacts.
        MissingDependencyFailure = "missing_dependency_failure",
        /// The runner is too old for it.
        RunnerUnsupported = "runner_unsupported",
        /// It was scheduled for a time that has passed.
        StaleSchedule = "stale_schedule",
        /// It is archived.
        ArchivedFailure = "archived_failure",
        /// A prerequisite other than admission failed.
        UnmetPrerequisites = "unmet_prerequisites",
        /// The scheduler failed.
        SchedulerFailure = "scheduler_failure",
        /// Its data is inconsistent.
        DataIntegrityFailure = "data_integrity_failure",
        /// A newer deployment was first.
        ForwardDeploymentFailure = "forward_deployment_failure",
        /// Its user is blocked.
        UserBlocked = "user_blocked",
        /// Its project is deleted.
        ProjectDeleted = "project_deleted",
        /// The quota is used up.
        CiQuotaExceeded = "ci_quota_exceeded",
        /// Pipelines start each other in a loop.
        PipelineLoopDetected = "pipeline_loop_detected",
        /// Its trace is too large.
        TraceSizeExceeded = "trace_size_exceeded",
        /// The project has CI switched off.
        BuildsDisabled = "builds_disabled",
        /// Its environment could not be created.
        EnvironmentCreationFailure = "environment_creation_failure",
        /// Its deployment was rejected.
        DeploymentRejected = "deployment_rejected",
        /// Its environment is protected.
        ProtectedEnvironmentFailure = "protected_environment_failure",
        /// Its address isn't allowed.
        IpRestrictionFailure = "ip_restriction_failure",
        /// GitLab's job router rejected it.
        JobRouterFailure = "job_router_failure",
        /// Its image could not be pulled.
        ImagePullFailure = "image_pull_failure",
        /// Its configuration is invalid for the runner.
        ConfigurationError = "configuration_error",
    }
}

impl FailureReason {
    /// Whether the job failed in admission: timeouts and missing runners count as denied.
    pub fn is_denied_admission(self) -> bool {
        matches!(
            self,
            Self::AdmissionDenied | Self::AdmissionTimeout | Self::AdmissionNoRunner
        )
    }

    /// The reason for what a runner reports. Reasons that only the server can have, and unknown words, are
    /// `unknown_failure`; no reason at all is a failed script.
    pub fn reported(word: Option<&str>) -> Self {
        match word {
            None | Some("") => Self::ScriptFailure,
            Some(word) => word
                .parse()
                .ok()
                .filter(|reason: &Self| reason.is_reported_by_runners())
                .unwrap_or(Self::UnknownFailure),
        }
    }

    /// Whether runners may report it.
    pub fn is_reported_by_runners(self) -> bool {
        matches!(
            self,
            Self::ScriptFailure
                | Self::RunnerSystemFailure
                | Self::JobExecutionTimeout
                | Self::UnknownFailure
                | Self::ApiFailure
                | Self::MissingDependencyFailure
                | Self::RunnerUnsupported
                | Self::ImagePullFailure
                | Self::ConfigurationError
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_report_only_reasons_of_their_own() {
        for (word, reason) in [
            (None, FailureReason::ScriptFailure),
            (Some(""), FailureReason::ScriptFailure),
            (
                Some("runner_system_failure"),
                FailureReason::RunnerSystemFailure,
            ),
            (Some("admission_denied"), FailureReason::UnknownFailure),
            (Some("job_canceled"), FailureReason::UnknownFailure),
        ] {
            assert_eq!(FailureReason::reported(word), reason, "{word:?}");
        }
    }

    #[test]
    fn denial_timeout_and_no_runner_are_denied_admission() {
        let denied = FailureReason::ALL
            .into_iter()
            .filter(|reason| reason.is_denied_admission());
        let words: Vec<&str> = denied.map(FailureReason::as_str).collect();
        assert_eq!(
            words,
            [
                "admission_denied",
                "admission_timeout",
                "admission_no_runner"
            ]
        );
    }
}
