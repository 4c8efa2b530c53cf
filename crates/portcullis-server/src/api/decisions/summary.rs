//! Decisions counted over a time: what pages draw, and dashboards without a metrics server show.

use std::time::{Duration, SystemTime};

use portcullis_core::clock;
use portcullis_jobs::Timestamp;
use portcullis_store::{Bounds, Counted, Course, Filter, Part, Tally};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ReadDecisions, filter, unread};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::query::Query;
use crate::http::error::HttpError;

/// How long ago counting begins unless said.
const DAY: Duration = Duration::from_secs(86_400);
/// Parts unless said.
const PARTS: u64 = 48;
/// Parts at most.
pub(super) const MOST: u64 = 200;

/// Decisions of a time, counted.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct DecisionSummary {
    /// Where the first bucket begins, in RFC 3339.
    since: String,
    /// Where the last one ends.
    until: String,
    /// How long a bucket is; the last one may be shorter.
    bucket_seconds: u64,
    /// The buckets, the oldest first.
    buckets: Vec<Bucket>,
    /// All of them together.
    totals: Totals,
}

/// Decisions of a part of the time.
#[derive(Debug, Serialize, JsonSchema)]
struct Bucket {
    /// Where it begins.
    start: String,
    /// Allowed requests.
    allowed: u64,
    /// Denied requests.
    denied: u64,
    /// Requests whose object was changed; `null` where there are too many decisions to count them.
    mutated: Option<u64>,
    /// Half of the decisions took at most so many microseconds; `null` without decisions.
    p50_us: Option<u64>,
    /// 99 of 100 decisions took at most so many microseconds; `null` without decisions.
    p99_us: Option<u64>,
    /// Whether there may be more decisions: counting stops after about a million, or 200,000 with filters other than `verdict`.
    at_least: bool,
}

/// Decisions of all buckets.
#[derive(Debug, Serialize, JsonSchema)]
struct Totals {
    /// Allowed requests.
    allowed: u64,
    /// Denied requests.
    denied: u64,
    /// Whether there may be more.
    at_least: bool,
    /// Whether `by_door`, `by_policy`, `by_user` and the durations are those of the newest decisions of each bucket, because there are
    /// many.
    sampled: bool,
    /// By door.
    by_door: Vec<Named>,
    /// By the policy or plug-in that decided: the ten that decided most.
    by_policy: Vec<Named>,
    /// By user: the ten with the most requests.
    by_user: Vec<Named>,
}

/// Decisions with something in common.
#[derive(Debug, Serialize, JsonSchema)]
struct Named {
    /// The door, policy, plug-in or user.
    name: String,
    /// Allowed requests.
    allowed: u64,
    /// Denied requests.
    denied: u64,
}

impl Named {
    fn new(name: String, counted: Counted) -> Self {
        Self {
            name,
            allowed: counted.allowed,
            denied: counted.denied,
        }
    }
}

/// `GET /api/v1/decisions/summary`
pub(super) fn summary(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.authorize(root, ReadDecisions).await?;
        let mut query = Query::of(call.head);
        let now = clock::wall();
        let filter = filter(&mut query, now)?;
        let parts = match query.take("buckets")? {
            None => PARTS,
            Some(text) => match text.parse() {
                Ok(parts @ 1..=MOST) => parts,
                _ => {
                    let message = format!("invalid buckets: expected 1 to {MOST}");
                    return Err(HttpError::bad_request(message));
                }
            },
        };
        query.done()?;
        let course = course(&filter, parts, now)?;
        let reader = call.visitor.server.decisions.reader();
        let counted = reader
            .read(move |store| store.tally(&filter, &course))
            .await;
        answer::ok(&shown(&course, counted.map_err(|error| unread(&error))?))
    })
}

/// The time that is counted, in parts of whole seconds.
fn course(filter: &Filter, parts: u64, now: SystemTime) -> Result<Course, HttpError> {
    let until = filter.until.unwrap_or(now);
    let day_before = until.checked_sub(DAY).unwrap_or(SystemTime::UNIX_EPOCH);
    let since = filter.since.unwrap_or(day_before);
    // Nothing is older; and decisions have times to the millisecond.
    let milliseconds = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
    };
    let span = milliseconds(until).saturating_sub(milliseconds(since));
    if span == 0 {
        return Err(HttpError::bad_request("since must be before until"));
    }
    let part = Duration::from_secs(span.div_ceil(parts.saturating_mul(1000)).max(1));
    let whole = |time| SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds(time));
    let (since, until) = (whole(since), whole(until));
    Ok(Course {
        since,
        until,
        part,
        bounds: Bounds::default(),
    })
}

fn shown(course: &Course, tally: Tally) -> DecisionSummary {
    let text = |time: SystemTime| Timestamp::from(time).to_string();
    let sum = |of: fn(&Part) -> u64| tally.parts.iter().map(of).sum();
    let totals = Totals {
        allowed: sum(|part| part.counted.allowed),
        denied: sum(|part| part.counted.denied),
        at_least: tally.parts.iter().any(|part| part.is_at_least),
        sampled: tally.is_sampled,
        by_door: tally
            .doors
            .into_iter()
            .map(|(door, counted)| Named::new(door.to_string(), counted))
            .collect(),
        by_policy: named(tally.policies),
        by_user: named(tally.users),
    };
    let buckets = tally.parts.iter().map(|part| Bucket {
        start: text(part.start),
        allowed: part.counted.allowed,
        denied: part.counted.denied,
        mutated: part.mutated,
        p50_us: part.durations.map(|(half, _)| half),
        p99_us: part.durations.map(|(_, most)| most),
        at_least: part.is_at_least,
    });
    DecisionSummary {
        since: text(course.since),
        until: text(course.until),
        bucket_seconds: course.part.as_secs(),
        buckets: buckets.collect(),
        totals,
    }
}

fn named(all: Vec<(String, Counted)>) -> Vec<Named> {
    let all = all.into_iter();
    all.map(|(name, counted)| Named::new(name, counted))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn of(since: Option<u64>, until: Option<u64>, parts: u64) -> Result<Course, HttpError> {
        let filter = Filter {
            since: since.map(at),
            until: until.map(at),
            ..Filter::default()
        };
        course(&filter, parts, at(1_000_000))
    }

    #[test]
    fn a_day_is_counted_unless_said() {
        let day = of(None, None, 48).unwrap();
        assert_eq!((day.since, day.until), (at(913_600), at(1_000_000)));
        assert_eq!(day.part, Duration::from_secs(1800));
        // Less than a millisecond is not another part.
        let odd = at(1_000_000) + Duration::from_micros(700);
        let odd = course(&Filter::default(), 48, odd).unwrap();
        assert_eq!((odd.until, odd.part), (day.until, day.part));
        let before = of(None, Some(500_000), 24).unwrap();
        assert_eq!((before.since, before.until), (at(413_600), at(500_000)));
    }

    #[test]
    fn parts_are_whole_seconds_and_no_more_than_asked_for() {
        assert_eq!(of(Some(999_990), None, 48).unwrap().part.as_secs(), 1);
        assert_eq!(of(Some(999_900), None, 48).unwrap().part.as_secs(), 3);
    }

    #[test]
    fn no_time_can_not_be_counted() {
        assert!(of(Some(7), Some(7), 48).is_err());
        assert!(of(Some(8), Some(7), 48).is_err());
    }
}
