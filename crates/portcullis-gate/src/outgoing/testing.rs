//! What tests of these plug-ins share: chains of them, and requests.

use std::time::Duration;

use portcullis_core::{Attributes, Chain, ChainEntry, DoorContext, FailureMode, clock};
use portcullis_kube::review;
use serde_json::{Value, json};

/// A chain of the plug-in of this name alone.
pub(super) fn chain(name: &str, configuration: &Value, failure: FailureMode) -> Chain {
    let registry = crate::registry();
    let descriptor = registry.get(name).unwrap();
    let plugin = (descriptor.factory)(Some(configuration));
    let plugin = plugin.unwrap_or_else(|faults| panic!("{faults:?}"));
    Chain::new(vec![ChainEntry::new(name, plugin).failure(failure)])
}

/// A request about a pod; other members go over those it has.
pub(super) fn request(object: &Value, others: &Value) -> Attributes {
    let mut asked = json!({
        "uid": "u1", "operation": "CREATE", "name": "web", "namespace": "shop",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "userInfo": {"username": "bob"}, "object": object,
    });
    for (key, value) in others.as_object().unwrap() {
        asked[key] = value.clone();
    }
    let review =
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked});
    let now = clock::monotonic();
    let deadline = now + Duration::from_secs(20);
    let body = review.to_string();
    let review =
        review::decode_admission(body.as_bytes(), DoorContext::default(), now, Some(deadline));
    review.unwrap().attributes
}

/// A pod with a container of this image.
pub(super) fn pod(image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "c", "image": image}]}})
}
