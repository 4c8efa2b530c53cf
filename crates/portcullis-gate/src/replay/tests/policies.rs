//! New policies in an old chain.

use portcullis_record::WebhookName;
use serde_json::{Value, json};

use super::record::{Came, POLICIES, Setup, by_config, by_policies, is_same, why};
use super::{create, pod};
use crate::replay::{ChangeKind, Outcome};

/// Built-in plug-ins before and after the policies.
const CHAIN: &str = "admission: {order: [AlwaysPullImages, Policies, PodSecurity], plugins: [{name: AlwaysPullImages}, {name: PodSecurity, configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}}]}\n";

fn setup(chain: &str, code: &str) -> Setup {
    let configuration = format!("{chain}defaultAction: allow\npolicyDirs: [policies]\n");
    Setup::new(&configuration).with("policies/p.js", code)
}

fn line(setup: &Setup, object: &Value) -> String {
    setup.gate().line(&create(object), &Came::default())
}

fn again(code: &str, line: &str) -> Outcome {
    let setup = Setup::new("{}").with("new/p.js", code);
    by_policies(&setup.path("new"), line)
}

#[track_caller]
fn changed(outcome: Outcome) -> (ChangeKind, String, Option<String>) {
    match outcome {
        Outcome::Changed(change) => (change.kind, change.by, change.remark),
        other => panic!("{other:?}"),
    }
}

fn privileged() -> Value {
    let mut pod = pod("bad", "app");
    pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    pod
}

#[test]
fn the_same_policies_do_the_same() {
    for (chain, code) in [
        ("", "return true"),
        ("", "return 'no'"),
        ("", "object.metadata.labels = {a: '1'}; return true"),
        (CHAIN, "return true"),
        (CHAIN, "return 'no'"),
        (CHAIN, "object.metadata.labels = {a: '1'}"),
        (
            CHAIN,
            "object.spec.containers.unshift({name: 'first', image: 'x'})",
        ),
        (
            CHAIN,
            "if (object.spec.containers[0].imagePullPolicy !== 'Always') return 'too early'",
        ),
    ] {
        let setup = setup(chain, code);
        for object in [pod("web", "app"), privileged()] {
            let line = line(&setup, &object);
            is_same(&again(code, &line));
            is_same(&by_policies(&setup.path("policies"), &line));
        }
    }
}

#[test]
fn policies_see_what_plug_ins_before_them_made() {
    let sees = "return object.spec.containers[0].imagePullPolicy === 'Always' ? true : 'too early'";
    // Where there were no policies, they come last.
    let chains = [
        CHAIN.to_owned(),
        CHAIN.replace(", Policies", ""),
        CHAIN.replace("order: [AlwaysPullImages, Policies, PodSecurity], ", ""),
    ];
    for chain in chains {
        let recorded = line(&setup(&chain, "return true"), &pod("web", "app"));
        is_same(&again(sees, &recorded));
    }
    let late = CHAIN.replace(
        "[AlwaysPullImages, Policies,",
        "[Policies, AlwaysPullImages,",
    );
    let recorded = line(&setup(&late, "return true"), &pod("web", "app"));
    assert_eq!(changed(again(sees, &recorded)).0, ChangeKind::NewlyDenied);
}

#[test]
fn stricter_and_looser_policies_show() {
    let recorded = line(&setup(CHAIN, "return true"), &pod("web", "app:latest"));
    let strict = "if (object.spec.containers[0].image.endsWith(':latest')) return 'no latest'";
    let (kind, by, remark) = changed(again(strict, &recorded));
    assert_eq!((kind, by.as_str()), (ChangeKind::NewlyDenied, "p"));
    assert_eq!(remark, None);
    let denied = line(&setup(CHAIN, strict), &pod("web", "app:latest"));
    let (kind, by, remark) = changed(again("return true", &denied));
    assert_eq!((kind, by.as_str()), (ChangeKind::NewlyAllowed, "p"));
    assert!(
        remark
            .unwrap()
            .contains("were not asked when it was recorded")
    );
}

#[test]
fn built_in_refusals_stay() {
    let refused = line(&setup(CHAIN, "return true"), &privileged());
    is_same(&again("return true", &refused));
    assert_eq!(
        again("return 'no'", &refused),
        Outcome::Same { by_another: true }
    );
    let outcome = again(
        "delete object.spec.containers[0].securityContext; return true",
        &refused,
    );
    assert_eq!(why(&outcome), "PodSecurity would judge another object");
    // Denied before the policies were asked.
    let early = "admission: {order: [PodTolerationRestriction, AlwaysDeny, Policies], plugins: [{name: AlwaysDeny}, {name: PodTolerationRestriction}]}\n";
    let refused = line(&setup(early, "return true"), &pod("web", "app"));
    is_same(&again("return true", &refused));
}

#[test]
fn other_patches_show_and_who_has_not_seen_them() {
    let labels = "object.metadata.labels = {a: '1'}";
    let other = "object.metadata.labels = {a: '2'}";
    let recorded = line(&setup("", labels), &pod("web", "app"));
    let (kind, by, remark) = changed(again(other, &recorded));
    assert_eq!((kind, by.as_str()), (ChangeKind::PatchDiffers, "p"));
    let (kind, by, _) = changed(again("return true", &recorded));
    assert_eq!((kind, by.as_str()), (ChangeKind::PatchDiffers, POLICIES));
    assert_eq!(remark, None);
    let recorded = line(&setup(CHAIN, labels), &pod("web", "app"));
    let (kind, _, remark) = changed(again(other, &recorded));
    assert_eq!(kind, ChangeKind::PatchDiffers);
    assert!(
        remark
            .unwrap()
            .starts_with("AlwaysPullImages and PodSecurity would judge another object")
    );
    let late = CHAIN.replace(
        "[AlwaysPullImages, Policies,",
        "[Policies, AlwaysPullImages,",
    );
    let recorded = line(&setup(&late, labels), &pod("web", "app"));
    let outcome = again(other, &recorded);
    assert_eq!(
        why(&outcome),
        "AlwaysPullImages and PodSecurity would judge another object"
    );
}

#[test]
fn where_no_patch_is_answered_none_differs() {
    let validate = Came {
        webhook: WebhookName::Validate,
        uri: "/validate".to_owned(),
        ..Came::default()
    };
    let labels = "object.metadata.labels = {a: '1'}";
    let pending = "admission: {pendingMutation: PENDING}\n";
    let review = create(&pod("web", "app"));
    let ignored = setup(&pending.replace("PENDING", "ignore"), labels);
    let ignored = ignored.gate().line(&review, &validate);
    is_same(&again(labels, &ignored));
    is_same(&again("return true", &ignored));
    let refused = setup(&pending.replace("PENDING", "refuse"), labels);
    let refused = refused.gate().line(&review, &validate);
    is_same(&again(labels, &refused));
    assert_eq!(
        changed(again("return true", &refused)).0,
        ChangeKind::NewlyAllowed
    );
}

#[test]
fn what_the_door_refused_is_refused_whoever_judges() {
    let validate = Came {
        webhook: WebhookName::Validate,
        uri: "/validate".to_owned(),
        ..Came::default()
    };
    let labels = "object.metadata.labels = {a: '1'}";
    let security = "admission: {order: [Policies, PodSecurity], pendingMutation: refuse, plugins: [{name: PodSecurity}]}\n";
    let line = setup(security, labels)
        .gate()
        .line(&create(&pod("web", "app")), &validate);
    assert!(line.contains("would still change the object"), "{line}");
    is_same(&again(labels, &line));
    is_same(&again("object.metadata.labels = {a: '2'}", &line));
    let (kind, _, remark) = changed(again("return true", &line));
    assert_eq!(kind, ChangeKind::NewlyAllowed);
    assert!(remark.unwrap().contains("PodSecurity would judge another"));
    // What was changed before the policies is still to be changed.
    let pull = "admission: {order: [AlwaysPullImages, Policies], pendingMutation: refuse, plugins: [{name: AlwaysPullImages}]}\n";
    let line = setup(pull, "return true")
        .gate()
        .line(&create(&pod("web", "app")), &validate);
    is_same(&again("return true", &line));
}

#[test]
fn what_was_rejected_by_default_still_is() {
    let setup = Setup::new("policyDirs: [policies]\n").with("policies/p.js", "return");
    let rejected = line(&setup, &pod("web", "app"));
    is_same(&again("const x = 1", &rejected));
    assert_eq!(
        changed(again("return true", &rejected)).0,
        ChangeKind::NewlyAllowed
    );
    assert_eq!(
        again("return 'no'", &rejected),
        Outcome::Same { by_another: true }
    );
}

#[test]
fn secrets_are_not_guessed() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"password": "czNjcjN0", "user": "Ym9i"}});
    let recorded = line(&setup(CHAIN, "return true"), &secret);
    assert!(!recorded.contains("czNjcjN0"));
    let outcome = again("return atob(object.data.password).length > 3", &recorded);
    assert_eq!(
        why(&outcome),
        "p reads object.data.password, which is masked"
    );
    is_same(&again(
        "return Object.keys(object.data).length === 2",
        &recorded,
    ));
}

#[test]
fn access_is_not_for_policies() {
    let line = line(&setup("", "return true"), &pod("web", "app"));
    let access = line.replace(r#""door":"kubernetes""#, r#""door":"authorization""#);
    assert_eq!(again("return 'no'", &access), Outcome::NotJudged);
}

/// A policy for namespaces of production.
const SELECTING: &str = "export const policy = {match: {namespaceSelector: {matchLabels: {env: 'production'}}}};\n\
                         export default () => 'frozen'";

#[test]
fn who_is_asked_is_not_guessed_where_labels_of_the_namespace_are_not_known() {
    let line = line(&setup("", "return"), &pod("web", "app"));
    assert_eq!(
        why(&again(SELECTING, &line)),
        "which policies are asked depends on the labels of the namespace shop, which are not recorded"
    );
    let whole = |more: &str| {
        let configuration = format!("defaultAction: allow\npolicyDirs: [policies]\n{more}\n");
        let setup = Setup::new(&configuration).with("policies/p.js", SELECTING);
        by_config(&setup.file(), &line)
    };
    assert!(why(&whole("kube: {}")).contains("labels of the namespace shop"));
    // Where they are known, and where there is nothing to know, it is decided.
    is_same(&whole(""));
    is_same(&whole("namespaces: [{name: shop, labels: {env: dev}}]"));
    let (kind, by, _) = changed(whole(
        "namespaces: [{name: shop, labels: {env: production}}]",
    ));
    assert_eq!((kind, by.as_str()), (ChangeKind::NewlyDenied, "p"));
    // What is in no namespace, or excluded anyway, does not depend on it.
    let for_services = SELECTING.replace("match: {", "match: {kinds: ['Service'], ");
    is_same(&again(&for_services, &line));
}
