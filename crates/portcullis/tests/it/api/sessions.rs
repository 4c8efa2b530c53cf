//! Users with a browser and a token: signing in, staying signed in, and signing out.

use std::path::Path;

use serde_json::{Value, json};

use super::browser::{Browser, hidden};
use super::{Api, admin, of, setup};
use crate::harness::{Gate, until};
use portcullis_testing::tokens::{claims, from_now, secret, token};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "kim", "conditions": [{"preferred_username": "kim"}]}},
        {"role": {"name": "watcher", "permissions": {"read-graph": true, "read-decisions": true}}},
        {"api-root": {"role-mappings": {"kim": "watcher"}, "anonymous-read-access": false}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "role-mappings": {"kim": "admin"}}},
    ])
}

const GRAPH: &str = "/debug/resource-dependency-graph";

fn start() -> Api {
    Api::start(&tenants())
}

#[test]
fn without_a_session_a_page_leads_to_the_form_and_back() {
    let api = start();
    let mut browser = Browser::new(api.port);
    let answer = browser.get(&format!("{GRAPH}?kind=A%26B"));
    assert_eq!(answer.status, 303);
    let to = answer.header("location").unwrap().to_owned();
    assert_eq!(
        to,
        "/sign-in?next=%2Fdebug%2Fresource-dependency-graph%3Fkind%3DA%2526B"
    );
    let page = browser.get(&to);
    let text = page.text();
    assert_eq!(hidden(&text, "next"), format!("{GRAPH}?kind=A%26B"));
    assert!(
        text.contains("<label>Token <input name=\"token\"")
            && !text.contains("<script>")
            && !text.contains("style=")
    );
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert!(
        page.header("content-security-policy")
            .unwrap()
            .contains("form-action 'self'")
    );
    // Programs get what they always got.
    api.get(None, GRAPH).error(401);
    let signed_in = browser.sign_in(&of("kim"), GRAPH);
    assert_eq!(signed_in.status, 303, "{}", signed_in.text());
    assert_eq!(signed_in.header("location"), Some(GRAPH));
    // There is no profile here, and the page says so.
    let page = browser.get(GRAPH);
    assert_eq!(page.status, 404);
    assert!(
        page.text().contains("<h1>Not found</h1>"),
        "{}",
        page.text()
    );
    // Another user may not read it, and a page says what is missing.
    let mut bob = Browser::new(api.port);
    assert_eq!(bob.sign_in(&of("bob"), GRAPH).status, 303);
    let page = bob.get(GRAPH);
    assert_eq!(page.status, 403);
    assert!(page.text().contains("read-graph") && page.text().contains("<main "));
}

#[test]
fn what_is_no_good_makes_no_session() {
    let api = start();
    let mut expired = claims("corp", "kim");
    expired["exp"] = from_now(-60).into();
    for bad in [
        "",
        "garbage",
        &token("corp", &expired),
        &token("op", &claims("corp", "kim")),
    ] {
        let mut browser = Browser::new(api.port);
        let answer = browser.sign_in(bad, "/docs");
        assert_eq!(answer.status, 401, "{bad}");
        let text = answer.text();
        assert!(text.contains("role=\"alert\"") && text.contains("name=\"token\""));
        assert!(bad.is_empty() || !text.contains(bad));
        assert!(!browser.is_signed_in());
    }
    // Forms of other browsers, of none, and of other sites.
    let good = of("kim");
    let mut other = Browser::new(api.port);
    let csrf = hidden(&other.get("/sign-in").text(), "csrf");
    let mut browser = Browser::new(api.port);
    browser.get("/sign-in");
    for csrf in ["", "A", &csrf] {
        let answer = browser.post_form("/sign-in", &[("token", &good), ("csrf", csrf)]);
        assert_eq!(answer.status, 403, "{csrf}");
        assert!(answer.text().contains("<h1>Forbidden</h1>"));
    }
    let csrf = hidden(&browser.get("/sign-in").text(), "csrf");
    let body = format!("token={good}&csrf={csrf}");
    let answer = browser.send(
        "POST",
        "/sign-in",
        &[("Origin", "https://evil.example")],
        &body,
    );
    assert_eq!(answer.status, 403);
    assert!(!browser.is_signed_in());
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:x",
    ] {
        let answer = Browser::new(api.port).sign_in(&good, next);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/")),
            "{next}"
        );
    }
}

#[test]
fn a_session_means_what_its_token_means() {
    let api = start();
    let mut browser = Browser::new(api.port);
    browser.sign_in(&admin(), "/");
    let mine = browser.get("/api/tenant/t1/authorizations").json();
    assert_eq!(mine["zuul"]["admin"], true);
    assert!(browser.get("/").text().contains("oscar"));
    let mut kim = Browser::new(api.port);
    kim.sign_in(&of("kim"), "/");
    assert!(kim.is_signed_in());
    // Another key of its authenticator ends it; others go on.
    api.gate.folder.write("op.key", secret("another"));
    until("the session ended", || !browser.is_signed_in());
    assert!(kim.is_signed_in());
    let mut short = claims("corp", "kim");
    short["exp"] = from_now(3).into();
    let mut brief = Browser::new(api.port);
    assert_eq!(brief.sign_in(&token("corp", &short), "/").status, 303);
    until("the session ended with its token", || !brief.is_signed_in());
}

#[test]
fn signing_out_makes_copies_of_the_cookie_worthless() {
    let (setup, port) = setup(Some(&tenants()));
    let data = setup.path("data");
    let mut gate = setup.start();
    let mut browser = Browser::new(port);
    browser.sign_in(&of("kim"), "/");
    let mut second = Browser::new(port);
    second.sign_in(&of("kim"), "/");
    let mut thief = browser.clone();
    assert!(thief.is_signed_in());
    assert_eq!(browser.post_form("/sign-out", &[]).status, 403);
    assert_eq!(
        browser.post_form("/sign-out", &[("csrf", "AAAA")]).status,
        403
    );
    assert!(thief.is_signed_in());
    let csrf = browser.csrf();
    let answer = browser.post_form("/sign-out", &[("csrf", &csrf)]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert!(!browser.is_signed_in() && !thief.is_signed_in());
    assert!(second.is_signed_in(), "another session of the same person");
    // It holds over a restart: the store has it.
    gate.terminate();
    assert!(gate.wait().success());
    let again = start_with(&data);
    let mut thief = Browser {
        port: again.1,
        ..thief
    };
    let mut second = Browser {
        port: again.1,
        ..second
    };
    assert!(second.is_signed_in() && !thief.is_signed_in());
}

/// Another server with the same data and keys, on ports of its own.
fn start_with(data: &Path) -> (Gate, u16) {
    let (setup, port) = setup(Some(&tenants()));
    let gate = setup.data_dir(data.to_str().unwrap().to_owned()).start();
    (gate, port)
}

#[test]
fn sessions_of_a_subject_end_on_every_server() {
    let (first_setup, port) = setup(Some(&tenants()));
    let data = first_setup.path("data");
    let gate = first_setup.start();
    let api = Api::of(gate, port);
    let (_second, second_port) = start_with(&data);
    let mut kim = Browser::new(api.port);
    kim.sign_in(&of("kim"), "/");
    let mut there = Browser {
        port: second_port,
        ..kim.clone()
    };
    let mut bob = Browser::new(api.port);
    bob.sign_in(&of("bob"), "/");
    assert!(kim.is_signed_in() && there.is_signed_in());
    let path = "/api/v1/sessions?subject=kim";
    api.call(None, "DELETE", path, None).error(401);
    api.call(Some(&of("kim")), "DELETE", path, None).error(403);
    api.call(Some(&admin()), "DELETE", "/api/v1/sessions", None)
        .error(400);
    assert!(kim.is_signed_in());
    assert_eq!(api.call(Some(&admin()), "DELETE", path, None).status, 204);
    assert!(!kim.is_signed_in());
    assert!(bob.is_signed_in());
    until("the other server knows", || !there.is_signed_in());
    // A session that begins afterwards is valid.
    until("a new session counts", || {
        let mut again = Browser::new(api.port);
        again.sign_in(&of("kim"), "/");
        again.is_signed_in()
    });
}

#[test]
fn the_first_page_says_what_there_is() {
    let api = start();
    let about = api.get(None, "/").json();
    assert_eq!(about["name"], "portcullis");
    assert_eq!(about["links"]["docs"], "/docs");
    assert!(about["version"].is_string());
    let mut browser = Browser::new(api.port);
    let answer = browser.get("/");
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/sign-in?next=%2F"))
    );
    browser.sign_in(&of("kim"), "/");
    let text = browser.get("/").text();
    assert!(
        text.contains("kim")
            && text.contains("href=\"/docs\"")
            && text.contains("action=\"/sign-out\"")
    );
}
