//! Breadth-first search that can pause, for shapes without sets, for paths, and as a reference for tests.
//!
//! A long search releases the lock every few thousand edges, so that a change, and the readers behind it,
//! needn't wait for its end. Concurrent changes may be missed; callers say what follows from that.

use hashbrown::HashSet;

use super::Graph;
use super::records::VertexRecord;
use super::slab::NONE;
use super::store::Store;
use crate::vertex::{KindId, VertexRef};

/// How many edges are looked at before the lock is let go.
const PACE: usize = 4096;
/// How often a search is restarted because of changes.
const ATTEMPTS: usize = 3;
/// How many further edges are looked at for one that ends at the goal, when one leads there.
const AHEAD: u32 = 8;

/// A search under way.
#[derive(Debug)]
struct Search {
    seen: HashSet<u32>,
    /// Those seen, in the order in which they were found.
    order: Vec<Visit>,
    /// Whose edges are looked at.
    at: usize,
    /// Which of its edges comes next, if not the first.
    edge: Option<u32>,
}

/// A vertex that was found.
#[derive(Debug, Clone, Copy)]
struct Visit {
    vertex: u32,
    /// The edge to it, and from which place of the order it came.
    edge: u32,
    before: usize,
}

/// How far a search came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The goal is at this place of the order.
    Found(usize),
    /// Everything was seen.
    Ended,
    Paused,
}

impl Search {
    fn new(from: u32) -> Self {
        Self {
            seen: HashSet::from_iter([from]),
            order: vec![Visit {
                vertex: from,
                edge: NONE,
                before: 0,
            }],
            at: 0,
            edge: None,
        }
    }

    /// Looks at so many edges. Vertices that `enters` rejects are passed over.
    fn advance(
        &mut self,
        store: &Store,
        pace: usize,
        enters: impl Fn(u32) -> bool,
        mut is_goal: impl FnMut(u32) -> bool,
    ) -> Progress {
        for _ in 0..pace {
            let Some(visit) = self.order.get(self.at).copied() else {
                return Progress::Ended;
            };
            let first = || store.vertex(visit.vertex).map(|record| record.first_out);
            let edge = self.edge.or_else(first).unwrap_or(NONE);
            let record = store.edges.get(edge);
            let Some(record) = record.filter(|record| record.from == visit.vertex) else {
                self.at += 1;
                self.edge = None;
                continue;
            };
            self.edge = Some(record.next_out);
            if self.seen.contains(&record.to) || !enters(record.to) {
                continue;
            }
            self.seen.insert(record.to);
            self.order.push(Visit {
                vertex: record.to,
                edge,
                before: self.at,
            });
            if is_goal(record.to) {
                return Progress::Found(self.order.len() - 1);
            }
        }
        Progress::Paused
    }

    /// The way to a place of the order, from the start. None if a change has cut it.
    fn way(&self, store: &Store, place: usize) -> Option<Vec<u32>> {
        let (mut way, mut place) = (Vec::new(), place);
        loop {
            let visit = self.order.get(place)?;
            way.push(visit.vertex);
            if place == 0 {
                way.reverse();
                return Some(way);
            }
            let before = self.order.get(visit.before)?;
            let edge = store.edges.get(visit.edge)?;
            if (edge.from, edge.to) != (before.vertex, visit.vertex) {
                return None;
            }
            place = visit.before;
        }
    }
}

impl Graph {
    /// Whether one vertex leads to another, by search. Concurrent changes restart it; after a few
    /// times the lock is held to the end, so that the answer is always one that was right.
    pub(super) fn search(&self, from: (u64, VertexRef<'_>), to: (u64, VertexRef<'_>)) -> bool {
        for attempt in 0..=ATTEMPTS {
            let pace = if attempt < ATTEMPTS { PACE } else { usize::MAX };
            let mut under_way: Option<(Search, u64)> = None;
            loop {
                let store = self.read();
                let start = store.vertices.find(from.0, from.1);
                let end = store.vertices.find(to.0, to.1);
                let (Some(start), Some(end)) = (start, end) else {
                    return false;
                };
                if start == end {
                    return true;
                }
                let (search, changes) =
                    under_way.get_or_insert_with(|| (Search::new(start), store.changes));
                if *changes != store.changes {
                    break;
                }
                match search.advance(&store, pace, |_| true, |vertex| vertex == end) {
                    Progress::Found(_) => return true,
                    Progress::Ended => return false,
                    Progress::Paused => {}
                }
            }
        }
        false
    }

    /// See [`Graph::path`].
    pub(super) fn find_path(
        &self,
        from: (u64, VertexRef<'_>),
        to: (u64, VertexRef<'_>),
    ) -> Option<Vec<(KindId, String, String)>> {
        for _ in 0..ATTEMPTS {
            let mut under_way: Option<(Search, u64)> = None;
            loop {
                let store = self.read();
                let start = store.vertices.find(from.0, from.1)?;
                let end = store.vertices.find(to.0, to.1)?;
                if start == end {
                    return Some(vec![store.vertices.named(start)?]);
                }
                // Where sets are kept, only what leads to the end is worth looking at.
                let known = store.counting && to.1.kind.0 == store.target;
                if known && !store.leads(start, end) {
                    return None;
                }
                let (search, changes) =
                    under_way.get_or_insert_with(|| (Search::new(start), store.changes));
                let enters = |vertex| !known || store.leads(vertex, end);
                match search.advance(&store, PACE, enters, |vertex| vertex == end) {
                    Progress::Found(place) => {
                        let way = search.way(&store, place);
                        let way = way.filter(|way| way.first() == Some(&start));
                        if let Some(way) = way {
                            let named = way.iter().map(|vertex| store.vertices.named(*vertex));
                            return named.collect();
                        }
                        break;
                    }
                    Progress::Ended if *changes == store.changes => return None,
                    Progress::Ended => break,
                    Progress::Paused => {}
                }
            }
        }
        None
    }

    /// See [`Graph::some_path`].
    pub(super) fn find_some_path(
        &self,
        from: (u64, VertexRef<'_>),
        to: (u64, VertexRef<'_>),
        edges: usize,
    ) -> Option<Vec<(KindId, String, String)>> {
        let store = self.read();
        let start = store.vertices.find(from.0, from.1)?;
        let end = store.vertices.find(to.0, to.1)?;
        let way = if store.counting && to.1.kind.0 == store.target {
            walk(&store, start, end, edges)?
        } else {
            let mut search = Search::new(start);
            let found = match start == end {
                true => Progress::Found(0),
                false => search.advance(&store, edges, |_| true, |vertex| vertex == end),
            };
            match found {
                Progress::Found(place) => search.way(&store, place)?,
                Progress::Ended | Progress::Paused => return None,
            }
        };
        let named = way.iter().map(|vertex| store.vertices.named(*vertex));
        named.collect()
    }

    /// See [`Graph::targets`]: those found by search.
    pub(super) fn search_targets(
        &self,
        from: (u64, VertexRef<'_>),
        limit: usize,
    ) -> Vec<(KindId, String, String)> {
        let mut under_way: Option<Search> = None;
        let mut found = Vec::new();
        loop {
            let store = self.read();
            let Some(start) = store.vertices.find(from.0, from.1) else {
                return found;
            };
            let is_target = |record: &VertexRecord| record.kind == store.target;
            let mut note = |vertex| {
                if store.vertex(vertex).is_some_and(is_target) {
                    found.extend(store.vertices.named(vertex));
                }
                found.len() >= limit
            };
            let search = under_way.get_or_insert_with(|| Search::new(start));
            if search.order.len() == 1 && search.edge.is_none() && note(start) {
                return found;
            }
            if search.advance(&store, PACE, |_| true, note) != Progress::Paused {
                return found;
            }
        }
    }
}

/// Goes from one vertex to another where sets are kept: along the first edge that leads there, or that ends
/// there if one of the next few does. So nothing but the edges of the vertices on the way is looked at, and of
/// those at most so many.
fn walk(store: &Store, start: u32, end: u32, edges: usize) -> Option<Vec<u32>> {
    let mut left = edges;
    let mut way = vec![start];
    let mut at = start;
    while at != end {
        let mut next = None;
        let mut ahead = AHEAD;
        let mut edge = store.vertex(at)?.first_out;
        while let Some(record) = store.edges.get(edge).filter(|record| record.from == at) {
            left = left.checked_sub(1)?;
            edge = record.next_out;
            if record.to == end {
                next = Some(end);
                break;
            }
            if next.is_some() {
                ahead -= 1;
                if ahead == 0 {
                    break;
                }
            // Targets may lead back to themselves.
            } else if store.leads(record.to, end) && !way.contains(&record.to) {
                next = Some(record.to);
            }
        }
        at = next?;
        way.push(at);
    }
    Some(way)
}
