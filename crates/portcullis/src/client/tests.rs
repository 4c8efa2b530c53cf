//! The client against a small server.

use portcullis_core::sync::Mutex;
use portcullis_testing::{Reply, Server};
use std::io::{Read, Write};
use std::net::TcpListener;

use super::*;
use crate::exit::Exit;

/// Answers each request with the next of these texts, on a connection of its own.
fn server(answers: Vec<String>) -> (ServerAccess, Server) {
    let answers = Mutex::new(answers.into_iter());
    let server = Server::http(move |_| {
        let answer = answers.lock().next().unwrap();
        Reply::Raw(answer.into_bytes())
    });
    let access = ServerAccess {
        server: server.url(),
        token: Some(Secret("geheim".to_owned())),
        ca: None,
    };
    (access, server)
}

fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Sends this to every client, whatever it requests.
fn speaking(scheme: &str, bytes: &'static [u8]) -> ServerAccess {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("{scheme}://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut piece = [0; 4096];
        let _ = stream.read(&mut piece).unwrap();
        stream.write_all(bytes).unwrap();
    });
    ServerAccess {
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
            .and_then(|mut client| client.ask(ApiRequest::get("/".to_owned())))
            .unwrap_err();
        assert_eq!(wrong.exit(), Exit::Failed);
        assert!(wrong.to_string().ends_with(told), "{wrong}");
    }
}

#[test]
fn a_question_is_sent_with_its_token_and_answered() {
    let (access, server) = server(vec![answer(200, "{}")]);
    let mut client = Client::new(&access).unwrap();
    assert_eq!(client.ask(ApiRequest::get("/a?b=c")).unwrap(), "{}");
    let asked = &server.asked("/a?b=c")[0];
    assert_eq!((asked.method(), asked.token()), ("GET", Some("geheim")));
}

#[test]
fn many_are_answered_in_their_order() {
    let server = Server::http(|request| Reply::Body(request.target().to_owned()));
    let access = ServerAccess {
        server: server.url(),
        ..ServerAccess::default()
    };
    let mut client = Client::new(&access).unwrap();
    let questions = (0..9).map(|n| ApiRequest::get(format!("/{n}")));
    let answers = client.ask_all(questions.collect());
    assert_eq!(answers.len(), 9);
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), format!("/{number}"));
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
        let (access, _server) = server(vec![answer(status, said)]);
        let mut client = Client::new(&access).unwrap();
        let error = client.ask(ApiRequest::get("/")).unwrap_err();
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
        let (access, _server) = server(vec![answer.to_owned()]);
        let mut client = Client::new(&access).unwrap();
        let error = client.ask(ApiRequest::get("/")).unwrap_err();
        assert_eq!(error.exit(), Exit::Failed, "{answer}");
    }
}

#[test]
fn a_token_stays_on_this_machine_without_tls() {
    let token = Some(Secret("geheim".to_owned()));
    let access = |server: &str| ServerAccess {
        server: server.to_owned(),
        token: token.clone(),
        ca: None,
    };
    let refused = Client::new(&access("http://a.example")).unwrap_err();
    assert_eq!(refused.exit(), Exit::Usage);
    assert!(!refused.to_string().contains("geheim"));
    assert!(Client::new(&access("http://localhost:1")).is_ok());
    assert!(Client::new(&access("unix:///nowhere")).is_ok());
    let without = ServerAccess {
        token: None,
        ..access("http://a.example")
    };
    assert!(Client::new(&without).is_ok());
    let odd = ServerAccess {
        token: Some(Secret("a\r\nb: c".to_owned())),
        ..access("http://localhost")
    };
    assert_eq!(Client::new(&odd).unwrap_err().exit(), Exit::Usage);
}

#[test]
fn what_changes_something_is_sent_whole() {
    let (access, server) = server(vec![answer(200, "true"), answer(204, "")]);
    let mut client = Client::new(&access).unwrap();
    let body = serde_json::json!({"pipeline": "post"});
    assert_eq!(client.ask(ApiRequest::post("/a", &body)).unwrap(), "true");
    let sent = &server.asked("/a")[0];
    assert_eq!(sent.method(), "POST");
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.text(), "{\"pipeline\":\"post\"}");
    assert_eq!(client.ask(ApiRequest::delete("/b/1")).unwrap(), "");
    let sent = &server.asked("/b/1")[0];
    assert_eq!(sent.method(), "DELETE");
    assert_eq!(sent.header("content-type"), None);
}

#[test]
fn what_changes_something_is_sent_once() {
    // The first connection stays open; the other request ends its connection instead of an answer.
    let server = Server::http(|request| match request.method() {
        "GET" => Reply::Body("{}".to_owned()),
        _ => Reply::Raw(Vec::new()),
    });
    let access = ServerAccess {
        server: server.url(),
        ..ServerAccess::default()
    };
    let mut client = Client::new(&access).unwrap();
    client.ask(ApiRequest::get("/")).unwrap();
    let posted = client.ask(ApiRequest::post("/x", &serde_json::json!({})));
    assert_eq!(posted.unwrap_err().exit(), Exit::Failed);
    assert_eq!(server.count("/x"), 1, "it was sent again");
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
    let (access, _server) = server(vec![answer(403, &said.to_string())]);
    let error = Client::new(&access).unwrap().ask(ApiRequest::get("/"));
    let text = error.unwrap_err().to_string();
    let (place, said) = text.split_once(": ").unwrap();
    assert!(place.ends_with("403"), "{text}");
    insta::assert_snapshot!(said, @"
    not permitted really (request 01A)
      required permission: enqueue
      your roles grant it where project is foo; here it is bar
      your roles grant it where pipeline is post or glob:x*; the request has no pipeline
      your roles here: enqueue-post
      rules that match you here: none
    ");
    for odd in [
        "{\"error\":{\"message\":\"m\",\"details\":[1]}}",
        "{\"error\":{\"message\":\"m\",\"details\":{\"conditions\":[1,{}],\"roles\":{}}}}",
    ] {
        let (access, _server) = server(vec![answer(403, odd)]);
        let error = Client::new(&access).unwrap().ask(ApiRequest::get("/"));
        assert!(error.unwrap_err().to_string().ends_with("403: m"));
    }
}

#[test]
fn who_sends_no_token_is_told_how() {
    let said = "{\"error\":{\"code\":\"missing_token\",\"message\":\"a token is needed\"}}";
    for has_token in [true, false] {
        let (mut access, _server) = server(vec![answer(401, said)]);
        access.token = access.token.filter(|_| has_token);
        let error = Client::new(&access).unwrap().ask(ApiRequest::get("/"));
        let text = error.unwrap_err().to_string();
        assert_eq!(text.contains("PORTCULLIS_TOKEN"), !has_token, "{text}");
    }
}
