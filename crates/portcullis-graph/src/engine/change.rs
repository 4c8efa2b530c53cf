//! The change of one object: additions and removals are computed first, beside the readers; only then
//! are they applied, while readers wait.

use hashbrown::DefaultHashBuilder;

use super::records::VertexRecord;
use super::slab::NONE;
use super::store::Store;
use super::{Edge, vertices};
use crate::vertex::VertexRef;

/// What is to be done for one object. Kept from change to change for its memory.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The ends of the desired edges.
    wanted: Vec<DesiredEdge>,
    /// The edges that the object has: ends and number, sorted.
    owned: Vec<(u32, u32, u32)>,
    /// The edges that are gone, sorted.
    gone: Vec<u32>,
    /// The edges that are new.
    new: Vec<(u32, u32)>,
    /// Vertices that may be unused afterwards.
    loose: Vec<u32>,
}

/// A desired edge.
#[derive(Debug, Clone, Copy)]
struct DesiredEdge {
    from: EdgeEnd,
    to: EdgeEnd,
    /// Its place among the edges given.
    edge: usize,
    /// Whether the object has it already.
    is_there: bool,
}

/// An end of an edge.
#[derive(Debug, Clone, Copy)]
struct EdgeEnd {
    hash: u64,
    /// The number of the vertex if there is one.
    number: u32,
}

/// More than this is not kept from change to change.
const KEPT: usize = 4096;

impl Plan {
    /// Hashes everything, which needs no lock.
    pub(super) fn hash(&mut self, hasher: &DefaultHashBuilder, edges: &[Edge<'_>]) {
        let end = |vertex| EdgeEnd {
            hash: vertices::hash(hasher, vertex),
            number: NONE,
        };
        self.wanted.clear();
        let edges = edges.iter().enumerate();
        self.wanted.extend(edges.map(|(place, edge)| DesiredEdge {
            from: end(edge.from),
            to: end(edge.to),
            edge: place,
            is_there: false,
        }));
    }

    /// Finds out what is new and what is gone. `owner` is the number of the object, if it has a vertex.
    /// Whether anything changes.
    pub(super) fn compare(
        &mut self,
        store: &Store,
        object: (u64, VertexRef<'_>),
        owner: u32,
        edges: &[Edge<'_>],
    ) -> bool {
        let find = |end: &mut EdgeEnd, vertex| {
            // Most edges begin or end at the object itself.
            end.number = if (end.hash, vertex) == object {
                owner
            } else {
                store.vertices.find(end.hash, vertex).unwrap_or(NONE)
            };
        };
        for wanted in &mut self.wanted {
            if let Some(edge) = edges.get(wanted.edge) {
                find(&mut wanted.from, edge.from);
                find(&mut wanted.to, edge.to);
            }
        }
        self.owned.clear();
        let owner = store.vertex(owner);
        let mut next = owner.map_or(NONE, |owner| owner.first_owned);
        while let Some(edge) = store.edges.get(next) {
            self.owned.push((edge.from, edge.to, next));
            next = edge.next_owned;
        }
        self.owned.sort_unstable();
        self.wanted
            .sort_unstable_by_key(|wanted| (wanted.from.number, wanted.to.number));
        // Both are sorted: one pass finds what is in both.
        self.gone.clear();
        let mut wanted = self.wanted.iter_mut().peekable();
        for (from, to, edge) in &self.owned {
            let ends = |wanted: &&mut DesiredEdge| (wanted.from.number, wanted.to.number);
            while wanted.next_if(|other| ends(other) < (*from, *to)).is_some() {}
            let mut kept = false;
            while let Some(same) = wanted.next_if(|other| ends(other) == (*from, *to)) {
                same.is_there = true;
                kept = true;
            }
            if !kept {
                self.gone.push(*edge);
            }
        }
        self.gone.sort_unstable();
        !self.gone.is_empty()
            || self.wanted.iter().any(|wanted| !wanted.is_there)
            || !owner.is_some_and(VertexRecord::is_object)
    }

    /// Does it, for an object that is there.
    pub(super) fn apply(
        &mut self,
        store: &mut Store,
        object: (u64, VertexRef<'_>),
        edges: &[Edge<'_>],
    ) {
        let owner = store.find_or_add(object.0, object.1);
        if let Some(record) = store.vertex_mut(owner) {
            record.set_object(true);
        }
        self.new.clear();
        for wanted in self.wanted.iter().filter(|wanted| !wanted.is_there) {
            let Some(edge) = edges.get(wanted.edge) else {
                continue;
            };
            let mut number = |end: EdgeEnd, vertex| match end.number {
                NONE if (end.hash, vertex) == object => owner,
                NONE => store.find_or_add(end.hash, vertex),
                number => number,
            };
            let ends = (number(wanted.from, edge.from), number(wanted.to, edge.to));
            self.new.push(ends);
        }
        self.new.sort_unstable();
        self.new.dedup();
        self.disown(store, owner);
        for (from, to) in &self.new {
            store.link(*from, *to, owner);
        }
        self.finish(store, owner);
    }

    /// Does it, for an object that is gone.
    pub(super) fn apply_removal(&mut self, store: &mut Store, owner: u32) {
        if let Some(record) = store.vertex_mut(owner) {
            record.set_object(false);
        }
        self.disown(store, owner);
        self.finish(store, owner);
    }

    /// Takes the edges that are gone out of the owner's list.
    fn disown(&self, store: &mut Store, owner: u32) {
        if self.gone.is_empty() {
            return;
        }
        let mut first = NONE;
        for (_, _, edge) in &self.owned {
            if self.gone.binary_search(edge).is_err()
                && let Some(record) = store.edges.get_mut(*edge)
            {
                record.next_owned = first;
                first = *edge;
            }
        }
        if let Some(record) = store.vertex_mut(owner) {
            record.first_owned = first;
        }
    }

    /// Takes away what is gone, when everything new is there: so nothing goes that is needed again.
    fn finish(&mut self, store: &mut Store, owner: u32) {
        self.loose.clear();
        for edge in &self.gone {
            if let Some((from, to)) = store.unlink(*edge) {
                self.loose.extend([from, to]);
            }
        }
        let mut steps = std::mem::take(&mut store.steps);
        store.targets.settle(&mut steps);
        store.steps = steps;
        for vertex in self.loose.drain(..).chain([owner]) {
            store.remove_unused(vertex);
        }
        store.changes = store.changes.wrapping_add(1);
        store.work.shrink_to(KEPT);
        store.steps.shrink_to(KEPT);
        self.wanted.shrink_to(KEPT);
        self.owned.shrink_to(KEPT);
        self.gone.shrink_to(KEPT);
        self.new.shrink_to(KEPT);
        self.loose.shrink_to(KEPT);
    }
}
