//! What is sent: a pod as a cluster would send it, in a review; many such pods that differ; and a
//! question about access.

pub(crate) mod garden;
mod large;
pub(crate) mod varied;

use serde_json::{Value, json};

use crate::failure::{Context, Result};

/// The pod: three containers with everything real ones have; meets the `restricted` standard.
const POD: &str = include_str!("../fixtures/pod.json");

/// What `AlwaysAdmit` answers, from the first byte to the last; only the id differs.
pub(crate) const ADMITTED: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"6d0f3c1e-52d7-4c33-b2e8-1d1a0a8f8a10","allowed":true,"auditAnnotations":{"decision-id":"01KA3V7Z0Q8M5T2N4R6X8B1C3D"}}}"#;

/// How large a pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// The pod as it is, 6 KiB.
    Usual,
    /// The same with many annotations and variables, 200 KiB.
    Large,
}

/// What is special about a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Nothing: every policy allows it and changes nothing.
    Plain,
    /// One volume is of kind `gitRepo`.
    GitRepo,
    /// The image of the last container is from elsewhere.
    Untrusted,
}

/// A review of a pod that every plug-in lets pass; some would change it.
pub(crate) fn pod_review() -> Result<Vec<u8>> {
    policy_review(Size::Usual, Feature::Plain)
}

/// A review of a pod for policies.
pub(crate) fn policy_review(size: Size, feature: Feature) -> Result<Vec<u8>> {
    let mut pod = pod()?;
    match feature {
        Feature::Plain => {}
        Feature::GitRepo => {
            let volumes = pod
                .pointer_mut("/spec/volumes")
                .and_then(Value::as_array_mut);
            let repository = "https://git.example.com/shop/templates.git";
            volumes.context("the fixture has no volumes")?.push(json!({
                "name": "templates", "gitRepo": {"repository": repository, "revision": "v4"},
            }));
        }
        Feature::Untrusted => {
            let image = pod.pointer_mut("/spec/containers/2/image");
            *image.context("the fixture has no third container")? =
                json!("docker.io/somebody/shipper:1.9.0");
        }
    }
    if size == Size::Large {
        large::enlarge(&mut pod)?;
    }
    Ok(review(&pod))
}

/// A review of a pod that the `restricted` standard refuses, for two reasons.
pub(crate) fn forbidden_pod_review() -> Result<Vec<u8>> {
    let mut pod = pod()?;
    let spec = pod.pointer_mut("/spec").and_then(Value::as_object_mut);
    spec.context("the fixture has no spec")?
        .insert("hostNetwork".to_owned(), json!(true));
    let context = pod.pointer_mut("/spec/containers/0/securityContext");
    let context = context.and_then(Value::as_object_mut);
    context
        .context("the fixture's first container has no security context")?
        .insert("allowPrivilegeEscalation".to_owned(), json!(true));
    Ok(review(&pod))
}

/// A question that [`abac`] answers with yes, in its last line.
pub(crate) fn access_review() -> Vec<u8> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {"creationTimestamp": null},
        "spec": {
            "resourceAttributes": {
                "namespace": "shop", "verb": "get", "group": "apps", "version": "v1",
                "resource": "deployments", "name": "checkout",
            },
            "user": "system:serviceaccount:shop:deployer",
            "groups": [
                "system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated",
            ],
            "uid": "f1d3c1a2-7d0a-4a51-9d7e-93a1b7c5e0aa",
            "extra": {"authentication.kubernetes.io/pod-name": ["deployer-5d7c9c6b9-4xk2v"]},
        },
        "status": {"allowed": false},
    });
    review.to_string().into_bytes()
}

/// Policies of 32 users, then one of the group that asks.
pub(crate) fn abac() -> String {
    let line = |spec: Value| {
        let version = "abac.authorization.kubernetes.io/v1beta1";
        json!({"apiVersion": version, "kind": "Policy", "spec": spec}).to_string() + "\n"
    };
    let others = (0..32).map(|number| {
        line(json!({
            "user": format!("user-{number}"), "namespace": "shop", "resource": "pods", "apiGroup": "",
        }))
    });
    let asking = line(json!({
        "group": "system:serviceaccounts:shop", "namespace": "shop", "resource": "*",
        "apiGroup": "*", "readonly": true,
    }));
    others.chain([asking]).collect()
}

fn pod() -> Result<Value> {
    serde_json::from_str(POD).context("fixtures/pod.json")
}

fn review(pod: &Value) -> Vec<u8> {
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "6d0f3c1e-52d7-4c33-b2e8-1d1a0a8f8a10",
            "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
            "name": "checkout-7c9f6d5b8d-x2k4q",
            "namespace": "shop",
            "operation": "CREATE",
            "userInfo": {
                "username": "system:serviceaccount:kube-system:replicaset-controller",
                "uid": "a8c5b3de-1f65-4a0c-9b67-5f1a5b4e2c33",
                "groups": [
                    "system:serviceaccounts", "system:serviceaccounts:kube-system",
                    "system:authenticated",
                ],
            },
            "object": pod,
            "oldObject": null,
            "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    });
    review.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pod_is_of_6_kib_and_its_review_of_7_kb() {
        let object = pod().unwrap().to_string().len();
        assert!((6 * 1024..=6 * 1024 + 256).contains(&object), "{object}");
        let review = pod_review().unwrap().len();
        assert!((6_900..=7_300).contains(&review), "{review}");
        let forbidden = forbidden_pod_review().unwrap().len();
        assert!(forbidden.abs_diff(review) < 64, "{forbidden}");
    }

    #[test]
    fn the_large_pod_is_of_200_kib_and_as_large_every_time() {
        let large = policy_review(Size::Large, Feature::Plain).unwrap();
        assert!(
            (200 << 10..204 << 10).contains(&large.len()),
            "{}",
            large.len()
        );
        assert_eq!(large, policy_review(Size::Large, Feature::Plain).unwrap());
        let review: Value = serde_json::from_slice(&large).unwrap();
        let (annotations, env) = (
            review
                .pointer("/request/object/metadata/annotations")
                .unwrap(),
            review
                .pointer("/request/object/spec/containers/0/env")
                .unwrap(),
        );
        let untouched = annotations.to_string().len() + env.to_string().len();
        assert!(
            untouched > 190 << 10,
            "{untouched} bytes are where nobody looks"
        );
    }

    #[test]
    fn a_feature_is_in_its_pod_only() {
        let holds = |feature, text: &str| {
            let review = policy_review(Size::Usual, feature).unwrap();
            String::from_utf8(review).unwrap().contains(text)
        };
        assert!(holds(Feature::GitRepo, "gitRepo") && !holds(Feature::Plain, "gitRepo"));
        assert!(holds(Feature::Untrusted, "docker.io") && !holds(Feature::Plain, "docker.io"));
    }

    #[test]
    fn the_pod_has_what_real_ones_have() {
        let pod = pod().unwrap();
        let containers = pod["spec"]["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 3);
        for container in containers {
            for key in ["env", "resources", "volumeMounts", "securityContext"] {
                assert!(!container[key].is_null(), "{key}");
            }
            assert_ne!(
                container["imagePullPolicy"], "Always",
                "nothing would be patched"
            );
        }
        for key in ["affinity", "tolerations", "volumes", "securityContext"] {
            assert!(!pod["spec"][key].is_null(), "{key}");
        }
    }

    #[test]
    fn every_line_of_the_access_file_is_a_policy() {
        let text = abac();
        assert_eq!(text.lines().count(), 33);
        for line in text.lines() {
            let policy: Value = serde_json::from_str(line).unwrap();
            assert_eq!(policy["kind"], "Policy");
        }
    }
}
