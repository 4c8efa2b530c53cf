//! When keys are fetched, and what happens when they can't be.

use std::sync::Arc;

use portcullis_testing::{Authority, Pki};
use serde_json::json;

use super::{ISSUER, code, fetched, keys, made, publishing, settings, signed};
use crate::authenticators::Authenticators;
use crate::error::Code;
use crate::settings::AuthenticatorSettings;
use crate::testing::{Pair, Reply, Server, at};

#[tokio::test]
async fn once_for_many() {
    let pair = Pair::ec();
    let server = publishing(vec![pair.jwk("k")]);
    let authenticators = Arc::new(made(&server));
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            let (authenticators, token) = (
                Arc::clone(&authenticators),
                signed(&pair, Some("k"), number),
            );
            tokio::spawn(async move { authenticators.verify(&token, at(0)).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(server.count("/keys"), 1);
}

#[tokio::test]
async fn the_fetch_goes_on_when_nobody_waits() {
    let pair = Pair::ec();
    let server = publishing(vec![pair.jwk("k")]);
    let authenticators = made(&server);
    let token = signed(&pair, Some("k"), 0);
    {
        // Begun, and given up at the first wait.
        let verifying = authenticators.verify(&token, at(0));
        tokio::pin!(verifying);
        tokio::select! {
            biased;
            _ = &mut verifying => panic!("nothing to wait for"),
            () = std::future::ready(()) => {}
        }
    }
    fetched(&authenticators).await;
    assert_eq!(code(&authenticators, &token, 0).await, None);
    assert_eq!(server.count("/keys"), 1);
}

#[tokio::test]
async fn old_keys_are_used_while_new_ones_come() {
    let (old, new) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![old.jwk("old")]);
    let authenticators = made(&server);
    let token = signed(&old, Some("old"), 0);
    assert_eq!(code(&authenticators, &token, 0).await, None);
    assert_eq!(code(&authenticators, &token, 299).await, None);
    fetched(&authenticators).await;
    assert_eq!(server.count("/keys"), 1);

    let both = [old.jwk("old"), new.jwk("new")];
    server.answer(move |_| keys(&both));
    assert_eq!(code(&authenticators, &token, 300).await, None);
    fetched(&authenticators).await;
    assert_eq!(server.count("/keys"), 2);
    assert_eq!(
        code(&authenticators, &signed(&new, Some("new"), 0), 301).await,
        None
    );
    assert_eq!(server.count("/keys"), 2);
}

#[tokio::test]
async fn a_key_that_was_withdrawn_is_not_used_any_more() {
    let (old, new) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![old.jwk("old")]);
    let authenticators = made(&server);
    let token = signed(&old, Some("old"), 0);
    assert_eq!(code(&authenticators, &token, 0).await, None);
    let only = [new.jwk("new")];
    server.answer(move |_| keys(&only));
    // The last use of what is remembered, which makes the keys be looked at.
    assert_eq!(code(&authenticators, &token, 300).await, None);
    fetched(&authenticators).await;
    assert_eq!(
        code(&authenticators, &token, 301).await,
        Some(Code::BadSignature)
    );
}

#[tokio::test]
async fn another_key_of_the_same_name_is_another_key() {
    let (old, new) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![old.jwk("k")]);
    let authenticators = made(&server);
    let token = signed(&old, Some("k"), 0);
    assert_eq!(code(&authenticators, &token, 0).await, None);
    let only = [new.jwk("k")];
    server.answer(move |_| keys(&only));
    assert_eq!(code(&authenticators, &token, 300).await, None);
    fetched(&authenticators).await;
    assert_eq!(
        code(&authenticators, &token, 301).await,
        Some(Code::BadSignature)
    );
    assert_eq!(
        code(&authenticators, &signed(&new, Some("k"), 0), 301).await,
        None
    );
}

#[tokio::test]
async fn an_unknown_key_fetches_but_not_all_the_time() {
    let (old, new) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![old.jwk("old")]);
    let authenticators = made(&server);
    assert_eq!(
        code(&authenticators, &signed(&old, Some("old"), 0), 0).await,
        None
    );
    for number in 0..50 {
        let token = signed(&new, Some("new"), number);
        assert_eq!(
            code(&authenticators, &token, 1).await,
            Some(Code::BadSignature)
        );
    }
    assert_eq!(server.count("/keys"), 2);
    let both = [old.jwk("old"), new.jwk("new")];
    server.answer(move |_| keys(&both));
    let token = signed(&new, Some("new"), 0);
    assert_eq!(
        code(&authenticators, &token, 10).await,
        Some(Code::BadSignature)
    );
    assert_eq!(server.count("/keys"), 2);
    assert_eq!(code(&authenticators, &token, 11).await, None);
    assert_eq!(server.count("/keys"), 3);
}

#[tokio::test]
async fn an_unknown_key_at_first_fetches_once() {
    let (known, other) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![known.jwk("k")]);
    let authenticators = made(&server);
    assert_eq!(
        code(&authenticators, &signed(&other, Some("x"), 0), 0).await,
        Some(Code::BadSignature)
    );
    assert_eq!(server.count("/keys"), 1);
}

#[tokio::test]
async fn an_outage() {
    let pair = Pair::ec();
    let server = publishing(vec![pair.jwk("k")]);
    let authenticators = made(&server);
    let token = signed(&pair, Some("k"), 0);
    assert_eq!(code(&authenticators, &token, 0).await, None);
    server.answer(|_| Reply::Status(500, "", "secret trace".to_owned()));

    // Kept for a day, tried again at most every ten seconds.
    for delta in [300, 301, 309] {
        assert_eq!(code(&authenticators, &token, delta).await, None);
        fetched(&authenticators).await;
    }
    assert_eq!(server.count("/keys"), 2);
    assert_eq!(code(&authenticators, &token, 310).await, None);
    fetched(&authenticators).await;
    assert_eq!(server.count("/keys"), 3);
    assert_eq!(
        code(&authenticators, &signed(&pair, Some("k"), 1), 86_399).await,
        None
    );
    fetched(&authenticators).await;
    let error = authenticators.verify(&token, at(86_400)).await.unwrap_err();
    assert_eq!(error.code, Code::KeysUnavailable);
    assert!(
        error.message.contains("500") && !error.message.contains("secret"),
        "{error}"
    );

    // Back again.
    let back = [pair.jwk("k")];
    server.answer(move |_| keys(&back));
    assert_eq!(code(&authenticators, &token, 86_402).await, None);
}

#[tokio::test]
async fn never_there() {
    let pair = Pair::ec();
    let server = Server::http(|_| Reply::Status(503, "", String::new()));
    let authenticators = made(&server);
    for number in 0..20 {
        let token = signed(&pair, Some("k"), number);
        assert_eq!(
            code(&authenticators, &token, 0).await,
            Some(Code::KeysUnavailable)
        );
    }
    assert_eq!(server.count("/keys"), 1);
    let here = [pair.jwk("k")];
    server.answer(move |_| keys(&here));
    assert_eq!(
        code(&authenticators, &signed(&pair, Some("k"), 0), 1).await,
        None
    );
}

#[tokio::test]
async fn unknown_keys_during_an_outage_are_not_called_forged() {
    let (known, new) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![known.jwk("k")]);
    let authenticators = made(&server);
    assert_eq!(
        code(&authenticators, &signed(&known, Some("k"), 0), 0).await,
        None
    );
    server.answer(|_| Reply::Status(500, "", String::new()));
    for number in 0..5 {
        let token = signed(&new, Some("new"), number);
        assert_eq!(
            code(&authenticators, &token, 20).await,
            Some(Code::KeysUnavailable)
        );
    }
    assert_eq!(server.count("/keys"), 2);
}

#[tokio::test]
async fn answers_that_are_none() {
    let pair = Pair::ec();
    let token = signed(&pair, Some("k"), 0);
    let good = json!({ "keys": [pair.jwk("k")] }).to_string();
    let moved = good.clone();
    let server = Server::http(move |asked| match asked.target() {
        "/moved" => Reply::Status(302, "Location: /good\r\n", moved.clone()),
        "/list" => Reply::Body("[]".to_owned()),
        "/none" => Reply::Body(r#"{"keys": []}"#.to_owned()),
        "/text" => Reply::Body("<html>".to_owned()),
        "/created" => Reply::Status(201, "", moved.clone()),
        "/big" => Reply::Body(format!("{}{}", moved, " ".repeat(256 << 10))),
        _ => Reply::Body(moved.clone()),
    });
    for (path, word) in [
        ("/moved", "redirects"),
        ("/list", "JSON object"),
        ("/none", "none of its keys"),
        ("/text", "JSON object"),
        ("/created", "201"),
        ("/big", "262144 bytes"),
    ] {
        let settings = crate::testing::provider(ISSUER, Some(format!("{}{path}", server.url())));
        let authenticators = Authenticators::new(vec![settings], None).unwrap();
        let error = authenticators.verify(&token, at(0)).await.unwrap_err();
        assert_eq!(error.code, Code::KeysUnavailable, "{path}: {error}");
        assert!(error.message.contains(word), "{path}: {error}");
        assert_eq!(error.realm, "realm-sso");
    }
    assert_eq!(server.count("/good"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs() {
    let pair = Pair::ec();
    let server = Server::http(|_| Reply::Hang);
    let error = made(&server)
        .verify(&signed(&pair, Some("k"), 0), at(0))
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::KeysUnavailable);
    assert!(error.message.contains("within 5s"), "{error}");
}

#[tokio::test]
async fn nobody_listens() {
    let pair = Pair::ec();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    drop(listener);
    let settings = crate::testing::provider(ISSUER, Some(url));
    let authenticators = Authenticators::new(vec![settings], None).unwrap();
    let token = signed(&pair, Some("k"), 0);
    assert_eq!(
        code(&authenticators, &token, 0).await,
        Some(Code::KeysUnavailable)
    );
}

#[tokio::test]
async fn keys_are_taken_over_if_nothing_changed() {
    let pair = Pair::ec();
    let server = publishing(vec![pair.jwk("k")]);
    let first = made(&server);
    assert_eq!(code(&first, &signed(&pair, Some("k"), 0), 0).await, None);
    let other_realm = AuthenticatorSettings {
        realm: "other".to_owned(),
        ..settings(&server)
    };
    let second = Authenticators::new(vec![other_realm], Some(&first)).unwrap();
    assert_eq!(code(&second, &signed(&pair, Some("k"), 0), 1).await, None);
    assert_eq!(server.count("/keys"), 1);
    let elsewhere = crate::testing::provider(ISSUER, Some(format!("{}/other", server.url())));
    let third = Authenticators::new(vec![elsewhere], Some(&second)).unwrap();
    assert_eq!(code(&third, &signed(&pair, Some("k"), 0), 2).await, None);
    assert_eq!((server.count("/keys"), server.count("/other")), (1, 1));
}

#[tokio::test]
async fn over_tls_with_an_authority_of_its_own() {
    let pair = Pair::ec();
    let key = pair.jwk("k");
    let pki = Pki::new();
    let server = Server::https(&pki.server, move |_| keys(std::slice::from_ref(&key)));
    let token = signed(&pair, Some("k"), 0);
    let trusting = AuthenticatorSettings {
        ca: Some(pki.authority.certificate_pem.clone().into_bytes()),
        ..settings(&server)
    };
    let authenticators = Authenticators::new(vec![trusting], None).unwrap();
    assert_eq!(code(&authenticators, &token, 0).await, None);
    let other = Authority::new("other");
    let mistaken = AuthenticatorSettings {
        ca: Some(other.certificate().into_bytes()),
        ..settings(&server)
    };
    let strict = Authenticators::new(vec![mistaken], Some(&authenticators)).unwrap();
    let error = strict.verify(&token, at(0)).await.unwrap_err();
    assert_eq!(error.code, Code::KeysUnavailable, "{error}");
    assert!(error.message.contains("TLS failed"), "{error}");
}

/// Where the child below keeps the authorities of its "system".
const SYSTEM: &str = "SSL_CERT_FILE";

/// A certificate that the system trusts is not good enough where a file names the authorities. The
/// system's can be chosen for a whole process only, so this runs in one of its own.
#[test]
fn with_an_authority_of_its_own_the_system_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("provider::tests::fetching::in_a_process_with_authorities_of_its_system")
        .env(SYSTEM, folder.path().join("system.pem"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "started by the test above"]
async fn in_a_process_with_authorities_of_its_system() {
    let pair = Pair::ec();
    let key = pair.jwk("k");
    let pki = Pki::new();
    let server = Server::https(&pki.server, move |_| keys(std::slice::from_ref(&key)));
    std::fs::write(
        std::env::var_os(SYSTEM).unwrap(),
        &pki.authority.certificate_pem,
    )
    .unwrap();
    let token = signed(&pair, Some("k"), 0);
    assert_eq!(code(&made(&server), &token, 0).await, None);
    let other = Authority::new("other");
    let pinned = AuthenticatorSettings {
        ca: Some(other.certificate().into_bytes()),
        ..settings(&server)
    };
    let strict = Authenticators::new(vec![pinned], None).unwrap();
    let error = strict.verify(&token, at(0)).await.unwrap_err();
    assert_eq!(error.code, Code::KeysUnavailable, "{error}");
    assert!(error.message.contains("TLS failed"), "{error}");
}
