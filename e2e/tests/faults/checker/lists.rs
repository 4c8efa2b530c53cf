//! Lists, pipelines and decision records: they say the same as the jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Fault};
use crate::history::Answered;

impl Check<'_> {
    /// Each attempt that was decided has one record.
    pub(super) fn records(&mut self) {
        for job in &self.snapshot.jobs {
            let attempts: BTreeSet<u64> = job.decisions.iter().map(|one| one.attempt).collect();
            let wanted = attempts.len() as u64;
            let records = self.snapshot.records.get(&job.name).copied();
            let records = records.unwrap_or_default();
            let about = format!(
                "{} ({}) has {records} records for {wanted} attempts",
                job.name, job.id
            );
            if records < wanted {
                self.found(Fault::NoRecord, about);
            } else if records > wanted {
                self.found(Fault::TwoRecords, about);
            }
        }
        let names: BTreeSet<&str> = self.there.keys().copied().collect();
        for name in self.snapshot.records.keys() {
            if !names.contains(name.as_str()) {
                self.found(Fault::Foreign, format!("there is a record of {name}"));
            }
        }
    }

    /// A job is in the list of its status, in no other, and once in the list of all.
    pub(super) fn lists(&mut self) {
        let mut all = BTreeSet::new();
        for job in &self.snapshot.jobs {
            if !all.insert(job.id) {
                self.found(Fault::Lists, format!("{} is listed twice", job.id));
            }
            for (status, ids) in &self.snapshot.by_status {
                if ids.contains(&job.id) != (*status == job.status) {
                    let about = format!("{} is {}, see the list of {status}", job.id, job.status);
                    self.found(Fault::Lists, about);
                }
            }
        }
        for (status, ids) in &self.snapshot.by_status {
            for id in ids.difference(&all) {
                self.found(
                    Fault::Lists,
                    format!("{id} is only in the list of {status}"),
                );
            }
        }
    }

    /// Pipelines have the jobs that were acknowledged with them, and the status that follows from those.
    pub(super) fn pipelines(&mut self) {
        for (id, pipeline) in &self.snapshot.pipelines {
            let jobs = self.snapshot.jobs.iter();
            let jobs: Vec<_> = jobs.filter(|job| job.pipeline == Some(*id)).collect();
            let own = jobs.iter().map(|job| (job.id, job.status.clone()));
            if own.collect::<BTreeMap<_, _>>() != pipeline.jobs {
                self.found(
                    Fault::Lists,
                    format!("pipeline {id} has {:?}", pipeline.jobs),
                );
            }
            let is_failed = jobs.iter().any(|job| job.status == "failed");
            let wanted = if is_failed { "failed" } else { "running" };
            if pipeline.status != wanted {
                let about = format!("pipeline {id} is {}, not {wanted}", pipeline.status);
                self.found(Fault::WrongState, about);
            }
        }
        for submission in &self.history.submissions {
            let Answered::Yes(ids) = &submission.answer else {
                continue;
            };
            for (id, planned) in ids.jobs.iter().zip(&submission.jobs) {
                let job = self.job(&planned.name).filter(|job| job.id == *id);
                if job.is_some_and(|job| job.pipeline != ids.pipeline) {
                    self.found(Fault::Lists, format!("{id} is of another pipeline"));
                }
            }
        }
    }
}
