//! Jobs counted: how many are where, and how long those in the queue have waited.

use portcullis_ci::JobCounts;
use portcullis_core::clock;
use portcullis_jobs::{JobStatus, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;

use crate::api::action::Read;
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::guard::Territory;
use crate::api::query::Query;
use crate::http::error::HttpError;

/// Ends of the classes of waiting times, in seconds.
const AGES: [u64; 6] = [60, 300, 900, 3600, 4 * 3600, 86_400];

/// Jobs that the caller may see, counted.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct JobsCounted {
    /// How many jobs have each status, in the order in which a job has them.
    statuses: Vec<StatusCount>,
    /// How long jobs have waited in the queue, the shortest first.
    waiting: Vec<AgeCount>,
    /// When the job that has waited longest was queued, in RFC 3339; `null` if none waits.
    oldest_queued_at: Option<String>,
}

/// Jobs of a status.
#[derive(Debug, Serialize, JsonSchema)]
struct StatusCount {
    /// The status.
    status: &'static str,
    /// How many.
    count: u64,
    /// Whether there may be more: the newest 5,000 of each status are counted, 100,000 of `pending` and `running`.
    at_least: bool,
}

/// Jobs in the queue by waiting time.
#[derive(Debug, Serialize, JsonSchema)]
struct AgeCount {
    /// They have waited at least so long.
    from_seconds: u64,
    /// They have waited less than that; `null` in the last class.
    to_seconds: Option<u64>,
    /// How many.
    count: u64,
}

/// `GET /api/v1/jobs/summary`
pub(super) fn summary(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        call.admit_somewhere::<Read>()?;
        let mut query = Query::of(call.head);
        let tenant = query.take("tenant")?.filter(|text| !text.is_empty());
        let project = query.take("project")?.filter(|text| !text.is_empty());
        query.done()?;
        let project = project.map(|named| call.project_named(named));
        let tenant = tenant.map(|name| call.readable_tenant(&name)).transpose()?;
        let now = Timestamp::from(clock::wall());
        let times = AGES.map(|age| now.before(Duration::from_secs(age)));
        let jobs = call.jobs_if_served().await?;
        let jobs = jobs.ok_or_else(|| HttpError::not_found("CI jobs are not served"))?;
        let counts = jobs.job_counts(times.to_vec()).await?;
        let mut known = HashMap::new();
        let mut is_meant = |path: &str| {
            let is_asked_for = project.as_deref().is_none_or(|own| own == path)
                && tenant.is_none_or(|tenant| tenant.project(path).is_some());
            is_asked_for
                && *known
                    .entry(path.to_owned())
                    .or_insert_with(|| call.may_see(Territory::Project(path)))
        };
        answer::ok(&counted(&counts, &mut is_meant))
    })
}

/// The sums over projects.
fn counted(counts: &JobCounts, is_meant: &mut dyn FnMut(&str) -> bool) -> JobsCounted {
    let statuses = JobStatus::ALL.map(|status| {
        let all = counts.jobs.iter().filter(|one| one.status == status);
        StatusCount {
            status: status.as_str(),
            count: all
                .filter(|one| is_meant(&one.project))
                .map(|one| one.count)
                .sum(),
            at_least: counts.at_least.contains(&status),
        }
    });
    let starts = std::iter::once(0).chain(AGES);
    let ends = AGES.into_iter().map(Some).chain([None]);
    let ages = starts.zip(ends).enumerate().map(|(class, (from, to))| {
        let all = counts.waiting.iter().filter(|one| one.class == class);
        AgeCount {
            from_seconds: from,
            to_seconds: to,
            count: all
                .filter(|one| is_meant(&one.project))
                .map(|one| one.count)
                .sum(),
        }
    });
    let waiting = ages.collect();
    let oldest = counts.waiting.iter().filter(|one| is_meant(&one.project));
    let oldest = oldest.map(|one| one.oldest).min();
    JobsCounted {
        statuses: statuses.into(),
        waiting,
        oldest_queued_at: oldest.map(|at| at.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_ci::{JobCount, WaitingCount};

    use super::*;

    #[test]
    fn only_projects_that_may_be_seen_count() {
        let job = |project: &str, status, count| JobCount {
            project: project.to_owned(),
            status,
            count,
        };
        let waiting = |project: &str, class, count, seconds: u64| WaitingCount {
            project: project.to_owned(),
            class,
            count,
            oldest: Timestamp::from_millis(seconds * 1000),
        };
        let counts = JobCounts {
            jobs: vec![
                job("a/p", JobStatus::Pending, 3),
                job("b/p", JobStatus::Pending, 70),
                job("a/p", JobStatus::Failed, 1),
            ],
            waiting: vec![
                waiting("a/p", 0, 2, 90),
                waiting("a/p", 6, 1, 9),
                waiting("b/p", 6, 70, 1),
            ],
            at_least: vec![JobStatus::Failed],
        };
        let shown = counted(&counts, &mut |path| path.starts_with("a/"));
        let of = |status: &str| {
            let found = shown.statuses.iter().find(|one| one.status == status);
            found.map(|one| (one.count, one.at_least)).unwrap()
        };
        assert_eq!(of("pending"), (3, false));
        assert_eq!(of("failed"), (1, true));
        let ages: Vec<u64> = shown.waiting.iter().map(|one| one.count).collect();
        assert_eq!(ages, [2, 0, 0, 0, 0, 0, 1]);
        assert_eq!(shown.waiting.last().map(|one| one.to_seconds), Some(None));
        assert_eq!(
            shown.oldest_queued_at.as_deref(),
            Some("1970-01-01T00:00:09.000Z")
        );
    }
}
