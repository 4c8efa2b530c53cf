//! What people look at: a vertex with its neighbours, lists, targets. The lock is released repeatedly,
//! so what changes meanwhile may be shown or not.

use std::collections::BinaryHeap;
use std::ops::{ControlFlow, Range};

use hashbrown::HashSet;

use super::records::VertexRecord;
use super::set::Set;
use super::slab::{NONE, Slot};
use super::store::Store;
use super::{Found, Graph, Named, VertexView};
use crate::vertex::{KindId, VertexRef};

/// How many neighbours are shown before the lock is let go.
const NEIGHBOURS: usize = 256;
/// How many places of vertices are looked at before the lock is let go.
const PLACES: u32 = 4096;

#[derive(Debug, Clone, Copy)]
enum Direction {
    In,
    Out,
}

impl Graph {
    /// See [`Graph::view`].
    pub(super) fn view_of(&self, vertex: (u64, VertexRef<'_>), limit: usize) -> Option<VertexView> {
        let (named, is_object) = {
            let store = self.read();
            let number = store.vertices.find(vertex.0, vertex.1)?;
            let is_object = store.vertex(number)?.is_object();
            (store.vertices.named(number)?, is_object)
        };
        Some(VertexView {
            vertex: named,
            is_object,
            incoming: self.neighbours(vertex, limit, Direction::In),
            outgoing: self.neighbours(vertex, limit, Direction::Out),
        })
    }

    fn neighbours(
        &self,
        vertex: (u64, VertexRef<'_>),
        limit: usize,
        direction: Direction,
    ) -> Vec<(Named, Named)> {
        let mut found = Vec::new();
        let mut next = None;
        'all: while found.len() < limit {
            let store = self.read();
            let Some(number) = store.vertices.find(vertex.0, vertex.1) else {
                break;
            };
            let first = || {
                let record = store.vertex(number);
                record.map(|record| match direction {
                    Direction::In => record.first_in,
                    Direction::Out => record.first_out,
                })
            };
            let mut edge = next.or_else(first).unwrap_or(NONE);
            for _ in 0..NEIGHBOURS.min(limit - found.len()) {
                let Some(record) = store.edges.get(edge) else {
                    break 'all;
                };
                let (here, there, after) = match direction {
                    Direction::In => (record.to, record.from, record.next_in),
                    Direction::Out => (record.from, record.to, record.next_out),
                };
                if here != number {
                    break 'all;
                }
                let neighbour = store.vertices.named(there);
                found.extend(neighbour.zip(store.vertices.named(record.owner)));
                edge = after;
            }
            next = Some(edge);
        }
        found.sort_unstable();
        found
    }

    /// See [`Graph::list`].
    pub(super) fn list_of(
        &self,
        kind: Option<KindId>,
        namespace: Option<&str>,
        name: Option<&str>,
        limit: usize,
    ) -> Vec<Named> {
        // The largest is on top, to go when a smaller one comes.
        let mut found: BinaryHeap<Named> = BinaryHeap::new();
        self.scan(|store, places| {
            let wanted = match namespace {
                Some(namespace) => match store.vertices.namespaces.find(namespace) {
                    Some(number) => Some(number),
                    None => return ControlFlow::Break(()),
                },
                None => None,
            };
            for number in places {
                let passes = |record: &&VertexRecord| {
                    record.next_vacant().is_none()
                        && kind.is_none_or(|kind| record.kind == kind.0)
                        && wanted.is_none_or(|wanted| record.namespace == wanted)
                        && name.is_none_or(|name| store.vertices.is_named(record, name))
                };
                if let Some(record) = store.vertex(number).filter(passes) {
                    keep_smallest(&mut found, store, record, limit);
                }
            }
            ControlFlow::Continue(())
        });
        // A vertex that went and came back meanwhile may have been met twice.
        let mut found = found.into_sorted_vec();
        found.dedup();
        found
    }

    /// See [`Graph::find`].
    pub(super) fn find_of(
        &self,
        limit: usize,
        mut rank: impl FnMut(VertexRef<'_>) -> Option<u8>,
        mut goes_on: impl FnMut() -> bool,
    ) -> Found {
        let mut found: BinaryHeap<(u8, Named)> = BinaryHeap::new();
        let mut is_cut = false;
        let is_whole = self.scan(|store, places| {
            if !goes_on() {
                return ControlFlow::Break(());
            }
            for number in places {
                let record = store.vertex(number);
                let Some(record) = record.filter(|record| record.next_vacant().is_none()) else {
                    continue;
                };
                let namespace = store.vertices.namespace(record);
                let name = store.vertices.name(record);
                let vertex = VertexRef {
                    kind: KindId(record.kind),
                    namespace: &namespace,
                    name: &name,
                };
                let Some(rank) = rank(vertex) else { continue };
                found.push((rank, (vertex.kind, namespace.into(), name.into())));
                if found.len() > limit {
                    is_cut = true;
                    found.pop();
                }
            }
            ControlFlow::Continue(())
        });
        let mut found = found.into_sorted_vec();
        found.dedup();
        Found {
            vertices: found.into_iter().map(|(_, vertex)| vertex).collect(),
            is_cut: is_cut || !is_whole,
        }
    }

    /// Looks at the places of all vertices, some at a time; the lock is released in between. False if it was ended.
    fn scan(&self, mut look: impl FnMut(&Store, Range<u32>) -> ControlFlow<()>) -> bool {
        let mut place = 0_u32;
        loop {
            let store = self.read();
            let end = store.vertices.records.end();
            let next = end.min(place.saturating_add(PLACES));
            if look(&store, place..next).is_break() {
                return false;
            }
            if next >= end {
                return true;
            }
            place = next;
        }
    }

    /// See [`Graph::targets`]: those that sets show. Bounded by `limit`, so the lock is held throughout.
    pub(super) fn counted_targets(
        &self,
        store: &Store,
        from: (u64, VertexRef<'_>),
        limit: usize,
    ) -> Vec<Named> {
        let Some(record) = store
            .vertices
            .find(from.0, from.1)
            .and_then(|number| store.vertex(number))
        else {
            return Vec::new();
        };
        let mut seen = HashSet::new();
        let mut order: Vec<u32> = if record.kind == store.target {
            vec![record.reach.own_number()]
        } else {
            store.reached(record.reach).take(limit).collect()
        };
        seen.extend(order.iter().copied());
        let mut at = 0;
        while let Some(number) = order.get(at).copied()
            && order.len() < limit
        {
            at += 1;
            let direct = store.targets.direct(number);
            let direct = direct.into_iter().flat_map(Set::iter).take(limit);
            let unseen = direct.filter(|next| seen.insert(next.number));
            order.extend(unseen.map(|next| next.number));
        }
        order.truncate(limit);
        let vertices = order.iter().map(|number| store.targets.vertex(*number));
        vertices
            .filter_map(|vertex| store.vertices.named(vertex))
            .collect()
    }
}

fn keep_smallest(
    found: &mut BinaryHeap<Named>,
    store: &Store,
    record: &VertexRecord,
    limit: usize,
) {
    if found.len() >= limit {
        let name = store.vertices.name(record);
        let namespace = store.vertices.namespace(record);
        let smaller = found.peek().is_some_and(|(kind, space, largest)| {
            (record.kind, &*namespace, &*name) < (kind.0, space.as_str(), largest.as_str())
        });
        if !smaller {
            return;
        }
        found.pop();
    }
    found.push((
        KindId(record.kind),
        store.vertices.namespace(record).into_owned(),
        store.vertices.name(record).into_owned(),
    ));
}
