//! Plain manifests, as people keep them in files, and the reviews an API server would make of them.
//!
//! Without an API server some things must be guessed: the resource of a kind and whether its
//! objects live in a namespace (`kinds`), and what the API server fills in before it asks a
//! webhook, as far as a plug-in looks at it (`defaults`).

mod defaults;
mod kinds;
mod parts;
mod review;

use portcullis_core::Kind;
use portcullis_document::Fault;
use serde_json::{Map, Value};

pub use kinds::resource as resource_of_kind;
pub use parts::{ManifestText, parts};
pub use review::{ReviewRequest, review};

/// The resource of a kind, by the rules of English.
pub(crate) fn resource_of(kind: &Kind) -> String {
    kinds::resource(kind).0
}

/// Whether objects of this kind have no namespace, as far as Kubernetes' own kinds go.
pub(crate) fn is_cluster_scoped(kind: &Kind) -> bool {
    kinds::is_cluster_scoped(kind)
}

/// An object from a manifest, with what identifies it.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Its type, from `apiVersion` and `kind`.
    pub kind: Kind,
    /// Its namespace; empty for objects without one.
    pub namespace: String,
    /// Its name; empty when the server will generate it.
    pub name: String,
    /// The object, with the defaults an API server would set.
    pub object: Value,
}

impl Manifest {
    /// Reads what identifies an object, and completes it as an API server would. `namespace` is for
    /// objects that live in one and name none.
    ///
    /// # Errors
    ///
    /// When it is not an object, or has no type.
    pub fn new(mut object: Value, namespace: &str) -> Result<Self, Box<Fault>> {
        let Some(map) = object.as_object_mut() else {
            return Err(fault("", "expected a map with apiVersion and kind"));
        };
        let api_version = text(map, "apiVersion", "apiVersion")?;
        let name_of_kind = text(map, "kind", "kind")?;
        for (key, value) in [("apiVersion", &api_version), ("kind", &name_of_kind)] {
            if value.is_empty() {
                return Err(fault(
                    "",
                    format!("not a Kubernetes object: {key} is missing"),
                ));
            }
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let kind = Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: name_of_kind,
        };
        let metadata = map.entry("metadata").or_insert(Value::Null);
        if metadata.is_null() {
            *metadata = Value::Object(Map::new());
        }
        let Some(metadata) = metadata.as_object_mut() else {
            return Err(fault("metadata", "metadata: expected a map"));
        };
        let name = text(metadata, "name", "metadata.name")?;
        let mut own = text(metadata, "namespace", "metadata.namespace")?;
        if kinds::is_cluster_scoped(&kind) {
            own.clear();
        } else if own.is_empty() {
            namespace.clone_into(&mut own);
            metadata.insert("namespace".to_owned(), Value::from(namespace));
        }
        defaults::apply(&kind, &mut object);
        Ok(Self {
            kind,
            namespace: own,
            name,
            object,
        })
    }

    /// Whether both are the same object, at different times.
    #[must_use]
    pub fn is_same_object(&self, other: &Self) -> bool {
        self.kind.group == other.kind.group
            && self.kind.kind == other.kind.kind
            && self.namespace == other.namespace
            && self.name == other.name
    }
}

fn fault(path: &str, message: impl Into<String>) -> Box<Fault> {
    Box::new(Fault::at(path, message))
}

/// A member that must be text; empty when it is absent.
fn text(map: &Map<String, Value>, key: &str, path: &str) -> Result<String, Box<Fault>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(fault(
            path,
            format!("{path}: expected text; put it in quotes"),
        )),
    }
}

/// What a list of this kind is of: `Pod` for `PodList`, nothing for `List`; none if it is the kind of an object.
#[must_use]
pub fn listed_kind(kind: &str) -> Option<&str> {
    kind.strip_suffix("List")
}

/// Fills in what an item of a list is: those of a `PodList` need not say it.
pub fn complete_item(item: &mut Value, of: &str, version: Option<&Value>) {
    if let (Some(map), false) = (item.as_object_mut(), of.is_empty()) {
        map.entry("kind").or_insert_with(|| of.into());
        if let Some(version) = version {
            map.entry("apiVersion").or_insert_with(|| version.clone());
        }
    }
}

/// The objects of a list, if it is one: `List`, or any `…List` with `items`.
#[must_use]
pub fn list_items(object: &Value) -> Option<Vec<Value>> {
    let of = listed_kind(object.get("kind")?.as_str()?)?;
    let items = match object.get("items") {
        None | Some(Value::Null) if of.is_empty() => return Some(Vec::new()),
        items => items?.as_array()?,
    };
    let complete = |item: &Value| {
        let mut item = item.clone();
        complete_item(&mut item, of, object.get("apiVersion"));
        item
    };
    Some(items.iter().map(complete).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_namespace_is_filled_in_where_one_belongs() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
        let made = Manifest::new(pod, "shop").unwrap();
        assert_eq!((made.namespace.as_str(), made.name.as_str()), ("shop", "a"));
        assert_eq!(made.object["metadata"]["namespace"], "shop");
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}});
        let made = Manifest::new(node.clone(), "shop").unwrap();
        assert_eq!(made.namespace, "");
        assert_eq!(made.object, node);
        let bare = Manifest::new(json!({"apiVersion": "v1", "kind": "Pod"}), "shop").unwrap();
        assert_eq!(bare.object["metadata"], json!({"namespace": "shop"}));
    }

    #[test]
    fn what_is_no_object_is_told() {
        for (object, needle) in [
            (json!([]), "expected a map"),
            (json!({"kind": "Pod"}), "apiVersion is missing"),
            (json!({"apiVersion": "v1"}), "kind is missing"),
            (
                json!({"apiVersion": 1, "kind": "Pod"}),
                "apiVersion: expected text",
            ),
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": []}),
                "metadata: expected a map",
            ),
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}}),
                "metadata.name: expected text",
            ),
        ] {
            let fault = Manifest::new(object, "default").unwrap_err();
            assert!(fault.message.contains(needle), "{fault}");
        }
    }

    #[test]
    fn lists_are_taken_apart() {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [{"a": 1}, {"b": 2}]});
        assert_eq!(
            list_items(&list).unwrap(),
            [json!({"a": 1}), json!({"b": 2})]
        );
        let pods = json!({"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {}}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}});
        assert_eq!(list_items(&pods).unwrap(), [pod]);
        assert_eq!(
            list_items(&json!({"kind": "List"})).unwrap(),
            [] as [Value; 0]
        );
        assert!(list_items(&json!({"kind": "Allowlist", "items": []})).is_none());
        assert!(list_items(&json!({"kind": "AllowList"})).is_none());
    }
}
