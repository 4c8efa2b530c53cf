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
            while !seen.ends_with(b"\r\n\r\n") {
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

fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
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
fn texts_are_encoded_for_queries() {
    assert_eq!(encoded("a b&c=d/é~"), "a%20b%26c%3Dd%2F%C3%A9~");
}
