//! `portcullis pipeline` against a small server.

use serde_json::json;

use crate::harness::{Ran, Rest, run};

#[track_caller]
fn pipeline(server: &Rest, arguments: &[&str]) -> Ran {
    let access = ["--server", &server.url, "--token", "geheim"];
    run(&[&["pipeline"], arguments, &access].concat())
}

const ITEM: [&str; 6] = ["--tenant", "t1", "--project", "org/p", "--pipeline", "post"];

#[test]
fn things_are_enqueued_and_dequeued() {
    for (verb, more, body) in [
        (
            "enqueue",
            &["--change", "12,1"][..],
            json!({"pipeline": "post", "change": "12,1"}),
        ),
        (
            "enqueue",
            &["--ref", "refs/heads/main", "--newrev", "abc"],
            json!({"pipeline": "post", "ref": "refs/heads/main", "oldrev": null, "newrev": "abc"}),
        ),
        (
            "dequeue",
            &["--change", "12,1"],
            json!({"pipeline": "post", "change": "12,1"}),
        ),
        (
            "dequeue",
            &["--ref", "refs/heads/main"],
            json!({"pipeline": "post", "ref": "refs/heads/main"}),
        ),
    ] {
        let server = Rest::always(200, &json!(true));
        let ran = pipeline(&server, &[&[verb], &ITEM[..], more].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        assert!(
            ran.err.contains(more[1]) && ran.err.contains("post"),
            "{}",
            ran.err
        );
        let call = server.call();
        assert_eq!(
            call.line,
            format!("POST /api/tenant/t1/project/org%2Fp/{verb}")
        );
        assert_eq!(call.body, Some(body));
    }
}

#[test]
fn changes_are_promoted_in_their_order() {
    let server = Rest::always(200, &json!(true));
    let base = ["promote", "--tenant", "t1", "--pipeline", "gate"];
    let ran = pipeline(
        &server,
        &[&base[..], &["--change", "2,1", "--change", "1,1"]].concat(),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let call = server.call();
    assert_eq!(call.line, "POST /api/tenant/t1/promote");
    assert_eq!(
        call.body,
        Some(json!({"pipeline": "gate", "changes": ["2,1", "1,1"]}))
    );
    assert_eq!(pipeline(&server, &base).code, Some(2), "no change");
}

#[test]
fn one_of_change_and_reference_is_needed() {
    let server = Rest::always(200, &json!(true));
    for verb in ["enqueue", "dequeue"] {
        for wrong in [&[][..], &["--change", "1,1", "--ref", "a"]] {
            let ran = pipeline(&server, &[&[verb], &ITEM[..], wrong].concat());
            assert_eq!(ran.code, Some(2), "{verb} {wrong:?}");
        }
    }
    let wrong = ["--change", "1,1", "--newrev", "abc"];
    let ran = pipeline(&server, &[&["enqueue"], &ITEM[..], &wrong].concat());
    assert_eq!(ran.code, Some(2));
    assert!(server.calls().is_empty());
}

#[test]
fn what_is_not_known_is_a_6_in_the_servers_words() {
    let server = Rest::refusing(404, "nothing is known of change 12,1 in post", &json!(null));
    let ran = pipeline(
        &server,
        &[&["enqueue"], &ITEM[..], &["--change", "12,1"]].concat(),
    );
    assert_eq!(ran.code, Some(6));
    ran.says(&["nothing is known of change 12,1 in post"]);
}
