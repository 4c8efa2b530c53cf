//! Which runners could take a job before and after each controller decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::{AdmissionDecision, DecisionVerdict};
use crate::controller::ControllerLevel;
use crate::job::JobDefinition;
use crate::runners::{Runner, RunnerFilter, RunnerId, eligible_runners};

/// What the answer of one controller means for the runners that may take the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunnerChange {
    /// The name of the controller.
    pub controller: String,
    /// Its level.
    pub level: ControllerLevel,
    /// The attempt of the job.
    pub attempt: u32,
    /// Whether its answer does not count; `after` is as if it did.
    pub dry_run: bool,
    /// The runners that may take the job before it.
    pub before: Vec<RunnerId>,
    /// Those after it.
    pub after: Vec<RunnerId>,
}

/// What each answer means for these runners, in the order of the decisions. Tags count as well as lists of runners.
pub fn runner_changes(
    job: &JobDefinition,
    decisions: &[AdmissionDecision],
    runners: &[Runner],
) -> Vec<RunnerChange> {
    let eligible = |tags: &[String], filter: &RunnerFilter| {
        eligible_runners(&job.needs(tags, filter), runners)
    };
    let mut attempt = None;
    let mut filter = RunnerFilter::default();
    let mut changes = Vec::new();
    for one in decisions {
        if attempt != Some(one.attempt) {
            attempt = Some(one.attempt);
            filter = RunnerFilter::default();
        }
        let before = eligible(&one.tags_before, &filter);
        let mut restricted = filter.clone();
        if matches!(
            one.verdict,
            DecisionVerdict::Accepted | DecisionVerdict::Error
        ) {
            restricted.restrict(&one.runners);
        }
        let after = match one.dry_run {
            true => eligible(&one.tags.apply(&one.tags_before).tags, &restricted),
            false => {
                filter = restricted;
                eligible(&one.tags_after, &filter)
            }
        };
        changes.push(RunnerChange {
            controller: one.controller.clone(),
            level: one.level,
            attempt: one.attempt,
            dry_run: one.dry_run,
            before,
            after,
        });
    }
    changes
}
