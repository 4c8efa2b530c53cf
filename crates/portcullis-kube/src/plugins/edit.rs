//! How plug-ins change a pod: on the JSON tree, key by key.
//!
//! A plug-in reads first and calls [`spec`] only when something has to change,
//! so what is there has the right shape; `null` counts as absent, as it does
//! for readers. What can't be changed is a denial, not an error.

use portcullis_core::{Attributes, Outcome};
use serde_json::{Map, Value};

use crate::pod::{ContainerKind, Toleration};

use super::read::OrOutcome;
use super::refusal::malformed;
use super::tolerations;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Changes the pod's `spec`, which is made if there is none.
pub(crate) fn spec(
    request: &mut Attributes,
    change: impl FnOnce(&mut Object),
) -> OrOutcome<Outcome> {
    whole(request, |pod| {
        change(object(pod, "spec").ok_or("spec: expected an object")?);
        Ok(())
    })
}

/// Changes the object of a request. What can't be changed is an error that says why.
pub(crate) fn whole(
    request: &mut Attributes,
    change: impl FnOnce(&mut Object) -> Result<(), &'static str>,
) -> OrOutcome<Outcome> {
    let changed = match request.object.as_mut().map(|object| object.value_mut()) {
        None => Err("object: missing".to_owned()),
        Some(Err(error)) => Err(error.to_string()),
        Some(Ok(value)) => match as_object(value) {
            Some(object) => change(object).map_err(str::to_owned),
            None => Err("object: expected an object".to_owned()),
        },
    };
    match changed {
        Ok(()) => Ok(Outcome::Pass),
        Err(detail) => Err(malformed(request, detail)),
    }
}

/// The container at this place of a pod's `spec`.
pub(crate) fn container(
    spec: &mut Object,
    kind: ContainerKind,
    index: usize,
) -> Option<&mut Object> {
    as_object(spec.get_mut(kind.key())?.as_array_mut()?.get_mut(index)?)
}

/// Every container of a pod's `spec`, in the order of `PodSpec::all_containers`.
pub(crate) fn all_containers(spec: &mut Object, mut change: impl FnMut(&mut Object)) {
    for kind in [
        ContainerKind::Init,
        ContainerKind::Regular,
        ContainerKind::Ephemeral,
    ] {
        each(spec, kind.key(), &mut change);
    }
}

/// Every object in the list under this key, if there is one.
pub(crate) fn each(parent: &mut Object, key: &str, change: impl FnMut(&mut Object)) {
    if let Some(Value::Array(list)) = parent.get_mut(key) {
        list.iter_mut().filter_map(as_object).for_each(change);
    }
}

/// The object under this key, which is made if there is none.
pub(crate) fn object<'a>(parent: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    as_object(parent.entry(key).or_insert(Value::Null))
}

/// The pod's tolerations, as a list that is made if there is none.
pub(crate) fn tolerations(spec: &mut Object) -> Option<&mut Vec<Value>> {
    let list = spec.entry("tolerations").or_insert(Value::Null);
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut()
}

/// Adds tolerations at the end.
pub(crate) fn add_tolerations(spec: &mut Object, added: &[Toleration<'_>]) {
    if let Some(list) = tolerations(spec) {
        list.extend(added.iter().map(tolerations::to_json));
    }
}

/// Sets a key to a text unless it has it already.
pub(crate) fn set(parent: &mut Object, key: &str, text: &str) {
    if parent.get(key).and_then(Value::as_str) != Some(text) {
        parent.insert(key.to_owned(), Value::from(text));
    }
}

fn as_object(value: &mut Value) -> Option<&mut Object> {
    if value.is_null() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut()
}

#[cfg(test)]
mod tests {
    use portcullis_core::Document;
    use serde_json::json;

    use super::super::testing::{create_pod, object_of};
    use super::*;

    #[test]
    fn null_and_absent_are_made_into_objects_and_lists() {
        for pod in [
            json!({}),
            json!({"spec": null}),
            json!({"spec": {"tolerations": null}}),
        ] {
            let mut request = create_pod(pod);
            let all = Toleration {
                operator: "Exists".into(),
                ..Toleration::default()
            };
            let outcome = spec(&mut request, |spec| add_tolerations(spec, &[all]));
            assert_eq!(outcome, Ok(Outcome::Pass));
            assert_eq!(
                object_of(&request)["spec"]["tolerations"],
                json!([{"operator": "Exists"}])
            );
        }
    }

    #[test]
    fn containers_of_all_kinds_are_visited() {
        let mut request = create_pod(json!({"spec": {
            "containers": [{"name": "a"}, null],
            "ephemeralContainers": [{"name": "c"}],
            "initContainers": [{"name": "d"}],
        }}));
        let outcome = spec(&mut request, |spec| {
            all_containers(spec, |container| set(container, "seen", "yes"));
        });
        assert_eq!(outcome, Ok(Outcome::Pass));
        assert_eq!(
            object_of(&request)["spec"],
            json!({
                "containers": [{"name": "a", "seen": "yes"}, {"seen": "yes"}],
                "ephemeralContainers": [{"name": "c", "seen": "yes"}],
                "initContainers": [{"name": "d", "seen": "yes"}],
            })
        );
    }

    #[test]
    fn what_can_not_be_changed_is_a_refusal() {
        let mut request = create_pod(json!({}));
        for object in [
            None,
            Some(Document::from_text("{")),
            Some(Document::from_text("[]")),
            Some(Document::from_text(r#"{"spec": 1}"#)),
        ] {
            request.object = object;
            assert!(matches!(spec(&mut request, |_| ()), Err(Outcome::Deny(_))));
        }
    }
}
