//! Objects in, edges out: shared by the tests of profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_graph::{
    Applied, KindId, Profile, ProfileSpec, Reach, State, Vertex, VertexRef, built_in,
};
use serde_json::Value;

/// Reads and compiles a profile.
#[track_caller]
pub(crate) fn compiled(text: &str) -> Arc<Profile> {
    let spec: ProfileSpec = serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(Profile::compile(&spec).unwrap_or_else(|faults| panic!("{faults:#?}")))
}

/// A profile that ships inside, compiled once.
#[track_caller]
pub(crate) fn shipped(name: &str) -> Arc<Profile> {
    static ALL: Mutex<BTreeMap<String, Arc<Profile>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock();
    let profile = all.entry(name.to_owned());
    Arc::clone(profile.or_insert_with(|| compiled(built_in::find(name).unwrap())))
}

/// What is known of some objects.
pub(crate) struct World {
    pub(crate) state: State,
}

impl World {
    /// Nothing is known.
    pub(crate) fn new(profile: &str) -> Self {
        Self::of(shipped(profile))
    }

    /// Nothing is known.
    pub(crate) fn of(profile: Arc<Profile>) -> Self {
        let state = State::new(profile, None);
        Self { state }
    }

    /// Objects were created or changed: YAML documents. What is malformed about them.
    #[track_caller]
    pub(crate) fn apply(&self, text: &str) -> Vec<String> {
        let mut malformed = Vec::new();
        for object in documents(text) {
            match self.state.apply(&object) {
                Applied::Followed(what) => malformed.extend(what),
                other => panic!("{other:?}: {object}"),
            }
        }
        malformed
    }

    /// Objects were created or changed, and nothing is malformed about them.
    #[track_caller]
    pub(crate) fn put(&self, text: &str) {
        assert_eq!(self.apply(text), Vec::<String>::new());
    }

    /// An object was deleted.
    #[track_caller]
    pub(crate) fn delete(&self, vertex: &str) {
        let vertex: Vertex = vertex.parse().unwrap();
        let kind = self.kind(&vertex.kind);
        let source = self.state.profile().sources.of_kind(kind).unwrap();
        self.state.delete(source, &vertex.namespace, &vertex.name);
    }

    #[track_caller]
    pub(crate) fn kind(&self, name: &str) -> KindId {
        self.state
            .profile()
            .kinds
            .id(name)
            .unwrap_or_else(|| panic!("{name}"))
    }

    /// All edges of the graph of a target, as `From -> To`.
    #[track_caller]
    pub(crate) fn edges(&self, target: &str) -> BTreeSet<String> {
        let graph = self.state.graph(self.kind(target)).unwrap();
        let kinds = &self.state.profile().kinds;
        let words = |(kind, namespace, name): &(KindId, String, String)| {
            let vertex = VertexRef {
                kind: *kind,
                namespace,
                name,
            };
            kinds.vertex(vertex).to_string()
        };
        let mut edges = BTreeSet::new();
        for vertex in graph.list(None, None, None, 10_000) {
            let (kind, namespace, name) = &vertex;
            let vertex_ref = VertexRef {
                kind: *kind,
                namespace,
                name,
            };
            let view = graph.view(vertex_ref, 10_000).unwrap();
            for (to, _) in &view.outgoing {
                edges.insert(format!("{} -> {}", words(&vertex), words(to)));
            }
        }
        edges
    }

    /// Whether a vertex leads to a target.
    #[track_caller]
    pub(crate) fn leads(&self, from: &str, to: &str) -> bool {
        let (from, to): (Vertex, Vertex) = (from.parse().unwrap(), to.parse().unwrap());
        let graph = self.state.graph(self.kind(&to.kind)).unwrap();
        let of = |vertex: &Vertex| self.kind(&vertex.kind);
        let (from_kind, to_kind) = (of(&from), of(&to));
        let reach = graph.leads(
            VertexRef {
                kind: from_kind,
                namespace: &from.namespace,
                name: &from.name,
            },
            VertexRef {
                kind: to_kind,
                namespace: &to.namespace,
                name: &to.name,
            },
        );
        reach == Reach::Yes
    }

    /// Asserts that these are all edges of the graph of a target: a line each.
    #[track_caller]
    pub(crate) fn check(&self, target: &str, wanted: &str) {
        let wanted: BTreeSet<String> = lines(wanted);
        let got = self.edges(target);
        let missing: Vec<_> = wanted.difference(&got).collect();
        let extra: Vec<_> = got.difference(&wanted).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "graph of {target}: missing {missing:#?}, not wanted {extra:#?}"
        );
    }
}

/// The lines of a text that say something.
pub(crate) fn lines(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The documents of a YAML text, indented as the first of its lines.
#[track_caller]
fn documents(text: &str) -> Vec<Value> {
    let indent = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    let indent = indent.len() - indent.trim_start().len();
    let text: Vec<&str> = text
        .lines()
        .map(|line| line.get(indent..).unwrap_or(""))
        .collect();
    let text = text.join("\n");
    text.split("\n---\n")
        .map(|one| serde_saphyr::from_str(one).unwrap_or_else(|e| panic!("{e}\n{one}")))
        .collect()
}
