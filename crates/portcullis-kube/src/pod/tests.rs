use serde_json::json;

use super::{ContainerKind, PodObject, VolumeSource};

fn fault(text: &str) -> String {
    let value = serde_json::from_str(text).expect("a document");
    let from_text = PodObject::from_json(text).expect_err("a fault").to_string();
    let from_value = PodObject::from_value(&value)
        .expect_err("a fault")
        .to_string();
    assert_eq!(from_text, from_value);
    from_text
}

#[test]
fn a_fault_names_its_path() {
    for (text, expected) in [
        (
            r#"{"spec":{"containers":[{"name":"a"},5]}}"#,
            "spec.containers[1]: expected an object, found a number",
        ),
        (
            r#"{"spec":{"containers":[["a","b"]]}}"#,
            "spec.containers[0]: expected an object, found a list",
        ),
        (
            r#"{"spec":{"containers":{}}}"#,
            "spec.containers: expected a list, found an object",
        ),
        (
            r#"{"spec":{"hostPID":"true"}}"#,
            "spec.hostPID: expected a boolean, found a string",
        ),
        (
            r#"{"spec":{"containers":[{"securityContext":{"runAsUser":1.5}}]}}"#,
            "spec.containers[0].securityContext.runAsUser: expected an integer, found a number that is not whole",
        ),
        (
            r#"{"spec":{"securityContext":{"runAsUser":18446744073709551615}}}"#,
            "spec.securityContext.runAsUser: expected an integer, found a number out of range",
        ),
        (
            r#"{"spec":{"volumes":[{"name":"v","hostPath":"/etc"}]}}"#,
            "spec.volumes[0].hostPath: expected an object, found a string",
        ),
        (
            r#"{"metadata":{"labels":{"team":1}}}"#,
            "metadata.labels.team: expected a string, found a number",
        ),
        (
            r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}}"#,
            "spec.containers[0].resources.limits.cpu: expected a quantity, found a boolean",
        ),
        ("[]", "object: expected an object, found a list"),
    ] {
        assert_eq!(fault(text), expected);
    }
}

#[test]
fn text_that_is_not_json_is_said_to_be_so() {
    for text in ["", "{", r#"{"spec":{}} x"#, r#"{"spec":{"hostPID":tru}}"#] {
        let error = PodObject::from_json(text).expect_err("a fault").to_string();
        assert!(
            error.starts_with("object: not valid JSON: "),
            "{text}: {error}"
        );
    }
}

#[test]
fn null_is_the_same_as_absent() {
    let nulls = r#"{"metadata":null,"spec":{"containers":null,"hostPID":null,"hostUsers":null,
        "os":null,"securityContext":null,"volumes":null,"tolerations":null,"affinity":null,
        "nodeSelector":null,"runtimeClassName":null}}"#;
    assert_eq!(PodObject::from_json(nulls), PodObject::from_json("{}"));
    assert_eq!(PodObject::from_json("null"), PodObject::from_json("{}"));

    let deep = r#"{"metadata":{"annotations":{"a":null}},"spec":{"containers":[null,{"name":null,
        "ports":[{"hostPort":null}],"securityContext":{"privileged":null,"capabilities":{"add":null}}}],
        "volumes":[{"name":"v","hostPath":null,"image":null,"emptyDir":{}}]}}"#;
    let pod = PodObject::from_json(deep).expect("a pod");
    assert_eq!(pod.metadata.annotations["a"], "");
    assert_eq!(pod.spec.containers.len(), 2);
    assert_eq!(pod.spec.containers[1].ports[0].host_port, 0);
    let context = pod.spec.containers[1].security_context.as_ref();
    assert_eq!(context.expect("a context").privileged, None);
    let sources: Vec<_> = pod.spec.volumes[0].sources.iter().collect();
    assert_eq!(sources, [VolumeSource::EmptyDir]);
}

#[test]
fn unknown_fields_are_skipped() {
    let text = r#"{"kind":5,"status":[],"spec":{"new":{"deep":[1]},"containers":[{"tty":"yes"}],
        "volumes":[{"name":"v","newKind":{}}]}}"#;
    let pod = PodObject::from_json(text).expect("a pod");
    assert_eq!(pod.spec.containers.len(), 1);
    assert_eq!(pod.spec.volumes[0].sources.iter().count(), 0);
}

#[test]
fn text_and_document_give_the_same_view() {
    let value = json!({
        "metadata": {"name": "a\"b", "namespace": "ns", "labels": {"k": "v"},
            "ownerReferences": [{"uid": "u", "controller": true}]},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": 2, "memory": "1Gi", "x/y": 0.5}}}],
            "initContainers": [{"name": "i"}],
            "ephemeralContainers": [{"name": "e", "targetContainerName": "c"}],
            "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 300}],
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                [{"topologyKey": "kubernetes.io/hostname"}]}},
            "volumes": [{"name": "m", "image": {"reference": "r", "pullPolicy": "Always"}}],
        }
    });
    let text = value.to_string();
    let pod = PodObject::from_json(&text).expect("a pod");
    assert_eq!(pod, PodObject::from_value(&value).expect("a pod"));
    assert_eq!(pod.metadata.name, "a\"b");
    assert_eq!(pod.metadata.owner_references[0].uid, "u");
    let limits = &pod.spec.containers[0].resources.limits;
    assert_eq!(limits["cpu"].0, "2");
    assert_eq!(limits["x/y"].0, "0.5");
    let image = pod.spec.volumes[0].image.as_ref().expect("an image");
    assert_eq!(image.reference, "r");
    assert_eq!(
        pod.spec.affinity.pod_anti_affinity.required[0].topology_key,
        "kubernetes.io/hostname"
    );
}

#[test]
fn all_containers_goes_through_init_regular_and_ephemeral_ones() {
    let text = r#"{"spec":{"ephemeralContainers":[{"name":"e"}],"containers":[{"name":"c0"},{"name":"c1"}],
        "initContainers":[{"name":"i"}]}}"#;
    let pod = PodObject::from_json(text).expect("a pod");
    let seen: Vec<_> = pod
        .spec
        .all_containers()
        .map(|found| {
            (
                found.container.name.to_string(),
                found.kind,
                found.path().to_string(),
            )
        })
        .collect();
    let expected = [
        ("i", ContainerKind::Init, "spec.initContainers[0]"),
        ("c0", ContainerKind::Regular, "spec.containers[0]"),
        ("c1", ContainerKind::Regular, "spec.containers[1]"),
        ("e", ContainerKind::Ephemeral, "spec.ephemeralContainers[0]"),
    ]
    .map(|(name, kind, path)| (name.to_owned(), kind, path.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn a_volume_without_source_is_an_empty_directory() {
    for (volume, expected) in [
        (r#"{"name":"v"}"#, &[VolumeSource::EmptyDir][..]),
        (
            r#"{"name":"v","hostPath":null,"other":null}"#,
            &[VolumeSource::EmptyDir],
        ),
        (r#"{"name":"v","hostPath":{}}"#, &[VolumeSource::HostPath]),
        (r#"{"name":"v","image":{}}"#, &[VolumeSource::Image]),
        (r#"{"name":"v","other":{}}"#, &[]),
    ] {
        let text = format!(r#"{{"spec":{{"volumes":[{volume}]}}}}"#);
        let pod = PodObject::from_json(&text).expect("a pod");
        let sources: Vec<_> = pod.spec.volumes[0].sources.iter().collect();
        assert_eq!(sources, expected, "{volume}");
    }
}
