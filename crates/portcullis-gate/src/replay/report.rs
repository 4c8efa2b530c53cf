//! What would change, counted and grouped, with examples.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_record::Summary;
use serde_json::Value;

use super::outcome::{Answered, Change, ChangeKind, Outcome};

/// How many reasons, and how many names, are counted separately.
const REASONS: usize = 200;

/// Those that are not.
const OTHERS: &str = "others";

/// How many records that make no sense are named.
const FAILED: usize = 20;

/// What would change.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How many decisions were made again, whatever came of it.
    pub decisions: u64,
    /// How many stay as they are.
    pub same: u64,
    /// How many of those are denied by another plug-in now.
    pub by_another: u64,
    /// How many the new set doesn't judge.
    pub not_judged: u64,
    /// How many were passed over because they are calls of the API, which roles decide.
    pub passed_over: u64,
    /// How many were passed over because they are older than asked for.
    pub older: u64,
    /// How many lines were not decisions, or were inconsistent.
    pub failed: u64,
    /// How long it took.
    pub elapsed: Duration,
    groups: BTreeMap<(ChangeKind, String), Group>,
    unclear: BTreeMap<String, Unclear>,
    wrong: BTreeMap<u64, String>,
    limit: usize,
}

/// Changes of one kind by one policy, plug-in or authorizer.
#[derive(Debug, Clone)]
pub struct Group {
    /// How the answers change.
    pub kind: ChangeKind,
    /// Whose doing it is.
    pub by: String,
    /// How many there are.
    pub count: u64,
    /// The first of them, by their ids.
    examples: BTreeMap<String, Example>,
}

impl Group {
    /// The first of them, by their ids.
    pub fn examples(&self) -> impl Iterator<Item = &Example> {
        self.examples.values()
    }
}

/// One decision that would change.
#[derive(Debug, Clone)]
pub struct Example {
    /// What was decided.
    pub summary: Summary,
    /// How it would change.
    pub change: Change,
}

/// Decisions whose outcome is unknown for one reason.
#[derive(Debug, Clone, Default)]
pub struct Unclear {
    /// How many.
    pub count: u64,
    /// The ids of the first of them.
    pub ids: Vec<String>,
}

/// A line that is not a decision, or an inconsistent one.
#[derive(Debug, Clone)]
pub struct Failed<'a> {
    /// The number of the line, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: &'a str,
}

impl Report {
    /// An empty one, which keeps so many examples of each group.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Whether anything would change.
    pub fn is_changed(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether nothing was decided again.
    pub fn is_empty(&self) -> bool {
        self.decisions == 0
    }

    /// How many would change in this way.
    pub fn count(&self, kind: ChangeKind) -> u64 {
        let groups = self.groups.values().filter(|group| group.kind == kind);
        groups.map(|group| group.count).sum()
    }

    /// How many outcomes are unknown.
    pub fn unknown(&self) -> u64 {
        self.unclear.values().map(|unclear| unclear.count).sum()
    }

    /// What changes, by kind and whose doing it is.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// The unknown outcomes, by reason.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, &Unclear)> {
        self.unclear.iter().map(|(why, one)| (why.as_str(), one))
    }

    /// The first lines that are not decisions, or are inconsistent.
    pub fn failures(&self) -> impl Iterator<Item = Failed<'_>> {
        let wrong = self.wrong.iter();
        wrong.map(|(line, why)| Failed { line: *line, why })
    }

    /// Counts what came of a decision.
    pub(super) fn add(&mut self, line: u64, summary: Summary, outcome: Outcome) {
        match outcome {
            Outcome::NotJudged => {
                self.not_judged += 1;
                return;
            }
            Outcome::PassedOver => {
                self.passed_over += 1;
                return;
            }
            Outcome::Failed(why) => {
                self.fail(line, format!("{}: {why}", summary.id));
                return;
            }
            Outcome::Same { by_another } => {
                self.same += 1;
                self.by_another += u64::from(by_another);
            }
            Outcome::Unknown(why) => self.unclear(general(&why), 1, &[summary.id]),
            Outcome::Changed(change) => self.change(summary, *change),
        }
        self.decisions += 1;
    }

    /// Counts a line that is not a decision.
    pub(super) fn fail(&mut self, line: u64, why: String) {
        self.failed += 1;
        self.wrong.insert(line, why);
        keep(&mut self.wrong, FAILED);
    }

    /// Adds what another one counted.
    pub(super) fn absorb(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.same += other.same;
        self.by_another += other.by_another;
        self.not_judged += other.not_judged;
        self.passed_over += other.passed_over;
        self.older += other.older;
        self.failed += other.failed;
        self.wrong.extend(other.wrong);
        keep(&mut self.wrong, FAILED);
        for (why, unclear) in other.unclear {
            self.unclear(why, unclear.count, &unclear.ids);
        }
        for group in other.groups.into_values() {
            self.group(group);
        }
    }

    fn unclear(&mut self, why: String, count: u64, ids: &[String]) {
        let is_new = !self.unclear.contains_key(&why);
        let why = if is_new && self.unclear.len() >= REASONS {
            "other reasons".to_owned()
        } else {
            why
        };
        let unclear = self.unclear.entry(why).or_default();
        unclear.count += count;
        unclear.ids.extend(ids.iter().cloned());
        unclear.ids.sort_unstable();
        unclear.ids.truncate(self.limit);
    }

    fn change(&mut self, summary: Summary, change: Change) {
        let id = summary.id.clone();
        let (kind, by) = (change.kind, change.by.clone());
        self.group(Group {
            kind,
            by,
            count: 1,
            examples: BTreeMap::from([(id, Example { summary, change })]),
        });
    }

    fn group(&mut self, mut group: Group) {
        let key = (group.kind, group.by.clone());
        if !self.groups.contains_key(&key) && self.groups.len() >= REASONS {
            OTHERS.clone_into(&mut group.by);
        }
        let limit = self.limit;
        match self.groups.get_mut(&(group.kind, group.by.clone())) {
            Some(known) => {
                known.count += group.count;
                known.examples.extend(group.examples);
                keep(&mut known.examples, limit);
            }
            None => {
                keep(&mut group.examples, limit);
                let key = (group.kind, group.by.clone());
                self.groups.insert(key, group);
            }
        }
    }
}

impl Example {
    /// The steps of the two patches that the other one doesn't have: those of then, those of now.
    pub fn patch_difference(&self) -> (Vec<&Value>, Vec<&Value>) {
        fn only<'a>(one: &'a Answered, other: &Answered) -> Vec<&'a Value> {
            let steps = one.patch.iter();
            steps.filter(|step| !other.patch.contains(step)).collect()
        }
        let (was, now) = (&self.change.was, &self.change.now);
        (only(was, now), only(now, was))
    }
}

/// Keeps the first so many.
fn keep<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, limit: usize) {
    while map.len() > limit {
        map.pop_last();
    }
}

/// A reason without the places in lists, so that the same thing is said once.
fn general(why: &str) -> String {
    let mut made = String::with_capacity(why.len());
    let mut rest = why;
    while let Some((before, after)) = rest.split_once('[') {
        made.push_str(before);
        match after.split_once(']') {
            Some((number, behind))
                if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
            {
                made.push_str("[*]");
                rest = behind;
            }
            _ => {
                made.push('[');
                rest = after;
            }
        }
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_without_places_in_lists() {
        assert_eq!(
            general("p reads object.a[0].b[12][\"x\"].c[1"),
            "p reads object.a[*].b[*][\"x\"].c[1"
        );
        assert_eq!(general("[]"), "[]");
    }
}
