//! Event streams end when a new request would be denied.

use serde_json::{Value, json};

use super::browser::Browser;
use super::{Api, of};
use crate::harness::{Connection, Setup, free_port};
use portcullis_testing::tokens::{claims, from_now, secret, token};
use portcullis_testing::{Events, api_files};

fn tenants(role: &str) -> Value {
    json!([
        {"authorization-rule": {"name": "kim", "conditions": [{"preferred_username": "kim"}]}},
        {"role": {"name": "watcher", "permissions": {"read-decisions": true}}},
        {"role": {"name": "looker", "permissions": {"read-graph": true}}},
        {"api-root": {"role-mappings": {"kim": role}, "anonymous-read-access": false}},
        {"tenant": {"name": "t1", "role-mappings": {"kim": "admin"}}},
    ])
}

/// A stream for the bearer of this token.
fn open(api: &Api, token: &str) -> Events {
    let connection = Connection::tcp(api.port).unwrap();
    let bearer = format!("Bearer {token}");
    Events::open(connection, "", &[("authorization", &bearer)])
}

#[test]
fn a_stream_ends_with_its_token() {
    let api = Api::start(&tenants("watcher"));
    let mut brief = claims("corp", "kim");
    brief["exp"] = from_now(3).into();
    assert_eq!(open(&api, &token("corp", &brief)).end(), "expired");
    // Too old, though it says itself that it is good.
    let mut old = claims("short", "kim");
    old["iat"] = from_now(-57).into();
    assert_eq!(open(&api, &token("short", &old)).end(), "expired");
}

#[test]
fn a_stream_ends_with_the_key_of_its_token() {
    let api = Api::start(&tenants("watcher"));
    let events = open(&api, &of("kim"));
    api.gate.folder.write("corp.key", secret("another"));
    assert_eq!(events.end(), "bad_signature");
}

#[test]
fn a_stream_ends_with_the_authenticator_of_its_token() {
    let api = Api::start(&tenants("watcher"));
    let events = open(&api, &of("kim"));
    let file = api.gate.folder.path("portcullis.yaml");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    config["authenticators"][0]["issuer"] = json!("somebody-else");
    std::fs::write(&file, config.to_string()).unwrap();
    assert_eq!(events.end(), "unknown_issuer");
}

#[test]
fn a_stream_ends_with_the_role_of_its_reader() {
    let api = Api::start(&tenants("watcher"));
    let events = open(&api, &of("kim"));
    api.change(&tenants("looker").to_string());
    assert_eq!(events.end(), "forbidden");
}

#[test]
fn a_page_follows_with_its_session_where_only_pages_are_served() {
    let port = free_port();
    let (mut config, files) = api_files(&format!("127.0.0.1:{port}"), Some(&tenants("watcher")));
    config["listeners"][0]["serves"] = json!(["web"]);
    let files = files.into_iter();
    let setup = files.fold(Setup::new(config), |setup, (name, text)| {
        setup.file(&name, text)
    });
    let api = Api::of(setup.start(), port);
    api.get(Some(&of("kim")), "/api/v1/decisions").error(404);
    let mut kim = Browser::new(port);
    assert_eq!(kim.sign_in(&of("kim"), "/").status, 303);
    let jar: Vec<String> = kim.jar.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let headers = [
        ("cookie", jar.join("; ")),
        ("sec-fetch-site", "same-origin".to_owned()),
    ];
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let connection = Connection::tcp(port).unwrap();
    let mut events = Events::open(connection, "?verdict=deny", &headers);
    // After a reload it is looked whether the reader may still know.
    api.gate.hang_up();
    let mut eve = Browser::new(port);
    assert_eq!(eve.sign_in(&of("eve"), "/").status, 303);
    assert_eq!(eve.get("/decisions").status, 403);
    events.until("event: decision");
    assert_eq!(events.data()["user"], "eve");
    let csrf = kim.csrf();
    assert_eq!(kim.post_form("/sign-out", &[("csrf", &csrf)]).status, 303);
    assert_eq!(events.end(), "missing_token");
}
