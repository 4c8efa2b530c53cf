//! What a pooler that gives every transaction another connection relies on: nothing stays with a connection.
//!
//! A relay between the store and the server reads along what the store sends.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use portcullis_jobs::Event;
use portcullis_store::{Filter, Location, Mode, Store};

use crate::jobs::builders::{deliver, insert, run};
use crate::records::{append, ids, simple};
use crate::server;

/// What a client sent: the kind of each message, and its content.
type Sent = Arc<Mutex<Vec<(u8, Vec<u8>)>>>;

/// Relays connections to a server, and keeps what clients send. Gives the port to connect to.
fn relay(server: u16, sent: Sent) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                // Whichever side ends first ends both.
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
            let sent = Arc::clone(&sent);
            std::thread::spawn(move || forward(client, server, &sent));
        }
    });
    port
}

fn forward(mut client: TcpStream, mut server: TcpStream, sent: &Sent) {
    // The first message has no kind.
    let mut kind = 0;
    while let Some(body) = message(&mut client) {
        sent.lock().unwrap().push((kind, body.clone()));
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        let head = if kind == 0 { vec![] } else { vec![kind] };
        let whole = [head, length.to_vec(), body].concat();
        let mut next = [0];
        if server.write_all(&whole).is_err() || client.read_exact(&mut next).is_err() {
            break;
        }
        kind = next[0];
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// A message after its kind.
fn message(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length).ok()?;
    let mut body = vec![
        0;
        usize::try_from(u32::from_be_bytes(length))
            .ok()?
            .checked_sub(4)?
    ];
    client.read_exact(&mut body).ok()?;
    Some(body)
}

/// The texts of a message that end with a zero byte.
fn texts(body: &[u8]) -> Vec<String> {
    let texts = body.split(|byte| *byte == 0);
    texts
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect()
}

#[test]
fn nothing_stays_with_a_connection() {
    let server = server::shared();
    let sent = Sent::default();
    let port = relay(server.port(), Arc::clone(&sent));
    let database = server.database();
    let url = format!("postgres://portcullis@127.0.0.1:{port}/{database}?sslmode=disable");
    let location = Location::parse(&url, Path::new("/")).unwrap();

    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    append(&mut store, &simple(0..3));
    let job = run(&mut store, |tx| {
        deliver(tx, "g/p", 1)?;
        insert(tx, "g/p", &[Event::Enqueue])
    });
    let mut reader = Store::open(&location, Mode::ReadOnly).unwrap();
    assert_eq!(ids(&mut reader, &Filter::default()).len(), 3);
    let read = reader.read_jobs(|reader| reader.job(job.id)).unwrap();
    assert_eq!(read.unwrap().id, job.id);

    let sent = sent.lock().unwrap();
    let mut parsed = 0;
    for (kind, body) in sent.iter() {
        let texts = texts(body);
        match kind {
            // The version of the protocol, then names and values.
            0 => {
                let texts = crate::pooler::texts(&body[4..]);
                let names = texts.iter().step_by(2).map(String::as_str);
                let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
                let expected = ["user", "database", "client_encoding", "application_name"];
                assert!(
                    names.iter().all(|name| expected.contains(name)),
                    "{names:?}"
                );
            }
            // The name of the statement is empty, in the message that describes it as well.
            b'P' => {
                parsed += 1;
                assert_eq!(texts[0], "", "{texts:?}");
                let sql = texts[1].trim_start().to_uppercase();
                for word in ["SET ", "LISTEN", "DECLARE", "PREPARE", "CREATE TEMP"] {
                    assert!(!sql.starts_with(word), "{sql}");
                }
                assert!(!sql.contains("PG_ADVISORY_LOCK"), "{sql}");
            }
            b'B' => assert_eq!((texts[0].as_str(), texts[1].as_str()), ("", "")),
            b'D' => assert_eq!(texts[0], "S"),
            // A transaction begins with all that is set, and ends.
            b'Q' => {
                let sql = &texts[0];
                let is_begin = sql.starts_with("BEGIN")
                    && sql
                        .split("; ")
                        .skip(1)
                        .all(|part| part.starts_with("SET LOCAL "));
                assert!(is_begin || sql == "COMMIT" || sql == "ROLLBACK", "{sql}");
            }
            b'E' | b'S' | b'X' => {}
            other => panic!("unexpected message {}", char::from(*other)),
        }
    }
    assert!(parsed > 20, "{parsed}");
}
