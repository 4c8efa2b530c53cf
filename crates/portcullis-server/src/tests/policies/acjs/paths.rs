//! Every path and method is a review, but for health and metrics.

use crate::tests::harness::{Acjs, Verdict};
use portcullis_testing::policies::{fruit, review_of};

const SAYS: &str = "return ac.HTTPRequest.Method + ' ' + ac.HTTPRequest.RequestURI";

#[test]
fn every_path_and_method_is_a_review() {
    let server = Acjs::of(&[("P", SAYS)]);
    let review = review_of(&fruit());
    for (method, path) in [
        ("POST", "/"),
        ("PUT", "/images/"),
        ("PATCH", "/a/b/c?x=1"),
        ("DELETE", "/healthz"),
        ("POST", "/livez"),
        ("POST", "/readyz?verbose"),
        ("PUT", "/metrics"),
        ("POST", "/mutate"),
        ("POST", "/validate"),
        ("POST", "/authorize"),
        ("GET", "/livez/x"),
        ("GET", "/images/"),
        ("OPTIONS", "/x"),
        ("QUERY", "/x"),
    ] {
        let answer = server.send(method, path, &[], review.text().as_bytes());
        let verdict = Verdict::of(&answer, &review);
        assert_eq!(verdict.message(), format!("P: {method} {path}"));
    }
}

#[test]
fn validate_is_a_path_like_any_other() {
    let server = Acjs::of(&[("P", "object.x = 1; return true")]);
    let verdict = server.ask_at("/validate", &review_of(&fruit()));
    assert_eq!(verdict.patched(&fruit())["x"], 1);
}

#[test]
fn a_get_without_a_body_is_a_fault() {
    let server = Acjs::of(&[("P", "return true")]);
    server.send("GET", "/healthz", &[], b"").error(400);
}

#[test]
fn health_and_metrics_are_told() {
    let server = Acjs::of(&[("P", "return true")]);
    for path in ["/livez", "/readyz", "/readyz?verbose", "/metrics"] {
        let got = server.send("GET", path, &[], b"");
        assert_eq!(got.status, 200, "{path}");
        let head = server.connect().ask("HEAD", path, b"").unwrap();
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    server.ask(&review_of(&fruit())).allowed();
    let reviews = server
        .metrics()
        .total("portcullis_admission_reviews_total", &[]);
    assert!((reviews - 1.0).abs() < f64::EPSILON, "{reviews}");
}

#[test]
fn the_type_of_the_body_is_not_looked_at() {
    let server = Acjs::of(&[("P", "return true")]);
    let review = review_of(&fruit());
    for kind in [
        "application/x-www-form-urlencoded",
        "text/plain",
        "nonsense",
    ] {
        let headers = [("Content-Type", kind)];
        let answer = server.send("POST", "/", &headers, review.text().as_bytes());
        Verdict::of(&answer, &review).allowed();
    }
}
