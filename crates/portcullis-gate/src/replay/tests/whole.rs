//! A whole configuration in place of another.

use portcullis_kube::cluster_objects::StaticObjects;
use portcullis_record::WebhookName;
use serde_json::{Value, json};

use super::record::{Came, Setup, by_config, is_same, why};
use super::{create, pod};
use crate::replay::{ChangeKind, Outcome};

const OPEN: &str = "defaultAction: allow\npolicies: [{name: open, code: 'return true'}]\n";

fn policy(code: &str) -> String {
    let policy = json!([{"name": "p", "code": code}]);
    format!("defaultAction: allow\npolicies: {policy}\n")
}

#[track_caller]
fn changed(outcome: &Outcome) -> (ChangeKind, String) {
    match outcome {
        Outcome::Changed(change) => (change.kind, change.by.clone()),
        other => panic!("{other:?}"),
    }
}

fn line(configuration: &str, object: &Value) -> String {
    Setup::new(configuration)
        .gate()
        .line(&create(object), &Came::default())
}

fn again(configuration: &str, line: &str) -> Outcome {
    by_config(&Setup::new(configuration).file(), line)
}

#[test]
fn stricter_and_looser_sets_show() {
    let object = pod("web", "app:latest");
    let allowed = line(OPEN, &object);
    let strict = policy(
        "return object.spec.containers.some(c => c.image.endsWith(':latest')) ? 'no latest' : true",
    );
    let outcome = again(&strict, &allowed);
    assert_eq!(changed(&outcome), (ChangeKind::NewlyDenied, "p".to_owned()));
    let Outcome::Changed(change) = outcome else {
        panic!()
    };
    assert_eq!(change.now.message, "p: no latest");
    let denied = line(&strict, &object);
    is_same(&again(&strict, &denied));
    assert_eq!(
        changed(&again(OPEN, &denied)),
        (ChangeKind::NewlyAllowed, "p".to_owned())
    );
    // Denied for another reason is still denied.
    let other = policy("return 'never'").replace("name\":\"p\"", "name\":\"q\"");
    assert_eq!(again(&other, &denied), Outcome::Same { by_another: true });
}

#[test]
fn other_patches_show() {
    let object = pod("web", "app");
    let labelled = policy("object.metadata.labels = {a: '1'}; return true");
    let recorded = line(&labelled, &object);
    is_same(&again(&labelled, &recorded));
    let other = policy("object.metadata.labels = {a: '2'}; return true");
    assert_eq!(
        changed(&again(&other, &recorded)).0,
        ChangeKind::PatchDiffers
    );
    assert_eq!(changed(&again(OPEN, &recorded)).0, ChangeKind::PatchDiffers);
    // What is masked in the record compares as masked.
    let secret = policy(
        "object.spec.containers.push({name: 's', env: [{name: 'A', value: 'x'}]}); return true",
    );
    is_same(&again(&secret, &line(&secret, &object)));
    let moved = policy("object.spec.containers.unshift({name: 's'}); return true");
    is_same(&again(&moved, &line(&moved, &object)));
}

#[test]
fn what_is_masked_is_not_guessed() {
    let recorded = line(OPEN, &pod("web", "app"));
    let reads = policy(
        "for (const c of object.spec.containers) for (const e of c.env) if (e.value === 't0ps3cret') return 'no'",
    );
    let outcome = again(&reads, &recorded);
    assert_eq!(
        why(&outcome),
        "p reads object.spec.containers[0].env[0].value, which is masked"
    );
    let reads = policy("return ac.HTTPRequest.Header.Get('Authorization') === 'Bearer s3cr3t'");
    assert_eq!(
        why(&again(&reads, &recorded)),
        "p reads ac.HTTPRequest.Header.Authorization[0], which is masked"
    );
    let names = policy("return object.spec.containers[0].env.every(e => e.name.length > 2)");
    is_same(&again(&names, &recorded));
}

#[test]
fn what_was_left_out_is_not_guessed() {
    let mut recorded: Value = serde_json::from_str(&line(OPEN, &pod("web", "app"))).unwrap();
    recorded["input"]["review"]["request"]["object"] = Value::Null;
    recorded["input"]["truncated"] = json!(["/review/request/object"]);
    let recorded = recorded.to_string();
    let outcome = again(&policy("return 'no'"), &recorded);
    assert_eq!(
        why(&outcome),
        "the review was too large to be kept whole: /review/request/object is not in the record"
    );
}

#[test]
fn what_was_never_recorded_is_not_guessed() {
    let recorded = line(OPEN, &pod("web", "app"));
    for (code, part) in [
        ("return ac.GlobalContext.x !== 1", "ac.GlobalContext"),
        ("return Math.random() < 2", "Math.random()"),
        ("return cosignVerify('k') === true", "cosignVerify(\"k\")"),
    ] {
        let outcome = again(&policy(code), &recorded);
        assert!(why(&outcome).contains(part), "{outcome:?}");
    }
    let time = policy(
        "return new Date().toISOString() === '2026-11-14T22:13:20.123Z' && ac.Timestamp === '2026-11-14T22:13:20Z' ? true : `${new Date().toISOString()} ${ac.Timestamp}`",
    );
    is_same(&again(&time, &recorded));
    let user = policy("return ac.User.Username === 'root' && ac.User.Pid === 7");
    is_same(&again(&user, &recorded));
}

#[test]
fn calls_get_their_recorded_answers() {
    let asks = policy("return cosignVerify('k') === true ? true : 'not signed'");
    let came = |answer: Value| Came {
        answers: vec![answer],
        ..Came::default()
    };
    let setup = Setup::new(&policy("try { cosignVerify('k') } catch {} return true"));
    let review = create(&pod("web", "app"));
    let signed = setup.gate().line(&review, &came(json!(true)));
    is_same(&again(&asks, &signed));
    let unsigned = setup.gate().line(&review, &came(json!(false)));
    assert_eq!(changed(&again(&asks, &unsigned)).0, ChangeKind::NewlyDenied);
    let other =
        policy("object.spec.containers[0].image = 'other'; return cosignVerify('k') === true");
    assert!(why(&again(&other, &signed)).contains("cosignVerify"));
}

#[test]
fn built_in_plug_ins_decide_again() {
    let baseline = "admission: {plugins: [{name: AlwaysPullImages}, {name: PodSecurity, configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}}]}\n";
    let pull = "admission: {plugins: [{name: AlwaysPullImages}]}\n";
    let mut privileged = pod("web", "app");
    privileged["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    let allowed = line(pull, &privileged);
    is_same(&again(pull, &allowed));
    assert_eq!(
        changed(&again(baseline, &allowed)),
        (ChangeKind::NewlyDenied, "PodSecurity".to_owned())
    );
    is_same(&again(baseline, &line(baseline, &privileged)));
    // The image may be read, and is not known.
    let masked = line(pull, &pod("web", "(masked)")).replace(
        r#""masked":["#,
        r#""masked":["/review/request/object/spec/containers/0/image","#,
    );
    assert!(why(&again(pull, &masked)).contains("/image, which is masked"));
    is_same(&again(OPEN, &line(OPEN, &pod("web", "(masked)"))));
}

#[test]
fn objects_still_to_be_changed_are_refused_where_the_new_configuration_says_so() {
    let changes = "admission: {pendingMutation: PENDING}\ndefaultAction: allow\npolicies: [{name: p, code: 'object.metadata.labels = {a: \"1\"}'}]\n";
    let validate = Came {
        webhook: WebhookName::Validate,
        uri: "/validate".to_owned(),
        ..Came::default()
    };
    let of = |pending: &str| changes.replace("PENDING", pending);
    let review = create(&pod("web", "app"));
    let refused = Setup::new(&of("refuse")).gate().line(&review, &validate);
    let ignored = Setup::new(&of("ignore")).gate().line(&review, &validate);
    is_same(&again(&of("refuse"), &refused));
    is_same(&again(&of("ignore"), &ignored));
    assert_eq!(
        changed(&again(&of("refuse"), &ignored)).0,
        ChangeKind::NewlyDenied
    );
    assert_eq!(
        changed(&again(&of("ignore"), &refused)).0,
        ChangeKind::NewlyAllowed
    );
}

#[test]
fn a_counter_says_what_it_said() {
    let limited = "admission: {plugins: [{name: EventRateLimit, configuration: {apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: [{type: Server, qps: 1, burst: 1}]}}]}\n";
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}});
    let passed = line(limited, &event);
    let setup = Setup::new(limited);
    for _ in 0..3 {
        is_same(&by_config(&setup.file(), &passed));
    }
    let denied = passed
        .replace(r#""outcome":"passed""#, r#""outcome":"denied""#)
        .replace(r#""verdict":"allow""#, r#""verdict":"deny""#)
        .replace(r#""plugin":null"#, r#""plugin":"EventRateLimit""#);
    is_same(&again(limited, &denied));
    let outcome = again(limited, &line(OPEN, &event));
    assert!(
        why(&outcome).starts_with("EventRateLimit counts"),
        "{outcome:?}"
    );
    is_same(&again(limited, &line(limited, &pod("web", "app"))));
}

#[test]
fn access_is_decided_again() {
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": "alice", "resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let line = |verdict: &str| {
        json!({"id": "01", "time": "2026-11-14T22:13:20Z", "door": "authorization",
            "operation": "get", "kind": "pods", "namespace": "", "name": "", "user": "alice",
            "verdict": verdict, "mutated": false, "message": "", "plugin": null, "policy": null,
            "digest": null, "duration_us": 1, "patch": [], "trace": [],
            "input": {"review": review, "http": {"method": "POST", "uri": "/authorize", "headers": []},
                "received": "2026-11-14T22:13:20Z", "chain": "default"}})
        .to_string()
    };
    let of = |name: &str| format!("authorization: {{chains: {{default: [{name}]}}}}\n");
    is_same(&again(&of("AlwaysAllow"), &line("allow")));
    assert_eq!(
        changed(&again(&of("AlwaysDeny"), &line("allow"))),
        (ChangeKind::NewlyDenied, "AlwaysDeny".to_owned())
    );
    assert_eq!(
        changed(&again(&of("AlwaysAllow"), &line("deny"))).0,
        ChangeKind::NewlyAllowed
    );
    assert!(why(&again(OPEN, &line("allow"))).contains("no longer exists"));
}

#[test]
fn a_deadline_is_no_refusal() {
    let recorded = line(OPEN, &pod("web", "app"));
    let slow = format!("limits: {{deadline: 50ms}}\n{}", policy("for (;;) {}"));
    let outcome = again(&slow, &recorded);
    assert!(why(&outcome).contains("time limit"), "{outcome:?}");
    // Memory must run out first, however slow the machine is.
    let endless = policy("let a = []; for (;;) a.push('x'.repeat(1000) + a.length)");
    let large = format!("limits: {{deadline: 60s, requestDeadline: 60s}}\n{endless}");
    assert_eq!(
        changed(&again(&large, &recorded)).0,
        ChangeKind::NewlyDenied
    );
    let undecided = line(&large, &pod("web", "app"));
    let Outcome::Changed(change) = again(OPEN, &undecided) else {
        panic!()
    };
    assert!(change.remark.unwrap().contains("could not be decided"));
}

/// A cluster with a namespace and an object.
fn cluster(phase: &str) -> StaticObjects {
    let mut objects = StaticObjects::default();
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, "status": {"phase": phase}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "shop"},
            "data": {"image": "app"}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"},
            "data": {"key": "dDBwczNjcmV0"}}),
    ] {
        objects.add(object).unwrap();
    }
    objects
}

#[test]
fn look_ups_in_the_cluster_are_answered_from_the_record() {
    let kube = "kube: {kubeconfig: k, kinds: [v1/ConfigMap, v1/Secret]}\n";
    let checked = |code: &str| format!("{kube}{}", policy(code));
    let code = "const m = kube.get('v1', 'ConfigMap', 'shop', 'm');
        if (kube.list('v1', 'ConfigMap', {namespace: 'shop'}).length !== 1) return 'how many';
        return object.spec.containers[0].image === m.data.image || 'another image'";
    let record = |configuration: &str, image: &str| {
        let gate = Setup::new(configuration).gate().knowing(cluster("Active"));
        gate.line(&create(&pod("web", image)), &Came::default())
    };
    let configuration = checked(code);
    let allowed = record(&configuration, "app");
    is_same(&again(&configuration, &allowed));
    let denied = record(&configuration, "other");
    is_same(&again(&configuration, &denied));
    let looser = checked("return kube.get('v1', 'ConfigMap', 'shop', 'm') !== null");
    assert_eq!(
        changed(&again(&looser, &denied)),
        (ChangeKind::NewlyAllowed, "p".to_owned())
    );
    // What was not asked then is not known, and neither is what is masked.
    let other = checked("return kube.get('v1', 'ConfigMap', 'shop', 'n') !== null");
    assert!(
        why(&again(&other, &allowed)).contains("kube.get(\"v1\", \"ConfigMap\", \"shop\", \"n\")")
    );
    let secret = checked("return kube.get('v1', 'Secret', 'shop', 's').data.key.length > 0");
    let line = record(&secret, "app");
    assert!(!line.contains("dDBwczNjcmV0"), "{line}");
    assert!(why(&again(&secret, &line)).contains("kube.get"));
}

#[test]
fn plug_ins_that_read_the_cluster_say_what_they_said_then() {
    let configuration =
        "kube: {kubeconfig: k}\nadmission: {order: [NamespaceLifecycle, PodSecurity]}\n";
    for phase in ["Active", "Terminating"] {
        let gate = Setup::new(configuration).gate().knowing(cluster(phase));
        let line = gate.line(&create(&pod("web", "app")), &Came::default());
        assert_eq!(
            line.contains("because it is being terminated"),
            phase == "Terminating"
        );
        is_same(&again(configuration, &line));
    }
    // What it would have said of a request that it was not asked about is not known.
    let line = line(OPEN, &pod("web", "app"));
    let unknown = again(configuration, &line);
    assert!(
        why(&unknown).contains("looks up objects of the cluster"),
        "{unknown:?}"
    );
}
