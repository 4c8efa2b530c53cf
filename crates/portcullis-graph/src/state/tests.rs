//! What objects contribute, and what is known after any sequence of events.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, UNIX_EPOCH};

use portcullis_document::Fault;
use serde_json::json;

use super::*;
use crate::access_rules::AccessRules;
use crate::kinds::{Kinds, VertexKind};
use crate::lookups::{LookupResult, Lookups};
use crate::sources::Sources;
use crate::spec::{SourceSpec, VertexSpec};

mod compiling;
mod contributing;
mod following;
mod hostile;
mod load;
mod order;

#[derive(Debug, serde::Deserialize)]
struct Part {
    targets: Vec<String>,
    vertices: std::collections::BTreeMap<String, VertexSpec>,
    sources: Vec<SourceSpec>,
}

/// A profile with sources only.
fn profile(text: &str) -> Result<Arc<Profile>, Vec<Fault>> {
    let part: Part = serde_saphyr::from_str(text).unwrap();
    let kinds = part.vertices.into_iter().map(|(name, spec)| VertexKind {
        name,
        group: spec.group,
        version: spec.version.unwrap_or_else(|| "v1".to_owned()),
        resource: spec.resource,
        namespaced: spec.namespaced,
    });
    let kinds = Arc::new(Kinds::new(kinds.collect()));
    let targets: Vec<KindId> = part.targets.iter().map(|t| kinds.id(t).unwrap()).collect();
    let mut faults = Vec::new();
    let sources = Sources::compile(&part.sources, &kinds, &targets, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Arc::new(Profile {
        description: None,
        kinds,
        targets,
        sources,
        rules: AccessRules::default(),
        admission: None,
        summary: Default::default(),
    }))
}

/// A theatre: visitors with tickets for shows, in halls.
const VERTICES: &str = "
targets: [Hall, Show]
vertices:
  Hall: {group: theatre.example, version: v2, resource: halls}
  Show: {group: theatre.example, resource: shows, namespaced: true}
  Ticket: {group: theatre.example, resource: tickets, namespaced: true}
  Visitor: {group: theatre.example, resource: visitors, namespaced: true}
  Seat: {resource: seats, namespaced: true}
  Company: {resource: companies}
";

fn theatre(sources: &str) -> Arc<Profile> {
    profile(&format!("{VERTICES}\nsources:\n{sources}"))
        .unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// Where the clock of a test stands until it is set, in seconds.
const NOTHING_DUE: u64 = 1_000;

#[derive(Debug, Default)]
struct Told {
    updates: Mutex<Vec<(KindId, Update)>>,
    malformed: Mutex<Vec<String>>,
}

impl Observer for Told {
    fn updated(&self, kind: KindId, update: Update, _: Duration) {
        self.updates.lock().unwrap().push((kind, update));
    }
    fn checked(&self, _: KindId, _: KindId, _: Duration) {}
    fn malformed(&self, _: KindId, why: &str) {
        self.malformed.lock().unwrap().push(why.to_owned());
    }
}

struct Following {
    state: State,
    clock: Arc<AtomicU64>,
    told: Arc<Told>,
}

fn following(profile: &Arc<Profile>) -> Following {
    let clock = Arc::new(AtomicU64::new(NOTHING_DUE));
    let hands = clock.clone();
    let told = Arc::new(Told::default());
    let now = move || UNIX_EPOCH + Duration::from_secs(hands.load(Ordering::SeqCst));
    let state = State::with_clock(profile.clone(), Some(told.clone()), Box::new(now));
    Following { state, clock, told }
}

impl Following {
    /// All edges of the graph of this target, in words: `owner: from -> to`.
    fn edges(&self, target: &str) -> Vec<String> {
        edges(&self.state, target)
    }

    fn kind(&self, name: &str) -> KindId {
        self.state.profile().kinds.id(name).unwrap()
    }

    fn source(&self, kind: &str) -> SourceId {
        let sources = &self.state.profile().sources;
        sources.of_kind(self.kind(kind)).unwrap()
    }

    fn delete(&self, kind: &str, namespace: &str, name: &str) {
        self.state.delete(self.source(kind), namespace, name);
    }

    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        let wanted = Vertex {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        match self.state.find(&wanted) {
            LookupResult::Object(object) => Some(object.as_ref().clone()),
            LookupResult::Absent => None,
            other => panic!("{other:?}"),
        }
    }
}

fn edges(state: &State, target: &str) -> Vec<String> {
    let kinds = &state.profile().kinds;
    let graph = state.graph(kinds.id(target).unwrap()).unwrap();
    let words = |(kind, namespace, name): &(KindId, String, String)| {
        let vertex = VertexRef {
            kind: *kind,
            namespace,
            name,
        };
        kinds.vertex(vertex).to_string()
    };
    let mut all = Vec::new();
    for (kind, namespace, name) in graph.list(None, None, None, usize::MAX) {
        let vertex = VertexRef {
            kind,
            namespace: &namespace,
            name: &name,
        };
        let view = graph.view(vertex, usize::MAX).unwrap();
        let from = words(&view.vertex);
        if view.is_object {
            all.push(from.clone());
        }
        for (to, owner) in &view.outgoing {
            all.push(format!("{}: {from} -> {}", words(owner), words(to)));
        }
    }
    all.sort();
    all
}

/// An object of the theatre.
fn object(kind: &str, namespace: &str, name: &str, rest: &Value) -> Value {
    let group = match kind {
        "Seat" | "Company" => "v1",
        "Hall" => "theatre.example/v2",
        _ => "theatre.example/v1",
    };
    let mut object = json!({
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
    });
    for (member, value) in rest.as_object().unwrap() {
        object[member] = value.clone();
    }
    object
}
