//! Cases 34 to 37: other controllers and other programs.

use serde_json::json;

use crate::harness::{Acjs, AcjsSetup, Controller, Folder, acjs, answered, no};
use crate::policies::{fruit, review_of};
use portcullis_testing::policies::Want::{No, NoLike, Yes};
use portcullis_testing::policies::{ERROR, VIOLATES};

const FORWARD: &str = "return forwardToAdmissionController(req.userInfo.groups[0])";

/// Asks about the fruit, with the address as the caller's group.
fn forwarded(server: &Acjs, url: &str) -> crate::harness::Verdict {
    let user = json!({"username": "bob", "groups": [url]});
    server.ask(&review_of(&fruit()).set("userInfo", user))
}

#[test]
fn the_opinion_of_another_controller() {
    let folder = Folder::new();
    let server = Acjs::of(&[("P", FORWARD)]);
    let denies = Controller::unix(&folder.path("no.sock"), |r| no(r, "ext no"));
    let verdict = forwarded(&server, &denies.url);
    No(VIOLATES, "P: ext no").compare(34, &verdict, &fruit());
    let patch = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3giLCJ2YWx1ZSI6MX1d";
    let allows = Controller::unix(&folder.path("yes.sock"), move |review| {
        let response = json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
        answered(review, response)
    });
    let verdict = forwarded(&server, &allows.url);
    Yes.compare(35, &verdict, &fruit());
    assert_eq!(allows.seen().len(), 1);
}

#[test]
fn a_signature_is_missing() {
    let code = "const r = cosignVerify('key.pub'); if (!r) return 'unsigned'; return true";
    let server = AcjsSetup::new(acjs(&[("P", code)]))
        .tool(
            "cosign",
            "case \"$*\" in *second*) echo missing >&2; exit 1;; esac; echo '[{\"critical\":{}}]'",
        )
        .start();
    let pod = json!({"kind": "Pod", "spec": {"containers": [
        {"name": "a", "image": "r.example/first:1"}, {"name": "b", "image": "r.example/second:1"},
    ]}});
    // A call that fails throws, so that no way of asking lets the pod in.
    let verdict = server.ask(&review_of(&pod));
    let start = "P: unable to evaluate policy:Error: invoking the cosign cli failed";
    NoLike(ERROR, start).compare(36, &verdict, &pod);
    assert!(
        verdict.message().contains("second"),
        "{}",
        verdict.message()
    );
    assert!(
        verdict.message().contains("missing"),
        "{}",
        verdict.message()
    );
    let mut signed = pod;
    signed["spec"]["containers"].as_array_mut().unwrap().pop();
    Yes.compare(36, &server.ask(&review_of(&signed)), &signed);
}

#[test]
fn a_provenance_does_not_hold() {
    let code = "return slsaVerify({SourceURI: 's', BuilderID: 'b', ProvenancePath: 'p.json'})";
    let server = AcjsSetup::new(acjs(&[("P", code)]))
        .tool("slsa-verifier", "echo FAILED; exit 1")
        .start();
    let verdict = server.ask(&review_of(&fruit()));
    verdict.denied("P: ");
    verdict.denied("invoking the slsa-verifier cli failed: FAILED");
}
