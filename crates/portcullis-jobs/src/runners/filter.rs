//! The runners that the verdicts of a whole chain leave.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::lists::RunnerLists;
use super::record::RunnerId;

/// What the runner lists of several verdicts amount to: accepted lists intersect, rejected lists unite, and a
/// runner that is both accepted and rejected is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunnerFilter {
    /// The only runners that may take the job: none of them if empty, all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accepted: Option<BTreeSet<RunnerId>>,
    /// Runners that may not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    rejected: BTreeSet<RunnerId>,
}

impl RunnerFilter {
    /// The filter of no verdict at all.
    pub const fn every_runner() -> Self {
        Self {
            accepted: None,
            rejected: BTreeSet::new(),
        }
    }

    /// The filter of several verdicts.
    pub fn of<'a>(lists: impl IntoIterator<Item = &'a RunnerLists>) -> Self {
        let mut filter = Self::default();
        for lists in lists {
            filter.restrict(lists);
        }
        filter
    }

    /// Adds the lists of a further verdict.
    pub fn restrict(&mut self, lists: &RunnerLists) {
        if !lists.accepted_ids.is_empty() {
            let mut accepted: BTreeSet<RunnerId> = lists.accepted_ids.iter().copied().collect();
            if let Some(before) = &self.accepted {
                // An empty intersection is no runner. It must not become an empty list, which is all.
                accepted.retain(|id| before.contains(id));
            }
            self.accepted = Some(accepted);
        }
        self.rejected.extend(&lists.rejected_ids);
    }

    /// The only runners that may take the job; absent for all.
    pub fn accepted(&self) -> Option<&BTreeSet<RunnerId>> {
        self.accepted.as_ref()
    }

    /// Runners that may not take the job.
    pub fn rejected(&self) -> &BTreeSet<RunnerId> {
        &self.rejected
    }

    /// Whether any list was given.
    pub fn is_filtering(&self) -> bool {
        self.accepted.is_some() || !self.rejected.is_empty()
    }

    /// Whether this runner is left.
    pub fn allows(&self, runner: RunnerId) -> bool {
        !self.rejected.contains(&runner) && self.accepts(runner)
    }

    /// Whether this runner is accepted, apart from being rejected.
    pub(super) fn accepts(&self, runner: RunnerId) -> bool {
        self.accepted
            .as_ref()
            .is_none_or(|ids| ids.contains(&runner))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn lists() -> impl Strategy<Value = Vec<RunnerLists>> {
        let ids = || vec(0_u64..6, 0..4);
        let one = (ids(), ids()).prop_map(|(accepted_ids, rejected_ids)| RunnerLists {
            accepted_ids,
            rejected_ids,
        });
        vec(one, 0..4)
    }

    proptest! {
        #[test]
        fn a_runner_is_left_if_every_verdict_leaves_it(lists in lists(), runner in 0_u64..6) {
            let leaves = |l: &RunnerLists| {
                (l.accepted_ids.is_empty() || l.accepted_ids.contains(&runner))
                    && !l.rejected_ids.contains(&runner)
            };
            let filter = RunnerFilter::of(&lists);
            prop_assert_eq!(filter.allows(runner), lists.iter().all(leaves));
            prop_assert_eq!(filter.is_filtering(), !lists.iter().all(RunnerLists::is_empty));
        }

        #[test]
        fn the_order_of_verdicts_does_not_count(lists in lists()) {
            let backwards = RunnerFilter::of(lists.iter().rev());
            prop_assert_eq!(RunnerFilter::of(&lists), backwards);
        }

        #[test]
        fn stored_filters_are_read_back(lists in lists()) {
            let filter = RunnerFilter::of(&lists);
            let json = serde_json::to_string(&filter).unwrap();
            prop_assert_eq!(serde_json::from_str::<RunnerFilter>(&json).unwrap(), filter);
        }
    }

    #[test]
    fn an_empty_intersection_is_no_runner() {
        let only = |id| RunnerLists {
            accepted_ids: vec![id],
            rejected_ids: vec![],
        };
        let filter = RunnerFilter::of(&[only(1), only(2)]);
        assert!((0..4).all(|id| !filter.allows(id)));
        let further = RunnerFilter::of(&[only(1), only(2), only(2)]);
        assert!(!further.allows(2));
    }
}
