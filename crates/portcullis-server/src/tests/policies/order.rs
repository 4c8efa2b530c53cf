//! Policies among other plug-ins.

use serde_json::{Value, json};

use crate::tests::harness::{Gate, Review, pod, privileged};
use portcullis_testing::policies::native;

fn says_what_it_sees() -> Value {
    native(&[(
        "P",
        "return object.spec.containers[0].imagePullPolicy || 'nothing'",
    )])
}

#[test]
fn policies_come_after_configured_plugins() {
    let mut config = says_what_it_sees();
    config["admission"] = json!({"plugins": [{"name": "AlwaysPullImages"}]});
    let gate = Gate::start(config);
    let verdict = gate.mutate(&pod());
    assert_eq!(verdict.message(), "P: Always");
    assert_eq!(verdict.annotation("plugin"), Some("Policies"));
    assert_eq!(verdict.annotation("policy"), Some("P"));
}

#[test]
fn the_order_places_them() {
    for (order, sees) in [
        (["AlwaysPullImages", "Policies"], "P: Always"),
        (["Policies", "AlwaysPullImages"], "P: nothing"),
    ] {
        let mut config = says_what_it_sees();
        config["admission"] = json!({"order": order});
        assert_eq!(Gate::start(config).mutate(&pod()).message(), sees);
    }
}

#[test]
fn an_order_without_them_leaves_them_out() {
    let mut config = native(&[("P", "return false")]);
    config["admission"] = json!({"order": ["AlwaysAdmit"]});
    Gate::start(config).mutate(&pod()).allowed();
}

#[test]
fn plugins_after_them_see_their_changes_and_still_refuse() {
    let code = "if (req.name === 'open') object.spec.containers[0].securityContext = {privileged: true}; return true";
    let mut config = native(&[("P", code)]);
    let security = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration", "defaults": {"enforce": "baseline"},
    });
    config["admission"] = json!({
        "plugins": [{"name": "PodSecurity", "configuration": security}],
        "order": ["Policies", "PodSecurity"],
    });
    let gate = Gate::start(config);
    gate.mutate(&pod()).allowed();
    // An allow of a policy ends the policies, not the chain.
    gate.mutate(&privileged()).denied("privileged");
    let mut open = pod();
    open["metadata"]["name"] = "open".into();
    let verdict = gate.mutate(&open);
    verdict.denied("privileged");
    assert_eq!(verdict.annotation("plugin"), Some("PodSecurity"));
}

#[test]
fn an_order_that_names_them_without_any_leaves_the_default_action() {
    for (action, is_open) in [("allow", true), ("reject", false)] {
        let config = json!({"admission": {"order": ["Policies"]}, "defaultAction": action});
        let verdict = Gate::start(config).mutate(&pod());
        assert_eq!(verdict.is_allowed(), is_open, "{action}");
    }
}

#[test]
fn the_validating_path_never_patches() {
    let code = "object.metadata.labels = {seen: 'yes'}; return true";
    let gate = Gate::start(native(&[("P", code)]));
    for path in ["/mutate", "/mutate/x", "/admit"] {
        let verdict = gate.ask(path, &Review::create(&pod()));
        assert_eq!(verdict.patched(&pod())["metadata"]["labels"]["seen"], "yes");
    }
    let verdict = gate.validate(&pod());
    verdict.allowed();
    assert_eq!(verdict.patch(), None);
}
