//! Cases 24 to 31 and 38: what a policy sees of the request, and invalid reviews.

use serde_json::{Value, json};

use super::check_fruit;
use crate::tests::harness::{Acjs, Verdict};
use portcullis_testing::policies::Want::{Changed, No};
use portcullis_testing::policies::{VIOLATES, fruit, native, review_of};

#[test]
fn the_global_context_counts() {
    let code = "const g = ac.GlobalContext; g.n = (g.n || 0) + 1; return 'n=' + g.n";
    let server = Acjs::of(&[("P", code)]);
    for message in ["P: n=1", "P: n=2", "P: n=3"] {
        let verdict = server.ask(&review_of(&fruit()));
        No(VIOLATES, message).compare(24, &verdict, &fruit());
    }
}

#[test]
fn headers_and_the_address() {
    let code = "const r = ac.HTTPRequest; return 'H=' + r.Header.Get('X-Ctrdac-RequestUri') + ' ' + r.RequestURI";
    let server = Acjs::of(&[("P", code)]);
    let review = review_of(&fruit());
    let answer = server.send(
        "POST",
        "/a/b?x=1&y=%20",
        &[("x-ctrdac-requesturi", "/some/Call")],
        review.text().as_bytes(),
    );
    let message = "P: H=/some/Call /a/b?x=1&y=%20";
    let verdict = Verdict::of(&answer, &review);
    No(VIOLATES, message).compare(25, &verdict, &fruit());
}

#[test]
fn the_request_by_the_names_of_go() {
    let hit = |equal: &str| {
        format!("if (req.Operation {equal} 'CREATE' && req.Namespace {equal} 'ns1') return 'hit'")
    };
    check_fruit(vec![
        (26, native(&[("P", &hit("=="))]), No(VIOLATES, "P: hit")),
        (27, native(&[("P", &hit("==="))]), No(VIOLATES, "P: hit")),
    ]);
}

#[test]
fn a_deletion_is_judged_by_what_was_there() {
    let code = "return object === null && req.operation === 'DELETE' && oldObject.kind === 'Pod'";
    let server = Acjs::of(&[("P", code)]);
    let gone = review_of(&fruit())
        .set("operation", "DELETE")
        .set("oldObject", fruit())
        .set("object", Value::Null);
    let verdict = server.ask(&gone);
    verdict.allowed();
    assert_eq!(verdict.patch(), None, "case 28");
}

#[test]
fn what_is_no_review_is_a_fault_and_never_an_allow() {
    let server = Acjs::of(&[("P", "return true")]);
    let without = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    for (id, body) in [(29, "{".to_owned()), (30, without.to_string())] {
        let answer = server.send("POST", "/", &[], body.as_bytes());
        assert_eq!(answer.status, 400, "case {id}");
        answer.error(400);
    }
    server.ask(&review_of(&fruit())).allowed();
}

#[test]
fn the_older_version_is_answered_in_kind() {
    let code = "object.x = 1; return true";
    let server = Acjs::of(&[("P", code)]);
    // The version of the answer is compared with that of the review.
    let verdict = server.ask(&review_of(&fruit()).version("v1beta1"));
    let mut after = fruit();
    after["x"] = json!(1);
    Changed(after).compare(31, &verdict, &fruit());
}

#[test]
fn base64_is_that_of_acjs() {
    let code = "return atob('aGVsbG8=') + btoa('é')";
    check_fruit(vec![(
        38,
        native(&[("P", code)]),
        No(VIOLATES, "P: hellow6k="),
    )]);
}
