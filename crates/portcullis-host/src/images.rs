//! The images that an object would run.

use std::collections::HashSet;

use serde_json::Value;

use crate::reference::Reference;
use crate::text::excerpt;

/// The lists of a pod's containers.
const LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Kinds that hold a template of pods: their groups, and where the pod's specification is.
const WORKLOADS: &[(&str, &[&str], &str)] = &[
    ("Deployment", &["apps", "extensions"], "/spec/template/spec"),
    ("ReplicaSet", &["apps", "extensions"], "/spec/template/spec"),
    ("DaemonSet", &["apps", "extensions"], "/spec/template/spec"),
    ("StatefulSet", &["apps"], "/spec/template/spec"),
    ("Job", &["batch"], "/spec/template/spec"),
    (
        "CronJob",
        &["batch"],
        "/spec/jobTemplate/spec/template/spec",
    ),
    ("ReplicationController", &[""], "/spec/template/spec"),
    ("PodTemplate", &[""], "/template/spec"),
];

/// The images that an object would run, each one once, in the order of the object.
///
/// There is always at least one: an object without images, or of a kind whose images are not
/// known, is an error, so that nothing is true of all images of nothing.
pub(crate) fn images(object: &Value) -> Result<Vec<Reference>, String> {
    let mut found = ImageSet::default();
    match object.get("kind") {
        None | Some(Value::Null) => {
            // What containerd is asked, as ctrdac passes it on.
            match object.pointer("/container/image") {
                Some(image) => found.add(image, "the container")?,
                None => return Err(unknown("")),
            }
        }
        Some(Value::String(kind)) => {
            let place = place(kind, object).ok_or_else(|| unknown(kind))?;
            of_pod(&mut found, object.pointer(place))?;
        }
        Some(_) => return Err(unknown("")),
    }
    if found.images.is_empty() {
        return Err("there is no image in the object".to_owned());
    }
    Ok(found.images)
}

fn unknown(kind: &str) -> String {
    let kind = excerpt(kind.as_bytes(), 64);
    format!("unable to extract image reference from object of kind: {kind}")
}

/// Where objects of a kind have the specification of their pods.
fn place(kind: &str, object: &Value) -> Option<&'static str> {
    if kind == "Pod" {
        return Some("/spec");
    }
    let (_, groups, place) = WORKLOADS.iter().find(|(known, ..)| *known == kind)?;
    let group = match object.get("apiVersion") {
        None => return Some(place),
        Some(version) => version.as_str()?.rsplit_once('/').map_or("", |(g, _)| g),
    };
    groups.contains(&group).then_some(*place)
}

fn of_pod(found: &mut ImageSet, spec: Option<&Value>) -> Result<(), String> {
    let Some(Value::Object(spec)) = spec else {
        return Err("there is no pod specification in the object".to_owned());
    };
    for list in LISTS {
        for (index, container) in entries(spec.get(list), list)?.iter().enumerate() {
            let name = container.get("name").and_then(Value::as_str);
            let name = name.map_or_else(|| index.to_string(), |n| excerpt(n.as_bytes(), 64));
            let image = container.get("image").unwrap_or(&Value::Null);
            found.add(image, &format!("container {name}"))?;
        }
    }
    // Images that are mounted instead of run.
    for volume in entries(spec.get("volumes"), "volumes")? {
        if let Some(image) = volume.pointer("/image/reference") {
            found.add(image, "an image volume")?;
        }
    }
    Ok(())
}

fn entries<'a>(list: Option<&'a Value>, name: &str) -> Result<&'a [Value], String> {
    match list {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(entries)) => Ok(entries),
        Some(_) => Err(format!("`{name}` of the object is not a list")),
    }
}

/// The images found so far.
#[derive(Debug, Default)]
struct ImageSet {
    images: Vec<Reference>,
    known: HashSet<String>,
}

impl ImageSet {
    fn add(&mut self, image: &Value, of: &str) -> Result<(), String> {
        let Some(text) = image.as_str().filter(|image| !image.is_empty()) else {
            return Err(format!("image attribute is not present for {of}"));
        };
        let image = Reference::parse(text).map_err(|e| format!("image of {of}: {e}"))?;
        if self.known.insert(text.to_owned()) {
            self.images.push(image);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(object: &Value) -> Vec<String> {
        let found = images(object).unwrap();
        found
            .iter()
            .map(|image| image.as_str().to_owned())
            .collect()
    }

    #[test]
    fn pods_in_order_and_each_image_once() {
        let pod = json!({"kind": "Pod", "spec": {
            "ephemeralContainers": [{"name": "e", "image": "e"}],
            "initContainers": [{"name": "i", "image": "i"}, {"name": "j", "image": "b"}],
            "containers": [{"name": "a", "image": "b"}, {"name": "c", "image": "a"}],
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "image": {"reference": "v"}}]}});
        assert_eq!(names(&pod), ["b", "a", "i", "e", "v"]);
    }

    #[test]
    fn templates() {
        let spec = json!({"containers": [{"name": "a", "image": "img"}]});
        let template = json!({"template": {"spec": spec}});
        for (kind, version) in [
            ("Deployment", "apps/v1"),
            ("ReplicaSet", "apps/v1"),
            ("StatefulSet", "apps/v1"),
            ("DaemonSet", "apps/v1"),
            ("Job", "batch/v1"),
            ("ReplicationController", "v1"),
        ] {
            assert_eq!(
                names(&json!({"apiVersion": version, "kind": kind, "spec": template})),
                ["img"]
            );
            assert!(
                images(&json!({"apiVersion": "other/v1", "kind": kind, "spec": template})).is_err()
            );
        }
        assert_eq!(
            names(&json!({"kind": "PodTemplate", "template": {"spec": spec}})),
            ["img"]
        );
        let cron = json!({"kind": "CronJob", "spec": {"jobTemplate": {"spec": template}}});
        assert_eq!(names(&cron), ["img"]);
    }

    #[test]
    fn what_ctrdac_sends() {
        assert_eq!(names(&json!({"container": {"image": "img"}})), ["img"]);
    }

    #[test]
    fn never_vacuous() {
        let pod = |spec: Value| json!({"kind": "Pod", "spec": spec});
        for bad in [
            json!(null),
            json!("x"),
            json!({}),
            json!({"kind": 1, "container": {"image": "img"}}),
            json!({"kind": "Service", "container": {"image": "img"}}),
            json!({"container": {}}),
            json!({"container": {"image": ""}}),
            json!({"kind": "Pod"}),
            pod(json!({})),
            pod(json!({"containers": []})),
            pod(json!({"containers": {}})),
            pod(json!({"containers": [1]})),
            pod(json!({"containers": [{"name": "a"}]})),
            pod(json!({"containers": [{"image": "a"}, {"image": null}]})),
            pod(json!({"containers": [{"image": "a"}], "initContainers": "x"})),
            json!({"kind": "Deployment", "spec": {"containers": [{"image": "a"}]}}),
        ] {
            assert!(images(&bad).is_err(), "{bad}");
        }
        assert_eq!(
            images(&json!({"kind": "Service"})).unwrap_err(),
            "unable to extract image reference from object of kind: Service"
        );
    }

    #[test]
    fn a_flag_is_no_image() {
        let pod =
            json!({"kind": "Pod", "spec": {"containers": [{"name": "a", "image": "--help"}]}});
        assert_eq!(
            images(&pod).unwrap_err(),
            "image of container a: `--help` is not a reference to an image"
        );
    }
}
