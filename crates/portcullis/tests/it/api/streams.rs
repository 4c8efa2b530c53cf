//! Event streams end when a new request would be denied.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};

use serde_json::{Value, json};

use super::{Api, of};
use crate::harness::PATIENCE;
use portcullis_testing::tokens::{claims, from_now, secret, token};

fn tenants(role: &str) -> Value {
    json!([
        {"authorization-rule": {"name": "kim", "conditions": [{"preferred_username": "kim"}]}},
        {"role": {"name": "watcher", "permissions": {"read-decisions": true}}},
        {"role": {"name": "looker", "permissions": {"read-graph": true}}},
        {"api-root": {"role-mappings": {"kim": role}, "anonymous-read-access": false}},
        {"tenant": {"name": "t1", "role-mappings": {"kim": "admin"}}},
    ])
}

/// An open stream.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(port: u16, token: &str) -> Self {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!(
            "GET /api/v1/decisions/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = Self(BufReader::new(stream));
        assert_eq!(events.until("HTTP/1.1 ").trim_end(), "HTTP/1.1 200 OK");
        // From now on everything comes.
        events.until(": keep-alive");
        events
    }

    /// The next line that begins so.
    #[track_caller]
    fn until(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).expect("nothing more comes");
            assert!(read > 0, "the stream ended without a word");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Why it ended.
    #[track_caller]
    fn end(mut self) -> String {
        self.until("event: end");
        let data = self.until("data: ");
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert!(data["message"].is_string(), "{data}");
        // The answer is whole.
        self.until("0\r\n");
        data["code"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_stream_ends_with_its_token() {
    let api = Api::start(&tenants("watcher"));
    let mut brief = claims("corp", "kim");
    brief["exp"] = from_now(3).into();
    assert_eq!(
        Events::open(api.port, &token("corp", &brief)).end(),
        "expired"
    );
    // Too old, though it says itself that it is good.
    let mut old = claims("short", "kim");
    old["iat"] = from_now(-57).into();
    assert_eq!(
        Events::open(api.port, &token("short", &old)).end(),
        "expired"
    );
}

#[test]
fn a_stream_ends_with_the_key_of_its_token() {
    let api = Api::start(&tenants("watcher"));
    let events = Events::open(api.port, &of("kim"));
    api.gate.folder.write("corp.key", secret("another"));
    assert_eq!(events.end(), "bad_signature");
}

#[test]
fn a_stream_ends_with_the_authenticator_of_its_token() {
    let api = Api::start(&tenants("watcher"));
    let events = Events::open(api.port, &of("kim"));
    let file = api.gate.folder.path("portcullis.yaml");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    config["authenticators"][0]["issuer"] = json!("somebody-else");
    std::fs::write(&file, config.to_string()).unwrap();
    assert_eq!(events.end(), "unknown_issuer");
}

#[test]
fn a_stream_ends_with_the_role_of_its_reader() {
    let api = Api::start(&tenants("watcher"));
    let events = Events::open(api.port, &of("kim"));
    api.change(&tenants("looker").to_string());
    assert_eq!(events.end(), "forbidden");
}
