//! Whether one vertex leads to another, and how.

use portcullis_graph::{Graph, Vertex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{GraphView, Unanswered, reference};

/// How many targets are listed where there is no path.
const INSTEAD: usize = 5;

/// Whether one vertex leads to another. Vertices are `Kind:namespace/name` or `Kind:name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathAnswer {
    /// Where the path begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Whether there is a path.
    pub found: bool,
    /// A shortest one, both ends included; empty if there is none.
    pub path: Vec<String>,
    /// Without a path: targets that the first vertex leads to instead, at most a few.
    pub leads_to: Vec<String>,
    /// What is wrong with the objects of the graph: without it there may be more vertices and edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl GraphView {
    /// A shortest path, in the graph whose target it leads to if there is one.
    ///
    /// # Errors
    ///
    /// When one of the vertices is not there.
    pub fn path(&self, from: &Vertex, to: &Vertex) -> Result<PathAnswer, Unanswered> {
        let begin = self.known("from", from)?;
        let end = self.known("to", to)?;
        let is_meant = |graph: &Graph| graph.shape().target == end.0;
        let mut graphs: Vec<&Graph> = self.graphs().collect();
        graphs.sort_by_key(|graph| !is_meant(graph));
        let mut paths = graphs
            .iter()
            .filter_map(|graph| graph.path(reference(&begin), reference(&end)));
        let path = paths.next();
        let mut leads_to = Vec::new();
        if path.is_none() {
            let all = graphs
                .iter()
                .flat_map(|graph| graph.targets(reference(&begin), INSTEAD));
            for key in all {
                let text = self.text(&key);
                if key != begin && !leads_to.contains(&text) && leads_to.len() < INSTEAD {
                    leads_to.push(text);
                }
            }
        }
        Ok(PathAnswer {
            from: from.to_string(),
            to: to.to_string(),
            found: path.is_some(),
            path: path
                .unwrap_or_default()
                .iter()
                .map(|key| self.text(key))
                .collect(),
            leads_to,
            problems: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn asked(from: &str, to: &str) -> Result<PathAnswer, Unanswered> {
        let view = GraphView::new(&sample::state(), None).unwrap();
        view.path(&from.parse().unwrap(), &to.parse().unwrap())
    }

    #[test]
    fn paths_are_found_in_the_graph_of_their_end() {
        let answer = asked("Badge:hq/b1", "Robot:r1").unwrap();
        assert_eq!(answer.path, ["Badge:hq/b1", "Desk:hq/d1", "Robot:r1"]);
        assert!(answer.found && answer.leads_to.is_empty());
        let answer = asked("Badge:hq/b1", "Floor:f1").unwrap();
        assert_eq!(answer.path, ["Badge:hq/b1", "Desk:hq/d1", "Floor:f1"]);
        assert_eq!(asked("Robot:r1", "Robot:r1").unwrap().path, ["Robot:r1"]);
    }

    #[test]
    fn without_a_path_it_is_said_where_it_leads_instead() {
        let answer = asked("Badge:hq/b1", "Robot:r2").unwrap();
        assert!(!answer.found && answer.path.is_empty());
        assert!(
            answer.leads_to.contains(&"Robot:r1".to_owned()),
            "{answer:?}"
        );
        assert!(
            !answer.leads_to.contains(&"Robot:r2".to_owned()),
            "{answer:?}"
        );
        let answer = asked("Robot:r1", "Badge:hq/b1").unwrap();
        assert!(!answer.found && answer.leads_to.is_empty(), "{answer:?}");
    }

    #[test]
    fn both_ends_must_be_there() {
        for (from, to) in [("Badge:hq/b9", "Robot:r1"), ("Badge:hq/b1", "Robot:r9")] {
            let wrong = asked(from, to).unwrap_err();
            assert!(matches!(wrong, Unanswered::UnknownVertex(_)), "{wrong}");
        }
    }
}
