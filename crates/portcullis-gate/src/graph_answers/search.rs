//! Vertices by a part of their names.

use std::collections::BTreeSet;

use portcullis_graph::VertexRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{GraphView, Key};

/// The whole name was asked for.
const EXACT: u8 = 0;
/// The name begins with what was asked for.
const BEGINS: u8 = 1;
/// It is somewhere.
const SOMEWHERE: u8 = 2;

/// Vertices that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Vertices {
    /// The vertices, `Kind:namespace/name` or `Kind:name`: those with exactly this name first, then those whose name
    /// begins with it.
    pub items: Vec<String>,
    /// Whether there may be more: the limit or the time was reached.
    pub is_cut: bool,
    /// What is wrong with the objects of the graph: without it there may be more vertices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl GraphView {
    /// The vertices whose `Kind:namespace/name` has every word of a text in it, in upper or lower case, at most
    /// `limit`. All vertices are looked at, some thousand at a time, as long as `goes_on` says so.
    pub fn search(&self, text: &str, limit: usize, goes_on: impl Fn() -> bool) -> Vertices {
        let text = text.to_ascii_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let kinds = &self.profile().kinds;
        let kinds = kinds
            .iter()
            .map(|(id, kind)| (id, kind.name.to_ascii_lowercase()));
        let kinds: Vec<_> = kinds.collect();
        // One text for all vertices, so that none is allocated for each of them.
        let mut whole = String::new();
        let mut rank = |vertex: VertexRef<'_>| {
            let kind = kinds.iter().find(|(id, _)| *id == vertex.kind);
            whole.clear();
            whole.push_str(kind.map_or("", |(_, name)| name));
            whole.push(':');
            if !vertex.namespace.is_empty() {
                whole.push_str(vertex.namespace);
                whole.push('/');
            }
            let name_at = whole.len();
            whole.push_str(vertex.name);
            whole.make_ascii_lowercase();
            let name = whole.get(name_at..).unwrap_or_default();
            let is_found = words.iter().all(|word| whole.contains(word));
            let by_name = words.iter().map(|word| match name.strip_prefix(word) {
                Some("") => EXACT,
                Some(_) => BEGINS,
                None if whole == *word => EXACT,
                None => SOMEWHERE,
            });
            is_found.then(|| by_name.min().unwrap_or(SOMEWHERE))
        };
        let mut found: BTreeSet<(u8, Key)> = BTreeSet::new();
        let mut is_cut = false;
        for graph in self.graphs() {
            let some = graph.find(limit, &mut rank, &goes_on);
            is_cut |= some.is_cut;
            for (kind, namespace, name) in some.vertices {
                let vertex = VertexRef {
                    kind,
                    namespace: &namespace,
                    name: &name,
                };
                let rank = rank(vertex).unwrap_or(SOMEWHERE);
                found.insert((rank, (kind, namespace, name)));
            }
        }
        let items = found.iter().take(limit);
        Vertices {
            items: items.map(|(_, key)| self.vertex(key).to_string()).collect(),
            is_cut: is_cut || found.len() > limit,
            problems: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn found(text: &str, limit: usize) -> Vertices {
        let view = GraphView::new(&sample::state(), None).unwrap();
        view.search(text, limit, || true)
    }

    #[test]
    fn every_word_is_somewhere_in_kind_namespace_and_name() {
        assert_eq!(found("desk", 10).items, ["Desk:hq/d1", "Desk:hq/d2"]);
        assert_eq!(
            found("HQ", 10).items,
            ["Badge:hq/b1", "Desk:hq/d1", "Desk:hq/d2"]
        );
        assert_eq!(found("k:hq/d2", 10).items, ["Desk:hq/d2"]);
        assert_eq!(found("robot 2", 10).items, ["Robot:r2"]);
        assert!(found("robot 3", 10).items.is_empty());
    }

    #[test]
    fn exact_names_come_before_beginnings_and_others() {
        assert_eq!(
            found("1", 10).items,
            ["Badge:hq/b1", "Desk:hq/d1", "Floor:f1", "Robot:r1"]
        );
        // The name of a robot begins with it; of the kinds it is only a part.
        assert_eq!(found("r", 10).items, ["Robot:r1", "Robot:r2", "Floor:f1"]);
        assert_eq!(found("f1", 1).items, ["Floor:f1"]);
    }

    #[test]
    fn what_is_left_out_is_told() {
        assert!(!found("robot", 2).is_cut);
        let cut = found("robot", 1);
        assert!(cut.is_cut && cut.items == ["Robot:r1"], "{cut:?}");
        let view = GraphView::new(&sample::state(), None).unwrap();
        let ended = view.search("robot", 10, || false);
        assert!(ended.is_cut && ended.items.is_empty(), "{ended:?}");
    }
}
