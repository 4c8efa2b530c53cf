//! Objects and what they contribute, as numbers and one long text: little to keep beside a graph.

use portcullis_graph::{Edge, Graph, KindId, Shape, VertexRef};

/// The number of a vertex in its data.
pub(super) type Number = u32;

/// All objects of a shape.
#[derive(Debug, Default)]
pub(super) struct Data {
    text: String,
    namespaces: Vec<(u32, u32)>,
    vertices: Vec<Place>,
    edges: Vec<(Number, Number)>,
    objects: Vec<Object>,
    /// The target kind.
    target: u16,
    kinds: u16,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    kind: u16,
    namespace: u32,
    name: (u32, u32),
}

/// An object: who it is, and which of the edges are its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object {
    pub(super) owner: Number,
    first: usize,
    end: usize,
}

impl Data {
    pub(super) fn new(kinds: u16, target: u16) -> Self {
        Self {
            target,
            kinds,
            // No namespace is the first one.
            namespaces: vec![(0, 0)],
            // Room for the largest shape: growing would leave memory behind for the graph to take, which
            // then doesn't look as large as it is.
            text: String::with_capacity(64 << 20),
            vertices: Vec::with_capacity(2 << 20),
            edges: Vec::with_capacity(4 << 20),
            objects: Vec::with_capacity(1 << 20),
        }
    }

    fn write(&mut self, text: &str) -> (u32, u32) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let start = place(self.text.len());
        self.text.push_str(text);
        (start, place(self.text.len()))
    }

    /// A new namespace, to put vertices in.
    pub(super) fn namespace(&mut self, name: &str) -> u32 {
        let place = self.write(name);
        self.namespaces.push(place);
        u32::try_from(self.namespaces.len() - 1).unwrap_or(u32::MAX)
    }

    /// A new vertex. The namespace is zero for kinds without one.
    pub(super) fn vertex(&mut self, kind: u16, namespace: u32, name: &str) -> Number {
        let name = self.write(name);
        self.vertices.push(Place {
            kind,
            namespace,
            name,
        });
        Number::try_from(self.vertices.len() - 1).unwrap_or(Number::MAX)
    }

    /// An object and its edges.
    pub(super) fn object(&mut self, owner: Number, edges: &[(Number, Number)]) {
        let first = self.edges.len();
        self.edges.extend_from_slice(edges);
        let end = self.edges.len();
        self.objects.push(Object { owner, first, end });
    }

    fn part(&self, (start, end): (u32, u32)) -> &str {
        let part = self.text.get(start as usize..end as usize);
        part.unwrap_or_default()
    }

    /// A vertex by name.
    pub(super) fn named(&self, number: Number) -> VertexRef<'_> {
        let place = self.vertices.get(number as usize);
        let namespace = place.and_then(|place| self.namespaces.get(place.namespace as usize));
        VertexRef {
            kind: KindId(place.map_or(0, |place| place.kind)),
            namespace: namespace.map_or("", |namespace| self.part(*namespace)),
            name: place.map_or("", |place| self.part(place.name)),
        }
    }

    /// Whether a vertex is of the target kind.
    pub(super) fn is_target(&self, number: Number) -> bool {
        self.named(number).kind.0 == self.target
    }

    /// An edge by names.
    pub(super) fn edge(&self, (from, to): (Number, Number)) -> Edge<'_> {
        Edge {
            from: self.named(from),
            to: self.named(to),
        }
    }

    /// All objects.
    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The edges of an object.
    pub(super) fn edges_of(&self, object: &Object) -> &[(Number, Number)] {
        self.edges.get(object.first..object.end).unwrap_or_default()
    }

    /// All edges.
    pub(super) fn edges(&self) -> &[(Number, Number)] {
        &self.edges
    }

    /// How many vertices there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// An empty graph for this.
    pub(super) fn graph(&self) -> Graph {
        Graph::new(Shape {
            kinds: self.kinds,
            target: KindId(self.target),
            acyclic: true,
        })
    }

    /// Puts all objects into a graph.
    pub(super) fn load(&self, graph: &Graph) {
        let mut edges = Vec::new();
        for object in &self.objects {
            edges.clear();
            edges.extend(self.edges_of(object).iter().map(|ends| self.edge(*ends)));
            graph.replace(self.named(object.owner), &edges);
        }
    }

    /// What a graph says.
    #[cfg(test)]
    pub(super) fn ask(&self, graph: &Graph, from: Number, to: Number) -> bool {
        graph.leads(self.named(from), self.named(to)) == portcullis_graph::Reach::Yes
    }
}
