//! Jobs by state and the queue by waiting time, on the first page and on that of a tenant.

use serde::Deserialize;

use crate::plot::{Share, shares};
use crate::query::Query;
use crate::shown::{capitalized, time};

/// Jobs counted by the API.
#[derive(Debug, Deserialize)]
pub(super) struct Counted {
    statuses: Vec<StatusCount>,
    waiting: Vec<AgeCount>,
    oldest_queued_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StatusCount {
    status: String,
    count: u64,
    at_least: bool,
}

#[derive(Debug, Deserialize)]
struct AgeCount {
    from_seconds: u64,
    to_seconds: Option<u64>,
    count: u64,
}

/// What is shown of them.
#[derive(Debug)]
pub(super) struct Queue {
    /// None if there are no jobs.
    pub(super) statuses: Vec<Share>,
    /// None if nothing waits.
    pub(super) ages: Vec<Share>,
    /// How many wait for a runner, and where they are listed.
    pub(super) pending: String,
    pub(super) pending_path: String,
    /// Since when the oldest of them waits, and what waits for admission.
    pub(super) words: String,
    held: u64,
}

impl Queue {
    /// All jobs that were counted, or those of these statuses. What was asked for besides is in their links.
    pub(super) fn new(counted: &Counted, only: &[&str], asked: &Query) -> Self {
        let listed = |status: &str| asked.with("status", status).of("/jobs");
        let meant = |one: &&StatusCount| only.is_empty() || only.contains(&one.status.as_str());
        let statuses = counted.statuses.iter().filter(meant);
        let statuses = statuses.map(|one| {
            let path = listed(&one.status);
            let (name, class) = (words(&one.status), class(&one.status));
            (name, one.count, one.at_least, path, class)
        });
        let mut statuses = shares(statuses.collect());
        if statuses.iter().all(|one| one.percent == 0) {
            statuses.clear();
        }
        let of = |status: &str| {
            let found = counted.statuses.iter().find(|one| one.status == status);
            found.map_or(0, |one| one.count)
        };
        let pending: u64 = counted.waiting.iter().map(|one| one.count).sum();
        let ages = counted.waiting.iter().map(|one| {
            // Lists have no filter for the time.
            (one.words(), one.count, false, String::new(), "queued")
        });
        let ages = if pending > 0 {
            shares(ages.collect())
        } else {
            Vec::new()
        };
        let oldest = counted.oldest_queued_at.as_ref();
        let oldest = oldest.map(|at| format!(", oldest from {}", time(at)));
        Self {
            statuses,
            ages,
            pending: match pending {
                1 => "1 queued job".to_owned(),
                count => format!("{count} queued jobs"),
            },
            pending_path: listed("pending"),
            words: format!(
                "{}. {} for admission.",
                oldest.unwrap_or_default(),
                match of("preparing") {
                    1 => "1 job waits".to_owned(),
                    count => format!("{count} jobs wait"),
                }
            ),
            held: of("preparing"),
        }
    }

    /// Whether a job waits for admission.
    pub(super) fn has_held(&self) -> bool {
        self.held > 0
    }
}

impl AgeCount {
    fn words(&self) -> String {
        match (self.from_seconds, self.to_seconds) {
            (0, Some(to)) => format!("less than {}", span(to)),
            (from, Some(to)) => format!("{} to {}", span(from), span(to)),
            (from, None) => format!("{} or longer", span(from)),
        }
    }
}

/// A length of time in its largest unit.
fn span(seconds: u64) -> String {
    match seconds {
        86_400.. => format!("{} d", seconds / 86_400),
        3600.. => format!("{} h", seconds / 3600),
        60.. => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

/// A status as people say it.
fn words(status: &str) -> String {
    match status {
        "created" => "Created: waits for its stage".to_owned(),
        "preparing" => "Preparing: waits for admission".to_owned(),
        "pending" => "Pending: waits for a runner".to_owned(),
        other => capitalized(other),
    }
}

fn class(status: &str) -> &'static str {
    match status {
        "success" => "allowed",
        "failed" => "denied",
        "pending" | "running" => "queued",
        _ => "idle",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counted() -> Counted {
        serde_json::from_value(json!({
            "statuses": [{"status": "preparing", "count": 1, "at_least": false},
                {"status": "pending", "count": 4, "at_least": false},
                {"status": "failed", "count": 5000, "at_least": true}],
            "waiting": [{"from_seconds": 0, "to_seconds": 60, "count": 3},
                {"from_seconds": 60, "to_seconds": 3600, "count": 0},
                {"from_seconds": 86400, "to_seconds": null, "count": 1}],
            "oldest_queued_at": "2026-11-17T12:00:00.000Z",
        }))
        .unwrap()
    }

    #[test]
    fn numbers_lead_to_their_jobs_and_say_when_there_are_more() {
        let queue = Queue::new(&counted(), &[], &Query::default().with("tenant", "shop"));
        let failed = &queue.statuses[2];
        assert_eq!(
            (failed.number.as_str(), failed.path.as_str()),
            ("5000+", "/jobs?tenant=shop&status=failed")
        );
        let ages: Vec<&str> = queue.ages.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(ages, ["less than 1 min", "1 min to 1 h", "1 d or longer"]);
        // No list has only those that waited so long.
        assert!(queue.ages.iter().all(|one| one.path.is_empty()));
        assert_eq!(
            (queue.pending.as_str(), queue.pending_path.as_str()),
            ("4 queued jobs", "/jobs?tenant=shop&status=pending")
        );
        assert_eq!(
            queue.words,
            ", oldest from 2026-11-17 12:00:00 UTC. 1 job waits for admission."
        );
        assert!(queue.has_held());
    }

    #[test]
    fn an_empty_queue_has_no_waiting_times() {
        let empty = Counted {
            statuses: Vec::new(),
            waiting: Vec::new(),
            oldest_queued_at: None,
        };
        let queue = Queue::new(&empty, &[], &Query::default());
        assert_eq!((queue.ages, queue.statuses), (vec![], vec![]));
        assert_eq!(queue.pending, "0 queued jobs");
    }
}
