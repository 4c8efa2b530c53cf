//! What containers, pods and claims are held to.

use super::*;

#[test]
fn containers_are_held_to_their_limits() {
    let cases = [
        (
            json!({"min": {"cpu": "100m"}}),
            json!({"requests": {"cpu": "100m"}}),
            None,
        ),
        (
            json!({"min": {"cpu": "100m"}}),
            json!({"requests": {"cpu": "50m"}}),
            Some("minimum cpu usage per Container is 100m, but request is 50m"),
        ),
        (
            json!({"min": {"cpu": "100m"}}),
            json!({}),
            Some("minimum cpu usage per Container is 100m.  No request is specified"),
        ),
        (
            json!({"min": {"cpu": "100m"}}),
            json!({"requests": {"cpu": "200m"}, "limits": {"cpu": "50m"}}),
            Some("minimum cpu usage per Container is 100m, but limit is 50m"),
        ),
        (
            json!({"max": {"memory": "1Gi"}}),
            json!({"limits": {"memory": "1024Mi"}}),
            None,
        ),
        (
            json!({"max": {"memory": "1Gi"}}),
            json!({"requests": {"memory": "1Mi"}}),
            Some("maximum memory usage per Container is 1Gi.  No limit is specified"),
        ),
        (
            json!({"max": {"memory": "1Gi"}}),
            json!({"limits": {"memory": "1.5Gi"}, "requests": {"memory": "2Gi"}}),
            Some("maximum memory usage per Container is 1Gi, but limit is 1536Mi"),
        ),
        (
            json!({"max": {"memory": "1Gi"}}),
            json!({"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}}),
            Some("maximum memory usage per Container is 1Gi, but request is 2Gi"),
        ),
        (
            json!({"maxLimitRequestRatio": {"cpu": 2}}),
            json!({"limits": {"cpu": "200m"}, "requests": {"cpu": "100m"}}),
            None,
        ),
        (
            json!({"maxLimitRequestRatio": {"cpu": "1500m"}}),
            json!({"limits": {"cpu": 2}, "requests": {"cpu": "1"}}),
            Some(
                "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000",
            ),
        ),
        (
            json!({"maxLimitRequestRatio": {"cpu": 3}}),
            json!({"limits": {"cpu": 10}, "requests": {"cpu": "3"}}),
            Some(
                "cpu max limit to request ratio per Container is 3, but provided ratio is 3.333333",
            ),
        ),
        (
            json!({"maxLimitRequestRatio": {"cpu": 2}}),
            json!({"limits": {"cpu": 2}, "requests": {"cpu": 0}}),
            Some(
                "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
            ),
        ),
        (
            json!({"maxLimitRequestRatio": {"cpu": 2}}),
            json!({"requests": {"cpu": 1}}),
            Some(
                "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
            ),
        ),
    ];
    for (limit, resources, expected) in cases {
        let said = objection(&container(limit.clone()), &pod(resources.clone()));
        assert_eq!(said.as_deref(), expected, "{limit} {resources}");
    }
}

#[test]
fn init_containers_count_and_ephemeral_ones_do_not() {
    let plugin = container(json!({"max": {"cpu": 1}}));
    let fine = json!({"resources": {"limits": {"cpu": 1}}});
    let with = |list: &str| {
        create_spec(json!({
            "containers": [fine],
            list: [fine, {"resources": {"limits": {"cpu": 2}}}],
        }))
    };
    let said = Some("maximum cpu usage per Container is 1, but limit is 2".to_owned());
    assert_eq!(objection(&plugin, &with("containers")), said);
    assert_eq!(objection(&plugin, &with("initContainers")), said);
    assert_eq!(objection(&plugin, &with("ephemeralContainers")), None);
}

#[test]
fn all_errors_of_a_limit_range_are_told_once_each() {
    let limits = json!([
        {"type": "Container", "min": {"cpu": "100m"}, "max": {"memory": "1Gi"}, "maxLimitRequestRatio": {"cpu": 2}},
        {"type": "Pod", "max": {"cpu": 1}},
    ]);
    let one =
        json!({"resources": {"requests": {"cpu": "50m"}, "limits": {"cpu": 1, "memory": "2Gi"}}});
    let request = create_spec(json!({"containers": [one, one]}));
    assert_eq!(
        objection(&limited(std::slice::from_ref(&limits)), &request).as_deref(),
        Some(
            "[minimum cpu usage per Container is 100m, but request is 50m, \
             maximum memory usage per Container is 1Gi, but limit is 2Gi, \
             cpu max limit to request ratio per Container is 2, but provided ratio is 20.000000, \
             maximum cpu usage per Pod is 1, but limit is 2]"
        )
    );
    // Only the first LimitRange that objects has its say.
    let other = json!([{"type": "Container", "max": {"cpu": "10m"}}]);
    let said = objection(&limited(&[other, limits]), &request);
    assert_eq!(
        said.as_deref(),
        Some("maximum cpu usage per Container is 10m, but limit is 1")
    );
}

#[test]
fn very_many_errors_are_counted() {
    let containers: Vec<Value> = (2..500)
        .map(|n| json!({"resources": {"limits": {"cpu": n}}}))
        .collect();
    let request = create_spec(json!({"containers": containers}));
    let said = objection(&container(json!({"max": {"cpu": 1}})), &request).unwrap();
    assert!(
        said.ends_with(", and 434 more]") && said.len() < 5000,
        "{said}"
    );
}

#[test]
fn pods_are_held_to_what_their_containers_ask_for_together() {
    let plugin =
        limited(&[json!([{"type": "Pod", "max": {"cpu": 2}, "min": {"memory": "100Mi"}}])]);
    let asks = |cpu: &str, memory: &str| {
        let amounts = json!({"cpu": cpu, "memory": memory});
        json!({"resources": {"limits": amounts, "requests": amounts}})
    };
    let sidecar = json!({"restartPolicy": "Always", "resources": asks("1", "10Mi")["resources"]});
    for (spec, expected) in [
        (
            json!({"containers": [asks("1", "60Mi"), asks("1", "40Mi")]}),
            None,
        ),
        (
            json!({"containers": [asks("1", "60Mi"), asks("1.5", "40Mi")]}),
            Some("maximum cpu usage per Pod is 2, but limit is 2500m"),
        ),
        (
            json!({"containers": [asks("1", "60Mi"), asks("1", "30Mi")]}),
            Some("minimum memory usage per Pod is 100Mi, but request is 90Mi"),
        ),
        // An init container alone is larger than all others together.
        (
            json!({"containers": [asks("1", "60Mi")], "initContainers": [asks("3", "200Mi")]}),
            Some("maximum cpu usage per Pod is 2, but limit is 3"),
        ),
        (
            json!({"containers": [asks("1", "60Mi")], "initContainers": [asks("2", "200Mi")]}),
            None,
        ),
        (
            json!({"containers": [asks("1.2", "95Mi")], "initContainers": [sidecar]}),
            Some("maximum cpu usage per Pod is 2, but limit is 2200m"),
        ),
        // What the pod asks for as a whole counts for CPU and memory.
        (
            json!({"containers": [asks("1.2", "95Mi")], "initContainers": [sidecar],
                "resources": {"limits": {"cpu": 2}, "requests": {"cpu": 2}}}),
            None,
        ),
        (
            json!({"containers": [asks("1.2", "95Mi")], "initContainers": [sidecar],
                "resources": {"limits": {"cpu": 2}}}),
            Some("maximum cpu usage per Pod is 2, but request is 2200m"),
        ),
        (
            json!({"containers": [asks("1", "200Mi")], "resources": {"limits": {"cpu": 3}, "requests": {"memory": "5Mi"}}}),
            Some(
                "[minimum memory usage per Pod is 100Mi, but request is 5Mi, \
                 maximum cpu usage per Pod is 2, but limit is 3]",
            ),
        ),
    ] {
        let said = objection(&plugin, &create_spec(spec.clone()));
        assert_eq!(said.as_deref(), expected, "{spec}");
    }
    // Resources that a pod can't ask for as a whole.
    let plugin = limited(&[json!([{"type": "Pod", "max": {"hugepages-2Mi": "2Mi"}}])]);
    let spec = json!({
        "containers": [{"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}],
        "resources": {"limits": {"hugepages-2Mi": "2Mi"}}, "overhead": {"cpu": 1},
    });
    assert_eq!(
        objection(&plugin, &create_spec(spec)).as_deref(),
        Some("maximum hugepages-2Mi usage per Pod is 2Mi, but limit is 4Mi")
    );
}

#[test]
fn amounts_too_large_for_thousandths_are_compared_by_whole_numbers() {
    let large = "9223372036854776";
    let plugin = container(json!({"max": {"memory": large}}));
    let with = |amount: &str| pod(json!({"limits": {"memory": amount}}));
    assert_eq!(objection(&plugin, &with("9223372036854776")), None);
    assert_eq!(
        objection(&plugin, &with("9223372036854775.5")),
        None,
        "it counts as one more"
    );
    assert!(objection(&plugin, &with("9223372036854777")).is_some());
    // What Kubernetes takes for zero.
    assert!(objection(&plugin, &with("10000E")).is_some());
}

#[test]
fn claims_are_held_to_their_requests() {
    let plugin = limited(&[json!([
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}},
        {"type": "Container", "max": {"storage": "1"}},
    ])]);
    for (requests, expected) in [
        (json!({"storage": "1Gi"}), None),
        (json!({"storage": "10Gi"}), None),
        (
            json!({"storage": "500Mi"}),
            Some("minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ),
        (
            json!({"storage": "11Gi"}),
            Some("maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi"),
        ),
        (
            json!({}),
            Some(
                "[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, \
                 maximum storage usage per PersistentVolumeClaim is 10Gi.  No request is specified]",
            ),
        ),
    ] {
        let said = objection(&plugin, &claim(requests.clone()));
        assert_eq!(said.as_deref(), expected, "{requests}");
        let mut request = claim(requests);
        assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
        assert!(!is_touched(&request));
    }
    // Claims can grow.
    let grown = update(claim(json!({"storage": "11Gi"})), json!({}));
    assert!(objection(&plugin, &grown).is_some());
}
