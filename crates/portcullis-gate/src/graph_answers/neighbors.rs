//! A vertex and what it is connected with.

use portcullis_graph::Vertex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{GraphView, Side, Unanswered};

/// A vertex and what it is connected with. Vertices are `Kind:namespace/name` or `Kind:name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbors {
    /// The vertex.
    pub vertex: String,
    /// Whether its own object was seen; false for kinds that are not watched.
    pub is_object: bool,
    /// Where edges come from.
    pub incoming: Vec<Neighbor>,
    /// Where edges lead to.
    pub outgoing: Vec<Neighbor>,
    /// Whether there are more than are listed.
    pub is_cut: bool,
    /// What is wrong with the objects of the graph: without it there may be more vertices and edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// The other end of an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbor {
    /// The vertex.
    pub vertex: String,
    /// The objects that the edge comes from.
    pub owners: Vec<String>,
}

impl GraphView {
    /// A vertex and its neighbours, at most `limit` in each direction.
    ///
    /// # Errors
    ///
    /// When the vertex is not there.
    pub fn neighbors(&self, vertex: &Vertex, limit: usize) -> Result<Neighbors, Unanswered> {
        let key = self.known("vertex", vertex)?;
        let around = self.around(&key, limit.saturating_add(1));
        let around = around.unwrap_or_default();
        let is_cut = around.incoming.len().max(around.outgoing.len()) > limit;
        let side = |side: Side| -> Vec<Neighbor> {
            let all = side.into_iter().take(limit).map(|(key, owners)| Neighbor {
                vertex: self.text(&key),
                owners: owners.iter().map(|owner| self.text(owner)).collect(),
            });
            all.collect()
        };
        Ok(Neighbors {
            vertex: vertex.to_string(),
            is_object: around.is_object,
            incoming: side(around.incoming),
            outgoing: side(around.outgoing),
            is_cut,
            problems: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn texts(side: &[Neighbor]) -> Vec<&str> {
        side.iter().map(|one| one.vertex.as_str()).collect()
    }

    #[test]
    fn neighbours_of_all_graphs_are_listed_once() {
        let view = GraphView::new(&sample::state(), None).unwrap();
        let vertex = "Desk:hq/d1".parse().unwrap();
        let answer = view.neighbors(&vertex, 100).unwrap();
        assert_eq!(texts(&answer.incoming), ["Badge:hq/b1"]);
        assert_eq!(texts(&answer.outgoing), ["Floor:f1", "Robot:r1"]);
        assert_eq!(answer.incoming[0].owners, ["Desk:hq/d1"]);
        assert!(answer.is_object && !answer.is_cut);
        let cut = view.neighbors(&vertex, 1).unwrap();
        assert!(cut.is_cut && cut.outgoing.len() == 1, "{cut:?}");
        let robots = GraphView::new(&sample::state(), Some("Robot")).unwrap();
        let answer = robots.neighbors(&vertex, 100).unwrap();
        assert_eq!(texts(&answer.outgoing), ["Robot:r1"]);
    }

    #[test]
    fn what_is_only_named_has_no_object() {
        let view = GraphView::new(&sample::state(), None).unwrap();
        for (text, is_object) in [
            ("Robot:r1", true),
            ("Robot:r2", false),
            ("Badge:hq/b1", false),
        ] {
            let answer = view.neighbors(&text.parse().unwrap(), 10).unwrap();
            assert_eq!(answer.is_object, is_object, "{text}");
        }
    }
}
