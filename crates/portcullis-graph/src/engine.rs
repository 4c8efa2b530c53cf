//! The graph: vertices, edges owned by objects, and whether one vertex leads to another.
//!
//! Every edge is owned by the object that contributed it; a change of an object replaces its edges in one
//! step that readers see entirely or not at all. A vertex lives while an edge or its own object names it.
//! Changes come one after the other; readers never wait for more than the change of one object.
//!
//! Where kinds form no cycle but through the target kind, every vertex has a counted set of the targets it
//! leads to up to the next target (`reach`), and every target the set of targets that lead to it (`targets`):
//! two look-ups answer. An edge that closes a cycle of kinds all the same turns the graph into one that
//! searches, permanently, so that a wrong [`Shape`] costs time and never an answer.
//!
//! Long reads (`path`, `targets`, `view`, `list`, `find`) release the lock every few thousand steps. What changes
//! meanwhile may be seen or not; a path is checked again as a whole before it is given.

mod change;
mod index;
mod inspect;
mod layers;
mod names;
mod namespaces;
mod reach;
mod records;
mod search;
mod set;
mod slab;
mod store;
mod targets;
#[cfg(test)]
mod tests;
mod vertices;

use std::fmt;
use std::sync::PoisonError;

use crossbeam_utils::sync::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};
use hashbrown::DefaultHashBuilder;
use portcullis_core::sync::Mutex;

use self::change::Plan;
use self::records::VertexRecord;
use self::slab::NONE;
use self::store::Store;
use crate::vertex::{KindId, VertexRef};

/// The most targets that are given at once.
const MOST_TARGETS: usize = 10_000;

/// What is known of a graph before it has any vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// How many kinds there are.
    pub kinds: u16,
    /// The kind that paths are asked to.
    pub target: KindId,
    /// Whether edges, as far as kinds go, can't form a cycle but through the target kind. Then sets of
    /// reachable targets are kept; otherwise a search answers.
    pub acyclic: bool,
}

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edge<'a> {
    /// Where it begins.
    pub from: VertexRef<'a>,
    /// Where it ends.
    pub to: VertexRef<'a>,
}

/// Whether a vertex leads to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// There is no such vertex.
    Unknown,
    /// There is no path.
    No,
    /// There is a path; a vertex leads to itself.
    Yes,
}

/// A vertex by its parts: kind, namespace, name.
pub(super) type Named = (KindId, String, String);

/// A vertex with its neighbours, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexView {
    /// The vertex: kind, namespace, name.
    pub vertex: (KindId, String, String),
    /// Whether its own object is there.
    pub is_object: bool,
    /// Where edges come from, with the owner of each edge; sorted.
    pub incoming: Vec<(Named, Named)>,
    /// Where edges lead to, with the owner of each edge; sorted.
    pub outgoing: Vec<(Named, Named)>,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The vertices, those of the lowest rank first: kind, namespace, name.
    pub vertices: Vec<(KindId, String, String)>,
    /// Whether there may be more: the limit was reached, or the search was ended.
    pub is_cut: bool,
}

/// A vertex that was found, good until the graph changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VertexHandle {
    number: u32,
    changes: u64,
}

/// A graph that many may read while one changes it.
pub struct Graph {
    shape: Shape,
    hasher: DefaultHashBuilder,
    store: ShardedLock<Store>,
    /// Held for the whole of a change, so that readers may go on while it is being prepared.
    plan: Mutex<Plan>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (vertices, edges) = self.counts();
        f.debug_struct("Graph")
            .field("shape", &self.shape)
            .field("vertices", &vertices)
            .field("edges", &edges)
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new(shape: Shape) -> Self {
        let hasher = DefaultHashBuilder::default();
        Self {
            store: ShardedLock::new(Store::new(&shape, hasher.clone())),
            shape,
            hasher,
            plan: Mutex::default(),
        }
    }

    /// What it was made for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The object `owner` is there and contributes these edges, in place of those it contributed before.
    /// Doubles count once. Returns whether anything changed. If nothing does, no reader waits.
    pub fn replace(&self, owner: VertexRef<'_>, edges: &[Edge<'_>]) -> bool {
        let mut plan = self.plan.lock();
        let owner = self.hashed(owner);
        plan.hash(&self.hasher, edges);
        let changes = {
            let store = self.read();
            let number = store.vertices.find(owner.0, owner.1).unwrap_or(NONE);
            plan.compare(&store, owner, number, edges)
        };
        if changes {
            plan.apply(&mut self.write(), owner, edges);
        }
        changes
    }

    /// The object `owner` is no longer there, nor the edges it contributed. Returns whether anything changed.
    pub fn remove(&self, owner: VertexRef<'_>) -> bool {
        let mut plan = self.plan.lock();
        let owner = self.hashed(owner);
        plan.hash(&self.hasher, &[]);
        let number = {
            let store = self.read();
            let Some(number) = store.vertices.find(owner.0, owner.1) else {
                return false;
            };
            if !store.vertex(number).is_some_and(VertexRecord::is_object) {
                return false;
            }
            plan.compare(&store, owner, number, &[]);
            number
        };
        plan.apply_removal(&mut self.write(), number);
        true
    }

    /// Whether `from` leads to `to`, which is of the target kind (another kind is searched for). Unknown if
    /// there is no vertex `from`. Allocates nothing in an acyclic shape.
    pub fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> Reach {
        let (from, to) = (self.hashed(from), self.hashed(to));
        let store = self.read();
        let Some(start) = store.vertices.find(from.0, from.1) else {
            return Reach::Unknown;
        };
        let Some(end) = store.vertices.find(to.0, to.1) else {
            return Reach::No;
        };
        let leads = if store.counting && to.1.kind.0 == store.target {
            store.leads(start, end)
        } else {
            drop(store);
            self.search(from, to)
        };
        if leads { Reach::Yes } else { Reach::No }
    }

    /// Finds a vertex, to ask [`Graph::leads_from`] about it several times.
    pub fn handle(&self, vertex: VertexRef<'_>) -> Option<VertexHandle> {
        let (hash, vertex) = self.hashed(vertex);
        let store = self.read();
        let number = store.vertices.find(hash, vertex)?;
        Some(VertexHandle {
            number,
            changes: store.changes,
        })
    }

    /// Whether a vertex leads to a target, both found before. None if the graph has changed since, or has to
    /// be searched: then only [`Graph::leads`] answers.
    pub fn leads_from(&self, from: VertexHandle, to: VertexHandle) -> Option<bool> {
        let store = self.read();
        let end = store.vertex(to.number)?;
        let fresh = from.changes == store.changes && to.changes == store.changes;
        let known = fresh && store.counting && end.kind == store.target;
        known.then(|| store.leads(from.number, to.number))
    }

    /// Whether the vertex is there.
    pub fn contains(&self, vertex: VertexRef<'_>) -> bool {
        let (hash, vertex) = self.hashed(vertex);
        self.read().vertices.find(hash, vertex).is_some()
    }

    /// A shortest path from one vertex to another, both included, by search; none if there is none. Changes
    /// during the search may make it a longer one, and after many of them a path may be missed; what is given
    /// is a path of the graph as it is at the end.
    pub fn path(
        &self,
        from: VertexRef<'_>,
        to: VertexRef<'_>,
    ) -> Option<Vec<(KindId, String, String)>> {
        self.find_path(self.hashed(from), self.hashed(to))
    }

    /// Some path from one vertex to a target, if it is found among so many edges: for what can't wait. The lock
    /// is held throughout.
    pub(super) fn some_path(
        &self,
        from: VertexRef<'_>,
        to: VertexRef<'_>,
        edges: usize,
    ) -> Option<Vec<Named>> {
        self.find_some_path(self.hashed(from), self.hashed(to), edges)
    }

    /// The targets that `from` leads to directly or through others, at most `limit` and never more than
    /// 10,000, sorted; for explanations.
    pub fn targets(&self, from: VertexRef<'_>, limit: usize) -> Vec<(KindId, String, String)> {
        if limit == 0 {
            return Vec::new();
        }
        let limit = limit.min(MOST_TARGETS);
        let from = self.hashed(from);
        let store = self.read();
        let mut found = if store.counting {
            self.counted_targets(&store, from, limit)
        } else {
            drop(store);
            self.search_targets(from, limit)
        };
        found.sort_unstable();
        found
    }

    /// A vertex with its neighbours, at most `limit` in each direction.
    pub fn view(&self, vertex: VertexRef<'_>, limit: usize) -> Option<VertexView> {
        self.view_of(self.hashed(vertex), limit)
    }

    /// The vertices that pass all filters given, at most `limit`, sorted by kind number, namespace and name:
    /// the first ones in this order.
    pub fn list(
        &self,
        kind: Option<KindId>,
        namespace: Option<&str>,
        name: Option<&str>,
        limit: usize,
    ) -> Vec<(KindId, String, String)> {
        if limit == 0 {
            return Vec::new();
        }
        if let (Some(kind), Some(namespace), Some(name)) = (kind, namespace, name) {
            let vertex = VertexRef {
                kind,
                namespace,
                name,
            };
            let found = self.contains(vertex);
            return if found {
                vec![(kind, namespace.to_owned(), name.to_owned())]
            } else {
                Vec::new()
            };
        }
        self.list_of(kind, namespace, name, limit)
    }

    /// The vertices to which `rank` gives a rank, at most `limit`, those of the lowest rank first. All vertices are
    /// looked at, some thousand at a time, as long as `goes_on` says so.
    pub fn find(
        &self,
        limit: usize,
        rank: impl FnMut(VertexRef<'_>) -> Option<u8>,
        goes_on: impl FnMut() -> bool,
    ) -> Found {
        self.find_of(limit, rank, goes_on)
    }

    /// How many vertices and edges there are. An edge that two objects contribute is two.
    pub fn counts(&self) -> (usize, usize) {
        let store = self.read();
        (store.vertices.records.len(), store.edges.len())
    }

    fn hashed<'a>(&self, vertex: VertexRef<'a>) -> (u64, VertexRef<'a>) {
        (vertices::hash(&self.hasher, vertex), vertex)
    }

    fn read(&self) -> ShardedLockReadGuard<'_, Store> {
        let store = self.store.read();
        store.unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> ShardedLockWriteGuard<'_, Store> {
        let store = self.store.write();
        store.unwrap_or_else(PoisonError::into_inner)
    }
}
