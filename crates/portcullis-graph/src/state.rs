//! What is known of the objects: the graphs, and the few fields that others look up.
//!
//! Objects come one by one, in any order, from a watch, a directory or a test. An object is
//! evaluated, its edges are handed to the graphs, the fields that its source keeps are kept, and the rest
//! is dropped. What depends on another object or on the clock is computed again when that changes: of such
//! an object everything that its source's expressions look at is kept as well.
//!
//! Changes are made one object at a time, in the order in which they come; no lock is held from one object
//! to the next. Readers of the graphs and of kept fields never wait for the queue, only for the few
//! instructions that put one object in its place. Whether an object is there (`only`) never depends on
//! itself, which is checked when a profile is compiled; so reevaluation terminates, and the final state
//! does not depend on the order of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::sync::{Mutex, MutexGuard};
use serde_json::Value;

use crate::engine::{Edge, Graph, Shape};
use crate::expression::{Scope, check_bounds};
use crate::names;
use crate::observer::{Observer, Update};
use crate::profile::Profile;
use crate::sources::{Source, SourceId};
use crate::vertex::{KindId, Vertex, VertexRef};
use contribution::{Contribution, OwnedVertex};
use projection::project;
use store::{ChangeQueue, Entry, Key, ObjectId, ObjectTable, Reevaluation};

mod contribution;
mod lookups;
mod projection;
mod relist;
mod store;

pub use relist::Relist;

#[cfg(test)]
mod tests;

/// What became of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// It is in the graph; what is malformed about it, if anything.
    Followed(Vec<String>),
    /// No source wants it.
    Ignored,
    /// It can't be used at all (no name, no kind), and why.
    Unusable(String),
}

/// What is known of the objects of one profile.
pub struct State {
    profile: Arc<Profile>,
    graphs: Vec<Graph>,
    observer: Option<Arc<dyn Observer>>,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    tables: Vec<ObjectTable>,
    queue: Mutex<ChangeQueue>,
    is_caught_up: AtomicBool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl State {
    /// Nothing is known yet.
    pub fn new(profile: Arc<Profile>, observer: Option<Arc<dyn Observer>>) -> Self {
        Self::with_clock(profile, observer, Box::new(clock::wall))
    }

    /// The same, with another clock.
    pub(crate) fn with_clock(
        profile: Arc<Profile>,
        observer: Option<Arc<dyn Observer>>,
        clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    ) -> Self {
        let graphs = profile.targets.iter().map(|&target| {
            Graph::new(Shape {
                kinds: u16::try_from(profile.kinds.len()).unwrap_or(u16::MAX),
                target,
                acyclic: profile.sources.cycle(target).is_none(),
            })
        });
        Self {
            graphs: graphs.collect(),
            observer,
            clock,
            tables: profile
                .sources
                .iter()
                .map(|_| ObjectTable::default())
                .collect(),
            queue: Mutex::default(),
            is_caught_up: AtomicBool::new(false),
            profile,
        }
    }

    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// The observer of what happens.
    pub(crate) fn observer(&self) -> Option<&dyn Observer> {
        self.observer.as_deref()
    }

    /// The graph of a target kind.
    pub fn graph(&self, target: KindId) -> Option<&Graph> {
        self.graphs.iter().find(|g| g.shape().target == target)
    }

    /// All graphs, in the order of the profile's targets.
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// How many objects of a source are there.
    pub fn objects(&self, source: SourceId) -> usize {
        self.tables.get(source.0).map_or(0, ObjectTable::len)
    }

    /// The source that wants objects of this `apiVersion` (its group counts, not the version) and `kind`.
    pub fn source_of(&self, api_version: &str, kind: &str) -> Option<SourceId> {
        let id = self.profile.kinds.id(kind)?;
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if self.profile.kinds.get(id)?.group != group {
            return None;
        }
        self.profile.sources.of_kind(id)
    }

    /// An object was created or changed. It says itself what it is, by `apiVersion` and `kind`.
    pub fn apply(&self, object: &Value) -> Applied {
        let text = |member: &str| object.get(member).and_then(Value::as_str);
        let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
            return Applied::Unusable("it has no `apiVersion` and `kind`".to_owned());
        };
        match self.source_of(api_version, kind) {
            Some(source) => self.apply_to(source, object),
            None => Applied::Ignored,
        }
    }

    /// The same, for an object of a watch, which may not repeat `apiVersion` and `kind`. An object that can't
    /// be used any more is as one that was deleted.
    pub fn apply_to(&self, source: SourceId, object: &Value) -> Applied {
        let watch = Stopwatch::start();
        let Some(rule) = self.profile.sources.get(source) else {
            return Applied::Ignored;
        };
        let own = match self.own(rule, object) {
            Ok(own) => own,
            Err(words) => {
                self.malformed(rule.kind, &words);
                return Applied::Unusable(words);
            }
        };
        if let Err(words) = check_bounds(object) {
            self.malformed(rule.kind, &words);
            self.delete(source, &own.namespace, &own.name);
            return Applied::Unusable(words);
        }
        let id = (source, Key::new(&own.namespace, &own.name));
        let mut queue = self.queue();
        let list = queue.list(source);
        let kept = rule
            .keep
            .as_ref()
            .map(|keep| project(object, keep).to_string().into());
        let observed = Observed {
            list,
            kept,
            read: None,
        };
        let contribution = self.look(&mut queue, rule, &id, &own, object, observed);
        drop(queue);
        for words in &contribution.malformed {
            self.malformed(rule.kind, words);
        }
        self.updated(rule.kind, Update::Apply, watch);
        self.settle();
        match (contribution.is_there, contribution.malformed) {
            (true, malformed) => Applied::Followed(malformed),
            (false, malformed) if malformed.is_empty() => Applied::Ignored,
            (false, malformed) => Applied::Unusable(malformed.join("; ")),
        }
    }

    /// An object was deleted.
    pub fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        let Some(kind) = self.profile.sources.get(source).map(|rule| rule.kind) else {
            return;
        };
        let id = (source, self.key(kind, namespace, name));
        self.remove(&id, None);
    }

    /// Begins a new list of a source's objects. Answers go on in the meantime, from what is known.
    pub fn relist(&self, source: SourceId) -> Relist<'_> {
        let mut queue = self.queue();
        let list = queue.list(source) + 1;
        queue.lists.insert(source, list);
        Relist {
            state: self,
            source,
            list,
        }
    }

    /// Computes again what has become due, and says when something will be next.
    pub fn tick(&self) -> Option<SystemTime> {
        self.queue().now((self.clock)());
        self.settle();
        self.queue().next()
    }

    /// How many objects wait to be computed again because another one changed.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.queue().waiting()
    }

    /// The first full picture is there: from now on answers count.
    pub fn set_caught_up(&self) {
        self.is_caught_up.store(true, Ordering::Release);
    }

    /// Whether the graph has caught up with its objects.
    pub fn is_caught_up(&self) -> bool {
        self.is_caught_up.load(Ordering::Acquire)
    }

    /// Whether the object itself, of a watched kind, is there.
    #[cfg(test)]
    pub(crate) fn has_object(&self, vertex: VertexRef<'_>) -> bool {
        let source = self.profile.sources.of_kind(vertex.kind);
        let table = source.and_then(|source| self.tables.get(source.0));
        let key = self.key(vertex.kind, vertex.namespace, vertex.name);
        table.is_some_and(|table| table.read(&key, |entry| entry.is_there) == Some(true))
    }

    fn queue(&self) -> MutexGuard<'_, ChangeQueue> {
        self.queue.lock()
    }

    fn malformed(&self, kind: KindId, words: &str) {
        if let Some(observer) = &self.observer {
            observer.malformed(kind, words);
        }
    }

    fn updated(&self, kind: KindId, update: Update, watch: Stopwatch) {
        if let Some(observer) = &self.observer {
            observer.updated(kind, update, watch.elapsed());
        }
    }

    /// What the object is called.
    fn own(&self, rule: &Source, object: &Value) -> Result<OwnedVertex, String> {
        let text = |of: Option<&Value>, member: &str| {
            let text = of.and_then(|of| of.get(member)).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let kinds = &self.profile.kinds;
        let kind = text(Some(object), "kind");
        if !kind.is_empty() && kind != kinds.name(rule.kind) {
            return Err(format!("not a {}", kinds.name(rule.kind)));
        }
        let metadata = object.get("metadata");
        let name = text(metadata, "name");
        names::check_name(&name).map_err(|words| format!("metadata.name: {words}"))?;
        let mut namespace = String::new();
        if kinds.get(rule.kind).is_some_and(|kind| kind.namespaced) {
            namespace = text(metadata, "namespace");
            names::check_namespace(&namespace)
                .map_err(|words| format!("metadata.namespace: {words}"))?;
        }
        Ok(OwnedVertex {
            kind: rule.kind,
            namespace,
            name,
        })
    }

    /// Looks at an object and puts what it contributes in its place.
    fn look<'p>(
        &'p self,
        queue: &mut ChangeQueue,
        rule: &'p Source,
        id: &ObjectId,
        own: &OwnedVertex,
        object: &Value,
        observed: Observed,
    ) -> Contribution<'p> {
        let mut scope = Scope::new(self, (self.clock)());
        scope.set("self", object);
        let contribution = contribution::look(rule, &self.profile.kinds, own, &scope);
        let depends = scope.depends();
        let on = depends.objects.iter().filter_map(|w| self.id(w)).collect();
        let depends_on: Vec<ObjectId> = on;
        let reevaluation = (!depends_on.is_empty() || depends.until.is_some()).then(|| {
            let text = observed.read.unwrap_or_else(|| match &rule.reads {
                Some(reads) => project(object, reads).to_string().into(),
                None => object.to_string().into(),
            });
            Box::new(Reevaluation {
                object: text,
                depends: depends_on,
                until: depends.until,
            })
        });
        let is_there = contribution.is_there;
        let entry = (is_there || reevaluation.is_some()).then_some(Entry {
            is_there,
            list: observed.list,
            kept: observed.kept,
            reevaluation,
        });
        self.put(queue, id, entry, |graph, number| {
            let edges = contribution.edges.iter().filter(|e| e.is_in(number));
            let edges: Vec<Edge<'_>> = edges.map(|edge| edge.edge(own)).collect();
            graph.replace(own.vertex(), &edges);
        });
        contribution
    }

    /// Puts an entry in its place, changes the graphs, and notifies those that depend on it.
    fn put(
        &self,
        queue: &mut ChangeQueue,
        id: &ObjectId,
        entry: Option<Entry>,
        replace: impl Fn(&Graph, usize),
    ) {
        let (source, key) = id;
        let (Some(table), Some(rule)) =
            (self.tables.get(source.0), self.profile.sources.get(*source))
        else {
            return;
        };
        let visible = |entry: Option<&Entry>| {
            let entry = entry.filter(|entry| entry.is_there);
            entry.map(|entry| entry.kept.clone())
        };
        let is_there = entry.as_ref().is_some_and(|entry| entry.is_there);
        let now_visible = visible(entry.as_ref());
        table.read(key, |before| {
            if let Some(reevaluation) = &before.reevaluation {
                queue.forget(id, reevaluation);
            }
        });
        if let Some(reevaluation) = entry.as_ref().and_then(|entry| entry.reevaluation.as_ref()) {
            queue.remember(id, reevaluation);
        }
        let old = table.set(key.clone(), entry);
        let was_there = old.as_ref().is_some_and(|old| old.is_there);
        let (namespace, name) = key.parts();
        let owner = VertexRef {
            kind: rule.kind,
            namespace,
            name,
        };
        for &number in &rule.graphs {
            let Some(graph) = self.graphs.get(number) else {
                continue;
            };
            if is_there {
                replace(graph, number);
            } else if was_there {
                graph.remove(owner);
            }
        }
        if visible(old.as_ref()) != now_visible {
            queue.changed(id);
        }
    }

    /// Removes an object; with a list, only if it was last seen before.
    fn remove(&self, id: &ObjectId, before: Option<u64>) {
        let watch = Stopwatch::start();
        let (source, key) = id;
        let (Some(table), Some(rule)) =
            (self.tables.get(source.0), self.profile.sources.get(*source))
        else {
            return;
        };
        let mut queue = self.queue();
        let known = table.read(key, |entry| entry.list);
        if known.is_none_or(|observed| before.is_some_and(|before| observed >= before)) {
            return;
        }
        self.put(&mut queue, id, None, |_, _| {});
        drop(queue);
        self.updated(rule.kind, Update::Delete, watch);
        self.settle();
    }

    /// Looks again at everything that is due, one object at a time.
    fn settle(&self) {
        loop {
            let watch = Stopwatch::start();
            let mut queue = self.queue();
            let Some(id) = queue.take() else {
                return;
            };
            let (source, key) = &id;
            let (Some(table), Some(rule)) =
                (self.tables.get(source.0), self.profile.sources.get(*source))
            else {
                continue;
            };
            let entry = table.read(key, |entry| {
                let read = entry
                    .reevaluation
                    .as_ref()
                    .map(|reevaluation| reevaluation.object.clone());
                (entry.list, entry.kept.clone(), read)
            });
            let Some((list, kept, Some(read))) = entry else {
                continue;
            };
            let Ok(object) = serde_json::from_str(&read) else {
                continue;
            };
            let (namespace, name) = key.parts();
            let own = OwnedVertex {
                kind: rule.kind,
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            };
            let observed = Observed {
                list,
                kept,
                read: Some(read),
            };
            let contribution = self.look(&mut queue, rule, &id, &own, &object, observed);
            drop(queue);
            for words in &contribution.malformed {
                self.malformed(rule.kind, words);
            }
            self.updated(rule.kind, Update::Reevaluate, watch);
        }
    }

    /// The id of an object, if its kind is watched.
    fn id(&self, wanted: &Vertex) -> Option<ObjectId> {
        let kind = self.profile.kinds.id(&wanted.kind)?;
        let source = self.profile.sources.of_kind(kind)?;
        Some((source, self.key(kind, &wanted.namespace, &wanted.name)))
    }

    /// The key of an object of this kind, without a namespace if the kind has none.
    fn key(&self, kind: KindId, namespace: &str, name: &str) -> Key {
        let is_namespaced = self.profile.kinds.get(kind).is_some_and(|k| k.namespaced);
        Key::new(if is_namespaced { namespace } else { "" }, name)
    }
}

/// What is known of an object besides what it contributes.
struct Observed {
    /// The list in which it was seen last.
    list: u64,
    /// Fields that others may look up.
    kept: Option<Box<str>>,
    /// What its source's expressions look at, if that is known already.
    read: Option<Box<str>>,
}
