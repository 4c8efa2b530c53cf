//! Every container kind, image volumes, and updates with and without new images.

use portcullis_core::{Document, Outcome};
use serde_json::{Value, json};

use super::super::testing::{
    admit, assert_looks_at_pods_proper_only, create_spec, denial, is_touched, object_of, plugin,
    update_spec, validate,
};

fn containers(policies: &[Option<&str>]) -> Value {
    let container = |policy: &Option<&str>| match policy {
        Some(policy) => json!({"name": "c", "image": "i", "imagePullPolicy": policy}),
        None => json!({"name": "c", "image": "i"}),
    };
    policies.iter().map(container).collect()
}

fn mixed_spec() -> Value {
    let mixed = [None, Some("Never"), Some("IfNotPresent"), Some("Always")];
    json!({
        "initContainers": containers(&mixed),
        "containers": containers(&mixed),
        "ephemeralContainers": containers(&[Some("Never")]),
        "volumes": [
            {"name": "a", "image": {"reference": "r"}},
            {"name": "b", "image": {"reference": "r", "pullPolicy": "Never"}},
            {"name": "c", "image": null, "emptyDir": {}},
            {"name": "d", "image": {"reference": "r", "pullPolicy": "Always"}},
        ],
    })
}

#[test]
fn every_container_and_image_volume_is_set_to_always() {
    let plugin = plugin("AlwaysPullImages");
    let mut request = create_spec(mixed_spec());
    assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
    let always = [Some("Always"); 4];
    assert_eq!(
        object_of(&request)["spec"],
        json!({
            "initContainers": containers(&always),
            "containers": containers(&always),
            "ephemeralContainers": containers(&[Some("Always")]),
            "volumes": [
                {"name": "a", "image": {"reference": "r", "pullPolicy": "Always"}},
                {"name": "b", "image": {"reference": "r", "pullPolicy": "Always"}},
                {"name": "c", "image": null, "emptyDir": {}},
                {"name": "d", "image": {"reference": "r", "pullPolicy": "Always"}},
            ],
        })
    );
    assert_eq!(validate(&plugin, &request), Outcome::Pass);
}

#[test]
fn a_pod_that_pulls_always_is_not_touched() {
    let mut request = create_spec(json!({"containers": containers(&[Some("Always")])}));
    assert_eq!(
        admit(&plugin("AlwaysPullImages"), &mut request),
        Outcome::Pass
    );
    assert!(!is_touched(&request));
}

#[test]
fn what_was_changed_back_later_is_refused_place_by_place() {
    let denial = denial(validate(
        &plugin("AlwaysPullImages"),
        &create_spec(mixed_spec()),
    ));
    assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
    let expected = [
        ("spec.initContainers[0].imagePullPolicy", ""),
        ("spec.initContainers[1].imagePullPolicy", "Never"),
        ("spec.initContainers[2].imagePullPolicy", "IfNotPresent"),
        ("spec.containers[0].imagePullPolicy", ""),
        ("spec.containers[1].imagePullPolicy", "Never"),
        ("spec.containers[2].imagePullPolicy", "IfNotPresent"),
        ("spec.ephemeralContainers[0].imagePullPolicy", "Never"),
        ("spec.volumes[0].image.pullPolicy", ""),
        ("spec.volumes[1].image.pullPolicy", "Never"),
    ]
    .map(|(path, value)| {
        format!(
            "pods \"web\" is forbidden: {path}: Unsupported value: \"{value}\": supported values: \
             \"Always\""
        )
    });
    assert_eq!(denial.message, format!("[{}]", expected.join(", ")));
}

#[test]
fn a_single_fault_is_named_without_brackets() {
    let request = create_spec(json!({"containers": containers(&[Some("Never")])}));
    assert_eq!(
        denial(validate(&plugin("AlwaysPullImages"), &request)).message,
        "pods \"web\" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: \
         \"Never\": supported values: \"Always\""
    );
}

#[test]
fn of_very_many_faults_the_rest_is_counted() {
    let request = create_spec(json!({"containers": containers(&[None; 100])}));
    let message = denial(validate(&plugin("AlwaysPullImages"), &request)).message;
    assert_eq!(message.matches("Unsupported value").count(), 64);
    assert!(message.ends_with(", and 36 more]"), "{message}");
}

#[test]
fn an_update_without_new_images_is_left_alone() {
    let plugin = plugin("AlwaysPullImages");
    let images = |images: &[&str]| -> Value {
        let image = |image: &&str| json!({"image": image, "imagePullPolicy": "Never"});
        images.iter().map(image).collect()
    };
    let same = [
        (
            json!({"containers": images(&["a"])}),
            json!({"containers": images(&["a"])}),
        ),
        (
            json!({"containers": images(&["a", "b"])}),
            json!({"containers": images(&["b"])}),
        ),
        (
            json!({"initContainers": images(&["a"])}),
            json!({"ephemeralContainers": images(&["a"])}),
        ),
        (json!({}), json!({})),
        // Image volumes don't count here.
        (
            json!({}),
            json!({"volumes": [{"name": "v", "image": {"reference": "new"}}]}),
        ),
    ];
    for (old, new) in same {
        let mut request = update_spec(old, new);
        for outcome in [validate(&plugin, &request), admit(&plugin, &mut request)] {
            assert!(matches!(outcome, Outcome::NotApplicable(_)), "{outcome:?}");
        }
        assert!(!is_touched(&request));
    }
    let new = [
        (
            json!({"containers": images(&["a"])}),
            json!({"containers": images(&["a", "b"])}),
        ),
        (
            json!({"containers": images(&["a"])}),
            json!({"containers": images(&["A"])}),
        ),
        (
            json!({"containers": images(&["a"])}),
            json!({"initContainers": images(&["b"])}),
        ),
        (
            json!({"containers": images(&["a"])}),
            json!({"ephemeralContainers": images(&["b"])}),
        ),
        (json!(null), json!({"containers": images(&["a"])})),
        // What can't be read can't vouch for an image.
        (json!("a"), json!({"containers": images(&["a"])})),
        (
            json!({"containers": {"image": "a"}}),
            json!({"containers": images(&["a"])}),
        ),
    ];
    for (old, new) in new {
        let mut request = update_spec(old, new);
        assert_eq!(denial(validate(&plugin, &request)).code, 403);
        assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
        assert_eq!(validate(&plugin, &request), Outcome::Pass);
        assert!(is_touched(&request));
    }
}

#[test]
fn a_creation_is_judged_whatever_old_object_it_brings() {
    let mut request = create_spec(json!({"containers": containers(&[Some("Never")])}));
    request.old_object = request.object.clone();
    assert_eq!(
        denial(validate(&plugin("AlwaysPullImages"), &request)).code,
        403
    );
}

#[test]
fn an_update_without_an_old_object_is_judged() {
    let mut request = update_spec(json!({}), json!({"containers": containers(&[None])}));
    for old in [None, Some(Document::from_text("null"))] {
        request.old_object = old;
        assert_eq!(
            denial(validate(&plugin("AlwaysPullImages"), &request)).code,
            403
        );
    }
}

#[test]
fn only_pods_proper_are_looked_at() {
    assert_looks_at_pods_proper_only(&plugin("AlwaysPullImages"));
}
