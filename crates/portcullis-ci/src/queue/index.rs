//! The index: which lanes have jobs, who waits, and who is to be served from which lane.
//!
//! It knows no clock, no store and no connection, so that every interleaving can be tested.

mod choice;
mod refresh;

use std::collections::{BTreeSet, HashMap, HashSet};

use portcullis_jobs::{Runner, RunnerId};
use portcullis_store::{LaneId, LaneNeeds, QueuePlace};

use super::class::{Class, ClassId, ClassKey, WaiterId};
use super::lane::{Lane, Served};

/// What this server did to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueueChange {
    /// A job is in the queue.
    Entered(LaneId, Box<LaneNeeds>, QueuePlace),
    /// A job has left it otherwise than to a runner.
    Left(LaneId, QueuePlace),
    /// A job of this project ended that an instance runner had.
    Ended(String),
}

/// Somebody who asks for a job.
#[derive(Debug)]
struct Waiter<R> {
    class: ClassId,
    runner: Runner,
    manager: String,
    /// Whether it is answered as soon as it is known that there is nothing.
    is_hurried: bool,
    /// The lane it is about to be served from, and whether that has begun.
    lane: Option<LaneId>,
    is_ordered: bool,
    reply: R,
}

/// One who is about to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) waiter: WaiterId,
    pub(crate) runner: RunnerId,
    pub(crate) manager: String,
}

/// Those who are about to be served from one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaneOrder {
    pub(crate) lane: LaneId,
    pub(crate) needs: LaneNeeds,
    pub(crate) assignments: Vec<Assignment>,
    /// Whether the places that follow should be read.
    pub(crate) is_low: bool,
}

/// How many jobs of a project instance runners have.
#[derive(Debug, Default)]
struct Running {
    jobs: u64,
    touched: u64,
}

/// What the index says to somebody who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// From this lane.
    Lane(LaneId),
    /// That is known when others are served.
    Later,
    /// There is nothing.
    Nothing,
}

/// The index; `R` is how a waiter is answered.
#[derive(Debug)]
pub(super) struct Index<R> {
    lanes: HashMap<LaneId, Lane>,
    classes: HashMap<ClassId, Class>,
    class_ids: HashMap<ClassKey, ClassId>,
    waiters: HashMap<WaiterId, Waiter<R>>,
    /// Those that wait although they are in a hurry.
    hurried: BTreeSet<WaiterId>,
    /// Those that are assigned, and not being served yet.
    assigned: Vec<WaiterId>,
    running: HashMap<String, Running>,
    /// Raised by every change.
    clock: u64,
}

impl<R> Default for Index<R> {
    fn default() -> Self {
        Self {
            lanes: HashMap::new(),
            classes: HashMap::new(),
            class_ids: HashMap::new(),
            waiters: HashMap::new(),
            hurried: BTreeSet::new(),
            assigned: Vec::new(),
            running: HashMap::new(),
            clock: 0,
        }
    }
}

impl<R> Index<R> {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Now, as changes are counted.
    pub(super) fn now(&self) -> u64 {
        self.clock
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// Whether a waiter is not about to be served.
    pub(super) fn is_waiting(&self, id: WaiterId) -> bool {
        self.waiters
            .get(&id)
            .is_some_and(|waiter| waiter.lane.is_none())
    }

    pub(super) fn has_assigned(&self) -> bool {
        !self.assigned.is_empty()
    }

    pub(super) fn known_lanes(&self) -> HashSet<LaneId> {
        self.lanes.keys().copied().collect()
    }

    /// When what there is for a runner last changed.
    pub(super) fn changed_for(&mut self, runner: &Runner) -> u64 {
        let class = self.class_of(runner);
        self.classes.get(&class).map_or(0, |class| class.changed)
    }

    /// How many jobs of a project instance runners have.
    pub(super) fn running_of(&self, project: &str) -> u64 {
        self.running.get(project).map_or(0, |running| running.jobs)
    }

    /// Somebody asks for a job, and waits; unless there is something at once, that is.
    pub(super) fn arrive(&mut self, runner: Runner, manager: String, reply: R) -> WaiterId {
        let class = self.class_of(&runner);
        let id = self.tick();
        let waiter = Waiter {
            class,
            runner,
            manager,
            is_hurried: false,
            lane: None,
            is_ordered: false,
            reply,
        };
        self.waiters.insert(id, waiter);
        self.wait(id);
        self.assign(id);
        id
    }

    /// A waiter that is still waiting wants to be answered. Gives its reply if there is nothing for it.
    pub(super) fn hurry(&mut self, id: WaiterId) -> Option<R> {
        let waiter = self.waiters.get_mut(&id)?;
        waiter.is_hurried = true;
        if waiter.lane.is_some() {
            return None;
        }
        match self.assign(id) {
            Choice::Lane(_) => None,
            Choice::Later => {
                self.hurried.insert(id);
                None
            }
            Choice::Nothing => self.remove_waiter(id),
        }
    }

    /// A waiter that is not about to be served leaves; gives its reply.
    pub(super) fn leave(&mut self, id: WaiterId) -> Option<R> {
        let waiter = self.waiters.get(&id)?;
        waiter.lane.is_none().then(|| self.remove_waiter(id))?
    }

    /// A waiter is gone. What is taken for it has to be given back.
    pub(super) fn vanish(&mut self, id: WaiterId) {
        // One that is assigned keeps its place in the order, which nobody is served for.
        self.remove_waiter(id);
    }

    /// Those that wait for runners of which this is so, and are not about to be served: their replies.
    pub(super) fn dismiss(&mut self, is_so: impl Fn(&Runner, &str) -> bool) -> Vec<R> {
        let waiters = self.waiters.iter();
        let gone = waiters.filter(|(_, w)| w.lane.is_none() && is_so(&w.runner, &w.manager));
        let gone: Vec<WaiterId> = gone.map(|(id, _)| *id).collect();
        gone.into_iter()
            .filter_map(|id| self.remove_waiter(id))
            .collect()
    }

    /// The runners that wait.
    pub(super) fn waiting_runners(&self) -> BTreeSet<RunnerId> {
        self.waiters
            .values()
            .map(|waiter| waiter.runner.id)
            .collect()
    }

    /// This server did something to the queue.
    pub(super) fn change(&mut self, change: QueueChange) {
        let now = self.tick();
        match change {
            QueueChange::Entered(id, needs, place) => {
                match self.lanes.get_mut(&id) {
                    Some(lane) => lane.add(place, now),
                    None => self.add_lane(id, Lane::new(*needs, place, true, now)),
                }
                self.lane_changed(id);
            }
            QueueChange::Left(id, place) => {
                if let Some(lane) = self.lanes.get_mut(&id) {
                    lane.remove(place);
                }
                self.forget_if_idle(id);
            }
            QueueChange::Ended(project) => {
                if let Some(running) = self.running.get_mut(&project) {
                    running.jobs = running.jobs.saturating_sub(1);
                    running.touched = now;
                }
            }
        }
    }

    /// Those who are to be served now, at most so many.
    pub(super) fn orders(&mut self, most: usize) -> Vec<LaneOrder> {
        let rest = self.assigned.split_off(self.assigned.len().min(most));
        let now = std::mem::replace(&mut self.assigned, rest);
        let mut orders: Vec<LaneOrder> = Vec::new();
        let mut places: HashMap<LaneId, usize> = HashMap::new();
        for id in now {
            let Some(waiter) = self.waiters.get_mut(&id) else {
                continue;
            };
            waiter.is_ordered = true;
            let Some((lane_id, lane)) = waiter.lane.and_then(|id| Some((id, self.lanes.get(&id)?)))
            else {
                continue;
            };
            let place = *places.entry(lane_id).or_insert(orders.len());
            if place == orders.len() {
                orders.push(LaneOrder {
                    lane: lane_id,
                    needs: lane.needs.clone(),
                    assignments: Vec::new(),
                    is_low: lane.is_low(),
                });
            }
            if let Some(order) = orders.get_mut(place) {
                order.assignments.push(Assignment {
                    waiter: id,
                    runner: waiter.runner.id,
                    manager: waiter.manager.clone(),
                });
            }
        }
        orders
    }

    /// Jobs of a lane were taken, or not. `since` is when that began.
    pub(super) fn served(&mut self, id: LaneId, served: &Served, since: u64) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.served(served, since);
        }
    }

    /// A waiter got its job; gives its reply, unless it is gone. `project` is given if it is an instance runner.
    pub(super) fn given(&mut self, id: WaiterId, project: Option<&str>) -> Option<R> {
        if let Some(project) = project {
            let now = self.tick();
            let running = self.running.entry(project.to_owned()).or_default();
            running.jobs += 1;
            running.touched = now;
        }
        self.remove_waiter(id)
    }

    /// A waiter got nothing: it waits again. Gives its reply if it is to be answered now.
    pub(super) fn not_given(&mut self, id: WaiterId) -> Option<R> {
        let waiter = self.waiters.get_mut(&id)?;
        waiter.lane = None;
        waiter.is_ordered = false;
        let is_hurried = waiter.is_hurried;
        self.wait(id);
        match is_hurried {
            true => self.hurry(id),
            false => {
                self.assign(id);
                None
            }
        }
    }

    /// Goes on with lanes from which somebody was served; gives the replies of those who needn't wait any longer.
    pub(super) fn go_on(&mut self, lanes: &[LaneId]) -> Vec<R> {
        for id in lanes {
            self.forget_if_idle(*id);
            self.assign_from(*id);
        }
        let hurried = std::mem::take(&mut self.hurried);
        let replies = hurried.into_iter().filter_map(|id| self.hurry(id));
        replies.collect()
    }

    fn wait(&mut self, id: WaiterId) {
        let class = self.waiters.get(&id).map(|waiter| waiter.class);
        if let Some(class) = class.and_then(|class| self.classes.get_mut(&class)) {
            class.waiting.insert(id);
        }
    }

    fn remove_waiter(&mut self, id: WaiterId) -> Option<R> {
        let waiter = self.waiters.remove(&id)?;
        self.hurried.remove(&id);
        if let Some(class) = self.classes.get_mut(&waiter.class) {
            class.waiting.remove(&id);
        }
        // Nobody is served for it any more, if that has not begun.
        if let (Some(lane), false) = (waiter.lane, waiter.is_ordered) {
            self.assigned.retain(|assigned| *assigned != id);
            self.unreserve(lane);
        }
        Some(waiter.reply)
    }

    /// One who was to be served from a lane is not.
    fn unreserve(&mut self, id: LaneId) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.unreserve();
        }
        self.assign_from(id);
    }
}
