//! Records what the watches report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use portcullis_graph::{Applied, SourceId, VertexKind};
use serde_json::Value;

use super::super::feed::Feed;

/// Records objects, and every event.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    objects: BTreeMap<(usize, String), String>,
    log: Vec<String>,
    lists: BTreeMap<usize, usize>,
    /// How many objects there were when it was said that these are all.
    caught_up: Option<usize>,
}

const KINDS: [(&str, &str, &str, &str, bool); 3] = [
    ("Node", "", "v1", "nodes", false),
    ("Pod", "", "v1", "pods", true),
    ("Shoot", "core.gardener.cloud", "v1beta1", "shoots", true),
];

pub(super) struct List<'a> {
    told: &'a Told,
    source: SourceId,
    seen: BTreeSet<String>,
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap()
    }

    pub(super) fn objects(&self) -> Vec<String> {
        let memory = self.lock();
        let name = |((kind, name), note): (&(usize, String), &String)| {
            format!("{}:{name}={note}", KINDS[*kind].0)
        };
        memory.objects.iter().map(name).collect()
    }

    pub(super) fn has(&self, kind: &str, name: &str) -> bool {
        let mut keys = self.objects().into_iter();
        keys.any(|key| key.starts_with(&format!("{kind}:n/{name}=")))
    }

    pub(super) fn count(&self, told: &str) -> usize {
        self.lock().log.iter().filter(|one| *one == told).count()
    }

    pub(super) fn lists(&self, kind: &str) -> usize {
        let index = KINDS.iter().position(|one| one.0 == kind).unwrap();
        self.lock().lists.get(&index).copied().unwrap_or(0)
    }

    pub(super) fn is_caught_up(&self) -> bool {
        self.lock().caught_up.is_some()
    }

    pub(super) fn when_caught_up(&self) -> usize {
        self.lock().caught_up.unwrap()
    }

    fn forget(&self, source: SourceId, name: &str) {
        let mut memory = self.lock();
        memory.log.push(format!("-{}:{name}", KINDS[source.0].0));
        memory.objects.remove(&(source.0, name.to_owned()));
    }
}

fn name(object: &Value) -> Option<String> {
    let text = |at: &str| object.pointer(at).and_then(Value::as_str);
    let namespace = text("/metadata/namespace").unwrap_or("");
    Some(format!("{namespace}/{}", text("/metadata/name")?))
}

impl Feed for Told {
    type List<'a> = List<'a>;

    fn kinds(&self) -> Vec<(SourceId, VertexKind)> {
        let kinds = KINDS.iter().enumerate();
        let kind =
            |(index, (name, group, version, resource, namespaced)): (usize, &(_, _, _, _, _))| {
                let text = |text: &&str| (*text).to_owned();
                let kind = VertexKind {
                    name: text(name),
                    group: text(group),
                    version: text(version),
                    resource: text(resource),
                    namespaced: *namespaced,
                };
                (SourceId(index), kind)
            };
        kinds.map(kind).collect()
    }

    fn list(&self, source: SourceId) -> List<'_> {
        List {
            told: self,
            source,
            seen: BTreeSet::new(),
        }
    }

    fn add(list: &mut List<'_>, object: &Value) -> Applied {
        list.seen.extend(name(object));
        list.told.apply(list.source, object)
    }

    fn finish(list: List<'_>) {
        let is_gone =
            |(kind, name): &&(usize, String)| *kind == list.source.0 && !list.seen.contains(name);
        let gone: Vec<_> = {
            let memory = list.told.lock();
            let gone = memory.objects.keys().filter(is_gone);
            gone.map(|(_, name)| name.clone()).collect()
        };
        for name in gone {
            list.told.forget(list.source, &name);
        }
        *list.told.lock().lists.entry(list.source.0).or_default() += 1;
    }

    fn apply(&self, source: SourceId, object: &Value) -> Applied {
        let Some(name) = name(object) else {
            return Applied::Unusable("no name".to_owned());
        };
        let mut memory = self.lock();
        let note = object["note"].as_str().unwrap_or_default().to_owned();
        memory.log.push(format!("+{}:{name}", KINDS[source.0].0));
        memory.objects.insert((source.0, name), note);
        Applied::Followed(Vec::new())
    }

    fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        self.forget(source, &format!("{namespace}/{name}"));
    }

    fn tick(&self) {}

    fn caught_up(&self) {
        let mut memory = self.lock();
        memory.caught_up = Some(memory.objects.len());
    }
}
