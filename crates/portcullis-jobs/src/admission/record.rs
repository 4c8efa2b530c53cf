//! How the places of a chain end, as it is recorded.

use super::decision::{AdmissionDecision, DecisionVerdict};
use super::state::{Admission, Judge, Link};
use crate::exemption::ExemptionId;
use crate::runners::{RunnerFilter, RunnerLists};
use crate::tags::TagChange;
use crate::timestamp::Timestamp;

/// How one place of the chain ended.
pub(super) struct Ending {
    pub(super) verdict: DecisionVerdict,
    pub(super) dry_run: bool,
    pub(super) exempted_by: Option<ExemptionId>,
    pub(super) reason: Option<String>,
    pub(super) tags: TagChange,
    pub(super) runners: RunnerLists,
    pub(super) warnings: Vec<String>,
    pub(super) tags_after: Option<Vec<String>>,
}

impl Ending {
    pub(super) fn new(verdict: DecisionVerdict, dry_run: bool, reason: Option<String>) -> Self {
        Self {
            verdict,
            dry_run,
            exempted_by: None,
            reason,
            tags: TagChange::default(),
            runners: RunnerLists::default(),
            warnings: Vec::new(),
            tags_after: None,
        }
    }
}

impl Admission {
    pub(super) fn skip(&mut self, link: &Link, why: &str, now: Timestamp) {
        let ending = Ending::new(DecisionVerdict::Skipped, false, Some(why.to_owned()));
        self.record(link, ending, now);
    }

    /// Records how the current place ended, and goes on to the next.
    pub(super) fn record(&mut self, link: &Link, ending: Ending, now: Timestamp) {
        let tags_before = self.tags.clone();
        if let Some(after) = ending.tags_after {
            self.tags = after;
        }
        let latency = self.asked_at.map(|asked| now.since(asked).as_millis());
        self.decisions.push(AdmissionDecision {
            controller: link.name.clone(),
            level: link.level,
            attempt: self.attempt,
            verdict: ending.verdict,
            dry_run: ending.dry_run,
            exempted_by: ending.exempted_by,
            reason: ending.reason,
            tags: ending.tags,
            tags_before,
            tags_after: self.tags.clone(),
            runners: ending.runners,
            warnings: ending.warnings,
            latency_ms: u64::try_from(latency.unwrap_or_default()).unwrap_or(u64::MAX),
            at: now,
        });
        self.filter = RunnerFilter::of(self.lists.iter().map(|(_, lists)| lists));
        self.position += 1;
        self.asked_at = None;
        self.give_up_at = None;
    }

    pub(super) fn carried_lists(&self, judge: Judge) -> RunnerLists {
        let of_judge = self.carried.iter().find(|(other, _)| *other == judge);
        of_judge.map(|(_, lists)| lists.clone()).unwrap_or_default()
    }

    /// The reasons of this attempt, each with the name of its controller, in the order of the chain.
    pub(super) fn reasons(&self) -> Option<String> {
        let with_effect = self.current_decisions().filter(|d| d.has_effect());
        let texts: Vec<String> = with_effect
            .filter_map(|decision| {
                let reason = match (&decision.reason, decision.verdict) {
                    (Some(reason), _) => reason.as_str(),
                    (None, DecisionVerdict::Accepted) => return None,
                    (None, verdict) => verdict.as_str(),
                };
                // A denial that did not count must not look like the reason for what was decided.
                let exempted = decision.exempted_by.map(|id| {
                    format!(
                        "{}, but exempted by exemption {id}: ",
                        decision.verdict.as_str()
                    )
                });
                let exempted = exempted.unwrap_or_default();
                Some(format!("{}: {exempted}{reason}", decision.controller))
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }
}
