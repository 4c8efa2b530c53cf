//! What the database has, from time to time; lanes and classes that come and go.

use std::collections::{HashMap, HashSet};

use portcullis_jobs::Runner;
use portcullis_store::{LaneId, LaneNeeds, QueuePlace};

use super::{Index, Running};
use crate::queue::class::{Class, ClassId, ClassKey};
use crate::queue::lane::Lane;

/// Lanes that are known, at most. Others are found when some of these are empty.
const MOST_LANES: usize = 250_000;
/// Classes that are kept although none of their runners waits.
const MOST_CLASSES: usize = 20_000;

impl<R> Index<R> {
    /// The lanes of the database at some time after `since`; those that were not known with their needs. Lanes that are
    /// not listed are empty.
    pub(in crate::queue) fn refresh(
        &mut self,
        found: Vec<(LaneId, QueuePlace, Option<LaneNeeds>)>,
        since: u64,
    ) {
        let listed: HashSet<LaneId> = found.iter().map(|(id, ..)| *id).collect();
        let others = self.lanes.keys().filter(|id| !listed.contains(id));
        let others: Vec<LaneId> = others.copied().collect();
        for id in others {
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.not_seen(since);
            }
            self.forget_if_idle(id);
        }
        let mut changed = Vec::new();
        for (id, first, needs) in found {
            let before = self.lanes.get(&id).map(Lane::head);
            let has_room = self.lanes.len() < MOST_LANES;
            match (self.lanes.get_mut(&id), needs) {
                (Some(lane), _) => lane.seen(first, since),
                (None, Some(needs)) if has_room => {
                    self.add_lane(id, Lane::new(needs, first, false, 0));
                }
                _ => continue,
            }
            if before != self.lanes.get(&id).map(Lane::head) {
                changed.push(id);
            }
        }
        // Only now: whoever waits chooses among all of them.
        self.tick();
        changed.into_iter().for_each(|id| self.lane_changed(id));
    }

    /// How many jobs of each project instance runners had at some time after `since`.
    pub(in crate::queue) fn refresh_running(&mut self, counts: Vec<(String, u64)>, since: u64) {
        let mut counts: HashMap<String, u64> = counts.into_iter().collect();
        self.running.retain(|project, running| {
            let found = counts.remove(project);
            if running.touched <= since {
                running.jobs = found.unwrap_or(0);
            }
            running.jobs > 0
        });
        let new = counts.into_iter().map(|(project, jobs)| {
            let touched = 0;
            (project, Running { jobs, touched })
        });
        self.running.extend(new);
    }

    pub(super) fn add_lane(&mut self, id: LaneId, mut lane: Lane) {
        for (class_id, class) in &mut self.classes {
            if class.may_take(&lane.needs) {
                class.lanes.insert(id);
                lane.classes.insert(*class_id);
            }
        }
        self.lanes.insert(id, lane);
    }

    pub(super) fn lane_changed(&mut self, id: LaneId) {
        let now = self.clock;
        for class in self
            .lanes
            .get(&id)
            .into_iter()
            .flat_map(|lane| &lane.classes)
        {
            if let Some(class) = self.classes.get_mut(class) {
                class.changed = now;
            }
        }
        self.assign_from(id);
    }

    pub(super) fn forget_if_idle(&mut self, id: LaneId) {
        if !self.lanes.get(&id).is_some_and(Lane::is_idle) {
            return;
        }
        let lane = self.lanes.remove(&id);
        for class in lane.into_iter().flat_map(|lane| lane.classes) {
            if let Some(class) = self.classes.get_mut(&class) {
                class.lanes.remove(&id);
            }
        }
    }

    pub(super) fn class_of(&mut self, runner: &Runner) -> ClassId {
        let key = ClassKey::of(runner);
        if let Some(id) = self.class_ids.get(&key) {
            return *id;
        }
        if self.classes.len() >= MOST_CLASSES {
            self.forget_classes();
        }
        let id = self.tick();
        let mut class = Class::new(runner, id);
        for (lane_id, lane) in &mut self.lanes {
            if class.may_take(&lane.needs) {
                class.lanes.insert(*lane_id);
                lane.classes.insert(id);
            }
        }
        self.classes.insert(id, class);
        self.class_ids.insert(key, id);
        id
    }

    /// Forgets classes that nobody who asks is of.
    fn forget_classes(&mut self) {
        let used: HashSet<ClassId> = self.waiters.values().map(|waiter| waiter.class).collect();
        self.classes.retain(|id, _| used.contains(id));
        self.class_ids.retain(|_, id| used.contains(id));
        for lane in self.lanes.values_mut() {
            lane.classes.retain(|id| used.contains(id));
        }
    }
}
