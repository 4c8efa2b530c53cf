//! Which targets vertices lead to, kept up to date edge by edge.
//!
//! A vertex has a count for every target it leads to without passing another one: how many of its edges end
//! at that target or at a vertex that leads to it. When a count becomes one, or zero, those before the vertex
//! are updated; when it only changes, none is. That is exact as long as edges beside targets form no cycle.

use super::records::{Leading, Targets};
use super::set::{Member, Set};
use super::slab::NONE;
use super::store::Store;
use super::targets::Step;

impl Store {
    /// Whether a vertex leads to a vertex of the target kind. Sets must be kept.
    #[inline]
    pub(super) fn leads(&self, from: u32, to: u32) -> bool {
        if from == to {
            return true;
        }
        let (Some(start), Some(end)) = (self.vertex(from), self.vertex(to)) else {
            return false;
        };
        let target = end.reach.own_number();
        let sources = self.targets.sources(target);
        if start.kind == self.target {
            let number = start.reach.own_number();
            return sources.is_some_and(|sources| sources.contains(number));
        }
        match start.reach.look() {
            Leading::Nowhere => false,
            Leading::One(number, _) => {
                number == target || sources.is_some_and(|sources| sources.contains(number))
            }
            Leading::Several(set) => self.sets.get(set).is_some_and(|set| {
                set.contains(target) || sources.is_some_and(|sources| sources.meets(set))
            }),
        }
    }

    /// An edge was added.
    pub(super) fn edge_added(&mut self, from: u32, to: u32) {
        let mut work = std::mem::take(&mut self.work);
        self.contribution(from, to, &mut work);
        while let Some((vertex, target)) = work.pop() {
            if self.count_up(vertex, target) {
                self.tell_those_before(vertex, target, &mut work);
            }
        }
        self.work = work;
    }

    /// An edge was removed.
    pub(super) fn edge_removed(&mut self, from: u32, to: u32) {
        let mut work = std::mem::take(&mut self.work);
        self.contribution(from, to, &mut work);
        while let Some((vertex, target)) = work.pop() {
            if self.count_down(vertex, target) {
                self.tell_those_before(vertex, target, &mut work);
            }
        }
        self.work = work;
    }

    /// What an edge between these adds to where it begins.
    fn contribution(&self, from: u32, to: u32, work: &mut Vec<(u32, u32)>) {
        let Some(end) = self.vertex(to) else {
            return;
        };
        if end.kind == self.target {
            work.push((from, end.reach.own_number()));
            return;
        }
        work.extend(self.reached(end.reach).map(|target| (from, target)));
    }

    /// The targets of a vertex that is not of the target kind.
    pub(super) fn reached(&self, reach: Targets) -> impl Iterator<Item = u32> {
        let (one, set) = match reach.look() {
            Leading::Nowhere => (None, None),
            Leading::One(target, _) => (Some(target), None),
            Leading::Several(set) => (None, self.sets.get(set)),
        };
        let several = set.into_iter().flat_map(Set::iter);
        one.into_iter().chain(several.map(|member| member.number))
    }

    /// Queues the vertices before one that now does, or no longer does, lead to a target. A target has none:
    /// the graph is cut there.
    fn tell_those_before(&mut self, vertex: u32, target: u32, work: &mut Vec<(u32, u32)>) {
        let Some(record) = self.vertex(vertex) else {
            return;
        };
        if record.kind == self.target {
            return;
        }
        let mut edge = record.first_in;
        while let Some(record) = self.edges.get(edge) {
            work.push((record.from, target));
            edge = record.next_in;
        }
    }

    /// One more edge of a vertex leads to a target. Whether it is the first.
    fn count_up(&mut self, vertex: u32, target: u32) -> bool {
        let Some(record) = self.vertices.records.get_mut(vertex) else {
            return false;
        };
        if record.kind == self.target {
            let from = record.reach.own_number();
            if self.targets.add_direct(from, target) {
                self.steps.push(Step {
                    from,
                    to: target,
                    begins: true,
                });
            }
            return false;
        }
        match record.reach.look() {
            Leading::Nowhere => {
                record.reach = Targets::one(target, 1);
                true
            }
            Leading::One(number, count) if number == target => {
                record.reach = Targets::one(number, count.saturating_add(1));
                false
            }
            Leading::One(number, count) => {
                let old = Member { number, count };
                let new = Member {
                    number: target,
                    count: 1,
                };
                record.reach = Targets::several(self.sets.insert(Set::of(&[old, new])));
                true
            }
            Leading::Several(set) => self.sets.get_mut(set).is_some_and(|set| set.add(target)),
        }
    }

    /// One edge less. Whether it was the last.
    fn count_down(&mut self, vertex: u32, target: u32) -> bool {
        let Some(record) = self.vertices.records.get_mut(vertex) else {
            return false;
        };
        if record.kind == self.target {
            let from = record.reach.own_number();
            if self.targets.sub_direct(from, target) {
                self.steps.push(Step {
                    from,
                    to: target,
                    begins: false,
                });
            }
            return false;
        }
        match record.reach.look() {
            Leading::One(number, count) if number == target => {
                record.reach = if count > 1 {
                    Targets::one(number, count - 1)
                } else {
                    Targets::NOWHERE
                };
                count <= 1
            }
            Leading::Several(number) => {
                let Some(set) = self.sets.get_mut(number) else {
                    return false;
                };
                let gone = set.sub(target);
                if let Some(member) = set.only() {
                    record.reach = Targets::one(member.number, member.count);
                    self.sets.remove(number);
                }
                gone
            }
            Leading::Nowhere | Leading::One(..) => {
                debug_assert_eq!(target, NONE, "did not lead there");
                false
            }
        }
    }
}
