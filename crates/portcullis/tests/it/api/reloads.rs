//! Tenants files that change, or are faulty.

use serde_json::{Value, json};

use super::{Api, of, setup};
use crate::harness::until;

fn base() -> Vec<Value> {
    vec![
        json!({"authorization-rule": {"name": "all", "conditions": [{"iss": "corp"}]}}),
        json!({"role": {"name": "holder", "permissions": {"autohold": true}}}),
        json!({"role": {"name": "mover", "permissions": {"promote": true}}}),
    ]
}

fn private(name: &str, roles: Value) -> Value {
    json!({"tenant": {"name": name, "anonymous-read-access": false, "role-mappings": {"all": roles}}})
}

fn file(more: &[Value]) -> String {
    let items = base().into_iter().chain(more.iter().cloned());
    items.map(|item| format!("- {item}\n")).collect()
}

fn status(api: &Api, tenant: &str) -> u16 {
    api.get(Some(&of("bob")), &format!("/api/tenant/{tenant}/status"))
        .status
}

fn can_hold(api: &Api, tenant: &str) -> bool {
    let path = format!("/api/tenant/{tenant}/project/p/autohold");
    api.post(Some(&of("bob")), &path, &json!({"job": "u"}))
        .status
        == 200
}

fn can_promote(api: &Api, tenant: &str) -> bool {
    let body = json!({"pipeline": "gate", "changes": ["1,1"]});
    let path = format!("/api/tenant/{tenant}/promote");
    api.post(Some(&of("bob")), &path, &body).status == 404
}

#[test]
fn a_faulty_tenant_keeps_what_it_had_and_a_faulty_file_changes_nothing() {
    let good = [
        private("t1", json!(["read", "holder"])),
        private("t2", json!(["read", "holder"])),
    ];
    let (setup, port) = setup(Some(&json!(null)));
    let gate = setup.file("tenants.yaml", file(&good)).start();
    let api = Api::of(gate, port);
    assert!(can_hold(&api, "t1") && can_hold(&api, "t2"));

    let faulty = private("t1", json!(["read", "nosuchrole"]));
    api.change(&file(&[faulty, private("t2", json!(["read", "mover"]))]));
    until("the good tenant changed", || can_promote(&api, "t2"));
    assert!(can_hold(&api, "t1"), "the faulty one keeps what it had");
    assert!(!can_hold(&api, "t2"));
    assert!(api.gate.log().contains("nosuchrole"));
    let ready = api.gate.get("/readyz?verbose").text();
    assert!(
        ready.contains("`t1` keeps its previous configuration"),
        "{ready}"
    );

    let t3 = private("t3", json!("read"));
    for (fault, word) in [
        (
            file(&[
                json!({"role": {"name": "p", "permissions": {"fly": true}}}),
                t3.clone(),
            ]),
            "fly",
        ),
        (
            file(&[json!({"authorization-rule": {"name": "half"}}), t3.clone()]),
            "half",
        ),
        (
            file(&[
                json!({"api-root": {"role-mappings": {"all": "none"}}}),
                t3.clone(),
            ]),
            "none",
        ),
        (String::new(), "empty"),
        (
            "- tenant: {name: t1\n  role-mappings: [\n".to_owned(),
            "tenants.yaml",
        ),
    ] {
        let before = api.gate.log().len();
        api.change(&fault);
        until("the reload was refused", || {
            let log = api.gate.log();
            log[before..].contains("stays in force") && log[before..].contains(word)
        });
        assert!(can_hold(&api, "t1") && can_promote(&api, "t2"));
        assert_eq!(status(&api, "t3"), 404);
    }
    api.change(&file(&[t3]));
    until("the mended file is in force", || status(&api, "t3") == 200);
    assert_eq!(status(&api, "t1"), 404);
    assert!(!api.gate.get("/readyz?verbose").text().contains("previous"));
}

#[test]
fn at_start_a_faulty_tenant_is_left_out_and_other_faults_end_it() {
    let left_out = private("faulty", json!("nosuchrole"));
    let api = Api::start(&json!(
        [base(), vec![left_out, private("good", json!("read"))]].concat()
    ));
    assert_eq!((status(&api, "good"), status(&api, "faulty")), (200, 404));
    assert!(
        api.gate
            .get("/readyz?verbose")
            .text()
            .contains("`faulty` is left out")
    );
    assert!(api.gate.log().contains("faulty"));
    for (item, word) in [
        (
            json!({"role": {"name": "p", "permissions": {"fly": true}}}),
            "fly",
        ),
        (json!({"authorization-rule": {"name": "half"}}), "half"),
        (
            json!({"api-root": {"role-mappings": {"all": "none"}}}),
            "none",
        ),
        (json!({"tenannt": {"name": "x"}}), "tenannt"),
    ] {
        let (setup, _) = setup(Some(&json!([base(), vec![item]].concat())));
        let ran = setup.run();
        assert_eq!(ran.code, Some(3), "{word}: {}", ran.err);
        assert!(
            ran.err.contains(word) && ran.err.contains("tenants.yaml:"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn keys_change_without_a_signal() {
    let api = Api::start(&json!(
        [base(), vec![private("t1", json!("read"))]].concat()
    ));
    assert_eq!(status(&api, "t1"), 200);
    let next = portcullis_testing::tokens::secret("next");
    api.gate.folder.write("corp.key", &next);
    let new = portcullis_testing::tokens::signed(
        &json!({"alg": "HS256"}),
        &portcullis_testing::tokens::claims("corp", "bob"),
        &next,
    );
    until("the new key counts", || {
        api.get(Some(&new), "/api/tenant/t1/status").status == 200
    });
    let (error, _) = api
        .get(Some(&of("bob")), "/api/tenant/t1/status")
        .error(401);
    assert_eq!(error["code"], "bad_signature");
}
