//! What controllers were asked and said.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Fault};
use crate::history::{Answered, Place};
use crate::plan::{Becomes, CONTROLLERS, How};
use crate::snapshot::Job;

impl Check<'_> {
    /// Every delivery is repeated as it was, and not without need.
    pub(super) fn deliveries(&mut self) {
        let mut by_place: BTreeMap<Place, Vec<_>> = BTreeMap::new();
        let mut places: BTreeMap<&str, BTreeSet<Place>> = BTreeMap::new();
        for delivery in &self.history.deliveries {
            by_place.entry(delivery.place).or_default().push(delivery);
            if let Some(id) = &delivery.webhook_id {
                places.entry(id).or_default().insert(delivery.place);
            }
        }
        for (id, places) in places {
            if places.len() > 1 {
                self.found(Fault::WebhookId, format!("{id} is of {places:?}"));
            }
        }
        let calm: BTreeSet<u64> = self
            .planned()
            .filter(|(submission, _)| submission.is_calm)
            .filter_map(|(_, planned)| self.job(&planned.name))
            .map(|job| job.id)
            .collect();
        let mut deadlines: BTreeMap<(u64, u64), BTreeSet<&str>> = BTreeMap::new();
        for (place, deliveries) in &by_place {
            let (_, job, attempt) = *place;
            let ids: BTreeSet<_> = deliveries.iter().map(|one| &one.webhook_id).collect();
            if ids.len() > 1 {
                self.found(Fault::WebhookId, format!("{place:?} has {ids:?}"));
            }
            let these = deadlines.entry((job, attempt)).or_default();
            these.extend(deliveries.iter().map(|one| one.deadline.as_str()));
            let failed = deliveries.iter().filter(|one| one.is_failed).count();
            if calm.contains(&job) && deliveries.len() > failed + 1 {
                let about = format!(
                    "{place:?} was asked {} times, {failed} failed",
                    deliveries.len()
                );
                self.found(Fault::DoubleWork, about);
            }
        }
        for (place, deadlines) in &deadlines {
            if deadlines.len() > 1 {
                self.found(Fault::Deadline, format!("{place:?} has {deadlines:?}"));
            }
        }
        self.timeouts(&deadlines);
    }

    /// No job failed before its deadline.
    fn timeouts(&mut self, deadlines: &BTreeMap<(u64, u64), BTreeSet<&str>>) {
        let timed_out: Vec<&Job> = self
            .planned()
            .filter(|(_, planned)| planned.becomes == Becomes::TimedOut)
            .filter_map(|(_, planned)| self.job(&planned.name))
            .collect();
        for job in timed_out {
            let deadline = deadlines.get(&(job.id, job.attempt));
            let deadline = deadline.and_then(BTreeSet::first).copied();
            // Both are in UTC, with milliseconds.
            if job.finished_at.as_deref() < deadline {
                let about = format!(
                    "{} ended at {:?}, before {deadline:?}",
                    job.name, job.finished_at
                );
                self.found(Fault::Deadline, about);
            }
        }
    }

    /// Verdicts are those that controllers gave, and none was lost.
    pub(super) fn verdicts(&mut self) {
        let by_id: BTreeMap<u64, &Job> =
            self.snapshot.jobs.iter().map(|job| (job.id, job)).collect();
        let mut said: BTreeSet<(Place, &str)> = BTreeSet::new();
        for one in &self.history.said {
            said.insert((one.place, one.verdict));
            let (controller, id, attempt) = one.place;
            let job = by_id.get(&id);
            let decisions = job.iter().flat_map(|job| &job.decisions);
            let mut decisions = decisions
                .filter(|decision| decision.controller == controller)
                .filter(|decision| decision.attempt == attempt);
            let verdict = decisions.next().map(|decision| decision.verdict.as_str());
            let about = format!("{:?} said {}, there is {verdict:?}", one.place, one.verdict);
            match &one.answer {
                Some(Answered::Yes(())) if verdict != Some(one.verdict) => {
                    self.found(Fault::LostVerdict, about);
                }
                Some(Answered::No(status)) => {
                    self.found(Fault::RefusedVerdict, format!("{about}, answered {status}"));
                }
                _ => {}
            }
        }
        for job in &self.snapshot.jobs {
            for decision in &job.decisions {
                let mut known = CONTROLLERS.iter();
                let known = known.find(|one| one.name == decision.controller);
                let Some(controller) = known.filter(|one| one.project == job.project) else {
                    let about = format!("{} has one of {}", job.name, decision.controller);
                    self.found(Fault::ForeignVerdict, about);
                    continue;
                };
                let place = (controller.name, job.id, decision.attempt);
                let is_said = match controller.how {
                    // Nobody else hears them.
                    How::Policy => true,
                    How::Silent => decision.verdict == "timeout",
                    _ => said.contains(&(place, decision.verdict.as_str())),
                };
                if !is_said {
                    let about = format!("{place:?} is {}", decision.verdict);
                    self.found(Fault::ForeignVerdict, about);
                }
            }
        }
    }
}
