//! Sessions that were not made here are rejected.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use portcullis_core::{AdminOf, Identity};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{LONGEST, Session, SessionKey, Sessions};
use crate::testing::at;

const HOUR: Duration = Duration::from_secs(3600);

fn sessions() -> Sessions {
    Sessions::new(SessionKey::random().unwrap(), HOUR)
}

fn identity(claims: &Value) -> Identity {
    Identity {
        claims: claims.as_object().cloned().unwrap(),
        uid: "bob".to_owned(),
        admin: AdminOf::Everything,
    }
}

fn bob() -> Identity {
    identity(&json!({ "sub": "bob", "groups": ["a", "b"], "zuul": { "admin": ["*"] } }))
}

#[test]
fn what_is_sealed_is_opened() {
    let sessions = sessions();
    let cookie = sessions.seal(&bob(), "R1", at(0)).unwrap();
    assert!(
        cookie
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    );
    for _ in 0..2 {
        let session = sessions.open(&cookie, at(0)).unwrap();
        let claims = json!({ "sub": "bob", "groups": ["a", "b"] });
        assert_eq!(Value::Object(session.identity.claims.clone()), claims);
        assert_eq!(
            (session.identity.uid.as_str(), &*session.realm),
            ("bob", "R1")
        );
        assert_eq!(session.identity.admin, AdminOf::Nothing);
        assert_eq!((session.expires, session.id.len()), (at(3600), 22));
    }
}

#[test]
fn sessions_end() {
    let sessions = sessions();
    let cookie = sessions.seal(&bob(), "R1", at(0)).unwrap();
    for _ in 0..2 {
        assert!(sessions.open(&cookie, at(3599)).is_some());
        assert!(sessions.open(&cookie, at(3600)).is_none());
    }
    let other = Sessions::new(SessionKey::random().unwrap(), Duration::MAX);
    let cookie = other.seal(&bob(), "R1", at(0)).unwrap();
    assert!(
        other.open(&cookie, at(0)).is_none(),
        "a lifetime that can't be counted is none"
    );
}

#[test]
fn every_session_is_another() {
    let sessions = sessions();
    let cookie = |_| sessions.seal(&bob(), "R1", at(0)).unwrap();
    let all: HashSet<_> = (0..100).map(cookie).collect();
    assert_eq!(all.len(), 100);
}

#[test]
fn other_keys_and_purposes() {
    let (one, two) = (sessions(), sessions());
    let cookie = one.seal(&bob(), "R1", at(0)).unwrap();
    assert!(two.open(&cookie, at(0)).is_none());
    let content = one.session.open(&cookie).unwrap();
    for wrong in [one.login.close(&content), one.csrf.close(&content)] {
        assert!(one.open(&wrong, at(0)).is_none());
    }
    assert_eq!(one.session.close(&content), cookie);
    assert!(one.open(&one.session.close(b"{}"), at(0)).is_none());
    for wrong in [
        "",
        ".",
        "..",
        "v1..",
        "v2.e30.e30",
        &cookie.replacen("v1", "v2", 1),
        &format!("{cookie}="),
    ] {
        assert!(one.open(wrong, at(0)).is_none(), "{wrong}");
    }
    assert!(one.open(&"x".repeat(10 << 20), at(0)).is_none());
}

#[test]
fn what_is_too_large() {
    let sessions = sessions();
    let of = |n: usize| sessions.seal(&identity(&json!({ "x": "y".repeat(n) })), "R1", at(0));
    let most = (2000..4000).take_while(|n| of(*n).is_ok()).last().unwrap();
    let cookie = of(most).unwrap();
    assert!(cookie.len() <= LONGEST && cookie.len() > LONGEST - 4);
    assert!(sessions.open(&cookie, at(0)).is_some());
    assert!(of(most + 1).unwrap_err().to_string().contains("cookie"));
    // What isn't carried doesn't count.
    let zuul = identity(&json!({ "zuul": { "admin": ["t".repeat(5000)] } }));
    assert!(sessions.seal(&zuul, "R1", at(0)).is_ok());
}

#[test]
fn forgery_of_requests() {
    let sessions = sessions();
    let open = || -> Session {
        let cookie = sessions.seal(&bob(), "R1", at(0)).unwrap();
        sessions.open(&cookie, at(0)).unwrap()
    };
    let (one, two) = (open(), open());
    let token = sessions.csrf(&one);
    assert!(sessions.csrf_matches(&one, &token));
    assert!(!sessions.csrf_matches(&two, &token));
    assert_ne!(token, sessions.csrf(&two));
    for wrong in ["", "x", token.split_at(1).1, &format!("{token}A"), &one.id] {
        assert!(!sessions.csrf_matches(&one, wrong), "{wrong}");
    }
}

#[test]
fn the_memory_is_bounded() {
    let sessions = sessions();
    for n in 0..20_000 {
        let cookie = sessions
            .seal(&identity(&json!({ "n": n })), "R1", at(0))
            .unwrap();
        assert!(sessions.open(&cookie, at(0)).is_some());
    }
    assert!(sessions.opened.len() <= 16_384, "{}", sessions.opened.len());
}

#[test]
fn the_file_of_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.key");
    let first = Sessions::new(SessionKey::load_or_create(&path).unwrap(), HOUR);
    let data = std::fs::metadata(&path).unwrap();
    assert_eq!((data.len(), data.permissions().mode() & 0o777), (32, 0o600));
    let second = Sessions::new(SessionKey::load_or_create(&path).unwrap(), HOUR);
    let cookie = first.seal(&bob(), "R1", at(0)).unwrap();
    assert!(second.open(&cookie, at(0)).is_some());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    for length in [0, 31, 33, 5000] {
        std::fs::write(&path, vec![7; length]).unwrap();
        let error = SessionKey::load_or_create(&path).unwrap_err();
        assert!(error.to_string().contains("32 bytes"), "{error}");
    }
    let nowhere = folder.path().join("no/such/folder/key");
    assert!(SessionKey::load_or_create(&nowhere).is_err());
    assert!(!format!("{:?}", SessionKey::random().unwrap()).contains('['));
}

#[test]
fn many_who_make_the_file_get_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.key");
    let keys: Vec<_> = std::thread::scope(|scope| {
        let make = || SessionKey::load_or_create(&path).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let cookie = Sessions::new(keys[0].clone(), HOUR)
        .seal(&bob(), "R1", at(0))
        .unwrap();
    for key in keys {
        assert!(Sessions::new(key, HOUR).open(&cookie, at(0)).is_some());
    }
}

#[test]
fn a_clock_before_1970_opens_nothing_odd() {
    let sessions = sessions();
    let early = SystemTime::UNIX_EPOCH - HOUR;
    let cookie = sessions.seal(&bob(), "R1", early).unwrap();
    assert!(sessions.open(&cookie, at(0)).is_none());
}

proptest! {
    #[test]
    fn no_bit_can_be_changed(place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let sessions = sessions();
        let cookie = sessions.seal(&bob(), "R1", at(0)).unwrap();
        prop_assert!(sessions.open(&cookie, at(0)).is_some());
        let mut bytes = cookie.clone().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert!(sessions.open(&text, at(0)).is_none(), "{}", text);
        }
    }

    #[test]
    fn whatever_is_sealed_is_opened(uid in ".{0,40}", realm in ".{0,40}", name in ".{0,20}", text in ".{0,80}") {
        let sessions = sessions();
        let mut who = identity(&json!({ name.clone(): text }));
        who.uid = uid;
        let session = sessions.open(&sessions.seal(&who, &realm, at(0)).unwrap(), at(0)).unwrap();
        prop_assert_eq!(&session.identity.uid, &who.uid);
        prop_assert_eq!(&*session.realm, realm.as_str());
        if name != "zuul" {
            prop_assert_eq!(&session.identity.claims, &who.claims);
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,200}") {
        prop_assert!(sessions().open(&text, at(0)).is_none());
    }
}

#[test]
fn forms_belong_to_the_browser_that_got_them() {
    let sessions = sessions();
    let (one, two) = (
        sessions.form_proof().unwrap(),
        sessions.form_proof().unwrap(),
    );
    assert!(sessions.is_form_proof(&one.cookie, &one.field));
    assert!(!sessions.is_form_proof(&one.cookie, &two.field));
    assert!(!sessions.is_form_proof("", "") && !sessions.is_form_proof(&one.cookie, ""));
    let others = Sessions::new(SessionKey::random().unwrap(), HOUR);
    assert!(!others.is_form_proof(&one.cookie, &one.field));
}

#[test]
fn tokens_that_are_too_long_make_no_session() {
    let sessions = sessions();
    let of = |n: usize| sessions.seal_token(&"t".repeat(n), &bob(), "R1", at(0));
    assert!(of(1_800).is_ok());
    assert!(of(3_000).is_err());
}
