//! The client against a small server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::exit::Exit;

/// Answers so many connections, each with the next of these texts; gives what was asked.
fn server(answers: Vec<String>) -> (Access, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            let mut piece = [0; 4096];
            while !is_whole(&seen) {
                let count = stream.read(&mut piece).unwrap();
                if count == 0 {
                    break;
                }
                seen.extend_from_slice(&piece[..count]);
            }
            tell.send(String::from_utf8(seen).unwrap()).unwrap();
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let token = Some(Secret("geheim".to_owned()));
    let access = Access {
        server,
        token,
        ca: None,
    };
    (access, asked)
}

/// Whether a request with its body is there.
fn is_whole(seen: &[u8]) -> bool {
    let text = String::from_utf8_lossy(seen);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.map_or(0, |length| length.parse().unwrap()) <= body.len()
}

fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Says this to whoever comes, whatever is asked.
fn speaking(scheme: &str, bytes: &'static [u8]) -> Access {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("{scheme}://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut piece = [0; 4096];
        let _ = stream.read(&mut piece).unwrap();
        stream.write_all(bytes).unwrap();
    });
    Access {
        server,
        token: None,
        ca: None,
    }
}

#[test]
fn a_server_that_speaks_otherwise_is_told_in_words() {
    for (scheme, bytes, told) in [
        (
            "https",
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..],
            "the server does not speak TLS here; try http://",
        ),
        // An alert of TLS: unexpected message.
        (
            "http",
            b"\x15\x03\x01\x00\x02\x02\x0a",
            "the server does not speak HTTP here; if it speaks TLS, try https://",
        ),
    ] {
        let access = speaking(scheme, bytes);
        let wrong = Client::new(&access)
            .and_then(|mut client| client.ask(Question::get("/".to_owned())))
            .unwrap_err();
        assert_eq!(wrong.exit(), Exit::Failed);
        assert!(wrong.to_string().ends_with(told), "{wrong}");
    }
}

#[test]
fn a_question_is_sent_with_its_token_and_answered() {
    let (access, asked) = server(vec![answer(200, "{}")]);
    let mut client = Client::new(&access).unwrap();
    assert_eq!(client.ask(Question::get("/a?b=c")).unwrap(), "{}");
    let asked = asked.recv().unwrap();
    assert!(asked.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{asked}");
    assert!(
        asked.contains("authorization: Bearer geheim\r\n"),
        "{asked}"
    );
}

#[test]
fn many_are_answered_in_their_order() {
    let answers = (0..9).map(|n| answer(200, &n.to_string())).collect();
    let (access, asked) = server(answers);
    let mut client = Client::new(&access).unwrap();
    let questions = (0..9).map(|n| Question::get(format!("/{n}")));
    let answers = client.ask_all(questions.collect());
    assert_eq!(answers.len(), 9);
    // The server answers in the order of the connections, so compare with what each was asked.
    let order: Vec<String> = asked
        .iter()
        .take(9)
        .map(|text| text.split(' ').nth(1).unwrap().to_owned())
        .collect();
    for (number, answer) in answers.into_iter().enumerate() {
        let place: usize = std::str::from_utf8(&answer.unwrap())
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(order[place], format!("/{number}"));
    }
}

#[test]
fn what_is_wrong_is_said_without_the_token() {
    let said = "{\"error\":{\"code\":\"x\",\"message\":\"no such luck\"},\"request_id\":\"01A\"}";
    for (status, exit) in [
        (400, Exit::Usage),
        (401, Exit::NotSignedIn),
        (403, Exit::NotSignedIn),
        (404, Exit::Nothing),
        (409, Exit::No),
        (422, Exit::Usage),
        (429, Exit::Failed),
        (500, Exit::Failed),
        (302, Exit::Failed),
    ] {
        let (access, _asked) = server(vec![answer(status, said)]);
        let mut client = Client::new(&access).unwrap();
        let error = client.ask(Question::get("/")).unwrap_err();
        assert_eq!(error.exit(), exit, "{status}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("{status}: no such luck (request 01A)")),
            "{text}"
        );
        assert!(!format!("{error:?} {access:?} {client:?}").contains("geheim"));
    }
}

#[test]
fn a_broken_answer_is_no_answer() {
    for answer in [
        "",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
    ] {
        let (access, _asked) = server(vec![answer.to_owned()]);
        let mut client = Client::new(&access).unwrap();
        let error = client.ask(Question::get("/")).unwrap_err();
        assert_eq!(error.exit(), Exit::Failed, "{answer}");
    }
}

#[test]
fn a_token_stays_on_this_machine_without_tls() {
    let token = Some(Secret("geheim".to_owned()));
    let access = |server: &str| Access {
        server: server.to_owned(),
        token: token.clone(),
        ca: None,
    };
    let refused = Client::new(&access("http://a.example")).unwrap_err();
    assert_eq!(refused.exit(), Exit::Usage);
    assert!(!refused.to_string().contains("geheim"));
    assert!(Client::new(&access("http://localhost:1")).is_ok());
    assert!(Client::new(&access("unix:///nowhere")).is_ok());
    let without = Access {
        token: None,
        ..access("http://a.example")
    };
    assert!(Client::new(&without).is_ok());
    let odd = Access {
        token: Some(Secret("a\r\nb: c".to_owned())),
        ..access("http://localhost")
    };
    assert_eq!(Client::new(&odd).unwrap_err().exit(), Exit::Usage);
}

#[test]
fn what_changes_something_is_sent_whole() {
    let (access, asked) = server(vec![answer(200, "true"), answer(204, "")]);
    let mut client = Client::new(&access).unwrap();
    let body = serde_json::json!({"pipeline": "post"});
    assert_eq!(client.ask(Question::post("/a", &body)).unwrap(), "true");
    let sent = asked.recv().unwrap();
    assert!(sent.starts_with("POST /a HTTP/1.1\r\n"), "{sent}");
    assert!(
        sent.contains("content-type: application/json\r\n"),
        "{sent}"
    );
    assert!(sent.ends_with("\r\n\r\n{\"pipeline\":\"post\"}"), "{sent}");
    assert_eq!(client.ask(Question::delete("/b/1")).unwrap(), "");
    let sent = asked.recv().unwrap();
    assert!(sent.starts_with("DELETE /b/1 HTTP/1.1\r\n"), "{sent}");
    assert!(!sent.contains("content-type"), "{sent}");
}

#[test]
fn what_changes_something_is_sent_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let access = Access {
        server: format!("http://{}", listener.local_addr().unwrap()),
        ..Access::default()
    };
    let served = std::thread::spawn(move || {
        let mut asked = Vec::new();
        // The first connection stays open, the second is closed instead of an answer.
        let kept = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let mut open = Vec::new();
        for answer in [kept, ""] {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
            while !is_whole(&seen) {
                let count = stream.read(&mut piece).unwrap();
                seen.extend_from_slice(&piece[..count]);
            }
            asked.push(String::from_utf8(seen).unwrap());
            stream.write_all(answer.as_bytes()).unwrap();
            if !answer.is_empty() {
                open.push(stream);
            }
        }
        listener.set_nonblocking(true).unwrap();
        (asked, listener)
    });
    let mut client = Client::new(&access).unwrap();
    client.ask(Question::get("/")).unwrap();
    let posted = client.ask(Question::post("/x", &serde_json::json!({})));
    assert_eq!(posted.unwrap_err().exit(), Exit::Failed);
    let (asked, listener) = served.join().unwrap();
    let posts = asked.iter().filter(|text| text.starts_with("POST"));
    assert_eq!(posts.count(), 1);
    assert!(listener.accept().is_err(), "it was sent again");
}

#[test]
fn a_403_says_in_words_what_is_missing() {
    let said = serde_json::json!({
        "error": {"code": "forbidden", "message": "not permitted\nreally", "details": {
            "permission": "enqueue",
            "conditions": [
                {"name": "project", "wanted": "foo", "got": "bar"},
                {"name": "pipeline", "wanted": ["post", "glob:x*"], "got": null},
            ],
            "roles": ["enqueue-post"], "rules": [],
        }},
        "request_id": "01A",
    });
    let (access, _asked) = server(vec![answer(403, &said.to_string())]);
    let error = Client::new(&access).unwrap().ask(Question::get("/"));
    let text = error.unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(
        text.contains("403: not permitted really (request 01A)\n"),
        "{text}"
    );
    assert_eq!(
        lines,
        [
            "  required permission: enqueue",
            "  your roles grant it where project is foo; here it is bar",
            "  your roles grant it where pipeline is post or glob:x*; the request has no pipeline",
            "  your roles here: enqueue-post",
            "  rules that match you here: none",
        ]
    );
    for odd in [
        "{\"error\":{\"message\":\"m\",\"details\":[1]}}",
        "{\"error\":{\"message\":\"m\",\"details\":{\"conditions\":[1,{}],\"roles\":{}}}}",
    ] {
        let (access, _asked) = server(vec![answer(403, odd)]);
        let error = Client::new(&access).unwrap().ask(Question::get("/"));
        assert!(error.unwrap_err().to_string().ends_with("403: m"));
    }
}

#[test]
fn who_sends_no_token_is_told_how() {
    let said = "{\"error\":{\"code\":\"missing_token\",\"message\":\"a token is needed\"}}";
    for has_token in [true, false] {
        let (mut access, _asked) = server(vec![answer(401, said)]);
        access.token = access.token.filter(|_| has_token);
        let error = Client::new(&access).unwrap().ask(Question::get("/"));
        let text = error.unwrap_err().to_string();
        assert_eq!(text.contains("PORTCULLIS_TOKEN"), !has_token, "{text}");
    }
}
