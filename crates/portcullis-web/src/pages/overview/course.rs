//! Decisions of the last day as plots and numbers.

use serde::Deserialize;

use super::Tile;
use crate::plot::{self, Course, Scale, TimePlot, counted};
use crate::query::Query;
use crate::shown::{micros, seconds, time};

/// Decisions counted by the API.
#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    since: String,
    until: String,
    buckets: Vec<Bucket>,
    totals: Totals,
}

#[derive(Debug, Deserialize)]
struct Bucket {
    start: String,
    allowed: u64,
    denied: u64,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
    at_least: bool,
}

#[derive(Debug, Deserialize)]
struct Totals {
    allowed: u64,
    denied: u64,
    at_least: bool,
    sampled: bool,
    by_door: Vec<Named>,
    by_policy: Vec<Named>,
    by_user: Vec<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
    allowed: u64,
    denied: u64,
}

/// A part of the time in the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) start: String,
    pub(super) allowed: Linked,
    pub(super) denied: Linked,
    pub(super) half: String,
    pub(super) most: String,
}

/// A number and its list.
#[derive(Debug)]
pub(super) struct Linked {
    pub(super) number: String,
    pub(super) path: String,
}

/// The most frequent of something.
#[derive(Debug)]
pub(super) struct Frequent {
    pub(super) title: &'static str,
    pub(super) rows: Vec<FrequentRow>,
}

#[derive(Debug)]
pub(super) struct FrequentRow {
    pub(super) name: String,
    pub(super) path: String,
    allowed: Linked,
    denied: Linked,
}

impl FrequentRow {
    /// How many were allowed, and how many denied.
    pub(super) fn numbers(&self) -> [&Linked; 2] {
        [&self.allowed, &self.denied]
    }
}

/// What is shown of the decisions of the last day.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) tiles: Vec<Tile>,
    /// Nothing if there were no decisions.
    pub(super) plots: Option<(TimePlot, TimePlot)>,
    /// The parts in which there were decisions.
    pub(super) rows: Vec<Row>,
    pub(super) frequent: Vec<Frequent>,
    /// What the numbers leave out.
    pub(super) notes: Vec<&'static str>,
}

impl Decided {
    pub(super) fn new(summary: &Summary) -> Self {
        let totals = &summary.totals;
        let tile = |verdict: &str, count, text: &str| Tile {
            path: format!("/decisions?verdict={verdict}&since=24h"),
            count: counted(count, totals.at_least),
            text: text.to_owned(),
        };
        let tiles = vec![
            tile("deny", totals.denied, "denied in 24 hours"),
            tile("allow", totals.allowed, "allowed in 24 hours"),
        ];
        let (since, until) = (seconds(&summary.since), seconds(&summary.until));
        let course = since.zip(until).map(|(since, until)| Course {
            since,
            until,
            parts: summary.buckets.len(),
        });
        let course = course.filter(|_| totals.allowed + totals.denied > 0);
        let mut notes = Vec::new();
        if totals.at_least {
            notes.push("There are more decisions than were counted: the newest ones were.");
        }
        if totals.sampled {
            notes.push(
                "Durations and names are those of a sample: the newest decisions of each part.",
            );
        }
        Self {
            plots: course.map(|course| (summary.counts(&course), summary.durations(&course))),
            rows: summary.rows(),
            frequent: summary.frequent(),
            tiles,
            notes,
        }
    }
}

impl Summary {
    fn span(&self) -> String {
        format!("from {} to {}", time(&self.since), time(&self.until))
    }

    fn counts(&self, course: &Course) -> TimePlot {
        let all = || self.buckets.iter();
        let scale = all().map(|one| one.allowed + one.denied).max();
        let scale = Scale::up_to(scale.unwrap_or(0), u64::to_string);
        let values = |of: fn(&Bucket) -> u64| all().map(of).collect();
        let series = [
            ("allowed", "allowed", values(|one| one.allowed)),
            ("denied, on top", "denied", values(|one| one.denied)),
        ];
        let busiest = all().max_by_key(|one| one.allowed + one.denied);
        let busiest = busiest.map(|one| {
            let count = one.allowed + one.denied;
            format!(" The most in one part: {count} at {}.", time(&one.start))
        });
        TimePlot {
            id: "decided",
            title: "Decisions over time",
            words: format!(
                "{} allowed and {} denied {}.{}",
                counted(self.totals.allowed, self.totals.at_least),
                counted(self.totals.denied, self.totals.at_least),
                self.span(),
                busiest.unwrap_or_default()
            ),
            series: plot::stacked(&series, &scale),
            marks: plot::marks(course),
            parts: course.parts,
            scale,
        }
    }

    fn durations(&self, course: &Course) -> TimePlot {
        let half: Vec<_> = self.buckets.iter().map(|one| one.p50_us).collect();
        let most: Vec<_> = self.buckets.iter().map(|one| one.p99_us).collect();
        let largest = |all: &[Option<u64>]| all.iter().flatten().max().copied().unwrap_or(0);
        let scale = Scale::up_to(largest(&most), micros);
        TimePlot {
            id: "durations",
            title: "Time to decide",
            words: format!(
                "Highest p50 {}, highest p99 {}, {}.",
                micros(&largest(&half)),
                micros(&largest(&most)),
                self.span()
            ),
            series: vec![
                plot::steps("p99", "most", &most, &scale),
                plot::steps("p50", "half", &half, &scale),
            ],
            marks: plot::marks(course),
            parts: course.parts,
            scale,
        }
    }

    /// The newest first, as lists are.
    fn rows(&self) -> Vec<Row> {
        let starts = self.buckets.iter().skip(1).map(|one| one.start.as_str());
        let ends: Vec<&str> = starts.chain([self.until.as_str()]).collect();
        let all = self.buckets.iter().zip(ends).rev();
        let some = all.filter(|(one, _)| one.allowed + one.denied > 0);
        let rows = some.map(|(one, end)| {
            let query = Query::default()
                .with("since", &one.start)
                .with("until", end);
            let linked = |verdict, count| Linked {
                number: counted(count, one.at_least),
                path: query.with("verdict", verdict).of("/decisions"),
            };
            let duration = |value: Option<u64>| value.as_ref().map(micros).unwrap_or_default();
            Row {
                allowed: linked("allow", one.allowed),
                denied: linked("deny", one.denied),
                half: duration(one.p50_us),
                most: duration(one.p99_us),
                start: one.start.clone(),
            }
        });
        rows.collect()
    }

    fn frequent(&self) -> Vec<Frequent> {
        let totals = &self.totals;
        let all = [
            ("By policy or plug-in", "policy", &totals.by_policy),
            ("By user", "user", &totals.by_user),
            ("By door", "door", &totals.by_door),
        ];
        let some = all.into_iter().filter(|(.., rows)| !rows.is_empty());
        let frequent = some.map(|(title, filter, rows)| Frequent {
            title,
            rows: rows.iter().map(|row| row.shown(filter)).collect(),
        });
        frequent.collect()
    }
}

impl Named {
    fn shown(&self, filter: &str) -> FrequentRow {
        let query = Query::default()
            .with(filter, &self.name)
            .with("since", "24h");
        // An empty name can't be asked for.
        let path = |query: &Query| match self.name.is_empty() {
            true => String::new(),
            false => query.of("/decisions"),
        };
        let linked = |verdict, count: u64| Linked {
            number: count.to_string(),
            path: path(&query.with("verdict", verdict)),
        };
        FrequentRow {
            path: path(&query),
            allowed: linked("allow", self.allowed),
            denied: linked("deny", self.denied),
            name: self.name.clone(),
        }
    }
}
