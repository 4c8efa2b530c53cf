//! The runner protocol, as runners speak it.

use portcullis_testing::request;
use portcullis_testing::tokens::admin;
use serde_json::{Value, json};

use super::Api;
use crate::tests::harness::Answer;

fn api() -> Api {
    Api::of(None, &json!({"ci": {"artifacts": {"maxSize": "64Ki"}}}))
}

/// A job that a runner has.
struct Taken {
    id: u64,
    token: String,
}

impl Api {
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let length = body.len().to_string();
        let mut all = headers.to_vec();
        all.push(("Content-Length", &length));
        self.raw(&request(method, path, &all, body))
    }

    fn say(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = headers.to_vec();
        all.push(("Content-Type", "application/json"));
        self.send(method, path, &all, body.to_string().as_bytes())
    }

    fn runner(&self) -> String {
        let body = json!({"runner_type": "instance_type", "tag_list": ["linux"]});
        let made = self.post(Some(&admin()), "/api/v4/user/runners", &body);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()["token"].as_str().unwrap().to_owned()
    }

    fn submit(&self, more: &Value) -> u64 {
        let mut job = json!({"project": "shop/web", "name": "build", "ref": "main",
            "user": {"id": 1, "username": "alice"}, "tags": ["linux"], "script": ["true"]});
        for (key, value) in more.as_object().unwrap() {
            job[key] = value.clone();
        }
        let made = self.post(Some(&admin()), "/api/v1/jobs", &job);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()["id"].as_u64().unwrap()
    }

    fn poll(&self, runner: &str) -> Answer {
        let body = json!({"token": runner, "info": {"version": "14.7.0"}});
        self.say("POST", "/api/v4/jobs/request", &[], &body)
    }

    fn take(&self, more: &Value) -> Taken {
        let runner = self.runner();
        let id = self.submit(more);
        let given = self.poll(&runner);
        assert_eq!(given.status, 201, "{}", given.text());
        assert_eq!(given.header("content-type"), Some("application/json"));
        let given = given.json();
        assert_eq!(given["id"], id);
        let token = given["token"].as_str().unwrap().to_owned();
        Taken { id, token }
    }

    fn put(&self, taken: &Taken, more: Value) -> Answer {
        let mut body = json!({"token": taken.token});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let path = format!("/api/v4/jobs/{}", taken.id);
        self.say("PUT", &path, &[], &body)
    }

    fn patch(&self, taken: &Taken, range: &str, body: &[u8]) -> Answer {
        let path = format!("/api/v4/jobs/{}/trace?debug_trace=false", taken.id);
        let headers = [
            ("JOB-TOKEN", taken.token.as_str()),
            ("Content-Type", "text/plain"),
            ("Content-Range", range),
        ];
        self.send("PATCH", &path, &headers, body)
    }

    fn upload(&self, taken: &Taken, query: &str, form: &[u8]) -> Answer {
        let path = format!("/api/v4/jobs/{}/artifacts{query}", taken.id);
        let headers = [
            ("JOB-TOKEN", taken.token.as_str()),
            ("Content-Type", "multipart/form-data; boundary=xyz"),
        ];
        self.send("POST", &path, &headers, form)
    }

    fn trace(&self, id: u64) -> String {
        let path = format!("/api/v1/jobs/{id}/trace");
        let answer = self.get(Some(&admin()), &path);
        assert_eq!(answer.status, 200);
        answer.text()
    }

    fn status(&self, id: u64) -> Value {
        let path = format!("/api/v1/jobs/{id}");
        self.get(Some(&admin()), &path).json()["status"].clone()
    }
}

fn form(content: &[u8]) -> Vec<u8> {
    let head = "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a b.zip\"\r\n\
                Content-Type: application/octet-stream\r\n\r\n";
    let tail = "\r\n--xyz\r\nContent-Disposition: form-data; name=\"artifact_format\"\r\n\r\nzip\r\n--xyz--\r\n";
    [head.as_bytes(), content, tail.as_bytes()].concat()
}

#[test]
fn a_runner_registers_verifies_and_changes_its_token() {
    let api = api();
    let token = api.runner();
    let call = |method: &str, path: &str, headers: &[(&str, &str)], body: Value| {
        api.say(method, &format!("/api/v4/runners{path}"), headers, &body)
    };
    let verified = call(
        "POST",
        "/verify",
        &[("X-Request-Id", "r-1")],
        json!({"token": token}),
    );
    assert_eq!(
        (verified.status, verified.header("x-request-id")),
        (200, Some("r-1"))
    );
    assert_eq!(
        verified.json(),
        json!({"id": 1, "token": token, "token_expires_at": null})
    );
    // New runners have it in a header too, old ones register with it.
    let in_header = call("POST", "/verify", &[("RUNNER-TOKEN", &token)], json!({}));
    assert_eq!(in_header.status, 200);
    let old = call("POST", "", &[], json!({"token": token, "tag_list": "a,b"}));
    assert_eq!((old.status, &old.json()["id"]), (201, &json!(1)));
    for body in [json!({"token": "glrt-x"}), json!({"token": 5}), json!({})] {
        let refused = call("POST", "/verify", &[("X-Request-Id", "r-2")], body.clone());
        refused.error(403);
        assert_eq!(refused.header("x-request-id"), Some("r-2"));
        call("POST", "", &[], body.clone()).error(403);
        call("POST", "/reset_authentication_token", &[], body).error(403);
    }
    let reset = call(
        "POST",
        "/reset_authentication_token",
        &[],
        json!({"token": token}),
    );
    assert_eq!(reset.status, 201);
    let new = reset.json()["token"].clone();
    call("POST", "/verify", &[], json!({"token": token})).error(403);
    let gone = call(
        "DELETE",
        "/managers",
        &[],
        json!({"token": new, "system_id": "s_1"}),
    );
    assert_eq!(gone.status, 204);
    call("DELETE", "/managers", &[], json!({"token": new})).error(422);
    assert_eq!(
        call("POST", "/verify", &[], json!({"token": new})).status,
        200
    );
    assert_eq!(call("DELETE", "", &[], json!({"token": new})).status, 204);
    call("POST", "/verify", &[], json!({"token": new})).error(403);
}

#[test]
fn a_job_runs_as_runners_of_all_versions_report() {
    let api = api();
    let runner = api.runner();
    let nothing = api.poll(&runner);
    assert_eq!(nothing.status, 204);
    assert!(nothing.header("x-gitlab-last-update").is_some());
    let body = json!({"token": "glrt-unknown"});
    api.say("POST", "/api/v4/jobs/request", &[], &body)
        .error(403);
    let taken = api.take(&json!({}));
    let begun = api.put(
        &taken,
        json!({"state": "running", "info": {"version": "19.0.0"}}),
    );
    assert_eq!(begun.status, 200, "{}", begun.text());
    assert_eq!(begun.header("job-status"), Some("running"));
    assert!(begun.header("x-gitlab-trace-update-interval").is_some());
    let appended = api.patch(&taken, "0-8", b"123456789");
    assert_eq!(
        (appended.status, appended.header("range")),
        (202, Some("0-9"))
    );
    assert_eq!(appended.header("job-status"), Some("running"));
    let output = json!({"checksum": "crc32:00000001", "bytesize": 9});
    let wrong = api.put(&taken, json!({"state": "success", "output": output}));
    wrong.error(412);
    assert_eq!(api.trace(taken.id), "");
    assert_eq!(api.patch(&taken, "0-8", b"123456789").status, 202);
    let output = json!({"checksum": "crc32:cbf43926", "bytesize": 9});
    for _ in 0..2 {
        let done = json!({"state": "success", "checksum": "crc32:cbf43926", "output": output});
        let done = api.put(&taken, done);
        assert_eq!((done.status, done.header("job-status")), (200, None));
    }
    assert_eq!(api.trace(taken.id), "123456789");
    let odd = api.take(&json!({}));
    api.put(&odd, json!({"state": "asleep"})).error(422);
    api.put(&odd, json!({})).error(422);
    let failed = json!({"state": "failed", "failure_reason": "script_failure", "exit_code": 5_000_000_000_u64});
    assert_eq!(api.put(&odd, failed).status, 200);
    assert_eq!(api.status(odd.id), "failed");
}

#[test]
fn a_wrong_token_gets_403_and_changes_nothing() {
    // Case 55.
    let api = api();
    let runner = api.runner();
    let mine = api.take(&json!({}));
    let other = api.take(&json!({}));
    for token in [runner.as_str(), &other.token, "glcbt-nonsense", ""] {
        let wrong = Taken {
            id: mine.id,
            token: token.to_owned(),
        };
        for answer in [
            api.put(&wrong, json!({"state": "failed"})),
            api.put(&wrong, json!({"state": "asleep"})),
            api.upload(&wrong, "", &form(b"x")),
        ] {
            answer.error(403);
            assert_eq!(answer.header("job-status"), None);
        }
        api.patch(&wrong, "0-3", b"evil").error(403);
        let download = format!("/api/v4/jobs/{}/artifacts", mine.id);
        api.send("GET", &download, &[], b"").error(403);
    }
    for path in ["/api/v4/jobs/x", "/api/v4/jobs/99999"] {
        let body = json!({"token": mine.token, "state": "running"});
        api.say("PUT", path, &[], &body).error(403);
    }
    assert_eq!(api.status(mine.id), "running");
    assert_eq!(api.trace(mine.id), "");
}

#[test]
fn a_trace_at_a_wrong_place_is_told_the_right_one() {
    // Case 56.
    let api = api();
    let taken = api.take(&json!({}));
    let at = |range: &str, body: &[u8]| {
        let answer = api.patch(&taken, range, body);
        (answer.status, answer.header("range").map(str::to_owned))
    };
    let said = |status, range: &str| (status, Some(range.to_owned()));
    assert_eq!(at("0-4", b"hello"), said(202, "0-5"));
    assert_eq!(at("10-13", b"late"), said(416, "0-5"));
    // Where it ends is seen from what was sent.
    assert_eq!(at("5-99999", b" world"), said(202, "0-11"));
    for range in ["", "x", "-5", "5", "18446744073709551616-1"] {
        assert_eq!(api.patch(&taken, range, b"x").status, 400, "{range}");
    }
    assert_eq!(api.trace(taken.id), "hello world");
    let tail = |tail: &str| {
        let path = format!("/api/v1/jobs/{}/trace?tail={tail}", taken.id);
        let answer = api.get(Some(&admin()), &path);
        (answer.status, answer.text())
    };
    assert_eq!(tail("5"), (200, "world".to_owned()));
    assert_eq!(tail("1048576"), (200, "hello world".to_owned()));
    for wrong in ["0", "1048577", "-1", "x"] {
        assert_eq!(tail(wrong).0, 400, "{wrong}");
    }
    let large = vec![b'x'; (4 << 20) + 1];
    assert_eq!(api.patch(&taken, "11-9", &large).status, 413);
}

#[test]
fn a_canceled_job_stops_its_runner() {
    // Case 57.
    let api = api();
    let taken = api.take(&json!({}));
    assert_eq!(api.put(&taken, json!({"state": "running"})).status, 200);
    let path = format!("/api/v1/jobs/{}/cancel", taken.id);
    assert_eq!(api.call(Some(&admin()), "POST", &path, None).status, 200);
    for answer in [
        api.patch(&taken, "0-0", b"x"),
        api.put(&taken, json!({"state": "running"})),
        api.put(&taken, json!({"state": "failed"})),
        api.upload(&taken, "", &form(b"x")),
    ] {
        answer.error(403);
        assert_eq!(answer.header("job-status"), Some("canceled"));
    }
}

#[test]
fn artifacts_are_uploaded_and_downloaded() {
    let api = api();
    let taken = api.take(&json!({"artifacts": {"paths": ["out"]}}));
    let path = format!("/api/v4/jobs/{}/artifacts", taken.id);
    let token = [("JOB-TOKEN", taken.token.as_str())];
    api.send("GET", &path, &token, b"").error(404);
    let content: Vec<u8> = (0..50_000_u32).map(|n| (n % 253) as u8).collect();
    let stored = api.upload(
        &taken,
        "?artifact_type=archive&expire_in=1+week",
        &form(&content),
    );
    assert_eq!(stored.status, 201, "{}", stored.text());
    assert_eq!(stored.json()["size"], 50_000);
    let found = api.send("GET", &format!("{path}?direct_download=true"), &token, b"");
    assert_eq!(found.status, 200);
    assert!(found.body == content);
    assert_eq!(found.header("content-length"), Some("50000"));
    let disposition = found.header("content-disposition").unwrap();
    assert_eq!(disposition, "attachment; filename=\".._a_b.zip\"");
    // What is no form, or too large, leaves what was there.
    for (form, status) in [
        (form(&[0; 65_537]), 413),
        (form(&[0; 300_000]), 413),
        (b"--xyz\r\n".to_vec(), 400),
        (b"no form at all".to_vec(), 400),
        (Vec::new(), 400),
        (
            b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--xyz--\r\n".to_vec(),
            400,
        ),
    ] {
        let answer = api.upload(&taken, "", &form);
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(
        api.upload(&taken, "?artifact_type=../x", &form(b"x"))
            .status,
        422
    );
    let json = [token[0], ("Content-Type", "application/json")];
    api.send("POST", &path, &json, b"{}").error(415);
    assert!(api.send("GET", &path, &token, b"").body == content);
}
