//! The same graph as plain maps, answered by plain search.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::super::vertex::VertexRef;
use super::super::{Edge, Graph, Shape, VertexView};
use crate::vertex::KindId;

/// The target kind.
pub(super) const TARGET: u16 = 0;

/// A vertex by its parts.
pub(super) type Named = (KindId, String, String);

pub(super) fn vertex(kind: u16, namespace: &str, name: &str) -> Named {
    (KindId(kind), namespace.to_owned(), name.to_owned())
}

pub(super) fn by_ref(vertex: &Named) -> VertexRef<'_> {
    VertexRef {
        kind: vertex.0,
        namespace: &vertex.1,
        name: &vertex.2,
    }
}

pub(super) fn shape(acyclic: bool) -> Shape {
    Shape {
        kinds: 5,
        target: KindId(TARGET),
        acyclic,
    }
}

pub(super) fn replace(graph: &Graph, owner: &Named, edges: &[(Named, Named)]) -> bool {
    let edges: Vec<Edge<'_>> = edges
        .iter()
        .map(|(from, to)| Edge {
            from: by_ref(from),
            to: by_ref(to),
        })
        .collect();
    graph.replace(by_ref(owner), &edges)
}

/// Objects and the edges they contribute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) objects: BTreeMap<Named, BTreeSet<(Named, Named)>>,
}

impl Model {
    /// All edges with their owners.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&Named, &Named, &Named)> {
        self.objects.iter().flat_map(|(owner, edges)| {
            let edges = edges.iter();
            edges.map(move |(from, to)| (from, to, owner))
        })
    }

    pub(super) fn vertices(&self) -> BTreeSet<&Named> {
        let ends = self.edges().flat_map(|(from, to, _)| [from, to]);
        self.objects.keys().chain(ends).collect()
    }

    /// How far every vertex that `from` leads to is.
    pub(super) fn distances<'a>(&'a self, from: &'a Named) -> BTreeMap<&'a Named, usize> {
        let mut after: BTreeMap<&Named, Vec<&Named>> = BTreeMap::new();
        for (from, to, _) in self.edges() {
            after.entry(from).or_default().push(to);
        }
        let mut distances = BTreeMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(vertex) = queue.pop_front() {
            let distance = distances[vertex];
            for to in after.get(vertex).into_iter().flatten() {
                distances.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    distance + 1
                });
            }
        }
        distances
    }

    pub(super) fn view(&self, vertex: &Named) -> VertexView {
        let incoming = self.edges().filter(|(_, to, _)| *to == vertex);
        let mut incoming: Vec<_> = incoming
            .map(|(from, _, owner)| (from.clone(), owner.clone()))
            .collect();
        let outgoing = self.edges().filter(|(from, _, _)| *from == vertex);
        let mut outgoing: Vec<_> = outgoing
            .map(|(_, to, owner)| (to.clone(), owner.clone()))
            .collect();
        incoming.sort_unstable();
        outgoing.sort_unstable();
        VertexView {
            vertex: vertex.clone(),
            is_object: self.objects.contains_key(vertex),
            incoming,
            outgoing,
        }
    }

    /// The graph of these objects, made at once.
    pub(super) fn build(&self, acyclic: bool) -> Graph {
        let graph = Graph::new(shape(acyclic));
        for (owner, edges) in &self.objects {
            let edges: Vec<_> = edges.iter().cloned().collect();
            replace(&graph, owner, &edges);
        }
        graph
    }
}
