//! Sessions that were ended early.

use std::time::{Duration, SystemTime};

use portcullis_store::{EndedSessions, EndingSession, Store};

use crate::place::Place;
use crate::records::at;

crate::on_both!(
    an_ended_session_is_known_until_it_would_have_ended,
    all_sessions_of_a_subject_end_at_once,
    who_ends_very_many_sessions_ends_all_of_them,
    odd_names_are_kept,
    reading_alone_ends_nothing,
);

fn end(store: &mut Store, id: &str, subject: &str, expires: SystemTime) {
    let session = EndingSession {
        id,
        subject,
        expires,
    };
    store.end_session(session, at(0)).unwrap();
}

fn ids(store: &mut Store, now: SystemTime) -> Vec<String> {
    store.ended_sessions(now).unwrap().sessions
}

fn an_ended_session_is_known_until_it_would_have_ended(place: &Place) {
    let mut store = place.open();
    assert_eq!(
        store.ended_sessions(at(0)).unwrap(),
        EndedSessions::default()
    );
    end(&mut store, "one", "alice", at(100));
    end(&mut store, "one", "alice", at(100));
    end(&mut store, "two", "bob", at(200));
    drop(store);
    let mut store = place.open();
    assert_eq!(ids(&mut store, at(99)), ["one", "two"]);
    assert_eq!(ids(&mut store, at(100)), ["two"]);
    assert_eq!(store.sweep(at(150)).unwrap().sessions_deleted, 1);
    assert_eq!(store.sweep(at(150)).unwrap().sessions_deleted, 0);
    assert_eq!(ids(&mut store, at(0)), ["two"]);
}

fn all_sessions_of_a_subject_end_at_once(place: &Place) {
    let mut store = place.open();
    end(&mut store, "one", "alice", at(500));
    end(&mut store, "two", "bob", at(500));
    store.end_sessions_of("alice", at(10), at(100)).unwrap();
    let ended = store.ended_sessions(at(20)).unwrap();
    assert_eq!(ended.sessions, ["two"]);
    assert_eq!(ended.subjects, [("alice".to_owned(), at(10))]);
    // The single one would have lasted longer, so all are known as long.
    let ended = store.ended_sessions(at(400)).unwrap();
    assert_eq!(ended.subjects, [("alice".to_owned(), at(10))]);
    // What was ended later stays ended, in whatever order it is stored.
    store.end_sessions_of("alice", at(30), at(100)).unwrap();
    store.end_sessions_of("alice", at(20), at(100)).unwrap();
    let ended = store.ended_sessions(at(40)).unwrap();
    assert_eq!(ended.subjects, [("alice".to_owned(), at(30))]);
}

fn who_ends_very_many_sessions_ends_all_of_them(place: &Place) {
    let mut store = place.open();
    for number in 0..300 {
        end(&mut store, &format!("s{number}"), "alice", at(1000));
    }
    end(&mut store, "other", "bob", at(1000));
    let ended = store.ended_sessions(at(1)).unwrap();
    assert!(ended.sessions.len() <= 256, "{}", ended.sessions.len());
    assert!(ended.sessions.contains(&"other".to_owned()));
    assert_eq!(ended.subjects, [("alice".to_owned(), at(0))]);
}

fn odd_names_are_kept(place: &Place) {
    let mut store = place.open();
    let subject = "O'Hara; DROP TABLE ended_sessions; \u{202e}\"";
    store.end_sessions_of(subject, at(0), at(9)).unwrap();
    store.end_sessions_of("nul\0", at(0), at(9)).unwrap();
    let ended = store.ended_sessions(at(1)).unwrap();
    assert_eq!(ended.subjects.len(), 2);
    assert!(ended.subjects.contains(&(subject.to_owned(), at(0))));
}

fn reading_alone_ends_nothing(place: &Place) {
    end(&mut place.open(), "one", "alice", at(100));
    let mut store = place.read_only().unwrap();
    assert_eq!(ids(&mut store, at(1)), ["one"]);
    let until = at(1) + Duration::from_secs(1);
    assert!(store.end_sessions_of("alice", at(1), until).is_err());
}
