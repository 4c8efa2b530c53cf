//! Cached tokens are checked again for everything that can change.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{made, verify_at};
use crate::error::Code;
use crate::settings::AuthenticatorSettings;
use crate::testing::{By, NOW, SECRET, at, claims, shared, token};

#[test]
fn times_are_looked_at_each_time() {
    let settings = AuthenticatorSettings {
        max_validity: Some(Duration::from_secs(300)),
        ..shared("corp")
    };
    let authenticators = made(vec![settings, shared("plain")]);
    let of = |iss: &str| {
        token(
            &claims(iss, &json!({ "nbf": NOW - 5, "iat": NOW - 5 })),
            &By::Shared(SECRET),
        )
    };
    let (short, plain) = (of("corp"), of("plain"));
    let code = |token: &str, delta| {
        verify_at(&authenticators, token, at(delta))
            .err()
            .map(|e| e.code)
    };
    for _ in 0..2 {
        assert_eq!(code(&short, 0), None);
        assert_eq!(code(&short, 295), None);
        assert_eq!(code(&short, 296), Some(Code::Expired));
        assert_eq!(code(&plain, 599), None);
        assert_eq!(code(&plain, 600), Some(Code::Expired));
        assert_eq!(code(&plain, -6), Some(Code::NotYetValid));
    }
    assert_eq!(authenticators.remembered(), 2);
}

#[test]
fn the_same_identity_is_shared_and_refusals_are_not_kept() {
    let authenticators = made(vec![shared("corp")]);
    let good = token(&claims("corp", &json!({})), &By::Shared(SECRET));
    let first = verify_at(&authenticators, &good, at(0)).unwrap();
    let second = verify_at(&authenticators, &good, at(1)).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    for n in 0..100 {
        let bad = token(&claims("corp", &json!({ "n": n })), &By::Shared(b"wrong"));
        verify_at(&authenticators, &bad, at(0)).unwrap_err();
    }
    assert_eq!(authenticators.remembered(), 1);
}

#[test]
fn the_memory_is_bounded() {
    let authenticators = made(vec![shared("corp")]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for n in 0..20_000 {
        let good = token(&claims("corp", &json!({ "n": n })), &By::Shared(SECRET));
        runtime
            .block_on(authenticators.verify(&good, at(0)))
            .unwrap();
    }
    assert!(
        authenticators.remembered() <= 16_384,
        "{}",
        authenticators.remembered()
    );
    assert!(
        authenticators.remembered() > 12_000,
        "{}",
        authenticators.remembered()
    );
}

#[test]
fn what_is_too_old_already_is_not_remembered() {
    let authenticators = made(vec![shared("corp")]);
    let old = token(
        &claims("corp", &json!({ "exp": NOW - 1 })),
        &By::Shared(SECRET),
    );
    verify_at(&authenticators, &old, at(0)).unwrap_err();
    assert_eq!(authenticators.remembered(), 0);
}

#[test]
fn a_session_with_a_token_is_as_good_as_the_token() {
    use crate::session::{SessionKey, Sessions};
    let limited = AuthenticatorSettings {
        max_validity: Some(Duration::from_secs(300)),
        allow_authz_override: true,
        ..shared("corp")
    };
    let authenticators = made(vec![limited.clone()]);
    let more = json!({ "iat": NOW, "zuul": { "admin": ["t1"] } });
    let token = token(&claims("corp", &more), &By::Shared(SECRET));
    let identity = verify_at(&authenticators, &token, at(0)).unwrap();
    let sessions = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(36_000));
    let realm = authenticators.realm_of(&identity);
    let (cookie, ends) = sessions
        .seal_token(&token, &identity, realm, at(0))
        .unwrap();
    // With the token, though sessions may last longer.
    assert_eq!(ends, at(600));
    assert!(sessions.open(&cookie, at(599)).is_some());
    assert!(sessions.open(&cookie, at(600)).is_none());
    assert!(!cookie.contains(&token));
    let session = sessions.open(&cookie, at(0)).unwrap();
    assert!(!format!("{session:?}").contains(&token));
    assert_eq!((&*session.realm, session.begun), ("realm-corp", at(0)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let revived = |authenticators: &crate::Authenticators, delta| {
        runtime.block_on(authenticators.revive(session.clone(), at(delta)))
    };
    assert_eq!(revived(&authenticators, 0).unwrap().identity, identity);
    assert!(revived(&authenticators, 301).is_none(), "maxValidityTime");
    let another_key = AuthenticatorSettings {
        keys: crate::Keys::Shared(crate::Secret(vec![b'k'; 40])),
        ..limited.clone()
    };
    assert!(revived(&made(vec![another_key]), 0).is_none());
    assert!(revived(&made(vec![shared("other")]), 0).is_none());
    let no_admins = AuthenticatorSettings {
        allow_authz_override: false,
        ..limited
    };
    assert!(revived(&made(vec![no_admins]), 0).is_none());
    // Only the server that has the key finds the token.
    let others = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(60));
    assert!(others.open(&cookie, at(0)).is_none());
}
