//! Jobs: each is there once, and in the state that it must reach.

use std::collections::BTreeMap;

use super::{Check, Fault, done};
use crate::history::{Answered, Submission};
use crate::plan::Planned;
use crate::snapshot::Job;

impl Check<'_> {
    /// What was submitted is there, as often as it must.
    pub(super) fn submissions(&mut self) {
        for submission in &self.history.submissions {
            let mut count = 0;
            for (place, planned) in submission.jobs.iter().enumerate() {
                let there = self.there.get(planned.name.as_str());
                let there: Vec<&Job> = there.cloned().unwrap_or_default();
                count += usize::from(!there.is_empty());
                let ids: Vec<u64> = there.iter().map(|job| job.id).collect();
                if ids.len() > 1 {
                    self.found(Fault::Doubled, format!("{} is {ids:?}", planned.name));
                }
                match &submission.answer {
                    Answered::Yes(acknowledged) => {
                        let id = acknowledged.jobs[place];
                        if !ids.contains(&id) {
                            let about = format!("{} was {id}, there is {ids:?}", planned.name);
                            self.found(Fault::Lost, about);
                        }
                    }
                    Answered::No(status) if !ids.is_empty() => {
                        let about =
                            format!("{} was refused with {status}, is {ids:?}", planned.name);
                        self.found(Fault::Foreign, about);
                    }
                    Answered::No(_) | Answered::Unknown => {}
                }
                if let [job] = there.as_slice() {
                    self.state(submission, planned, job);
                }
            }
            if count > 0 && count < submission.jobs.len() {
                let about = format!("a part of the pipeline of {}", submission.jobs[0].name);
                self.found(Fault::Lost, about);
            }
        }
    }

    /// What is there was submitted.
    pub(super) fn foreign_jobs(&mut self) {
        let planned: BTreeMap<&str, &Planned> = self
            .planned()
            .map(|(_, planned)| (planned.name.as_str(), planned))
            .collect();
        for job in &self.snapshot.jobs {
            let known = planned.get(job.name.as_str());
            if known.is_none_or(|planned| planned.project != job.project) {
                self.found(Fault::Foreign, format!("{} is {}", job.name, job.id));
            }
        }
    }

    fn state(&mut self, submission: &Submission, planned: &Planned, job: &Job) {
        let (retried, perhaps) = done(&submission.retries);
        let attempts = 1 + retried..=1 + retried + perhaps;
        if !attempts.contains(&job.attempt) {
            let about = format!(
                "{} is in attempt {}, not {attempts:?}",
                job.name, job.attempt
            );
            self.found(Fault::WrongAttempt, about);
        }
        let end = (job.status.as_str(), job.failure_reason.as_deref());
        let is_canceled = end == ("canceled", None);
        let is_right = match &submission.cancel {
            Some(Answered::Yes(())) => is_canceled,
            Some(Answered::Unknown) => is_canceled || end == planned.end(),
            Some(Answered::No(_)) | None => end == planned.end(),
        };
        if !is_right {
            let about = format!("{} ({}) is {end:?}", job.name, job.id);
            self.found(
                Fault::WrongState,
                format!("{about}, not {:?}", planned.end()),
            );
        }
        if job.tags != planned.tags() {
            let about = format!("{} ({}) has the tags {:?}", job.name, job.id, job.tags);
            self.found(
                Fault::WrongState,
                format!("{about}, not {:?}", planned.tags()),
            );
        }
        for attempt in 1..=job.attempt {
            let decisions = job.decisions.iter().filter(|one| one.attempt == attempt);
            let decisions: Vec<(&str, &str)> = decisions
                .map(|one| (one.controller.as_str(), one.verdict.as_str()))
                .collect();
            let mut names: Vec<&str> = decisions.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            let about = format!("{} ({}), attempt {attempt}", job.name, job.id);
            if names.len() < count {
                self.found(Fault::TwoVerdicts, format!("{about}: {decisions:?}"));
            } else if decisions != planned.verdicts() {
                let wanted = planned.verdicts();
                self.found(
                    Fault::WrongState,
                    format!("{about}: {decisions:?}, not {wanted:?}"),
                );
            }
        }
    }
}
