//! The graphs of a profile that an answer is about, and what is in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_graph::{Graph, KindId, Profile, State, Vertex, VertexRef};

use portcullis_config::Source;

/// A vertex by number of its kind, namespace and name; sorted like this.
pub type Key = (KindId, String, String);

/// Neighbours with the owners of the edges.
pub(super) type Side = BTreeMap<Key, Vec<Key>>;

/// The graphs of a profile that an answer is about.
#[derive(Debug, Clone)]
pub struct GraphView {
    state: Arc<State>,
    target: Option<KindId>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The profile has no such target.
    #[error("{0}")]
    UnknownTarget(String),
    /// There is no such vertex.
    #[error("{0}")]
    UnknownVertex(String),
    /// The first full picture isn't there yet.
    #[error("the graph has not caught up yet")]
    NotCaughtUp,
}

/// A vertex with its neighbours in all graphs looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighborhood {
    /// Whether its own object is there.
    pub(crate) is_object: bool,
    /// Where edges come from.
    pub incoming: Side,
    /// Where edges lead to.
    pub outgoing: Side,
}

impl GraphView {
    /// Of this state the graph of a target, or all of them.
    ///
    /// # Errors
    ///
    /// When the profile has no such target.
    pub fn new(state: &Arc<State>, target: Option<&str>) -> Result<Self, Unanswered> {
        let profile = state.profile();
        let target = match target {
            None => None,
            Some(name) => {
                let id = profile.kinds.id(name);
                let id = id.filter(|id| profile.targets.contains(id));
                Some(id.ok_or_else(|| unknown_target(profile, name))?)
            }
        };
        Ok(Self {
            state: Arc::clone(state),
            target,
        })
    }

    /// The same, but only if the first full picture is there.
    ///
    /// # Errors
    ///
    /// When it is not, or when the profile has no such target.
    pub fn caught_up(state: &Arc<State>, target: Option<&str>) -> Result<Self, Unanswered> {
        match state.is_caught_up() {
            true => Self::new(state, target),
            false => Err(Unanswered::NotCaughtUp),
        }
    }

    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        self.state.profile()
    }

    /// The graphs looked at.
    pub(super) fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let graphs = self.state.graphs().iter();
        graphs.filter(|graph| {
            self.target
                .is_none_or(|target| graph.shape().target == target)
        })
    }

    /// The vertices that pass all filters given, sorted, at most `limit`.
    pub fn list(
        &self,
        kind: Option<KindId>,
        namespace: Option<&str>,
        name: Option<&str>,
        limit: usize,
    ) -> Vec<Key> {
        let mut all = Vec::new();
        for graph in self.graphs() {
            // Nothing is set aside for more than there can be.
            let limit = limit.min(graph.counts().0.saturating_add(SLACK));
            all.extend(graph.list(kind, namespace, name, limit));
        }
        all.sort_unstable();
        all.dedup();
        all.truncate(limit);
        all
    }

    /// A vertex with its neighbours, at most `limit` edges in each direction of each graph.
    pub fn around(&self, key: &Key, limit: usize) -> Option<Neighborhood> {
        let mut around: Option<Neighborhood> = None;
        for graph in self.graphs() {
            let Some(view) = graph.view(reference(key), limit) else {
                continue;
            };
            let all = around.get_or_insert_default();
            all.is_object |= view.is_object;
            add(&mut all.incoming, view.incoming);
            add(&mut all.outgoing, view.outgoing);
        }
        around
    }

    /// The target of the first graph looked at.
    pub fn first_target(&self) -> Option<KindId> {
        let first = self.graphs().next();
        first.map(|graph| graph.shape().target)
    }

    /// How many graphs are looked at.
    pub fn targets(&self) -> usize {
        self.graphs().count()
    }

    /// How many vertices and edges there are, counted for each graph.
    pub fn counts(&self) -> (usize, usize) {
        let counts = self.graphs().map(Graph::counts);
        counts.fold((0, 0), |(vertices, edges), (v, e)| {
            (vertices + v, edges + e)
        })
    }

    /// The vertex that is named, if it is in one of the graphs. `label` is where it was named.
    pub(super) fn known(&self, label: &str, vertex: &Vertex) -> Result<Key, Unanswered> {
        let kinds = &self.profile().kinds;
        let says = |message: String| Source::named(label).fault(None, "", message);
        let Some(id) = kinds.id(&vertex.kind) else {
            let message = format!("the profile has no kind `{}`", vertex.kind);
            let names = kinds.iter().map(|(_, kind)| kind.name.as_str());
            let names: Vec<&str> = names.collect();
            let fault = says(message).with_known("kinds", &vertex.kind, names);
            return Err(Unanswered::UnknownVertex(fault.to_string()));
        };
        let key = (id, vertex.namespace.clone(), vertex.name.clone());
        if self.graphs().any(|graph| graph.contains(reference(&key))) {
            return Ok(key);
        }
        let fault = says(format!("there is no vertex `{vertex}`"));
        let is_namespaced = kinds.get(id).is_some_and(|kind| kind.namespaced);
        let fault = match (is_namespaced, vertex.namespace.is_empty()) {
            (true, true) => fault.with_help(format!(
                "{0} is namespaced: write `{0}:NAMESPACE/{1}`",
                vertex.kind, vertex.name
            )),
            (false, false) => fault.with_help(format!(
                "{0} is cluster-scoped: write `{0}:{1}`",
                vertex.kind, vertex.name
            )),
            _ => fault,
        };
        Err(Unanswered::UnknownVertex(fault.to_string()))
    }

    /// A vertex in words.
    pub fn vertex(&self, key: &Key) -> Vertex {
        self.profile().kinds.vertex(reference(key))
    }

    /// A vertex as people write it.
    pub(crate) fn text(&self, key: &Key) -> String {
        self.vertex(key).to_string()
    }

    /// Whether its own object would be there if it existed, but is not.
    pub fn lacks_object(&self, key: &Key, around: &Neighborhood) -> bool {
        let is_watched = self.profile().sources.of_kind(key.0).is_some();
        is_watched && !around.is_object
    }
}

/// What may have come between counting and listing.
const SLACK: usize = 1 << 16;

pub(super) fn reference(key: &Key) -> VertexRef<'_> {
    VertexRef {
        kind: key.0,
        namespace: &key.1,
        name: &key.2,
    }
}

fn add(side: &mut Side, edges: Vec<(Key, Key)>) {
    for (neighbour, owner) in edges {
        let owners = side.entry(neighbour).or_default();
        if !owners.contains(&owner) {
            owners.push(owner);
        }
    }
}

fn unknown_target(profile: &Profile, name: &str) -> Unanswered {
    let targets = profile.targets.iter().map(|id| profile.kinds.name(*id));
    let targets: Vec<&str> = targets.collect();
    let fault = Source::named("target").fault(None, "", format!("invalid target `{name}`"));
    let fault = fault.with_known("targets of the profile", name, targets);
    Unanswered::UnknownTarget(fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn all_graphs_are_looked_at_unless_one_is_picked() {
        let state = sample::state();
        let all = GraphView::new(&state, None).unwrap();
        assert_eq!(all.graphs().count(), 2);
        let floors = GraphView::new(&state, Some("Floor")).unwrap();
        assert_eq!(floors.graphs().count(), 1);
        for wrong in ["Desk", "Flor", ""] {
            let Err(Unanswered::UnknownTarget(text)) = GraphView::new(&state, Some(wrong)) else {
                panic!("{wrong}")
            };
            assert!(text.contains("Floor, Robot"), "{text}");
        }
    }

    #[test]
    fn what_is_in_several_graphs_is_listed_once() {
        let state = sample::state();
        let view = GraphView::new(&state, None).unwrap();
        let texts = |limit| -> Vec<String> {
            let all = view.list(None, None, None, limit);
            all.iter().map(|key| view.text(key)).collect()
        };
        let all = texts(usize::MAX);
        let mut once = all.clone();
        once.dedup();
        assert_eq!(all, once);
        assert_eq!(
            all,
            [
                "Badge:hq/b1",
                "Desk:hq/d1",
                "Desk:hq/d2",
                "Floor:f1",
                "Robot:r1",
                "Robot:r2",
            ]
        );
        assert_eq!(texts(2).len(), 2);
    }

    #[test]
    fn vertices_that_are_not_there_are_told_with_what_may_be_meant() {
        let state = sample::state();
        let view = GraphView::new(&state, None).unwrap();
        for (text, told) in [
            ("Desk:hq/d9", "there is no vertex `Desk:hq/d9`"),
            ("Dask:hq/d1", "did you mean `Desk`?"),
            ("Desk:d1", "`Desk:NAMESPACE/d1`"),
            ("Robot:hq/r1", "`Robot:r1`"),
        ] {
            let wrong = view.known("from", &text.parse().unwrap()).unwrap_err();
            let wrong = wrong.to_string();
            assert!(
                wrong.starts_with("from: ") && wrong.contains(told),
                "{wrong}"
            );
        }
    }
}
