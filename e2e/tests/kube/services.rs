//! `DenyServiceExternalIPs`.

use portcullis_e2e::Phase;
use serde_json::json;

use crate::manifests::service;
use crate::suite::in_namespace;

#[test]
fn external_addresses_may_go_but_not_come() {
    in_namespace("external-ips", |space| {
        let kubectl = &space.kubectl;
        kubectl
            .create(&service(
                "old",
                json!({"externalIPs": ["192.0.2.1", "192.0.2.2"]}),
            ))
            .succeeds();
        let _gate = space.gate(
            Phase::Validating,
            "admission: {order: [DenyServiceExternalIPs]}\n",
        );

        const WHY: &str = "is forbidden: Use of external IPs is denied by admission control";
        kubectl
            .create(&service("new", json!({"externalIPs": ["192.0.2.1"]})))
            .fails_saying(&space.refusal(&format!("services \"new\" {WHY}")));
        kubectl.create(&service("plain", json!({}))).succeeds();

        let set = |name: &str, addresses: &str| {
            let patch = format!("{{\"spec\": {{\"externalIPs\": {addresses}}}}}");
            kubectl.run(&["patch", "service", name, "--type=merge", "-p", &patch])
        };
        set("old", "[\"192.0.2.2\"]").succeeds();
        let webhook = space.webhook_name(Phase::Validating);
        for name in ["old", "plain"] {
            set(name, "[\"192.0.2.2\", \"192.0.2.3\"]").fails_saying(&format!(
                "Error from server (Forbidden): admission webhook \"{webhook}\" denied the request: services \"{name}\" {WHY}",
            ));
        }
        set("old", "null").succeeds();
    });
}
