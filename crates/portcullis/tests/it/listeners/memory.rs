//! Memory that requests hold, and clients that don't read their answers.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};

use serde_json::json;

use super::plain;
use crate::harness::{Connection, Gate, Review, chain, pod, request, until};

/// A gate whose policy answers every pod with a patch of more than a mebibyte.
fn gate(write_timeout: &str) -> Gate {
    let (_, listener) = plain("api", &["api"]);
    Gate::start(json!({
        "limits": {
            "body": "1Mi", "requestMemory": "6Mi", "writeTimeout": write_timeout, "bodyTimeout": "2m",
        },
        "policies": [{"name": "large", "code": "object.metadata.annotations = {note: 'x'.repeat(1 << 20)}"}],
        "defaultAction": "allow",
        "listeners": [listener],
    }))
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// HTTP/2 with a client whose window is too small for any answer.
fn without_window(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let no_window = [0, 4, 0, 0, 0, 0];
    let begin = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &no_window),
    ];
    stream.write_all(&begin.concat()).unwrap();
    stream
}

/// Posts a review on a stream of HTTP/2.
fn post(connection: &mut TcpStream, stream: u32, path: &str, body: &str) {
    // `:method POST`, `:scheme http`, `:path` and `:authority` as they are.
    let mut head = vec![0x83, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
    head.extend_from_slice(path.as_bytes());
    head.extend_from_slice(b"\x01\x01x");
    let sent = [
        frame(1, 4, stream, &head),
        frame(0, 1, stream, body.as_bytes()),
    ];
    connection.write_all(&sent.concat()).unwrap();
}

#[test]
fn answers_that_are_not_taken_count_and_end() {
    let mut gate = gate("8s");
    let review = Review::create(&pod()).text();
    let status = || gate.post_bytes("/mutate", review.as_bytes()).status;
    assert_eq!(status(), 200);
    let mut hostile = without_window(gate.port);
    for stream in 0..8 {
        post(&mut hostile, stream * 2 + 1, "/mutate", &review);
    }
    until("the memory is used up", || status() == 503);
    let refused = gate.post_bytes("/mutate", review.as_bytes());
    if refused.status == 503 {
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(refused.error(503).0["code"], "busy");
    }
    // The connection is ended, though its client still has it open.
    until("the memory is free again", || status() == 200);
    until("the connection is closed", || {
        let open = gate
            .metrics()
            .total("portcullis_connections", &[("listener", "all")]);
        open < 2.0
    });
    drop(hostile);
    gate.lives();
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let gate = gate("3s");
    let review = Review::create(&pod()).text();
    let one = request("POST", "/mutate", &[], review.as_bytes());
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port)).unwrap();
    let mut writer = connection.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        // More answers than the sockets' buffers can take.
        (0..64).all(|_| writer.write_all(&one).is_ok())
    });
    // The one that asks is counted, too.
    let open = || {
        gate.metrics()
            .total("portcullis_connections", &[("listener", "all")])
    };
    until("the connection is open", || open() > 1.5);
    until("the connection is closed", || open() < 1.5);
    let _ = connection.flush();
    drop(connection);
    let _ = writing.join();
}

#[test]
fn bodies_count_until_they_are_judged() {
    let gate = gate("8s");
    let large = vec![b' '; 1 << 20];
    let whole = request("POST", "/validate", &[], &large);
    let hold = || {
        let mut connection = Connection::tcp(gate.port).unwrap();
        connection.send(&whole[..whole.len() - 1]).unwrap();
        connection
    };
    let mut held: Vec<Connection> = (0..6).map(|_| hold()).collect();
    until("the memory is used up", || {
        let is_used_up = gate.post_bytes("/validate", &large).status == 503;
        // One that came while the others were being read may have been rejected itself.
        if !is_used_up {
            held.push(hold());
        }
        is_used_up
    });
    // Health goes on, and so do those that have their memory.
    assert_eq!(gate.get("/livez").status, 200);
    for connection in &mut held {
        // One that was rejected may be closed.
        let _ = connection.send(b" ");
    }
    let answers = held.iter_mut().filter_map(|one| one.receive().ok());
    let judged = answers.filter(|answer| answer.status == 400).count();
    assert!(judged >= 1);
    until("there is room again", || {
        gate.post_bytes("/validate", &large).status == 400
    });
}

#[test]
fn a_uid_that_is_too_long_is_refused() {
    let gate = Gate::start(chain(&["AlwaysAdmit"]));
    for (length, status) in [(36, 200), (1024, 200), (1025, 400)] {
        let mut review = Review::create(&pod()).value();
        review["request"]["uid"] = "u".repeat(length).into();
        let answer = gate.post_bytes("/validate", review.to_string().as_bytes());
        assert_eq!(answer.status, status, "{length}");
        if status == 400 {
            let (error, _) = answer.error(400);
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("request.uid is longer than 1024 bytes"),
                "{message}"
            );
        }
    }
}
