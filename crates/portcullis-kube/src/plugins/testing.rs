//! Builders and shorthands for the tests of the plug-ins.

#![expect(clippy::needless_pass_by_value, reason = "shorter calls")]

use std::sync::Arc;

use crate::registry::Registry;
use portcullis_core::{
    Attributes, Denial, Document, Door, Kind, Notes, Operation, Outcome, Plugin, Resource,
    UserInfo, clock,
};
use serde_json::{Value, json};

use super::PluginEnvironment;
use crate::cluster_objects::StaticObjects;
use crate::namespaces::{Namespace, StaticNamespaces};

/// All plug-ins, with namespaces of these names and annotations.
pub(super) fn registry(namespaces: &[(&str, &[(&str, &str)])]) -> Registry {
    let namespaces: StaticNamespaces = namespaces
        .iter()
        .map(|(name, annotations)| Namespace {
            name: (*name).to_owned(),
            annotations: annotations
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..Namespace::default()
        })
        .collect();
    let environment = PluginEnvironment {
        namespaces: Arc::new(namespaces),
        objects: Arc::new(StaticObjects::default()),
    };
    let mut registry = Registry::default();
    super::register_all(&mut registry, &environment);
    registry
}

fn make(
    registry: &Registry,
    name: &str,
    configuration: &Value,
) -> Result<Arc<dyn Plugin>, Vec<String>> {
    let descriptor = registry.get(name).expect(name);
    (descriptor.factory)(Some(configuration))
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

/// The plug-in of this name and configuration.
pub(super) fn configured(registry: &Registry, name: &str, configuration: Value) -> Arc<dyn Plugin> {
    make(registry, name, &configuration).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// What is wrong with the configuration.
pub(super) fn faults(registry: &Registry, name: &str, configuration: Value) -> Vec<String> {
    make(registry, name, &configuration)
        .err()
        .unwrap_or_default()
}

/// The plug-in of this name, with these objects in the cluster.
pub(super) fn with_objects(
    name: &str,
    configuration: Value,
    objects: impl IntoIterator<Item = Value>,
) -> Arc<dyn Plugin> {
    let mut known = StaticObjects::default();
    for object in objects {
        known.add(object).expect("an object with its kind");
    }
    let environment = PluginEnvironment {
        objects: Arc::new(known),
        ..PluginEnvironment::default()
    };
    let mut registry = Registry::default();
    super::register_all(&mut registry, &environment);
    configured(&registry, name, configuration)
}

/// The plug-in of this name without configuration and namespaces.
pub(super) fn plugin(name: &str) -> Arc<dyn Plugin> {
    configured(&registry(&[]), name, Value::Null)
}

/// A request for the creation of an object named `web` in namespace `shop`.
pub(super) fn create(kind: &str, resource: &str, object: Value) -> Attributes {
    Attributes {
        door: Door::Kubernetes,
        uid: "1".into(),
        operation: Operation::Create,
        kind: Kind {
            version: "v1".into(),
            kind: kind.into(),
            ..Kind::default()
        },
        resource: Resource {
            version: "v1".into(),
            resource: resource.into(),
            ..Resource::default()
        },
        subresource: String::new(),
        name: "web".into(),
        namespace: "shop".into(),
        user: UserInfo {
            username: "alice".into(),
            ..UserInfo::default()
        },
        object: Some(Document::from_text(object.to_string())),
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Arc::default(),
    }
}

/// A request for the creation of a pod.
pub(super) fn create_pod(pod: Value) -> Attributes {
    create("Pod", "pods", pod)
}

/// A request for the creation of a pod with this `spec`.
pub(super) fn create_spec(spec: Value) -> Attributes {
    create_pod(json!({"apiVersion": "v1", "kind": "Pod", "spec": spec}))
}

/// A request for a change of a pod's `spec`.
pub(super) fn update_spec(old: Value, new: Value) -> Attributes {
    update(create_spec(new), json!({"spec": old}))
}

/// The same request as a change of what was before.
pub(super) fn update(request: Attributes, old: Value) -> Attributes {
    Attributes {
        operation: Operation::Update,
        old_object: Some(Document::from_text(old.to_string())),
        ..request
    }
}

/// A request for a pod's subresource with a pod as its object.
pub(super) fn subresource(pod: Value, subresource: &str) -> Attributes {
    Attributes {
        subresource: subresource.into(),
        ..create_pod(pod)
    }
}

/// A request for the creation of a service.
pub(super) fn service(service: Value) -> Attributes {
    create("Service", "services", service)
}

/// What the first half says.
pub(super) fn admit(plugin: &Arc<dyn Plugin>, request: &mut Attributes) -> Outcome {
    plugin
        .admit(request, &mut Notes::default())
        .expect("an outcome")
}

/// What the second half says.
pub(super) fn validate(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Outcome {
    plugin
        .validate(request, &mut Notes::default())
        .expect("an outcome")
}

/// The denial.
pub(super) fn denial(outcome: Outcome) -> Denial {
    match outcome {
        Outcome::Deny(denial) => denial,
        other => panic!("not refused: {other:?}"),
    }
}

/// The object as it is now.
pub(super) fn object_of(request: &Attributes) -> &Value {
    let object = request.object.as_ref().expect("an object");
    object.value().expect("JSON")
}

/// Whether the tree was requested for modification.
pub(super) fn is_touched(request: &Attributes) -> bool {
    let object = request.object.as_ref().expect("an object");
    matches!(object.source(), portcullis_core::Source::Tree(_))
}

/// Asserts that both halves leave other resources and subresources alone, and
/// deny pods that can't be read.
pub(super) fn assert_looks_at_pods_proper_only(plugin: &Arc<dyn Plugin>) {
    let violating = json!({"spec": {"containers": 1, "tolerations": 1, "nodeSelector": 1}});
    let phases = plugin.phases();
    for mut request in [
        service(violating.clone()),
        subresource(violating.clone(), "status"),
        subresource(violating.clone(), "ephemeralcontainers"),
        subresource(violating.clone(), "exec"),
        create("Deployment", "deployments", violating),
    ] {
        if phases.validate {
            let outcome = validate(plugin, &request);
            assert!(matches!(outcome, Outcome::NotApplicable(_)), "{outcome:?}");
        }
        if phases.admit {
            let outcome = admit(plugin, &mut request);
            assert!(matches!(outcome, Outcome::NotApplicable(_)), "{outcome:?}");
            assert!(!is_touched(&request));
        }
    }
    let mut of_other_kind = create_pod(json!({}));
    of_other_kind.kind.kind = "Service".into();
    let mut without_object = create_pod(json!({}));
    without_object.object = None;
    for mut request in [
        create_spec(json!({"containers": "none"})),
        create_spec(json!({"tolerations": [{"tolerationSeconds": "1"}]})),
        create_pod(json!(["spec"])),
        create_pod(json!(null)),
        update(create_spec(json!([])), json!({})),
        update(create_spec(json!({"initContainers": [[]]})), json!(7)),
        of_other_kind,
        without_object,
    ] {
        if phases.validate {
            assert_eq!(denial(validate(plugin, &request)).code, 400);
        }
        if phases.admit {
            assert_eq!(denial(admit(plugin, &mut request)).code, 400);
        }
    }
}
