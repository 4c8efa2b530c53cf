//! Objects that are written down: for tests, `eval --objects` and test files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::{ClusterObjects, ObjectKind, Reading, Unknown};

/// Objects that are written down and don't change. All kinds are known, or just some.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StaticObjects {
    objects: BTreeMap<ObjectKind, BTreeMap<(String, String), Arc<Value>>>,
    only: Option<BTreeSet<ObjectKind>>,
}

/// A value that is not an object of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an object with valid apiVersion, kind and metadata.name")]
pub struct InvalidObject;

impl StaticObjects {
    /// Adds an object; of two with the same kind, namespace and name the later one counts.
    ///
    /// # Errors
    ///
    /// When it has no valid `apiVersion`, `kind` and `metadata.name`.
    pub fn add(&mut self, mut object: Value) -> Result<(), InvalidObject> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |key: &str| object.get(key).map(text).unwrap_or_default();
        let kind = ObjectKind::of(&of("apiVersion"), &of("kind")).map_err(|_| InvalidObject)?;
        let metadata = object.get("metadata");
        let of = |key: &str| {
            metadata
                .and_then(|m| m.get(key))
                .map(text)
                .unwrap_or_default()
        };
        let place = (of("namespace"), of("name"));
        if place.1.is_empty() {
            return Err(InvalidObject);
        }
        super::drop_managed_fields(&mut object);
        self.objects
            .entry(kind)
            .or_default()
            .insert(place, Arc::new(object));
        Ok(())
    }

    /// The same, but only these kinds are known.
    #[must_use]
    pub fn only(mut self, kinds: impl IntoIterator<Item = ObjectKind>) -> Self {
        self.only = Some(kinds.into_iter().collect());
        self
    }

    fn kind(
        &self,
        kind: &ObjectKind,
    ) -> Result<impl Iterator<Item = (&(String, String), &Arc<Value>)>, Unknown> {
        if self.only.as_ref().is_some_and(|only| !only.contains(kind)) {
            return Err(Unknown::NotWatched(kind.clone()));
        }
        Ok(self.objects.get(kind).into_iter().flatten())
    }
}

impl ClusterObjects for StaticObjects {
    fn get(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<Value>>, Unknown> {
        let mut all = self.kind(kind)?;
        let found = all.find(|(place, _)| place.0 == namespace && place.1 == name);
        Ok(found.map(|(_, object)| Arc::clone(object)))
    }

    fn list(&self, kind: &ObjectKind, namespace: Option<&str>) -> Result<Vec<Arc<Value>>, Unknown> {
        let all = self.kind(kind)?;
        let some = all.filter(|(place, _)| namespace.is_none_or(|wanted| wanted == place.0));
        Ok(some.map(|(_, object)| Arc::clone(object)).collect())
    }

    fn read(
        &self,
        kind: &ObjectKind,
        namespace: &str,
        name: &str,
        _: Instant,
    ) -> Reading<Option<Arc<Value>>> {
        let found = self.get(kind, namespace, name);
        Box::pin(std::future::ready(found.map_err(|why| why.to_string())))
    }

    fn list_now(&self, kind: &ObjectKind, namespace: &str, _: Instant) -> Reading<Vec<Arc<Value>>> {
        let found = self.list(kind, Some(namespace));
        Box::pin(std::future::ready(found.map_err(|why| why.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(namespace: &str, name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": namespace, "name": name, "managedFields": [1]}})
    }

    #[test]
    fn objects_are_found_by_kind_namespace_and_name() {
        let mut known = StaticObjects::default();
        for (namespace, name) in [("b", "x"), ("a", "y"), ("a", "x")] {
            known.add(pod(namespace, name)).unwrap();
        }
        let found = known.get(&ObjectKind::POD, "a", "x").unwrap().unwrap();
        assert_eq!(found["metadata"], json!({"namespace": "a", "name": "x"}));
        assert_eq!(known.get(&ObjectKind::POD, "c", "x"), Ok(None));
        assert_eq!(known.get(&ObjectKind::SECRET, "a", "x"), Ok(None));
        assert_eq!(known.list(&ObjectKind::POD, None).unwrap().len(), 3);
        let names: Vec<_> = known.list(&ObjectKind::POD, Some("a")).unwrap();
        assert_eq!(names[0]["metadata"]["name"], "x");
        assert_eq!(names.len(), 2);
        assert_eq!(known.add(json!({"kind": "Pod"})), Err(InvalidObject));
    }

    #[test]
    fn other_kinds_are_unknown_rather_than_empty() {
        let known = StaticObjects::default().only([ObjectKind::POD]);
        assert_eq!(known.list(&ObjectKind::POD, None), Ok(Vec::new()));
        let unknown = Unknown::NotWatched(ObjectKind::SECRET);
        assert_eq!(known.get(&ObjectKind::SECRET, "a", "x"), Err(unknown));
    }
}
