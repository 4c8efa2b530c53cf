//! Targets and which of them lead to which.
//!
//! Elsewhere the graph is cut at targets; this holds what the cut removes: for each target the targets that
//! it leads to directly, and the closure of that, backwards. Most targets lead to none and have nothing here
//! but their number.

use std::collections::VecDeque;

use hashbrown::HashSet;

use super::set::Set;
use super::slab::{NONE, Slab, Slot};

/// All targets, numbered from zero.
#[derive(Debug, Default)]
pub(super) struct TargetTable {
    all: Slab<Target>,
}

/// A target.
#[derive(Debug)]
struct Target {
    /// Its vertex; `NONE` marks a vacant place.
    vertex: u32,
    next_vacant: u32,
    relations: Option<Box<Relations>>,
}

/// What a target has to do with other targets.
#[derive(Debug, Default)]
struct Relations {
    /// Those it leads to without passing another one, counted by edges.
    direct: Related,
    /// Those that have it in `direct`.
    before: Related,
    /// All others that lead to it.
    sources: Related,
}

/// A set that most don't have.
#[derive(Debug, Default)]
struct Related(Option<Box<Set>>);

impl Related {
    fn iter(&self) -> impl Iterator<Item = u32> {
        let members = self.0.iter().flat_map(|set| set.iter());
        members.map(|member| member.number)
    }

    fn add(&mut self, number: u32) -> bool {
        self.0.get_or_insert_default().add(number)
    }

    fn sub(&mut self, number: u32) -> bool {
        let gone = self.0.as_mut().is_some_and(|set| set.sub(number));
        if self.0.as_ref().is_some_and(|set| set.is_empty()) {
            self.0 = None;
        }
        gone
    }
}

/// One target began or ceased to lead directly to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) begins: bool,
}

impl Default for Target {
    fn default() -> Self {
        Self::vacant(NONE)
    }
}

impl Slot for Target {
    fn vacant(next: u32) -> Self {
        Self {
            vertex: NONE,
            next_vacant: next,
            relations: None,
        }
    }

    fn next_vacant(&self) -> Option<u32> {
        (self.vertex == NONE).then_some(self.next_vacant)
    }
}

impl TargetTable {
    /// A number for the target at this vertex.
    pub(super) fn insert(&mut self, vertex: u32) -> u32 {
        self.all.insert(Target {
            vertex,
            next_vacant: NONE,
            relations: None,
        })
    }

    /// The target is gone; nothing leads to it any more.
    pub(super) fn remove(&mut self, number: u32) {
        let target = self.all.remove(number);
        debug_assert!(
            target.is_some_and(|target| target.relations.is_none()),
            "still related"
        );
    }

    /// The vertex of a target.
    pub(super) fn vertex(&self, number: u32) -> u32 {
        self.all.get(number).map_or(NONE, |target| target.vertex)
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The other targets that lead to this one, if there are any.
    #[inline]
    pub(super) fn sources(&self, number: u32) -> Option<&Set> {
        self.relations(number)?.sources.0.as_deref()
    }

    /// The targets that this one leads to directly, if there are any.
    pub(super) fn direct(&self, number: u32) -> Option<&Set> {
        self.relations(number)?.direct.0.as_deref()
    }

    #[inline]
    fn relations(&self, number: u32) -> Option<&Relations> {
        self.all.get(number)?.relations.as_deref()
    }

    fn relate<T>(&mut self, number: u32, change: impl FnOnce(&mut Relations) -> T) -> Option<T> {
        let target = self.all.get_mut(number)?;
        let relations = target.relations.get_or_insert_default();
        let result = change(relations);
        if relations.is_empty() {
            target.relations = None;
        }
        Some(result)
    }

    /// One more edge of this target leads to that one. Whether it is the first.
    pub(super) fn add_direct(&mut self, from: u32, to: u32) -> bool {
        let first = self.relate(from, |relations| relations.direct.add(to));
        first.unwrap_or(false)
    }

    /// One edge less. Whether it was the last.
    pub(super) fn sub_direct(&mut self, from: u32, to: u32) -> bool {
        let last = self.relate(from, |relations| relations.direct.sub(to));
        last.unwrap_or(false)
    }

    /// Brings `before` and `sources` up to date after these steps, of which some may undo others.
    pub(super) fn settle(&mut self, steps: &mut Vec<Step>) {
        if steps.is_empty() {
            return;
        }
        let (begun, ended) = net(steps);
        steps.clear();
        // What could have lost something: targets that led to an edge's begin, and those after its end.
        let mut upstream = HashSet::new();
        for (from, _) in &ended {
            upstream.insert(*from);
            let sources = self.sources(*from).into_iter().flat_map(Set::iter);
            upstream.extend(sources.map(|member| member.number));
        }
        for (from, to) in &begun {
            self.relate(*to, |relations| relations.before.add(*from));
        }
        for (from, to) in &ended {
            self.relate(*to, |relations| relations.before.sub(*from));
        }
        if !ended.is_empty() {
            let downstream = self.walk(ended.iter().map(|(_, to)| *to), Direction::Forward);
            self.forget(&upstream, &downstream);
        }
        for (from, to) in begun {
            self.spread(from, to);
        }
    }

    /// Takes those of `upstream` out of the sources of `downstream` that don't lead there any more.
    fn forget(&mut self, upstream: &HashSet<u32>, downstream: &HashSet<u32>) {
        let sizes = downstream
            .iter()
            .filter_map(|to| self.sources(*to).map(Set::len));
        if upstream.len() <= sizes.sum() {
            for from in upstream {
                let reached = self.walk([*from].into_iter(), Direction::Forward);
                for to in downstream.difference(&reached) {
                    if self.sources(*to).is_some_and(|set| set.contains(*from)) {
                        self.relate(*to, |relations| relations.sources.sub(*from));
                    }
                }
            }
        } else {
            for to in downstream {
                let mut leading = self.walk([*to].into_iter(), Direction::Backward);
                leading.remove(to);
                let mut sources = Related::default();
                for from in leading {
                    sources.add(from);
                }
                self.relate(*to, |relations| relations.sources = sources);
            }
        }
    }

    /// A target leads directly to another now: so do all that lead to it, and all behind the other are led to.
    fn spread(&mut self, from: u32, to: u32) {
        let mut sources: Vec<u32> = vec![from];
        let known = self.sources(from).into_iter().flat_map(Set::iter);
        sources.extend(known.map(|member| member.number));
        let mut queue = VecDeque::from([(to, sources)]);
        while let Some((to, mut sources)) = queue.pop_front() {
            let known = self.sources(to);
            sources.retain(|source| {
                *source != to && !known.is_some_and(|known| known.contains(*source))
            });
            if sources.is_empty() {
                continue;
            }
            self.relate(to, |relations| {
                for source in &sources {
                    relations.sources.add(*source);
                }
            });
            let next = self.direct(to).into_iter().flat_map(Set::iter);
            queue.extend(next.map(|next| (next.number, sources.clone())));
        }
    }

    /// All targets that these lead to, or that lead to these, themselves included.
    fn walk(&self, from: impl Iterator<Item = u32>, direction: Direction) -> HashSet<u32> {
        let mut stack: Vec<u32> = from.collect();
        let mut seen: HashSet<u32> = stack.iter().copied().collect();
        while let Some(number) = stack.pop() {
            let Some(relations) = self.relations(number) else {
                continue;
            };
            let next = match direction {
                Direction::Forward => &relations.direct,
                Direction::Backward => &relations.before,
            };
            stack.extend(next.iter().filter(|next| seen.insert(*next)));
        }
        seen
    }
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl Relations {
    fn is_empty(&self) -> bool {
        self.direct.0.is_none() && self.before.0.is_none() && self.sources.0.is_none()
    }
}

/// Where direct ways begin and end.
type Pairs = Vec<(u32, u32)>;

/// What is left of steps when those that undo each other are removed: pairs that began, pairs that ended.
fn net(steps: &mut [Step]) -> (Pairs, Pairs) {
    steps.sort_unstable();
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for same in steps.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
        let begins = same.iter().filter(|step| step.begins).count();
        let pair = same.first().map(|step| (step.from, step.to));
        match (begins * 2).cmp(&same.len()) {
            std::cmp::Ordering::Greater => begun.extend(pair),
            std::cmp::Ordering::Less => ended.extend(pair),
            std::cmp::Ordering::Equal => {}
        }
    }
    (begun, ended)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    const TARGETS: u32 = 40;

    /// All others that lead to a target, by plain search.
    fn leading(edges: &BTreeMap<(u32, u32), u32>, to: u32) -> BTreeSet<u32> {
        let (mut found, mut stack) = (BTreeSet::new(), vec![to]);
        while let Some(to) = stack.pop() {
            for (from, _) in edges.keys().filter(|(_, end)| *end == to) {
                if found.insert(*from) {
                    stack.push(*from);
                }
            }
        }
        found.remove(&to);
        found
    }

    /// Steps of one change: edges between targets that come or, if there are any, go.
    fn changes() -> impl Strategy<Value = Vec<Vec<(u32, u32, bool)>>> {
        // Both with few roots, where many lead to the same, and at random, where long cycles form.
        let ends = prop_oneof![(0..TARGETS, 0..3_u32), (0..TARGETS, 0..TARGETS)];
        let step = (ends, prop::bool::weighted(0.6));
        let step = step.prop_map(|((from, to), begins)| (from, to, begins));
        prop::collection::vec(prop::collection::vec(step, 1..12), 1..30)
    }

    proptest! {
        #[test]
        fn sources_are_all_that_lead_there(changes in changes()) {
            let mut table = TargetTable::default();
            for number in 0..TARGETS {
                prop_assert_eq!(table.insert(1000 + number), number);
            }
            let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for change in changes {
                let mut steps = Vec::new();
                for (from, to, begins) in change {
                    if begins {
                        *edges.entry((from, to)).or_default() += 1;
                        if table.add_direct(from, to) {
                            steps.push(Step { from, to, begins });
                        }
                    } else if let Some((from, to)) = edges.range((from, to)..).next().map(|(ends, _)| *ends) {
                        let count = edges.get_mut(&(from, to)).unwrap();
                        *count -= 1;
                        if *count == 0 {
                            edges.remove(&(from, to));
                        }
                        if table.sub_direct(from, to) {
                            steps.push(Step { from, to, begins });
                        }
                    }
                }
                table.settle(&mut steps);
                for to in 0..TARGETS {
                    let sources = table.sources(to).into_iter().flat_map(Set::iter);
                    let sources: BTreeSet<u32> = sources.map(|member| member.number).collect();
                    prop_assert_eq!(sources, leading(&edges, to), "{}", to);
                }
            }
            let mut steps = Vec::new();
            for ((from, to), count) in edges {
                (0..count).for_each(|_| { table.sub_direct(from, to); });
                steps.push(Step { from, to, begins: false });
            }
            table.settle(&mut steps);
            (0..TARGETS).for_each(|number| table.remove(number));
            prop_assert_eq!(table.len(), 0);
        }
    }
}
