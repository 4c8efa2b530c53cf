//! Stages: which jobs of a pipeline may start, which are skipped or revived, and how the pipeline is.

use serde::{Deserialize, Serialize};

use crate::job::JobId;
use crate::status::{JobStatus, PipelineStatus};

/// The stages of a pipeline that names none.
pub const DEFAULT_STAGES: &[&str] = &["build", "test", "deploy"];
/// The stage of a job that names none.
pub const DEFAULT_STAGE: &str = "test";
/// The stages every pipeline has before and after its own.
const OUTER_STAGES: [&str; 2] = [".pre", ".post"];

/// A job, as far as its pipeline is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineJob {
    /// Its number.
    pub id: JobId,
    /// Its stage.
    pub stage: String,
    /// Where it is.
    pub status: JobStatus,
    /// Whether it failed, and that is allowed.
    pub allowed_to_fail: bool,
}

/// What is to be done in a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelinePlan {
    /// How the pipeline is; what is to start counts as running.
    pub status: PipelineStatus,
    /// Created jobs whose stage has come.
    pub start: Vec<JobId>,
    /// Created jobs that never start, because an earlier stage failed.
    pub skip: Vec<JobId>,
    /// Skipped jobs that may start after all, because the failed job is retried.
    pub revive: Vec<JobId>,
}

/// A job in a stage that isn't listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("job {job}: unknown stage `{stage}`: expected one of {}", stages.join(", "))]
pub struct UnknownStage {
    /// The job.
    pub job: JobId,
    /// Its stage.
    pub stage: String,
    /// The stages there are.
    pub stages: Vec<String>,
}

/// The stages of a pipeline with the outer ones; the default ones if it names none.
pub fn all_stages(named: &[String]) -> Vec<String> {
    let [pre, post] = OUTER_STAGES;
    let named: Vec<&str> = match named {
        [] => DEFAULT_STAGES.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let inner = named.into_iter().filter(|s| !OUTER_STAGES.contains(s));
    std::iter::once(pre)
        .chain(inner)
        .chain([post])
        .map(str::to_owned)
        .collect()
}

/// What is to be done in a pipeline with these stages and jobs.
///
/// A stage starts when every job of the earlier ones has succeeded or was allowed to fail. When an earlier stage
/// is finished and one of its jobs wasn't, the jobs after it are skipped; while it isn't finished, because a
/// job of it is retried, they are only waiting.
///
/// # Errors
///
/// A job in a stage that isn't listed.
pub fn plan_pipeline(
    stages: &[String],
    jobs: &[PipelineJob],
) -> Result<PipelinePlan, UnknownStage> {
    let stages = all_stages(stages);
    if let Some(job) = jobs.iter().find(|job| !stages.contains(&job.stage)) {
        return Err(UnknownStage {
            job: job.id,
            stage: job.stage.clone(),
            stages,
        });
    }
    let mut plan = PipelinePlan {
        status: PipelineStatus::Created,
        start: Vec::new(),
        skip: Vec::new(),
        revive: Vec::new(),
    };
    let mut before = Before::Passed;
    for stage in &stages {
        let here: Vec<&PipelineJob> = jobs.iter().filter(|job| job.stage == *stage).collect();
        for job in &here {
            match (job.status, before) {
                (JobStatus::Created, Before::Passed) => plan.start.push(job.id),
                (JobStatus::Created, Before::Failed) => plan.skip.push(job.id),
                (JobStatus::Skipped, Before::Passed | Before::Live) => plan.revive.push(job.id),
                _ => {}
            }
        }
        if before == Before::Passed {
            before = outcome(&here);
        }
    }
    plan.status = status(jobs, &plan);
    Ok(plan)
}

/// How the stages before one are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Passed,
    /// Some job is yet to finish.
    Live,
    /// All are finished, one of them badly.
    Failed,
}

fn outcome(jobs: &[&PipelineJob]) -> Before {
    // A skipped job in a stage that has come is about to be revived.
    let is_live =
        |job: &&PipelineJob| !job.status.is_finished() || job.status == JobStatus::Skipped;
    let is_bad = |job: &&PipelineJob| is_failed(job) || job.status == JobStatus::Canceled;
    if jobs.iter().any(is_live) {
        Before::Live
    } else if jobs.iter().any(is_bad) {
        Before::Failed
    } else {
        Before::Passed
    }
}

fn is_failed(job: &PipelineJob) -> bool {
    job.status == JobStatus::Failed && !job.allowed_to_fail
}

fn status(jobs: &[PipelineJob], plan: &PipelinePlan) -> PipelineStatus {
    let is_live = |job: &PipelineJob| !job.status.is_finished() && !plan.skip.contains(&job.id);
    let any = |status| jobs.iter().any(|job| job.status == status);
    if !jobs.is_empty() && jobs.iter().all(|job| job.status == JobStatus::Created) {
        PipelineStatus::Created
    } else if jobs.iter().any(is_live) || !plan.revive.is_empty() {
        PipelineStatus::Running
    } else if jobs.iter().any(is_failed) {
        PipelineStatus::Failed
    } else if any(JobStatus::Canceled) {
        PipelineStatus::Canceled
    } else {
        PipelineStatus::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages() -> Vec<String> {
        ["build", "test", "deploy"].map(str::to_owned).to_vec()
    }

    /// Jobs numbered from 1, as `stage:status`, with `!` after an allowed failure.
    fn jobs(text: &str) -> Vec<PipelineJob> {
        let job = |(index, word): (usize, &str)| {
            let (stage, status) = word.trim_end_matches('!').split_once(':').unwrap();
            PipelineJob {
                id: index as u64 + 1,
                stage: stage.to_owned(),
                status: status.parse().unwrap(),
                allowed_to_fail: word.ends_with('!'),
            }
        };
        text.split_whitespace().enumerate().map(job).collect()
    }

    #[test]
    fn stages_follow_each_other() {
        use PipelineStatus::{Canceled, Created, Failed, Running, Success};
        for (text, status, start, skip, revive) in [
            ("", Success, &[][..], &[][..], &[][..]),
            ("test:created build:created", Created, &[2], &[], &[]),
            ("build:success test:created", Running, &[2], &[], &[]),
            ("build:running test:created", Running, &[], &[], &[]),
            ("build:success deploy:created", Running, &[2], &[], &[]),
            ("build:success test:success", Success, &[], &[], &[]),
            // A failure that isn't allowed, and one that is (case 34).
            (
                "build:failed test:created deploy:created",
                Failed,
                &[],
                &[2, 3],
                &[],
            ),
            ("build:failed! test:created", Running, &[2], &[], &[]),
            ("build:failed! test:success", Success, &[], &[], &[]),
            // The rest of the stage goes on.
            (
                "build:failed build:running test:created",
                Running,
                &[],
                &[],
                &[],
            ),
            (
                "build:failed test:skipped deploy:skipped",
                Failed,
                &[],
                &[],
                &[],
            ),
            ("build:canceled test:created", Canceled, &[], &[2], &[]),
            ("build:canceled build:failed", Failed, &[], &[], &[]),
            // A retried job revives what was skipped; also what is next, if it passed.
            (
                "build:created test:skipped deploy:skipped",
                Running,
                &[1],
                &[],
                &[2, 3],
            ),
            ("build:pending test:skipped", Running, &[], &[], &[2]),
            (
                "build:success test:skipped deploy:skipped",
                Running,
                &[],
                &[],
                &[2, 3],
            ),
            (
                "build:failed build:preparing test:skipped",
                Running,
                &[],
                &[],
                &[3],
            ),
            (
                ".pre:created build:created .post:created",
                Created,
                &[1],
                &[],
                &[],
            ),
            (
                ".pre:success build:success .post:created",
                Running,
                &[3],
                &[],
                &[],
            ),
        ] {
            let plan = plan_pipeline(&stages(), &jobs(text)).unwrap();
            assert_eq!(plan.status, status, "{text}");
            assert_eq!(plan.start, start, "{text}");
            assert_eq!(plan.skip, skip, "{text}");
            assert_eq!(plan.revive, revive, "{text}");
        }
    }

    #[test]
    fn a_stage_that_is_not_listed_is_an_error() {
        let error = plan_pipeline(&stages(), &jobs("lint:created")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "job 1: unknown stage `lint`: expected one of .pre, build, test, deploy, .post"
        );
        assert!(plan_pipeline(&[], &jobs("build:created")).is_ok());
        assert!(plan_pipeline(&["lint".to_owned()], &jobs("build:created")).is_err());
    }
}
