//! Everything that is stored of a graph, and the smallest changes: a vertex, an edge.

use hashbrown::DefaultHashBuilder;

use super::Shape;
use super::layers::Layers;
use super::records::{EdgeRecord, Targets, VertexRecord};
use super::set::Set;
use super::slab::{NONE, Slab};
use super::targets::{Step, TargetTable};
use super::vertices::Vertices;
use crate::vertex::VertexRef;

/// A graph.
#[derive(Debug)]
pub(super) struct Store {
    /// The kind that paths are asked to.
    pub(super) target: u16,
    /// Whether sets of reachable targets are kept.
    pub(super) counting: bool,
    /// How often it was changed.
    pub(super) changes: u64,
    pub(super) vertices: Vertices,
    pub(super) edges: Slab<EdgeRecord>,
    /// Sets of vertices that lead to several targets.
    pub(super) sets: Slab<Set>,
    pub(super) targets: TargetTable,
    layers: Layers,
    /// What the change under way did to targets.
    pub(super) steps: Vec<Step>,
    /// Vertices and targets yet to be looked at, when reachability changes.
    pub(super) work: Vec<(u32, u32)>,
}

impl Store {
    pub(super) fn new(shape: &Shape, hasher: DefaultHashBuilder) -> Self {
        Self {
            target: shape.target.0,
            counting: shape.acyclic,
            changes: 0,
            vertices: Vertices::new(hasher),
            edges: Slab::default(),
            sets: Slab::default(),
            targets: TargetTable::default(),
            layers: Layers::new(shape.target),
            steps: Vec::new(),
            work: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn vertex(&self, number: u32) -> Option<&VertexRecord> {
        self.vertices.records.get(number)
    }

    pub(super) fn vertex_mut(&mut self, number: u32) -> Option<&mut VertexRecord> {
        self.vertices.records.get_mut(number)
    }

    /// The number of a vertex, which is added if it isn't there.
    pub(super) fn find_or_add(&mut self, hash: u64, vertex: VertexRef<'_>) -> u32 {
        if let Some(number) = self.vertices.find(hash, vertex) {
            return number;
        }
        let number = self.vertices.insert(hash, vertex);
        if self.counting && vertex.kind.0 == self.target {
            let target = self.targets.insert(number);
            if let Some(record) = self.vertex_mut(number) {
                record.reach = Targets::one(target, 1);
            }
        }
        number
    }

    /// Takes a vertex out if nothing needs it any more.
    pub(super) fn remove_unused(&mut self, number: u32) {
        let unused = self
            .vertex(number)
            .filter(|record| record.namespace != NONE && record.is_unused());
        let Some(record) = unused else {
            return;
        };
        if self.counting && record.kind == self.target {
            let target = record.reach.own_number();
            self.targets.remove(target);
        } else {
            debug_assert_eq!(record.reach, Targets::NOWHERE, "leads somewhere");
        }
        self.vertices.remove(number);
    }

    /// Adds an edge at the head of all its lists, and what it leads to.
    pub(super) fn link(&mut self, from: u32, to: u32, owner: u32) {
        let (Some(start), Some(end)) = (self.vertex(from), self.vertex(to)) else {
            debug_assert!(false, "no such vertex");
            return;
        };
        let (next_out, next_in) = (start.first_out, end.first_in);
        let (from_kind, to_kind) = (start.kind, end.kind);
        if self.counting && !self.layers.admit(from_kind, to_kind) {
            self.stop_counting();
        }
        let next_owned = self.vertex(owner).map_or(NONE, |record| record.first_owned);
        let edge = self.edges.insert(EdgeRecord {
            from,
            to,
            owner,
            next_out,
            prev_out: NONE,
            next_in,
            prev_in: NONE,
            next_owned,
        });
        if let Some(next) = self.edges.get_mut(next_out) {
            next.prev_out = edge;
        }
        if let Some(next) = self.edges.get_mut(next_in) {
            next.prev_in = edge;
        }
        if let Some(start) = self.vertex_mut(from) {
            start.first_out = edge;
        }
        if let Some(end) = self.vertex_mut(to) {
            end.first_in = edge;
        }
        if let Some(owner) = self.vertex_mut(owner) {
            owner.first_owned = edge;
        }
        if self.counting {
            self.edge_added(from, to);
        }
    }

    /// Takes an edge out of the lists of its ends, and what it leads to away. Its owner's list is the
    /// caller's affair. Gives both ends.
    pub(super) fn unlink(&mut self, edge: u32) -> Option<(u32, u32)> {
        let record = self.edges.remove(edge)?;
        let EdgeRecord {
            from,
            to,
            next_out,
            prev_out,
            next_in,
            prev_in,
            ..
        } = record;
        if let Some(next) = self.edges.get_mut(next_out) {
            next.prev_out = prev_out;
        }
        if let Some(next) = self.edges.get_mut(next_in) {
            next.prev_in = prev_in;
        }
        if let Some(previous) = self.edges.get_mut(prev_out) {
            previous.next_out = next_out;
        } else if let Some(start) = self.vertex_mut(from) {
            start.first_out = next_out;
        }
        if let Some(previous) = self.edges.get_mut(prev_in) {
            previous.next_in = next_in;
        } else if let Some(end) = self.vertex_mut(to) {
            end.first_in = next_in;
        }
        if self.counting {
            self.edge_removed(from, to);
        }
        Some((from, to))
    }

    /// Kinds form a cycle, whatever the shape said: sets would be wrong, so that a search answers from now on.
    fn stop_counting(&mut self) {
        self.counting = false;
        self.sets = Slab::default();
        self.targets = TargetTable::default();
        self.steps.clear();
        for number in 0..self.vertices.records.end() {
            if let Some(record) = self.vertex_mut(number) {
                record.reach = Targets::NOWHERE;
            }
        }
    }
}
