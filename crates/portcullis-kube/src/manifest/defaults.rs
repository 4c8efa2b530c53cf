//! What an API server fills in before it asks a webhook, where a plug-in's answer depends on it.
//!
//! - A volume without a source is an `emptyDir` (pods and pod templates).
//! - A limit without a request is a request too (containers and init containers of pods).
//! - With `hostNetwork`, a container's port is a port of the host (pods).
//!
//! Everything else is left as it is written, and so is whatever does not have the expected shape:
//! the plug-ins deny that themselves.

use portcullis_core::Kind;
use serde_json::{Map, Value};

use crate::workload::Workload;

/// Sets the defaults in an object of this kind.
pub(super) fn apply(kind: &Kind, object: &mut Value) {
    let Some(workload) = Workload::from_kind(&kind.group, &kind.kind) else {
        return;
    };
    let way: &[&str] = match workload {
        Workload::Pod => &["spec"],
        Workload::PodTemplate => &["template", "spec"],
        Workload::CronJob => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    let spec = way
        .iter()
        .try_fold(object, |inner, key| inner.get_mut(*key));
    let Some(spec) = spec.and_then(Value::as_object_mut) else {
        return;
    };
    volumes(spec);
    if workload == Workload::Pod {
        let on_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
        for key in ["containers", "initContainers"] {
            for container in maps(spec.get_mut(key)) {
                requests(container);
                if on_host {
                    host_ports(container);
                }
            }
        }
    }
}

/// The elements of a list that are maps.
fn maps(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
}

fn volumes(spec: &mut Map<String, Value>) {
    for volume in maps(spec.get_mut("volumes")) {
        let has_source = volume
            .iter()
            .any(|(key, value)| key != "name" && !value.is_null());
        if !has_source {
            volume.insert("emptyDir".to_owned(), Value::Object(Map::new()));
        }
    }
}

fn requests(container: &mut Map<String, Value>) {
    let Some(resources) = container
        .get_mut("resources")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    let limits = match resources.get("limits").and_then(Value::as_object) {
        Some(limits) if !limits.is_empty() => limits.clone(),
        _ => return,
    };
    let requests = resources.entry("requests").or_insert(Value::Null);
    if requests.is_null() {
        *requests = Value::Object(Map::new());
    }
    if let Some(requests) = requests.as_object_mut() {
        for (name, amount) in limits {
            requests.entry(name).or_insert(amount);
        }
    }
}

fn host_ports(container: &mut Map<String, Value>) {
    for port in maps(container.get_mut("ports")) {
        let is_unset = match port.get("hostPort") {
            None | Some(Value::Null) => true,
            Some(given) => given.as_i64() == Some(0),
        };
        if let (true, Some(own)) = (is_unset, port.get("containerPort").cloned()) {
            port.insert("hostPort".to_owned(), own);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(group: &str, kind: &str) -> Kind {
        Kind {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
        }
    }

    fn pod(mut spec: Value) -> Value {
        let mut object = json!({"spec": spec.take()});
        apply(&kind("", "Pod"), &mut object);
        object["spec"].take()
    }

    #[test]
    fn a_volume_without_source_is_an_empty_directory() {
        let spec = json!({"volumes": [{"name": "a"}, {"name": "b", "hostPath": null}, {"name": "c", "secret": {}}]});
        let wanted = json!({"volumes": [
            {"name": "a", "emptyDir": {}},
            {"name": "b", "hostPath": null, "emptyDir": {}},
            {"name": "c", "secret": {}},
        ]});
        assert_eq!(pod(spec.clone()), wanted);
        let mut job = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}});
        apply(&kind("batch", "CronJob"), &mut job);
        assert_eq!(
            job["spec"]["jobTemplate"]["spec"]["template"]["spec"],
            wanted
        );
    }

    #[test]
    fn a_limit_is_a_request_unless_there_is_one() {
        let resources = json!({"limits": {"a": 1, "b": 2}, "requests": {"b": 1}});
        let done = pod(json!({"containers": [{"resources": resources}]}));
        assert_eq!(
            done["containers"][0]["resources"]["requests"],
            json!({"a": 1, "b": 1})
        );
        let done =
            pod(json!({"initContainers": [{"resources": {"limits": {"a": 1}, "requests": null}}]}));
        assert_eq!(
            done["initContainers"][0]["resources"]["requests"],
            json!({"a": 1})
        );
    }

    #[test]
    fn ports_are_the_hosts_on_its_network_only() {
        let ports = json!([{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]);
        let spec = json!({"hostNetwork": true, "containers": [{"ports": ports}]});
        let done = pod(spec.clone());
        assert_eq!(done["containers"][0]["ports"][0]["hostPort"], 80);
        assert_eq!(done["containers"][0]["ports"][1]["hostPort"], 8081);
        let mut without = spec;
        without["hostNetwork"] = json!(false);
        assert_eq!(pod(without.clone()), without);
    }

    #[test]
    fn what_has_another_shape_is_left_alone() {
        for spec in [
            json!(null),
            json!([]),
            json!({"volumes": {}, "containers": ["x", {"resources": [], "ports": 1}], "hostNetwork": true}),
        ] {
            assert_eq!(pod(spec.clone()), spec);
        }
    }
}
