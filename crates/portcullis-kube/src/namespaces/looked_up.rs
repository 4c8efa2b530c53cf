//! Namespaces of the configuration, and those of a cluster that it says nothing of.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use serde_json::Value;

use super::{Namespace, Namespaces, StaticNamespaces};
use crate::cluster_objects::{ClusterObjects, ObjectKind, Reading, Unknown};

/// How long what was read counts: the watch sees it in the meantime.
const FRESH: Duration = Duration::from_secs(5);
/// So many are kept.
const MOST: usize = 1024;

/// Until when it counts, and what it was.
type JustRead = HashMap<String, (Instant, Option<Arc<Namespace>>)>;

/// Namespaces of the configuration, and those of a cluster that it says nothing of.
#[derive(Debug)]
pub struct LookedUpNamespaces {
    written: StaticNamespaces,
    objects: Arc<dyn ClusterObjects>,
    /// What was read from the API server, since the watch had not seen it.
    read: Arc<Mutex<JustRead>>,
}

impl LookedUpNamespaces {
    /// These, and those of the cluster.
    pub fn new(written: StaticNamespaces, objects: Arc<dyn ClusterObjects>) -> Self {
        Self {
            written,
            objects,
            read: Arc::default(),
        }
    }
}

impl Namespaces for LookedUpNamespaces {
    fn get(&self, name: &str) -> Result<Option<Arc<Namespace>>, Unknown> {
        if let Some(written) = self.written.find(name) {
            return Ok(Some(written));
        }
        if !self.objects.is_connected() {
            return Ok(None);
        }
        let watched = self.objects.get(&ObjectKind::NAMESPACE, "", name);
        if let Ok(Some(object)) = &watched {
            return Ok(Some(Arc::new(described(name, object))));
        }
        let now = clock::monotonic();
        match self.read.lock().get(name) {
            Some((until, found)) if *until > now => Ok(found.clone()),
            _ => watched.map(|_| None),
        }
    }

    fn prepare(&self, name: &str, deadline: Instant) -> Option<Reading<()>> {
        if self.written.find(name).is_some() || !self.objects.is_connected() {
            return None;
        }
        let kind = &ObjectKind::NAMESPACE;
        if let Ok(Some(_)) = self.objects.get(kind, "", name) {
            return None;
        }
        let reading = self.objects.read(kind, "", name, deadline);
        let (read, name) = (Arc::clone(&self.read), name.to_owned());
        Some(Box::pin(async move {
            let found = reading.await;
            let found = found.map_err(|why| format!("the namespace could not be read: {why}"))?;
            let found = found.map(|object| Arc::new(described(&name, &object)));
            let now = clock::monotonic();
            let mut read = read.lock();
            if read.len() >= MOST {
                read.retain(|_, (until, _)| *until > now);
            }
            if read.len() >= MOST {
                read.clear();
            }
            read.insert(name, (now + FRESH, found));
            Ok(())
        }))
    }
}

/// What plug-ins know of a namespace.
fn described(name: &str, object: &Value) -> Namespace {
    let map = |key: &str| -> BTreeMap<String, String> {
        let members = object.pointer(key).and_then(Value::as_object);
        let texts = members.into_iter().flatten();
        texts
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    };
    Namespace {
        name: name.to_owned(),
        labels: map("/metadata/labels"),
        annotations: map("/metadata/annotations"),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use serde_json::json;

    use super::*;
    use crate::cluster_objects::{NoCluster, StaticObjects};

    fn shop(team: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop",
            "labels": {"team": team}, "annotations": {"a": "b", "c": 1}}})
    }

    fn team(namespaces: &LookedUpNamespaces) -> Option<String> {
        let found = namespaces.get("shop").unwrap()?;
        found.labels.get("team").cloned()
    }

    /// The API server has objects that no watch has seen.
    #[derive(Debug)]
    struct Unseen(StaticObjects);

    impl ClusterObjects for Unseen {
        fn get(&self, kind: &ObjectKind, _: &str, _: &str) -> Result<Option<Arc<Value>>, Unknown> {
            Err(Unknown::NotSynced(kind.clone()))
        }

        fn list(&self, kind: &ObjectKind, _: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
            Err(Unknown::NotSynced(kind.clone()))
        }

        fn read(
            &self,
            kind: &ObjectKind,
            namespace: &str,
            name: &str,
            deadline: Instant,
        ) -> Reading<Option<Arc<Value>>> {
            self.0.read(kind, namespace, name, deadline)
        }

        fn list_now(&self, _: &ObjectKind, _: &str, _: Instant) -> Reading<Vec<Arc<Value>>> {
            panic!("nothing is listed")
        }
    }

    fn done(mut reading: Reading<()>) -> Result<(), String> {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(reading.as_mut()).poll(&mut context) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn the_configuration_goes_over_the_cluster() {
        let mut objects = StaticObjects::default();
        objects.add(shop("cluster")).unwrap();
        let objects: Arc<dyn ClusterObjects> = Arc::new(objects);
        let namespaces = LookedUpNamespaces::new(StaticNamespaces::default(), Arc::clone(&objects));
        assert_eq!(team(&namespaces).as_deref(), Some("cluster"));
        let found = namespaces.get("shop").unwrap().unwrap();
        assert_eq!(found.annotations, [("a".into(), "b".into())].into());
        assert_eq!(namespaces.get("other"), Ok(None));
        let written = Namespace {
            name: "shop".into(),
            ..Namespace::default()
        };
        let written = [written].into_iter().collect();
        let namespaces = LookedUpNamespaces::new(written, objects);
        assert_eq!(team(&namespaces), None);
        assert!(namespaces.prepare("shop", clock::monotonic()).is_none());
    }

    #[test]
    fn without_a_cluster_an_unknown_namespace_has_no_labels() {
        let none = Arc::new(NoCluster::Unconfigured);
        let namespaces = LookedUpNamespaces::new(StaticNamespaces::default(), none);
        assert_eq!(namespaces.get("shop"), Ok(None));
        assert!(namespaces.prepare("shop", clock::monotonic()).is_none());
    }

    #[test]
    fn what_no_watch_has_seen_is_read_and_counts_for_a_moment() {
        let mut objects = StaticObjects::default();
        objects.add(shop("live")).unwrap();
        let objects = Arc::new(Unseen(objects));
        let namespaces = LookedUpNamespaces::new(StaticNamespaces::default(), objects);
        assert_eq!(
            namespaces.get("shop"),
            Err(Unknown::NotSynced(ObjectKind::NAMESPACE))
        );
        let reading = namespaces.prepare("shop", clock::monotonic()).unwrap();
        assert_eq!(done(reading), Ok(()));
        assert_eq!(team(&namespaces).as_deref(), Some("live"));
        let reading = namespaces.prepare("other", clock::monotonic()).unwrap();
        assert_eq!(done(reading), Ok(()));
        assert_eq!(namespaces.get("other"), Ok(None));
    }
}
