//! Requests that are too large.

use serde_json::json;

use super::http::{chunked, good};
use crate::tests::harness::{Gate, Review, Verdict, chain, pod, request};

const MIB: usize = 1 << 20;

/// A review whose object has an annotation of this many bytes.
fn of_size(bytes: usize) -> Review {
    let mut pod = pod();
    pod["metadata"]["annotations"] = json!({"x": "y".repeat(bytes)});
    Review::create(&pod)
}

#[test]
fn a_body_over_the_limit_is_413_and_limits_move_it() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    gate.ask("/validate", &of_size(2_900_000)).allowed();
    gate.post("/validate", &of_size(4 * MIB).value()).error(413);
    gate.judges();
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = json!({"body": "64Ki"});
    let gate = Gate::start(config);
    gate.ask("/validate", &of_size(50_000)).allowed();
    gate.post("/validate", &of_size(70_000).value()).error(413);
}

#[test]
fn a_declared_length_over_the_limit_is_413_before_the_body_comes() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let length = (3 * MIB + 1).to_string();
    for more in [&[][..], &[("Expect", "100-continue")]] {
        let headers = [&[("Content-Length", length.as_str())], more].concat();
        let mut connection = gate.connect();
        connection
            .send(&request("POST", "/validate", &headers, b"{"))
            .unwrap();
        connection.receive().expect("dropped").error(413);
    }
    gate.judges();
}

#[test]
fn an_absurd_declared_length_is_refused_too() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    // As large as a length can be; a number that the HTTP library reserves and takes for
    // too large a head; and one that is not a length at all.
    for (length, status) in [
        ("9223372036854775807", 413),
        ("18446744073709551614", 431),
        ("99999999999999999999", 400),
    ] {
        let mut connection = gate.connect();
        connection
            .send(&request(
                "POST",
                "/validate",
                &[("Content-Length", length)],
                b"{",
            ))
            .unwrap();
        connection.receive().expect("dropped").error(status);
    }
}

#[test]
fn a_chunked_body_is_taken_up_to_the_limit() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let review = of_size(100_000);
    let answer = gate
        .raw(&chunked(review.text().as_bytes(), 1000))
        .expect("dropped");
    Verdict::of(&answer, &review).allowed();
    let large = of_size(4 * MIB).text();
    gate.raw(&chunked(large.as_bytes(), 64 << 10))
        .expect("dropped")
        .error(413);
    gate.raw(&chunked(large.as_bytes(), large.len()))
        .expect("dropped")
        .error(413);
    gate.judges();
}

#[test]
fn headers_over_the_limit_are_431_and_limits_move_it() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let mut config = chain(&["AlwaysAdmit"]);
    config["limits"] = json!({"headers": "8Ki"});
    let small = Gate::start(config);
    let headed = |gate: &Gate, bytes: usize| {
        let long = "a".repeat(bytes);
        gate.raw(&request("POST", "/validate", &[("X-Long", &long)], &good()))
            .expect("dropped")
    };
    assert_eq!(headed(&gate, 40_000).status, 200);
    headed(&gate, 90_000).error(431);
    assert_eq!(headed(&small, 5_000).status, 200);
    headed(&small, 12_000).error(431);
    gate.judges();
}

#[test]
fn headers_far_over_the_limit_are_431_in_the_same_shape() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let long = "a".repeat(MIB);
    gate.raw(&request("POST", "/validate", &[("X-Long", &long)], &good()))
        .expect("dropped")
        .error(431);
    gate.judges();
}

#[test]
fn very_many_headers_are_an_error_in_the_same_shape() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let many: Vec<(&str, &str)> = vec![("x-a", "b"); 1000];
    gate.raw(&request("POST", "/validate", &many, &good()))
        .expect("dropped")
        .error(431);
    gate.judges();
}

#[test]
fn a_long_path_is_an_error_in_the_same_shape() {
    let gate = Gate::of(&["AlwaysAdmit"]);
    let path = format!("/validate/{}", "a".repeat(100_000));
    let answer = gate
        .raw(&request("POST", &path, &[], &good()))
        .expect("dropped");
    assert!(matches!(answer.status, 414 | 431), "{answer:?}");
    answer.error(answer.status);
    gate.judges();
}
