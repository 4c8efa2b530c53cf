//! What `ImagePolicyWebhook` asks of its backend, and what comes of the answer, in Kubernetes' words.
//!
//! Sending the question, remembering answers and failing open are not done here.

use portcullis_core::{Attributes, Denial, Outcome};
use serde_json::{Map, Value, json};

use super::read;
use super::refusal::forbidden_text;

/// The subresource by which ephemeral containers are added.
const EPHEMERAL: &str = "ephemeralcontainers";

/// What annotations that the backend gets contain.
const FOR_BACKENDS: &str = ".image-policy.k8s.io/";

/// The `spec` of the `ImageReview` about a request, or the outcome where the backend is not asked.
///
/// # Errors
///
/// The outcome.
pub fn spec(request: &Attributes) -> Result<Value, Outcome> {
    let pod = read::pod_with(request, &["", EPHEMERAL])?.object;
    let image = |container: &crate::pod::Container<'_>| json!({"image": container.image});
    let containers: Vec<Value> = match request.subresource.as_str() {
        EPHEMERAL => pod.spec.ephemeral_containers.iter().map(image).collect(),
        _ => {
            let regular = pod.spec.containers.iter();
            regular
                .chain(&pod.spec.init_containers)
                .map(image)
                .collect()
        }
    };
    let annotations = pod.metadata.annotations.iter();
    let annotations = annotations.filter(|(key, _)| key.contains(FOR_BACKENDS));
    let annotations: Map<String, Value> = annotations
        .map(|(key, value)| (key.to_string(), value.as_ref().into()))
        .collect();
    let mut spec = Map::new();
    spec.insert("containers".to_owned(), containers.into());
    if !annotations.is_empty() {
        spec.insert("annotations".to_owned(), annotations.into());
    }
    if !request.namespace.is_empty() {
        spec.insert("namespace".to_owned(), request.namespace.as_str().into());
    }
    Ok(spec.into())
}

/// The denial when the backend says no.
pub fn denied(request: &Attributes, reason: &str) -> Outcome {
    let detail = match reason {
        "" => "one or more images rejected by webhook backend".to_owned(),
        reason => format!("image policy webhook backend denied one or more images: {reason}"),
    };
    Outcome::Deny(Denial::forbidden(forbidden_text(request, &detail)))
}

/// The denial when the backend says nothing, and that means no.
pub fn unanswered(request: &Attributes, why: &str) -> Outcome {
    Outcome::Undecided(Denial::forbidden(forbidden_text(request, why)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{create_pod, service, subresource};
    use super::*;

    #[test]
    fn the_images_of_a_pod_and_what_is_for_the_backend() {
        let pod = json!({
            "metadata": {"annotations": {"a.image-policy.k8s.io/x": "1", "b": "2"}},
            "spec": {"initContainers": [{"image": "i"}], "containers": [{"image": "a"}, {"image": "b"}],
                     "ephemeralContainers": [{"image": "e"}]},
        });
        let request = create_pod(pod.clone());
        let mut expected = json!({
            "containers": [{"image": "a"}, {"image": "b"}, {"image": "i"}],
            "annotations": {"a.image-policy.k8s.io/x": "1"},
        });
        expected["namespace"] = request.namespace.as_str().into();
        assert_eq!(spec(&request).unwrap(), expected);
        let request = subresource(pod.clone(), EPHEMERAL);
        assert_eq!(
            spec(&request).unwrap()["containers"],
            json!([{"image": "e"}])
        );
        for other in [subresource(pod, "status"), service(json!({}))] {
            assert!(matches!(spec(&other), Err(Outcome::NotApplicable(_))));
        }
        let malformed = create_pod(json!({"spec": {"containers": 1}}));
        assert!(matches!(spec(&malformed), Err(Outcome::Deny(_))));
    }

    #[test]
    fn denials_are_in_kubernetes_words() {
        let request = create_pod(json!({}));
        for (outcome, words) in [
            (
                denied(&request, "no"),
                "pods \"web\" is forbidden: image policy webhook backend denied one or more images: no",
            ),
            (
                denied(&request, ""),
                "pods \"web\" is forbidden: one or more images rejected by webhook backend",
            ),
            (
                unanswered(&request, "late"),
                "pods \"web\" is forbidden: late",
            ),
        ] {
            let (Outcome::Deny(denial) | Outcome::Undecided(denial)) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!((denial.code, denial.message.as_str()), (403, words));
        }
    }
}
