//! `pinDigests`: the images of an object by the digests that were verified.

use portcullis_js::{Evaluation, PolicyVerdict};
use serde_json::{Value, json};

use crate::support::*;

fn digest(n: u8) -> String {
    format!("sha256:{}", format!("{n:02x}").repeat(32))
}

/// A signature as cosign prints it.
fn signature(digest: &str) -> Value {
    json!({"critical": {"identity": {"docker-reference": "r.example/a"},
        "image": {"docker-manifest-digest": digest}, "type": "cosign container image signature"}, "optional": null})
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests write the value in place"
)]
fn pin(object: Value, verified: Value) -> Evaluation {
    let code = format!("pinDigests(object, {verified}); return true");
    pool("", &[("P", &code)]).evaluate(input(object)).unwrap()
}

/// The object with its images pinned.
#[track_caller]
fn pinned(object: Value, verified: Value) -> Value {
    let evaluation = pin(object.clone(), verified);
    assert_eq!(
        evaluation.verdict,
        PolicyVerdict::Allow,
        "{:?}",
        evaluation.steps
    );
    evaluation.object.unwrap_or(object)
}

/// Why it was denied.
#[track_caller]
fn refusal(object: Value, verified: Value) -> String {
    let evaluation = pin(object, verified);
    assert_eq!(evaluation.object, None, "something was written");
    denied(&evaluation).denial.message.clone()
}

fn pod_of(images: &[&str]) -> Value {
    let containers = images.iter().map(|image| json!({"image": image}));
    json!({"kind": "Pod", "spec": {"containers": containers.collect::<Vec<_>>()}})
}

#[test]
fn every_image_of_a_pod_gets_its_digest_and_keeps_its_tag() {
    let (a, b) = (digest(1), digest(2));
    let pod = json!({"kind": "Pod", "spec": {
        "containers": [{"name": "a", "image": "r.example/a:1"}, {"name": "b", "image": "b"}],
        "initContainers": [{"name": "i", "image": "b"}],
        "ephemeralContainers": [{"name": "e", "image": "r.example/a:1"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "image": {"reference": "r.example/a:1"}}]}});
    let verified = json!({"r.example/a:1": [signature(&a), signature(&a)], "b": [signature(&b)]});
    let (a, b) = (format!("r.example/a:1@{a}"), format!("b@{b}"));
    assert_eq!(
        pinned(pod, verified)["spec"],
        json!({
            "containers": [{"name": "a", "image": a}, {"name": "b", "image": b}],
            "initContainers": [{"name": "i", "image": b}],
            "ephemeralContainers": [{"name": "e", "image": a}],
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "image": {"reference": a}}]})
    );
}

#[test]
fn pods_inside_of_workloads_and_what_containerd_is_asked() {
    let verified = json!({"a:1": [signature(&digest(1))]});
    let image = format!("a:1@{}", digest(1));
    let spec = |image: &str| json!({"containers": [{"image": image}]});
    for make in [
        |spec: Value| json!({"kind": "Deployment", "spec": {"template": {"spec": spec}}}),
        |spec: Value| json!({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}}),
        |spec: Value| json!({"kind": "PodTemplate", "template": {"spec": spec}}),
        |spec: Value| json!({"container": {"image": spec["containers"][0]["image"]}}),
    ] {
        assert_eq!(
            pinned(make(spec("a:1")), verified.clone()),
            make(spec(&image))
        );
    }
}

#[test]
fn an_image_that_names_its_digest_stays_as_it_is() {
    let image = format!("r.example/a:1@{}", digest(1));
    let pod = pod_of(&[&image]);
    let verified = |n: u8| json!({(image.as_str()): [signature(&digest(n))]});
    let evaluation = pin(pod.clone(), verified(1));
    assert_eq!(evaluation.verdict, PolicyVerdict::Allow);
    assert_eq!(evaluation.object, None);
    let message = refusal(pod, verified(2));
    assert!(message.contains("was verified as sha256:0202"), "{message}");
}

#[test]
fn what_is_not_known_for_sure_is_refused_and_nothing_is_written() {
    let good = signature(&digest(1));
    for (verified, why) in [
        (json!({"a:1": [good]}), "b:1 was not verified"),
        (json!({"a:1": [good], "b:1": []}), "b:1 has no signature"),
        (
            json!({"a:1": [good], "b:1": [good, signature(&digest(2))]}),
            "b:1 has signatures for different digests",
        ),
        (
            json!({"a:1": [good], "b:1": [good, {}]}),
            "b:1 has a signature without a digest",
        ),
        (
            json!({"a:1": [good], "b:1": [signature("latest")]}),
            "b:1 has a signature without a digest",
        ),
        (
            json!({"a:1": [good], "b:1": [signature(&format!("{}\n", digest(1)))]}),
            "b:1 has a signature without a digest",
        ),
        (json!(true), "give it the object and what cosignVerify gave"),
        (json!(null), "give it the object and what cosignVerify gave"),
    ] {
        let message = refusal(pod_of(&["a:1", "b:1"]), verified);
        assert!(message.contains(why), "{message}");
    }
    for object in [
        json!({"kind": "Service", "spec": {}}),
        json!(null),
        pod_of(&[]),
    ] {
        let message = refusal(object, json!({"a:1": [good]}));
        assert!(
            message.contains("there is no image in the object"),
            "{message}"
        );
    }
    // Names that every object has are not verified images.
    let message = refusal(pod_of(&["constructor"]), json!({}));
    assert!(
        message.contains("constructor was not verified"),
        "{message}"
    );
    let message = refusal(
        json!({"kind": "Pod", "spec": {"containers": [{"name": "a"}]}}),
        json!({}),
    );
    assert!(message.contains("undefined was not verified"), "{message}");
}

#[test]
fn it_is_as_hard_as_the_other_functions() {
    assert_eq!(
        message(
            "pinDigests = null; pinDigests.x = 1; return `${typeof pinDigests} ${pinDigests.x}`"
        ),
        "P: function undefined"
    );
}
