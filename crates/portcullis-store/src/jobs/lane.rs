//! Lanes of the queue: jobs of one lane ask the same of runners, and are taken in order.
//!
//! So what fits a runner is found by lanes, of which there are few, and not by jobs. A lane has no row of its own: its
//! number is a hash, which new jobs get without a look at the database.

use std::cmp::Ordering;

use aws_lc_rs::digest;
use portcullis_jobs::{JobId, RunnerFilter, RunnerNeeds};

use super::column;
use super::record::JobRecord;
use crate::database::Row;
use crate::error::Failure;

/// The number of a lane.
pub type LaneId = i64;

/// The place of a job in its lane: promoted ones come first, then the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueuePlace {
    /// Whether it comes before those that aren't promoted.
    pub promoted: bool,
    /// The job.
    pub job: JobId,
}

impl Ord for QueuePlace {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |place: &Self| (!place.promoted, place.job);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for QueuePlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What the jobs of a lane ask of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneNeeds {
    /// The path of their project.
    pub project: String,
    /// Their tags, in order.
    pub tags: Vec<String>,
    /// Whether their ref is protected.
    pub ref_protected: bool,
    /// What the verdicts of admission leave.
    pub filter: RunnerFilter,
}

impl LaneNeeds {
    /// The same, to be compared with runners.
    pub fn needs(&self) -> RunnerNeeds<'_> {
        RunnerNeeds {
            project: &self.project,
            tags: &self.tags,
            ref_protected: self.ref_protected,
            filter: &self.filter,
        }
    }

    /// Those in a row with project, protection, tags, accepted and rejected runners.
    pub(super) fn read(row: &mut Row) -> Result<Self, Failure> {
        let project = row.text()?;
        let ref_protected = column::read_flag(row)?;
        let tags = column::read_json(row)?;
        let [accepted, rejected] = [row.optional_text()?, row.optional_text()?];
        let list = |text: String| format!("[{}]", text.trim_matches(','));
        let filter = format!(
            r#"{{"accepted":{},"rejected":{}}}"#,
            accepted.map_or_else(|| "null".to_owned(), list),
            rejected.map_or_else(|| "[]".to_owned(), list),
        );
        Ok(Self {
            project,
            tags,
            ref_protected,
            filter: column::parse(&filter)?,
        })
    }
}

impl JobRecord {
    /// The lane it is in while it is pending.
    pub fn lane(&self) -> LaneId {
        lane_of(&self.needs())
    }

    /// Its place there.
    pub fn queue_place(&self) -> QueuePlace {
        QueuePlace {
            promoted: self.promoted,
            job: self.id,
        }
    }

    /// What its lane asks of a runner.
    pub fn lane_needs(&self) -> LaneNeeds {
        let needs = self.needs();
        LaneNeeds {
            project: needs.project.to_owned(),
            tags: sorted_tags(needs.tags),
            ref_protected: needs.ref_protected,
            filter: needs.filter.clone(),
        }
    }
}

/// Tags as jobs that need the same have them.
pub(super) fn sorted_tags(tags: &[String]) -> Vec<String> {
    let mut tags = tags.to_vec();
    tags.sort();
    tags.dedup();
    tags
}

/// The lane of jobs that ask this. Nobody can choose what they ask so that they get into the lane of others.
pub(super) fn lane_of(needs: &RunnerNeeds<'_>) -> LaneId {
    let mut hash = digest::Context::new(&digest::SHA256);
    let mut add = |text: &str| {
        hash.update(&text.len().to_be_bytes());
        hash.update(text.as_bytes());
    };
    add(needs.project);
    add(if needs.ref_protected { "protected" } else { "" });
    for tag in sorted_tags(needs.tags) {
        add(&tag);
    }
    let ids = |ids: &mut dyn Iterator<Item = u64>| {
        ids.fold(String::from(":"), |text, id| format!("{text}{id},"))
    };
    let accepted = needs.filter.accepted();
    add(&accepted.map_or_else(String::new, |list| ids(&mut list.iter().copied())));
    add(&ids(&mut needs.filter.rejected().iter().copied()));
    let digest = hash.finish();
    let bytes = digest.as_ref().iter().take(8);
    let number = bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    // Positive: those below zero are of jobs that were queued before there were lanes.
    i64::try_from(number >> 1).unwrap_or(i64::MAX)
}
