//! What expressions can look up in the state.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::State;
use crate::lookups::{LookupResult, Lookups};
use crate::vertex::{Vertex, VertexRef};

/// How many edges of a vertex are examined, and how many neighbours are returned, for one look-up.
const MAX_EDGES_LOOKED_AT: usize = 4096;
const MAX_NEIGHBOURS: usize = 256;

impl Lookups for State {
    /// Watched kinds: what is kept, or absent. Other kinds: unread.
    fn find(&self, wanted: &Vertex) -> LookupResult {
        let Some((source, key)) = self.id(wanted) else {
            return LookupResult::Unread;
        };
        let found = self.tables.get(source.0).and_then(|table| table.find(&key));
        found.map_or(LookupResult::Absent, |object| {
            LookupResult::Object(Arc::new(object))
        })
    }

    /// Where edges of any graph lead to from this vertex, as far as they are of this kind.
    fn neighbours(&self, wanted: &Vertex, kind: &str) -> Vec<Vertex> {
        let kinds = &self.profile.kinds;
        let (Some(from), Some(kind)) = (kinds.id(&wanted.kind), kinds.id(kind)) else {
            return Vec::new();
        };
        let key = self.key(from, &wanted.namespace, &wanted.name);
        let (namespace, name) = key.parts();
        let vertex = VertexRef {
            kind: from,
            namespace,
            name,
        };
        let views = self.graphs.iter();
        let views = views.filter_map(|graph| graph.view(vertex, MAX_EDGES_LOOKED_AT));
        let ends = views.flat_map(|view| view.outgoing).map(|(end, _)| end);
        let of_kind = ends.filter(|(its, _, _)| *its == kind);
        let found: BTreeSet<Vertex> = of_kind
            .map(|(_, namespace, name)| Vertex {
                kind: kinds.name(kind).to_owned(),
                namespace,
                name,
            })
            .collect();
        found.into_iter().take(MAX_NEIGHBOURS).collect()
    }
}
