use portcullis_config::{ConfigSource, Listening, LoadOptions, load};

use super::*;

fn registration(configuration: &str) -> Registration {
    let registry = crate::registry();
    let known = registry.names();
    let loaded = load(&LoadOptions {
        source: ConfigSource::BuiltIn(configuration),
        admission_control: None,
        admission_control_config_file: None,
        known_plugins: &known,
        listeners: Listening::Ignored,
        objects: None,
        coverage: false,
        env: &|_| None,
    });
    Registration::of(&loaded.unwrap()).unwrap()
}

/// Rules as `operations group/version resources scope`.
fn rules(configuration: &str) -> Vec<String> {
    let written = |rule: &Rule| {
        let operations: Vec<&str> = rule.operations.iter().map(|one| one.as_str()).collect();
        let operations = match rule.has_all_operations() {
            true => "*".to_owned(),
            false => operations.join(","),
        };
        format!(
            "{operations} {}/{} {} {}",
            rule.group,
            rule.version,
            rule.resources.join(","),
            rule.scope.as_str()
        )
    };
    registration(configuration)
        .rules
        .iter()
        .map(written)
        .collect()
}

/// A configuration with one policy that allows by default.
fn policy(matching: &str) -> String {
    format!(
        "defaultAction: allow\npolicies: [{{name: p, code: 'return true', match: {{{matching}}}}}]\n"
    )
}

#[test]
fn plug_ins_say_which_resources_they_judge() {
    assert_eq!(
        rules("admission: {order: [AlwaysPullImages, DenyServiceExternalIPs]}"),
        ["CREATE,UPDATE /* pods,services *"]
    );
    assert_eq!(
        rules("admission: {order: [PodSecurity]}"),
        [
            "CREATE,UPDATE /* namespaces,pods,pods/ephemeralcontainers,pods/resize,podtemplates,\
             replicationcontrollers *",
            "CREATE,UPDATE apps/* daemonsets,deployments,replicasets,statefulsets *",
            "CREATE,UPDATE batch/* cronjobs,jobs *",
        ]
    );
    // One that judges everything covers the others, for its operations.
    assert_eq!(
        rules("admission: {order: [PodSecurity, AlwaysDeny]}"),
        ["* */* */* *"]
    );
    assert_eq!(rules("admission: {order: []}"), [""; 0]);
}

#[test]
fn kinds_of_policies_become_resources() {
    for (matching, expected) in [
        ("", &["* */* */* *"][..]),
        (
            "kinds: [Pod], operations: [CREATE]",
            &["CREATE /* pods,pods/ephemeralcontainers,pods/resize *"],
        ),
        (
            "kinds: [apps/Deployment, NetworkPolicy, v1/Endpoints]",
            &[
                "* /v1 endpoints *",
                "* apps/* deployments *",
                "* networking.k8s.io/* networkpolicies *",
            ],
        ),
        // Requests for the other version are converted to this one, so that they are judged.
        (
            "kinds: [autoscaling/v2/HorizontalPodAutoscaler]",
            &["* autoscaling/v2 horizontalpodautoscalers *"],
        ),
        // The plural of a kind that Kubernetes doesn't have is unknown.
        ("kinds: [example.org/Chaos]", &["* example.org/* * *"]),
        ("kinds: [Chaos]", &["* */* * *"]),
        ("kinds: ['apps/*']", &["* apps/* */* *"]),
        (
            "kinds: [PodExecOptions, Eviction]",
            &["* /* pods/eviction,pods/exec *"],
        ),
        ("kinds: [Scale]", &["* */* */scale *"]),
        (
            "kinds: [Ingress], scope: Namespaced",
            &["* networking.k8s.io/* ingresses Namespaced"],
        ),
        (
            "resources: [pods/exec, deployments.v1.apps]",
            &["* apps/v1 deployments *", "* */* pods/exec *"],
        ),
        ("resources: ['pods/*']", &["* */* pods,pods/* *"]),
        ("kinds: [Pod], doors: [ci]", &[]),
    ] {
        let mut expected: Vec<String> = expected.iter().map(|&one| one.to_owned()).collect();
        let mut found = rules(&policy(matching));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{matching}");
    }
}

#[test]
fn a_default_action_that_rejects_is_about_everything() {
    let text = policy("kinds: [Pod]").replace("allow", "reject");
    assert_eq!(rules(&text), ["* */* */* *"]);
    let notes = registration(&text).notes;
    assert!(
        notes.iter().any(|note| note.contains("default action")),
        "{notes:?}"
    );
}

#[test]
fn phases_are_those_that_are_needed() {
    let phases = |text: &str| {
        let made = registration(text);
        (made.may_change, made.may_deny)
    };
    assert_eq!(phases("admission: {order: [PodSecurity]}"), (false, true));
    assert_eq!(
        phases("admission: {order: [AlwaysPullImages]}"),
        (true, true)
    );
    assert_eq!(
        phases("admission: {order: [DefaultTolerationSeconds]}"),
        (true, false)
    );
    assert_eq!(phases(&policy("")), (false, true));
    let changes = policy("").replace("return true", "object.metadata.labels = {a: \"b\"}");
    assert_eq!(phases(&changes), (true, true));
}

#[test]
fn failures_side_effects_and_time_follow_from_the_configuration() {
    let made =
        registration("admission: {plugins: [{name: PodSecurity}]}\nlimits: {deadline: 2500ms}");
    assert!(!made.fails_open && !made.has_side_effects);
    assert_eq!(made.timeout_seconds, 6);
    let open =
        "admission: {plugins: [{name: PodSecurity, failure: open}, {name: AlwaysPullImages}]}";
    assert!(!registration(open).fails_open);
    let open = "admission: {plugins: [{name: PodSecurity, failure: open}]}";
    assert!(registration(open).fails_open);
    assert!(!registration("admission: {order: []}").fails_open);
    let counts = policy("").replace("return true", "ac.GlobalContext.n = 1");
    assert!(registration(&counts).has_side_effects);
    assert_eq!(registration("limits: {deadline: 5m}").timeout_seconds, 30);
}

#[test]
fn policies_for_certain_paths_are_pointed_out() {
    let notes = registration(&policy("kinds: [Pod], paths: [/mutate/shop/**]")).notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("`p`"), "{notes:?}");
}

#[test]
fn what_a_wildcard_covers() {
    for (wide, narrow, expected) in [
        ("*/*", "pods", true),
        ("*/*", "pods/exec", true),
        ("*", "pods", true),
        ("*", "pods/exec", false),
        ("pods/*", "pods/exec", true),
        ("pods/*", "pods", false),
        ("*/scale", "deployments/scale", true),
        ("*/scale", "deployments/status", false),
        ("pods", "pods", true),
    ] {
        assert_eq!(
            rules::covers_resource(wide, narrow),
            expected,
            "{wide} {narrow}"
        );
    }
}

#[test]
fn what_is_not_registered_is_named() {
    let needed = registration("admission: {order: [PodSecurity]}").rules;
    let missing = |rules: &[Rule]| -> Vec<String> {
        needed
            .iter()
            .flat_map(|rule| rule.missing_in(rules))
            .collect()
    };
    assert_eq!(missing(&needed), [""; 0]);
    let everything = registration("admission: {order: [AlwaysDeny]}").rules;
    assert_eq!(missing(&everything), [""; 0]);
    let mut some = needed.clone();
    some[0].resources.retain(|one| one != "pods/resize");
    some[2].operations.pop();
    assert_eq!(
        missing(&some),
        [
            "CREATE and UPDATE of pods/resize",
            "UPDATE of cronjobs.batch",
            "UPDATE of jobs.batch"
        ]
    );
}

#[test]
fn what_a_cluster_needs_to_heal_is_left_out_and_named() {
    let names = |configuration: &str| -> Vec<&str> {
        let made = registration(configuration);
        let noted = made.notes.iter().any(|note| note.contains("not judged"));
        let names: Vec<_> = made.exclusions().map(|one| one.name).collect();
        assert_eq!(noted, !names.is_empty(), "{:?}", made.notes);
        names
    };
    let all: Vec<&str> = EXCLUSIONS.iter().map(|one| one.name).collect();
    for everything in [
        policy(""),
        "defaultAction: reject\npolicies: [{name: p, code: 'return true', match: {kinds: [Pod]}}]\n".to_owned(),
        "admission: {order: [NamespaceLifecycle]}".to_owned(),
        "admission: {order: [Webhook], plugins: [{name: Webhook, configuration: {url: 'https://other.example'}}]}".to_owned(),
        policy("kinds: [Chaos]"),
    ] {
        assert_eq!(names(&everything), all, "{everything}");
    }
    let changes = policy("kinds: [Pod]").replace("Pod", "Node");
    assert_eq!(names(&changes), ["exclude-control-plane"]);
    assert_eq!(
        names(&policy("kinds: ['coordination.k8s.io/*']")),
        ["exclude-leases"]
    );
    for few in [
        policy("kinds: [Lease]"),
        policy("operations: [DELETE]"),
        policy("kinds: ['apps/*']"),
        "admission: {order: [PodSecurity]}".to_owned(),
    ] {
        assert_eq!(names(&few), [""; 0], "{few}");
    }
}

#[test]
fn conditions_leave_out_what_they_say() {
    for request in &VITAL_REQUESTS {
        let seen = request.request();
        let sent = EXCLUSIONS.iter().all(|one| {
            portcullis_graph::condition_holds(one.expression, &[("request", &seen)]).unwrap()
        });
        let by_selector = request
            .namespace
            .is_some_and(|name| VITAL_NAMESPACES.contains(&name));
        assert!(!sent || by_selector, "{}", request.what);
    }
    // Pods that controllers create are judged, and so is what people do with nodes.
    let by = |group: &str, user: &str, request: serde_json::Value| {
        let mut request = request;
        request["userInfo"] = serde_json::json!({"username": user, "groups": [group]});
        EXCLUSIONS.iter().all(|one| {
            portcullis_graph::condition_holds(one.expression, &[("request", &request)]).unwrap()
        })
    };
    let controllers = "system:serviceaccounts:kube-system";
    let pod =
        serde_json::json!({"resource": {"group": "", "resource": "pods"}, "namespace": "shop"});
    assert!(by(
        controllers,
        "system:serviceaccount:kube-system:replicaset-controller",
        pod.clone()
    ));
    assert!(by("system:nodes", "system:node:n", pod));
    let node = serde_json::json!({"resource": {"group": "", "resource": "nodes"}});
    assert!(by("system:masters", "ann", node.clone()));
    assert!(!by("system:nodes", "system:node:n", node));
}
