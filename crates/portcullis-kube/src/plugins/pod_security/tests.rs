use crate::registry::Registry;
use serde_json::json;

use super::super::testing::{
    configured, create, create_pod, create_spec, faults, subresource, update,
};
use super::*;
use crate::cluster_objects::{NoCluster, StaticObjects};
use crate::namespaces::{Namespace, StaticNamespaces};

const BAD: &str = "spec of a pod that violates baseline";

fn privileged() -> Value {
    json!({"containers": [{"name": "app", "image": "i", "securityContext": {"privileged": true}}]})
}

fn registry(labels: &[(&str, &str)]) -> Registry {
    let labels = labels
        .iter()
        .map(|(k, v)| (format!("pod-security.kubernetes.io/{k}"), (*v).to_owned()));
    let shop = Namespace {
        name: "shop".into(),
        labels: labels.collect(),
        ..Namespace::default()
    };
    let namespaces: StaticNamespaces = [shop].into_iter().collect();
    let environment = PluginEnvironment {
        namespaces: Arc::new(namespaces),
        ..PluginEnvironment::default()
    };
    let mut registry = Registry::default();
    registry.register(descriptor(&environment));
    registry
}

fn config(defaults: &Value, exemptions: &Value) -> Value {
    json!({"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
           "defaults": defaults, "exemptions": exemptions})
}

fn enforcing(level: &str) -> Arc<dyn Plugin> {
    configured(
        &registry(&[]),
        "PodSecurity",
        config(&json!({"enforce": level}), &json!({})),
    )
}

fn judge(plugin: &Arc<dyn Plugin>, request: &Attributes) -> (Outcome, Notes) {
    let mut notes = Notes::default();
    let outcome = plugin.validate(request, &mut notes).expect(BAD);
    (outcome, notes)
}

fn refusal(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Denial {
    match judge(plugin, request).0 {
        Outcome::Deny(denial) => denial,
        other => panic!("not refused: {other:?}"),
    }
}

fn annotation(notes: &Notes, key: &str) -> Option<String> {
    notes
        .annotations()
        .find(|(k, _)| *k == key)
        .map(|(_, v)| v.to_owned())
}

#[test]
fn a_violation_is_told_as_kubernetes_tells_it() {
    let denial = refusal(&enforcing("baseline"), &create_spec(privileged()));
    assert_eq!(
        denial.message,
        "pods \"web\" is forbidden: violates PodSecurity \"baseline:latest\": privileged \
         (container \"app\" must not set securityContext.privileged=true)"
    );
    assert_eq!((denial.code, denial.reason.as_ref()), (403, "Forbidden"));
}

#[test]
fn labels_go_over_defaults_and_an_unknown_namespace_has_none() {
    let plugin = configured(
        &registry(&[("enforce", "baseline")]),
        "PodSecurity",
        Value::Null,
    );
    refusal(&plugin, &create_spec(privileged()));
    let mut elsewhere = create_spec(privileged());
    elsewhere.namespace = "elsewhere".into();
    let (outcome, notes) = judge(&plugin, &elsewhere);
    assert_eq!(outcome, Outcome::Pass);
    assert_eq!(
        annotation(&notes, "enforce-policy").as_deref(),
        Some("privileged:latest")
    );
}

#[test]
fn a_bad_enforce_label_is_held_to_restricted_and_noted() {
    let plugin = configured(
        &registry(&[("enforce", "strict")]),
        "PodSecurity",
        Value::Null,
    );
    let (outcome, notes) = judge(
        &plugin,
        &create_spec(json!({"containers": [{"name": "a"}]})),
    );
    assert!(matches!(outcome, Outcome::Deny(_)));
    assert!(annotation(&notes, "error").is_some_and(|e| e.contains("strict")));
}

#[test]
fn workloads_are_never_refused_but_warned_about() {
    let plugin = enforcing("restricted");
    let warned = configured(
        &registry(&[("enforce", "baseline"), ("audit", "baseline")]),
        "PodSecurity",
        Value::Null,
    );
    let template = json!({"spec": privileged()});
    for (group, kind, resource, object) in [
        (
            "apps",
            "Deployment",
            "deployments",
            json!({"spec": {"template": template}}),
        ),
        (
            "batch",
            "CronJob",
            "cronjobs",
            json!({"spec": {"jobTemplate": {"spec": {"template": template}}}}),
        ),
        (
            "",
            "PodTemplate",
            "podtemplates",
            json!({"template": template}),
        ),
    ] {
        let mut request = create(kind, resource, object);
        request.kind.group = group.into();
        request.resource.group = group.into();
        assert_eq!(judge(&plugin, &request).0, Outcome::Pass, "{kind}");
        let (outcome, notes) = judge(&warned, &request);
        assert_eq!(outcome, Outcome::Pass);
        assert_eq!(notes.warnings().len(), 1, "{kind}");
        assert!(annotation(&notes, "audit-violations").is_some());
        request.subresource = "scale".into();
        assert!(matches!(
            judge(&warned, &request).0,
            Outcome::NotApplicable(_)
        ));
    }
}

#[test]
fn only_updates_that_change_what_matters_are_judged() {
    let plugin = enforcing("baseline");
    let same = update(create_spec(privileged()), json!({"spec": privileged()}));
    assert!(matches!(judge(&plugin, &same).0, Outcome::NotApplicable(_)));
    for old in [
        json!({"spec": {"containers": [{"name": "app", "image": "other"}]}}),
        json!({"spec": "unreadable"}),
        json!({}),
    ] {
        refusal(&plugin, &update(create_spec(privileged()), old));
    }
    let mut without_old = same;
    without_old.old_object = None;
    refusal(&plugin, &without_old);
}

#[test]
fn subresources_are_judged_unless_they_hold_no_pod() {
    let plugin = enforcing("baseline");
    for ignored in IGNORED_POD_SUBRESOURCES {
        let request = subresource(json!({"spec": privileged()}), ignored);
        assert!(
            matches!(judge(&plugin, &request).0, Outcome::NotApplicable(_)),
            "{ignored}"
        );
    }
    for judged in ["ephemeralcontainers", "resize", "something-new"] {
        refusal(&plugin, &subresource(json!({"spec": privileged()}), judged));
    }
}

#[test]
fn exemptions_let_through_and_say_so() {
    let exemptions =
        json!({"usernames": ["alice"], "namespaces": ["free"], "runtimeClasses": ["kata"]});
    let given = config(&json!({"enforce": "restricted"}), &exemptions);
    let plugin = configured(&registry(&[]), "PodSecurity", given);
    let of = |user: &str, namespace: &str, class: &str| {
        let mut spec = privileged();
        spec["runtimeClassName"] = json!(class);
        let mut request = create_spec(spec);
        request.user.username = user.into();
        request.namespace = namespace.into();
        judge(&plugin, &request)
    };
    for (user, namespace, class, why) in [
        ("alice", "shop", "", "user"),
        ("bob", "free", "", "namespace"),
        ("bob", "shop", "kata", "runtimeClass"),
        ("alice", "free", "", "namespace"),
    ] {
        let (outcome, notes) = of(user, namespace, class);
        assert_eq!(outcome, Outcome::Pass, "{why}");
        assert_eq!(annotation(&notes, "exempt").as_deref(), Some(why));
    }
    assert!(matches!(of("bob", "shop", "").0, Outcome::Deny(_)));
}

#[test]
fn namespaces_are_held_to_labels_that_can_be_understood() {
    let plugin = enforcing("baseline");
    let labelled = |level: &str| json!({"metadata": {"name": "n", "labels": {"pod-security.kubernetes.io/enforce": level}}});
    let namespace = |object: Value| create("Namespace", "namespaces", object);
    assert_eq!(
        judge(&plugin, &namespace(labelled("restricted"))).0,
        Outcome::Pass
    );
    let denial = refusal(&plugin, &namespace(labelled("strict")));
    assert_eq!((denial.code, denial.reason.as_ref()), (422, "Invalid"));
    assert_eq!(denial.causes.len(), 1);
    let unrelated = update(namespace(labelled("strict")), labelled("strict"));
    assert_eq!(judge(&plugin, &unrelated).0, Outcome::Pass);
    refusal(
        &plugin,
        &update(namespace(labelled("strict")), labelled("baseline")),
    );
    let raised = update(namespace(labelled("restricted")), labelled("baseline"));
    let (outcome, notes) = judge(&plugin, &raised);
    assert_eq!((outcome, notes.warnings().len()), (Outcome::Pass, 1));
    let lowered = update(namespace(labelled("privileged")), labelled("baseline"));
    assert!(judge(&plugin, &lowered).1.warnings().is_empty());
}

#[test]
fn what_is_no_pod_is_refused_with_the_path_of_the_fault() {
    let plugin = enforcing("baseline");
    for (pod, path) in [
        (json!({"spec": "x"}), "spec: "),
        (
            json!({"spec": {"containers": [{}, 7]}}),
            "spec.containers[1]: ",
        ),
        (
            json!({"spec": {"containers": [{"securityContext": "root"}]}}),
            "spec.containers[0].securityContext: ",
        ),
    ] {
        let denial = refusal(&plugin, &create_pod(pod));
        assert_eq!(denial.code, 400);
        assert!(denial.message.contains(path), "{}", denial.message);
    }
    let mut other = create_pod(json!({}));
    other.kind.kind = "Service".into();
    assert_eq!(refusal(&plugin, &other).code, 400);
    let mut nothing = create_pod(json!({}));
    nothing.object = None;
    assert_eq!(refusal(&plugin, &nothing).code, 400);
}

#[test]
fn other_objects_are_not_its_business() {
    let request = create("Service", "services", json!({}));
    assert!(matches!(
        judge(&enforcing("restricted"), &request).0,
        Outcome::NotApplicable(_)
    ));
}

#[test]
fn faults_of_the_configuration_have_their_place() {
    let faulty = |value: Value| faults(&registry(&[]), "PodSecurity", value).join("; ");
    let bad_level = faulty(config(&json!({"enforce": "strikt"}), &json!({})));
    assert!(
        bad_level.starts_with("defaults.enforce: ") && bad_level.contains("strikt"),
        "{bad_level}"
    );
    let unknown = faulty(config(&json!({"enforced": "baseline"}), &json!({})));
    assert!(unknown.contains("enforced"), "{unknown}");
    assert!(faulty(json!({"kind": "Pod"})).starts_with("kind: "));
}

#[test]
fn existing_pods_are_looked_at_where_the_cluster_is_known() {
    let mut objects = StaticObjects::default();
    for (namespace, name) in [("shop", "web"), ("other", "web2")] {
        let metadata = json!({"namespace": namespace, "name": name});
        let pod =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": privileged()});
        objects.add(pod).unwrap();
    }
    let stricter = |objects: Arc<dyn ClusterObjects>| {
        let environment = PluginEnvironment {
            objects,
            ..PluginEnvironment::default()
        };
        let mut registry = Registry::default();
        registry.register(descriptor(&environment));
        let plugin = configured(&registry, "PodSecurity", Value::Null);
        let labels = json!({"pod-security.kubernetes.io/enforce": "baseline"});
        let new = json!({"metadata": {"name": "shop", "labels": labels}});
        let old = json!({"metadata": {"name": "shop"}});
        let request = update(create("Namespace", "namespaces", new), old);
        let (outcome, notes) = judge(&plugin, &request);
        assert_eq!(outcome, Outcome::Pass);
        notes.warnings().to_vec()
    };
    assert_eq!(
        stricter(Arc::new(objects.clone())),
        [
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"baseline:latest\"",
            "web: privileged",
        ]
    );
    let unknown = objects.only([ObjectKind::NAMESPACE]);
    assert_eq!(
        stricter(Arc::new(unknown)),
        ["failed to list pods while checking new PodSecurity enforce level"]
    );
    assert_eq!(
        stricter(Arc::new(NoCluster::Unconfigured)),
        [
            "existing pods are not checked against the new PodSecurity enforce level \"baseline:latest\""
        ]
    );
}
