//! A cache of a cluster's objects, fed by watches, for plug-ins and policies.
//!
//! All objects of the watched kinds are kept as compact JSON texts within one memory limit. A kind whose objects
//! would exceed it isn't known at all, rather than in part: the largest kind gives way to the others. It is
//! known again after a later list that fits.

mod store;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use portcullis_core::clock;
use portcullis_core::sync::RwLock;
use portcullis_graph::{Applied, SourceId, VertexKind};
use portcullis_kube::cluster_objects::{
    ClusterObjects, ObjectKind, Reading, Unknown, drop_managed_fields,
};
use serde_json::Value;

use super::feed::Feed;
use super::{Cluster, Timing, Watches};
use store::Store;

/// Objects of these kinds, as far as they are known.
#[derive(Debug)]
pub struct ObjectCache {
    kinds: Vec<(ObjectKind, VertexKind)>,
    places: BTreeMap<ObjectKind, usize>,
    stores: RwLock<Stores>,
    cluster: OnceLock<Cluster>,
}

#[derive(Debug)]
struct Stores {
    all: Vec<Store>,
    used: usize,
    limit: usize,
}

/// What is known of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedKind {
    /// The kind.
    pub kind: ObjectKind,
    /// Whether its objects are known.
    pub is_known: bool,
    /// Whether its objects exceed the memory limit.
    pub is_too_large: bool,
    /// How many objects are kept.
    pub objects: usize,
    /// About how much memory they take.
    pub bytes: usize,
}

impl ObjectCache {
    /// Nothing is known yet of the objects of these kinds, which may take `limit` bytes together.
    pub fn new(kinds: impl IntoIterator<Item = ObjectKind>, limit: usize) -> Self {
        let mut unique: Vec<ObjectKind> = kinds.into_iter().collect();
        unique.sort();
        unique.dedup();
        let places = unique.iter().cloned().enumerate();
        let places = places.map(|(place, kind)| (kind, place)).collect();
        let all = unique.iter().map(|_| Store::default()).collect();
        Self {
            places,
            stores: RwLock::new(Stores {
                all,
                used: 0,
                limit,
            }),
            kinds: unique
                .into_iter()
                .map(|kind| {
                    let watched = watched(&kind);
                    (kind, watched)
                })
                .collect(),
            cluster: OnceLock::new(),
        }
    }

    /// The state of every kind.
    pub fn kinds(&self) -> Vec<CachedKind> {
        let stores = self.stores.read();
        let kinds = self.kinds.iter().zip(&stores.all);
        kinds
            .map(|((kind, _), store)| CachedKind {
                kind: kind.clone(),
                is_known: store.is_synced && !store.is_too_large,
                is_too_large: store.is_too_large,
                objects: store.len(),
                bytes: store.bytes(),
            })
            .collect()
    }

    /// Whether every kind was listed.
    pub fn is_synced(&self) -> bool {
        let stores = self.stores.read();
        stores.all.iter().all(|store| store.is_synced)
    }

    /// How much memory objects may take, in bytes.
    pub fn limit(&self) -> usize {
        self.stores.read().limit
    }

    /// The kind's objects, as far as they are known.
    fn look<R>(&self, kind: &ObjectKind, look: impl FnOnce(&Store) -> R) -> Result<R, Unknown> {
        let Some(place) = self.places.get(kind) else {
            return Err(Unknown::NotWatched(kind.clone()));
        };
        let stores = self.stores.read();
        match stores.all.get(*place) {
            Some(store) if store.is_too_large => Err(Unknown::TooLarge(kind.clone())),
            Some(store) if store.is_synced => Ok(look(store)),
            _ => Err(Unknown::NotSynced(kind.clone())),
        }
    }

    /// The way to the cluster, and what it calls the kind.
    fn live(&self, kind: &ObjectKind) -> Result<(&Cluster, VertexKind), String> {
        let not_yet = || "not connected to the API server yet".to_owned();
        Ok((self.cluster.get().ok_or_else(not_yet)?, watched(kind)))
    }

    /// Keeps an object.
    fn keep(&self, source: SourceId, object: &Value) -> Result<Place, String> {
        let place = Place::of(object).ok_or_else(|| "it has no name".to_owned())?;
        let kind = self.kinds.get(source.0).map(|(kind, _)| kind);
        let object = tidied(object.clone(), kind);
        let text: Arc<str> = object.to_string().into();
        let mut stores = self.stores.write();
        if let Some(full) = stores.keep(source.0, &place, text) {
            drop(stores);
            self.tell_too_large(full);
        }
        Ok(place)
    }

    fn tell_too_large(&self, place: usize) {
        let Some((kind, _)) = self.kinds.get(place) else {
            return;
        };
        let limit = self.limit();
        tracing::warn!(
            kind = %kind,
            limit,
            "its objects exceed the memory limit: what reads them can't decide; raise `kube.memory`"
        );
    }
}

impl Stores {
    /// Keeps an object, and gives the kind that had to go for it, if one had to.
    fn keep(&mut self, place: usize, at: &Place, text: Arc<str>) -> Option<usize> {
        let store = self.all.get_mut(place)?;
        if store.is_too_large {
            return None;
        }
        let before = store.bytes();
        store.insert(&at.namespace, &at.name, text);
        self.used = (self.used + store.bytes()).saturating_sub(before);
        if self.used <= self.limit {
            return None;
        }
        let largest = self.all.iter().enumerate();
        let (largest, _) = largest.max_by_key(|(_, store)| store.bytes())?;
        let store = self.all.get_mut(largest)?;
        self.used = self.used.saturating_sub(store.bytes());
        store.give_up();
        Some(largest)
    }

    fn remove(&mut self, place: usize, namespace: &str, name: &str) {
        if let Some(store) = self.all.get_mut(place) {
            let before = store.bytes();
            store.remove(namespace, name);
            self.used = (self.used + store.bytes()).saturating_sub(before);
        }
    }
}

/// Where an object is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    namespace: Box<str>,
    name: Box<str>,
}

impl Place {
    fn of(object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        Some(Self {
            namespace: text("namespace").unwrap_or_default().into(),
            name: text("name").filter(|name| !name.is_empty())?.into(),
        })
    }
}

/// What the watches call a kind.
fn watched(kind: &ObjectKind) -> VertexKind {
    VertexKind {
        name: kind.kind.clone().into_owned(),
        group: kind.group.clone().into_owned(),
        version: kind.version.clone().into_owned(),
        resource: kind.likely_resource(),
        namespaced: kind.is_likely_namespaced(),
    }
}

/// A new list of a kind. What is in it is kept at once; what isn't is forgotten at its end.
pub(super) struct CacheList<'a> {
    cache: &'a ObjectCache,
    source: SourceId,
    seen: HashSet<Place>,
}

impl Feed for ObjectCache {
    type List<'a> = CacheList<'a>;

    fn kinds(&self) -> Vec<(SourceId, VertexKind)> {
        let kinds = self.kinds.iter().enumerate();
        kinds
            .map(|(place, (_, watched))| (SourceId(place), watched.clone()))
            .collect()
    }

    fn asks_for_resources(&self) -> bool {
        true
    }

    fn list(&self, source: SourceId) -> CacheList<'_> {
        if let Some(store) = self.stores.write().all.get_mut(source.0)
            && store.is_too_large
        {
            *store = Store::default();
        }
        CacheList {
            cache: self,
            source,
            seen: HashSet::new(),
        }
    }

    fn add(list: &mut CacheList<'_>, object: &Value) -> Applied {
        match list.cache.keep(list.source, object) {
            Ok(place) => {
                list.seen.insert(place);
                Applied::Followed(Vec::new())
            }
            Err(why) => Applied::Unusable(why),
        }
    }

    fn finish(list: CacheList<'_>) {
        let CacheList {
            cache,
            source,
            seen,
        } = list;
        let mut stores = cache.stores.write();
        let Some(store) = stores.all.get_mut(source.0) else {
            return;
        };
        let is_seen = |namespace: &str, name: &str| {
            seen.contains(&Place {
                namespace: namespace.into(),
                name: name.into(),
            })
        };
        let before = store.bytes();
        store.retain(is_seen);
        store.is_synced = true;
        let after = store.bytes();
        stores.used = (stores.used + after).saturating_sub(before);
    }

    fn apply(&self, source: SourceId, object: &Value) -> Applied {
        match self.keep(source, object) {
            Ok(_) => Applied::Followed(Vec::new()),
            Err(why) => Applied::Unusable(why),
        }
    }

    fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        self.stores.write().remove(source.0, namespace, name);
    }

    fn tick(&self) {}

    fn caught_up(&self) {}
}

impl Cluster {
    /// Begins to watch the objects of a cache. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// When there can be no more threads.
    pub fn watch_objects(&self, cache: &Arc<ObjectCache>) -> std::io::Result<Watches> {
        self.watch_objects_with(cache, &Timing::default())
    }

    pub(super) fn watch_objects_with(
        &self,
        cache: &Arc<ObjectCache>,
        timing: &Timing,
    ) -> std::io::Result<Watches> {
        let _ = cache.cluster.set(self.clone());
        self.feed("kube", Arc::clone(cache), timing)
    }
}

impl ClusterObjects for ObjectCache {
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown> {
        let text = self.look(kind, |store| store.get(namespace, name))?;
        Ok(text.and_then(|text| read(&text)))
    }

    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        let texts = self.look(kind, |store| store.list(namespace))?;
        Ok(texts.iter().filter_map(|text| read(text)).collect())
    }

    fn read(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
        deadline: Instant,
    ) -> Reading<Option<Arc<Value>>> {
        match self.live(kind) {
            Err(why) => Box::pin(std::future::ready(Err(why))),
            Ok((cluster, watched)) => {
                let reading = cluster.read(&watched, namespace, name, deadline);
                let kind = kind.clone();
                Box::pin(async move {
                    let found = reading.await?;
                    Ok(found.map(|object| Arc::new(tidied(object, Some(&kind)))))
                })
            }
        }
    }

    fn list_now(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        deadline: Instant,
    ) -> Reading<Vec<Arc<Value>>> {
        match self.live(kind) {
            Err(why) => Box::pin(std::future::ready(Err(why))),
            Ok((cluster, watched)) => {
                let (cluster, namespace) = (cluster.clone(), namespace.to_owned());
                let kind = kind.clone();
                Box::pin(async move {
                    let time = deadline.saturating_duration_since(clock::monotonic());
                    let objects = cluster.objects_of(&watched, &namespace, time).await?;
                    let objects = objects.into_iter();
                    Ok(objects
                        .map(|object| Arc::new(tidied(object, Some(&kind))))
                        .collect())
                })
            }
        }
    }
}

/// An object as it is kept. Items of a list don't say what they are.
fn tidied(mut object: Value, kind: Option<&ObjectKind>) -> Value {
    drop_managed_fields(&mut object);
    if let (Some(kind), Some(members)) = (kind, object.as_object_mut()) {
        members.insert("apiVersion".to_owned(), kind.api_version().into());
        members.insert("kind".to_owned(), kind.kind.as_ref().into());
    }
    object
}

/// A text that was written here can be read.
fn read(text: &str) -> Option<Arc<Value>> {
    serde_json::from_str(text).ok().map(Arc::new)
}
