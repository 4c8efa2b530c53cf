//! Counting decisions over a time, in parts of it.
//!
//! The work is bounded, however many there are: parts are counted from the newest to the oldest, until a number of entries of the
//! index of ids was looked at. Where a part has few decisions, their rows say everything; where it has many, rows of the newest
//! ones are a sample for durations and names, and indexes alone count the rest.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use portcullis_core::Door;
use portcullis_record::Answer;

use super::columns::word;
use super::{Decisions, Filter, ulid};
use crate::database::{Database, Row, Value, number, one, unsigned};
use crate::error::Failure;

/// Names of users or policies that are given.
const NAMES: usize = 10;

/// Of what time decisions are counted, and in how many parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Where the first part begins.
    pub since: SystemTime,
    /// Where the last one ends.
    pub until: SystemTime,
    /// How long a part is; the last one may be shorter.
    pub part: Duration,
    /// How much is looked at.
    pub bounds: Bounds,
}

/// How much is looked at to count decisions, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Entries of the index of ids.
    pub entries: u64,
    /// Decisions, where a filter needs more of them than their times and verdicts.
    pub rows: u64,
    /// Decisions that are read for durations and names, of all parts together.
    pub sample: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            rows: 200_000,
            sample: 50_000,
        }
    }
}

/// Decisions of a time, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The parts, the oldest first.
    pub parts: Vec<Part>,
    /// By door.
    pub doors: Vec<(Door, Counted)>,
    /// By the policy or plug-in that decided, the most frequent ones.
    pub policies: Vec<(String, Counted)>,
    /// By user, the most frequent ones.
    pub users: Vec<(String, Counted)>,
    /// Whether durations and names are of a part of the decisions, the newest of each part.
    pub is_sampled: bool,
}

/// Decisions by what was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Allowed.
    pub allowed: u64,
    /// Denied.
    pub denied: u64,
}

impl Counted {
    fn add(&mut self, verdict: Answer, count: u64) {
        match verdict {
            Answer::Allow => self.allowed += count,
            Answer::Deny => self.denied += count,
        }
    }

    fn all(self) -> u64 {
        self.allowed + self.denied
    }
}

/// A part of the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub start: SystemTime,
    /// How many decisions were made in it.
    pub counted: Counted,
    /// How many changed the object; none where only a sample was read.
    pub mutated: Option<u64>,
    /// Half of the decisions, and 99 of 100, took at most so many microseconds; none without decisions.
    pub durations: Option<(u64, u64)>,
    /// Whether there may be more than were counted.
    pub is_at_least: bool,
}

/// What is left of the bounds, and what was found.
struct Counting<'a> {
    filter: &'a Filter,
    left: u64,
    sample: usize,
    doors: HashMap<Door, Counted>,
    policies: HashMap<String, Counted>,
    users: HashMap<String, Counted>,
    is_sampled: bool,
}

impl Decisions {
    /// Counts decisions that match. The times of the filter don't matter.
    pub(crate) fn tally(
        &mut self,
        database: &mut dyn Database,
        filter: &Filter,
        course: &Course,
    ) -> Result<Tally, Failure> {
        let filter = Filter {
            since: None,
            until: None,
            ..filter.clone()
        };
        let needs_rows = filter
            != Filter {
                verdict: filter.verdict,
                ..Filter::default()
            };
        let parts_of_time = split(course);
        let bounds = &course.bounds;
        let mut counting = Counting {
            filter: &filter,
            left: if needs_rows {
                bounds.rows
            } else {
                bounds.entries
            },
            sample: (bounds.sample / parts_of_time.len().max(1)).max(1),
            doors: HashMap::new(),
            policies: HashMap::new(),
            users: HashMap::new(),
            is_sampled: false,
        };
        let mut parts = Vec::with_capacity(parts_of_time.len());
        for (start, end) in parts_of_time.into_iter().rev() {
            parts.push(counting.part(database, needs_rows, start, end)?);
        }
        parts.reverse();
        let mut doors: Vec<(Door, Counted)> = counting.doors.into_iter().collect();
        doors.sort_by_key(|(door, _)| door.as_str());
        Ok(Tally {
            parts,
            doors,
            policies: most_frequent(counting.policies),
            users: most_frequent(counting.users),
            is_sampled: counting.is_sampled,
        })
    }
}

/// Beginnings and ends of the parts.
fn split(course: &Course) -> Vec<(SystemTime, SystemTime)> {
    let part = course.part.max(Duration::from_millis(1));
    let mut parts = Vec::new();
    let mut start = course.since;
    while start < course.until {
        let end = start.checked_add(part).unwrap_or(course.until);
        let end = end.min(course.until);
        parts.push((start, end));
        start = end;
    }
    parts
}

impl Counting<'_> {
    fn part(
        &mut self,
        database: &mut dyn Database,
        needs_rows: bool,
        start: SystemTime,
        end: SystemTime,
    ) -> Result<Part, Failure> {
        let mut part = Part {
            start,
            counted: Counted::default(),
            mutated: Some(0),
            durations: None,
            is_at_least: false,
        };
        let (low, high) = (ulid::lowest(start), ulid::lowest(end));
        let ids = [Value::Text(&low), Value::Text(&high)];
        let entries = self.entries(database, ids)?;
        part.is_at_least = entries > self.left;
        let entries = entries.min(self.left);
        self.left -= entries;
        if entries == 0 {
            return Ok(part);
        }
        let looked_at = if needs_rows {
            entries
        } else {
            entries.min(self.sample as u64)
        };
        let read = self.read(database, &mut part, (&low, &high), looked_at)?;
        // A filter by verdict alone is answered by the sample only if that has all rows.
        let is_whole = match needs_rows {
            true => read < self.sample,
            false => looked_at == entries,
        };
        if !is_whole {
            self.is_sampled = true;
            part.mutated = None;
            part.counted = if needs_rows {
                self.by_rows(database, (&low, &high), entries)?
            } else {
                let first = match part.is_at_least {
                    true => nth_newest(database, ids, entries)?,
                    false => None,
                };
                let first = first.as_deref().unwrap_or(&low);
                self.by_index(database, [Value::Text(first), Value::Text(&high)], entries)?
            };
        }
        Ok(part)
    }

    /// Entries of an index between two ids, one more than are left at most.
    fn entries(
        &self,
        database: &mut dyn Database,
        [low, high]: [Value<'_>; 2],
    ) -> Result<u64, Failure> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM decisions WHERE id >= ?1 AND id < ?2 LIMIT ?3) AS found";
        let values = [low, high, Value::Number(number(self.left + 1))];
        Ok(unsigned(one(database, sql, &values)?.number()?))
    }

    /// Counts by the index of ids and that of denials.
    fn by_index(
        &self,
        database: &mut dyn Database,
        ids: [Value<'_>; 2],
        entries: u64,
    ) -> Result<Counted, Failure> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM decisions WHERE id >= ?1 AND id < ?2 \
                   AND verdict = 'deny' LIMIT ?3) AS found";
        let [low, high] = ids;
        let values = [low, high, Value::Number(number(entries))];
        let denied = unsigned(one(database, sql, &values)?.number()?);
        let all = Counted {
            allowed: entries.saturating_sub(denied),
            denied,
        };
        Ok(match self.filter.verdict {
            None => all,
            Some(Answer::Allow) => Counted { denied: 0, ..all },
            Some(Answer::Deny) => Counted { allowed: 0, ..all },
        })
    }

    /// Counts rows that match among the newest of these.
    fn by_rows(
        &self,
        database: &mut dyn Database,
        ids: (&str, &str),
        looked_at: u64,
    ) -> Result<Counted, Failure> {
        let mut conditions = self.filter.conditions();
        let newest = conditions.newest(ids, looked_at);
        let sql = format!(
            "SELECT verdict, COUNT(*) FROM {newest} {} GROUP BY verdict",
            conditions.sql()
        );
        let mut counted = Counted::default();
        for mut row in database.query(&sql, &conditions.values())? {
            let verdict = word(&row.text()?)?;
            counted.add(verdict, unsigned(row.number()?));
        }
        Ok(counted)
    }

    /// Reads the sample; gives how many rows it has.
    fn read(
        &mut self,
        database: &mut dyn Database,
        part: &mut Part,
        ids: (&str, &str),
        looked_at: u64,
    ) -> Result<usize, Failure> {
        let mut conditions = self.filter.conditions();
        let newest = conditions.newest(ids, looked_at);
        let place = conditions.plain_number(number(self.sample));
        let sql = format!(
            "SELECT verdict, door, mutated, duration_us, user_name, COALESCE(policy, plugin) \
             FROM {newest} {} LIMIT ?{place}",
            conditions.sql()
        );
        let mut durations = Vec::new();
        let rows = database.query(&sql, &conditions.values())?;
        let count = rows.len();
        for row in rows {
            durations.push(self.row(part, row)?);
        }
        durations.sort_unstable();
        part.durations = percentile(&durations, 50).zip(percentile(&durations, 99));
        Ok(count)
    }

    /// Counts a row; gives how long it took.
    fn row(&mut self, part: &mut Part, mut row: Row) -> Result<u64, Failure> {
        let verdict = word(&row.text()?)?;
        part.counted.add(verdict, 1);
        let door = word(&row.text()?)?;
        self.doors.entry(door).or_default().add(verdict, 1);
        let mutated = u64::from(row.number()? != 0);
        part.mutated = part.mutated.map(|count| count + mutated);
        let duration = unsigned(row.number()?);
        self.users.entry(row.text()?).or_default().add(verdict, 1);
        if let Some(policy) = row.optional_text()? {
            self.policies.entry(policy).or_default().add(verdict, 1);
        }
        Ok(duration)
    }
}

/// The id before which so many newer ones are, itself included.
fn nth_newest(
    database: &mut dyn Database,
    [low, high]: [Value<'_>; 2],
    count: u64,
) -> Result<Option<String>, Failure> {
    let sql =
        "SELECT id FROM decisions WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3";
    let values = [low, high, Value::Number(number(count.saturating_sub(1)))];
    let row = database.query(sql, &values)?.pop();
    row.map(|mut row| row.text()).transpose()
}

/// The smallest value that so many of a hundred don't exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let place = (sorted.len() * percent).div_ceil(100);
    sorted.get(place.checked_sub(1)?).copied()
}

/// The most frequent names, the first of them by name where they are equally frequent.
fn most_frequent(all: HashMap<String, Counted>) -> Vec<(String, Counted)> {
    let mut all: Vec<(String, Counted)> = all.into_iter().collect();
    all.sort_by(|(one, a), (other, b)| b.all().cmp(&a.all()).then_with(|| one.cmp(other)));
    all.truncate(NAMES);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let all: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&all, 50), Some(50));
        assert_eq!(percentile(&all, 99), Some(99));
        assert_eq!(percentile(&[7], 50), Some(7));
        assert_eq!(percentile(&[7, 9], 99), Some(9));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn parts_follow_each_other_and_the_last_one_ends_in_time() {
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        let course = |since, until, part| Course {
            since: at(since),
            until: at(until),
            part: Duration::from_secs(part),
            bounds: Bounds::default(),
        };
        let found = split(&course(10, 35, 10));
        assert_eq!(
            found,
            [(at(10), at(20)), (at(20), at(30)), (at(30), at(35))]
        );
        assert_eq!(split(&course(10, 10, 5)), []);
        assert_eq!(split(&course(20, 10, 5)), []);
    }
}
