//! Reviews that are forwarded to another admission controller.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use portcullis_testing::controller::{Controller, no, yes};
use portcullis_testing::policies::{fruit, named, native, review_of};

use crate::tests::harness::{Acjs, Folder, Gate, Pki, Setup, Verdict, until};

/// Says no to what is called `no`, and yes to everything else.
fn by_name(review: &Value) -> (u16, String) {
    match review["request"]["name"].as_str() {
        Some("no") => no(review, "not by me"),
        Some("silent") => (200, json!({"response": {"allowed": false}}).to_string()),
        Some("broken") => (500, "out of order".to_owned()),
        Some("nonsense") => (200, "<html>".to_owned()),
        Some("foreign") => (
            200,
            json!({"response": {"uid": "another", "allowed": true}}).to_string(),
        ),
        _ => yes(review),
    }
}

fn forward_to(url: &str) -> String {
    format!("return forwardToAdmissionController({url:?})")
}

#[test]
fn to_a_unix_socket() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), by_name);
    let server = Acjs::of(&[("P", &forward_to(&other.url))]);
    server.ask(&named("yes")).allowed();
    let verdict = server.ask(&named("no"));
    assert_eq!(verdict.message(), "P: not by me");
    assert_eq!(verdict.0["status"]["reason"], "VIOLATES_POLICY");
    server.ask(&named("silent")).denied("P: ");
    for name in ["broken", "nonsense", "foreign"] {
        let verdict = server.ask(&named(name));
        verdict.denied("P: unable to evaluate policy:");
        assert_eq!(verdict.0["status"]["reason"], "INTERNAL_ERROR", "{name}");
    }
}

#[test]
fn over_https_with_an_authority_of_ones_own() {
    let pki = Pki::new();
    let other = Controller::https(&pki, by_name);
    let mut config = native(&[("P", &forward_to(&other.url))]);
    let (listed, _) = other.url.rsplit_once('/').unwrap();
    config["hostCalls"] = json!({"forwardTo": [format!("{listed}/*")], "forwardCA": "ca.crt"});
    let gate = Setup::new(config.clone())
        .file("ca.crt", &pki.authority.certificate_pem)
        .start();
    gate.ask("/validate", &named("yes")).allowed();
    gate.ask("/validate", &named("no")).denied("P: not by me");
    // A controller without a trusted certificate is not asked.
    let gate = Setup::new(config)
        .file("ca.crt", &Pki::new().authority.certificate_pem)
        .start();
    let seen = other.seen().len();
    let verdict = gate.ask("/validate", &named("yes"));
    verdict.denied("P: unable to evaluate policy:");
    assert_eq!(other.seen().len(), seen);
}

#[test]
fn a_native_file_forwards_only_where_it_says() {
    let folder = Folder::new();
    let (listed, other) = (
        Controller::unix(&folder.path("listed.sock"), by_name),
        Controller::unix(&folder.path("other.sock"), by_name),
    );
    let code = "return forwardToAdmissionController(req.userInfo.username)";
    let asked = |gate: &Gate, url: &str| {
        let review = named("yes").set("userInfo", json!({"username": url}));
        gate.ask("/validate", &review)
    };
    let gate = Gate::start(native(&[("P", code)]));
    asked(&gate, &listed.url).denied("hostCalls.forwardTo");
    let mut config = native(&[("P", code)]);
    config["hostCalls"] = json!({"forwardTo": [format!("unix://{}", listed.url)]});
    let gate = Gate::start(config);
    asked(&gate, &listed.url).allowed();
    asked(&gate, &other.url).denied("hostCalls.forwardTo");
    asked(&gate, "https://other.example/x").denied("hostCalls.forwardTo");
    assert_eq!((listed.seen().len(), other.seen().len()), (1, 0));
}

#[test]
fn plain_http_on_loopback_is_good_where_it_is_listed() {
    let other = Controller::http(by_name);
    let mut config = native(&[("P", &forward_to(&other.url))]);
    config["hostCalls"] = json!({"forwardTo": ["http://127.0.0.1:1/*"]});
    let gate = Gate::start(config.clone());
    gate.ask("/validate", &named("yes"))
        .denied("hostCalls.forwardTo");
    config["hostCalls"] = json!({"forwardTo": [other.url]});
    let gate = Gate::start(config);
    gate.ask("/validate", &named("yes")).allowed();
    gate.ask("/validate", &named("no")).denied("P: not by me");
}

#[test]
fn an_acjs_file_forwards_to_plain_http_on_loopback() {
    let other = Controller::http(by_name);
    let server = Acjs::of(&[("P", &forward_to(&other.url))]);
    server.ask(&named("yes")).allowed();
    server.ask(&named("no")).denied("P: not by me");
}

#[test]
fn an_acjs_file_with_a_list_forwards_only_there() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), by_name);
    let mut config = native(&[("P", &forward_to(&other.url))]);
    config["hostCalls"] = json!({"forwardTo": ["unix:///run/elsewhere.sock"]});
    let server = Acjs::start(config);
    server.ask(&named("yes")).denied("hostCalls.forwardTo");
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn the_other_controller_gets_the_whole_review() {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), by_name);
    let code = format!(
        "object.x = 1\nconst first = forwardToAdmissionController({0:?})\nif (first !== true) return first\nreturn forwardToAdmissionController({0:?}, {{current: true}})",
        other.url
    );
    let server = Acjs::of(&[("P", &code)]);
    let review = review_of(&fruit());
    let verdict = server.ask(&review);
    verdict.allowed();
    assert_eq!(verdict.patched(&fruit())["x"], 1);
    let seen = other.seen();
    assert_eq!(seen.len(), 2);
    let mut wanted = review.value();
    for key in ["apiVersion", "kind"] {
        assert_eq!(seen[0][key], wanted[key]);
    }
    for key in [
        "uid",
        "kind",
        "resource",
        "name",
        "namespace",
        "operation",
        "userInfo",
        "object",
    ] {
        assert_eq!(seen[0]["request"][key], wanted["request"][key], "{key}");
    }
    // The object as it is now only if asked for.
    wanted["request"]["object"]["x"] = json!(1);
    assert_eq!(seen[1]["request"]["object"], wanted["request"]["object"]);
}

#[test]
fn nobody_there_is_an_error_that_a_policy_may_catch() {
    let folder = Folder::new();
    let url = folder.text("nobody.sock");
    let code = format!(
        "try {{ {} }} catch (e) {{ return 'caught ' + (e instanceof Error) }}",
        forward_to(&url)
    );
    let server = Acjs::of(&[("P", &code)]);
    server.ask(&named("yes")).denied("P: caught true");
}

/// Forwards to a controller that never answers, with this policy around the call.
fn unanswered(code: impl Fn(&str) -> String) -> Verdict {
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), by_name);
    other.hold();
    let mut config = native(&[("P", &code(&forward_to(&other.url)))]);
    config["limits"] = json!({"deadline": "1s"});
    Acjs::start(config).ask(&named("yes"))
}

#[test]
fn a_controller_that_never_answers_costs_the_deadline() {
    let verdict = unanswered(str::to_owned);
    verdict.denied("P: ");
    verdict.denied("deadline");
}

#[test]
fn that_deadline_can_not_be_caught() {
    let verdict = unanswered(|call| format!("try {{ {call} }} catch {{ return true }}"));
    verdict.denied("P: ");
    verdict.denied("deadline");
}

#[test]
fn waiting_for_others_keeps_nobody_else_waiting() {
    const WAITING: usize = 64;
    let folder = Folder::new();
    let other = Controller::unix(&folder.path("other.sock"), by_name);
    other.hold();
    let code = format!(
        "if (req.name === 'trivial') return true\n{}",
        forward_to(&other.url)
    );
    let mut config = native(&[("P", &code)]);
    config["hostCalls"] = json!({"forwardTo": [other.url]});
    config["limits"] = json!({"deadline": "25s", "requestDeadline": "28s"});
    let gate = Gate::start(config);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let slow: Vec<_> = (0..WAITING)
            .map(|n| {
                let (gate, answered) = (&gate, &answered);
                scope.spawn(move || {
                    let review = named(if n % 2 == 0 { "yes" } else { "no" });
                    let mut connection = gate.connect();
                    let answer = connection.post("/validate", &review.value()).unwrap();
                    answered.fetch_add(1, Ordering::SeqCst);
                    let verdict = Verdict::of(&answer, &review);
                    assert_eq!(verdict.is_allowed(), n % 2 == 0, "{}", verdict.message());
                })
            })
            .collect();
        until("all are waiting", || other.seen().len() == WAITING);
        for _ in 0..3 {
            gate.ask("/validate", &named("trivial")).allowed();
        }
        assert_eq!(answered.load(Ordering::SeqCst), 0, "nobody was waiting");
        other.release();
        for thread in slow {
            thread.join().unwrap();
        }
    });
}
