//! Who is served from which lane.

use std::cmp::Reverse;

use portcullis_jobs::RunnerType;
use portcullis_store::LaneId;

use super::{Choice, Index};
use crate::queue::class::WaiterId;
use crate::queue::lane::{Head, Lane};

impl<R> Index<R> {
    /// Assigns a waiter to the best lane there is for it.
    pub(super) fn assign(&mut self, id: WaiterId) -> Choice {
        let choice = self.choose(id);
        if let Choice::Lane(lane) = choice {
            if let Some(lane) = self.lanes.get_mut(&lane) {
                lane.reserve();
            }
            if let Some(waiter) = self.waiters.get_mut(&id) {
                waiter.lane = Some(lane);
                if let Some(class) = self.classes.get_mut(&waiter.class) {
                    class.waiting.remove(&id);
                }
            }
            self.hurried.remove(&id);
            self.assigned.push(id);
        }
        choice
    }

    /// The best lane for a waiter. Instance runners serve the project first that has least of them.
    fn choose(&self, id: WaiterId) -> Choice {
        let Some(waiter) = self.waiters.get(&id) else {
            return Choice::Nothing;
        };
        let lanes = self.classes.get(&waiter.class).map(|class| &class.lanes);
        let is_shared = waiter.runner.kind == RunnerType::Instance;
        let mut best = None;
        let mut is_later = false;
        for lane_id in lanes.into_iter().flatten() {
            let Some(lane) = self.lanes.get(lane_id) else {
                continue;
            };
            let place = match lane.head() {
                Head::Empty => continue,
                _ if !lane.needs.filter.allows(waiter.runner.id) => continue,
                Head::Later => {
                    is_later = true;
                    continue;
                }
                Head::At(place) => place,
            };
            let running = match is_shared {
                true => self.promised(lane),
                false => 0,
            };
            let rank = (Reverse(place.promoted), running, place.job, *lane_id);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        match best {
            Some((.., lane)) => Choice::Lane(lane),
            None if is_later => Choice::Later,
            None => Choice::Nothing,
        }
    }

    /// How many jobs of a lane's project instance runners have, or are about to get from this lane.
    fn promised(&self, lane: &Lane) -> u64 {
        let about = u64::try_from(lane.in_flight()).unwrap_or(u64::MAX);
        self.running_of(&lane.needs.project).saturating_add(about)
    }

    /// Lets those who wait longest have what is in a lane; each takes what is best for it.
    pub(super) fn assign_from(&mut self, id: LaneId) {
        while let Some(waiter) = self.longest_waiting(id) {
            if !matches!(self.assign(waiter), Choice::Lane(_)) {
                return;
            }
        }
    }

    /// Who waits longest of those that may take the next job of a lane.
    fn longest_waiting(&self, id: LaneId) -> Option<WaiterId> {
        let lane = self.lanes.get(&id)?;
        if !matches!(lane.head(), Head::At(_)) {
            return None;
        }
        let is_allowed = |id: &&WaiterId| {
            let waiter = self.waiters.get(id);
            waiter.is_some_and(|waiter| lane.needs.filter.allows(waiter.runner.id))
        };
        let classes = lane.classes.iter().filter_map(|id| self.classes.get(id));
        let first = classes.filter_map(|class| class.waiting.iter().find(is_allowed));
        first.min().copied()
    }
}
