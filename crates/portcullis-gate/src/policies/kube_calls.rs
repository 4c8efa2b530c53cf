//! `kube.get` and `kube.list`: answered from what is known of the cluster. All other host calls go on to the world
//! outside.

use std::sync::Arc;

use portcullis_core::HostFunction;
use portcullis_js::{Host, HostRequest};
use portcullis_kube::cluster_objects::{ClusterObjects, ObjectKind};
use portcullis_kube::selector;
use serde::Deserialize;
use serde_json::Value;

/// A host that knows objects of a cluster.
#[derive(Debug)]
pub(super) struct KubeCalls {
    pub(super) objects: Arc<dyn ClusterObjects>,
    pub(super) others: Arc<dyn Host>,
}

/// The third argument of `kube.list`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ListOptions {
    namespace: Option<String>,
    label_selector: Option<String>,
    limit: Option<usize>,
}

impl Host for KubeCalls {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        let answer = match request.function {
            HostFunction::KubeGet => self.get(request.arguments),
            HostFunction::KubeList => self.list(request.arguments),
            _ => return self.others.call(request),
        };
        answer.map_err(|why| format!("{}: {why}", request.function))
    }

    fn functions(&self) -> &'static [HostFunction] {
        self.others.functions()
    }
}

impl KubeCalls {
    fn get(&self, arguments: &[Value]) -> Result<Value, String> {
        let [api_version, kind, namespace, name] = arguments else {
            return Err("expected apiVersion, kind, namespace and name".to_owned());
        };
        let kind = kind_of(api_version, kind)?;
        let namespace = match namespace {
            Value::Null => "",
            other => text(other, "namespace")?,
        };
        let name = text(name, "name")?;
        let found = self.objects.get(&kind, namespace, name);
        let found = found.map_err(|why| why.to_string())?;
        Ok(found.map_or(Value::Null, |object| (*object).clone()))
    }

    fn list(&self, arguments: &[Value]) -> Result<Value, String> {
        let (Some(api_version), Some(kind)) = (arguments.first(), arguments.get(1)) else {
            return Err("expected apiVersion, kind and perhaps options".to_owned());
        };
        let kind = kind_of(api_version, kind)?;
        let options = match arguments.get(2) {
            None | Some(Value::Null) => ListOptions::default(),
            Some(options) => ListOptions::deserialize(options)
                .map_err(|error| format!("invalid options: {error}"))?,
        };
        let wanted = match options.label_selector.as_deref() {
            None => Vec::new(),
            Some(text) => selector::parse_labels(text)
                .ok_or_else(|| format!("invalid labelSelector {text:?}"))?,
        };
        let namespace = options.namespace.as_deref().filter(|name| !name.is_empty());
        let all = self.objects.list(&kind, namespace);
        let all = all.map_err(|why| why.to_string())?;
        let chosen = all
            .iter()
            .filter(|object| selector::selects_labels(&wanted, object));
        let chosen = chosen.take(options.limit.unwrap_or(usize::MAX));
        Ok(chosen.map(|object| (**object).clone()).collect())
    }
}

fn text<'a>(value: &'a Value, what: &str) -> Result<&'a str, String> {
    let wrong = || format!("{what}: expected a string");
    value.as_str().ok_or_else(wrong)
}

fn kind_of(api_version: &Value, kind: &Value) -> Result<ObjectKind, String> {
    let (api_version, kind) = (text(api_version, "apiVersion")?, text(kind, "kind")?);
    ObjectKind::of(api_version, kind)
        .map_err(|_| format!("invalid apiVersion {api_version:?} or kind {kind:?}"))
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;
    use portcullis_js::{Input, NoHost};
    use portcullis_kube::cluster_objects::StaticObjects;
    use serde_json::json;

    use super::*;

    fn host() -> KubeCalls {
        let mut objects = StaticObjects::default();
        for (namespace, name, team) in [("a", "x", "red"), ("a", "y", "blue"), ("b", "z", "red")] {
            let metadata = json!({"namespace": namespace, "name": name, "labels": {"team": team}});
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            objects.add(object).unwrap();
        }
        let config_map = ObjectKind::new("", "v1", "ConfigMap");
        KubeCalls {
            objects: Arc::new(objects.only([config_map])),
            others: Arc::new(NoHost),
        }
    }

    fn call(function: HostFunction, arguments: &[Value]) -> Result<Value, String> {
        let input = Input::new(&Value::Null);
        host().call(&HostRequest {
            function,
            arguments,
            object: &Value::Null,
            original: &input.object,
            subject: input.subject.as_ref(),
            deadline: clock::monotonic(),
        })
    }

    fn names(options: Value) -> Result<Vec<String>, String> {
        let arguments = [json!("v1"), json!("ConfigMap"), options];
        let found = call(HostFunction::KubeList, &arguments)?;
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        Ok(found.as_array().unwrap().iter().map(name).collect())
    }

    #[test]
    fn an_object_is_found_by_name() {
        let get = |namespace: Value, name: &str| {
            let arguments = [json!("v1"), json!("ConfigMap"), namespace, json!(name)];
            call(HostFunction::KubeGet, &arguments)
        };
        assert_eq!(get(json!("a"), "x").unwrap()["metadata"]["name"], "x");
        assert_eq!(get(json!("b"), "x"), Ok(Value::Null));
        assert_eq!(get(Value::Null, "x"), Ok(Value::Null));
        assert!(get(json!(1), "x").unwrap_err().contains("namespace"));
    }

    #[test]
    fn lists_are_selected_by_namespace_labels_and_limit() {
        assert_eq!(names(Value::Null).unwrap(), ["x", "y", "z"]);
        assert_eq!(names(json!({"namespace": "a"})).unwrap(), ["x", "y"]);
        let red = json!({"labelSelector": "team=red"});
        assert_eq!(names(red).unwrap(), ["x", "z"]);
        let not_red = json!({"labelSelector": "team!=red,team", "namespace": "a"});
        assert_eq!(names(not_red).unwrap(), ["y"]);
        assert_eq!(names(json!({"limit": 1})).unwrap(), ["x"]);
        assert_eq!(names(json!({"limit": 0})).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_makes_no_sense_or_is_not_known_is_an_error() {
        for options in [
            json!({"labelSelector": "a b"}),
            json!({"limit": -1}),
            json!({"fieldSelector": "a=b"}),
            json!("a"),
        ] {
            assert!(names(options.clone()).is_err(), "{options}");
        }
        let secret = [json!("v1"), json!("Secret"), json!("a"), json!("x")];
        assert_eq!(
            call(HostFunction::KubeGet, &secret).unwrap_err(),
            "kube.get: objects of v1/Secret are not watched: the key `kube.kinds` does not contain it"
        );
        let invalid = [json!("v1/"), json!("Secret"), json!("a"), json!("x")];
        assert!(call(HostFunction::KubeGet, &invalid).is_err());
        assert!(call(HostFunction::KubeGet, &[]).is_err());
        assert!(call(HostFunction::KubeList, &[]).is_err());
        let other = call(HostFunction::CosignVerify, &[]).unwrap_err();
        assert_eq!(other, "cosignVerify is not available here");
    }
}
