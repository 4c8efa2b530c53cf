//! Faults in settings are found, named and explained.

use std::time::Duration;

use portcullis_core::{AdminOf, Identity};
use serde_json::json;

use super::made;
use crate::authenticators::{Authenticators, Realm};
use crate::session::{SessionKey, Sessions};
use crate::settings::{Algorithm, AuthenticatorSettings, Keys, Secret};
use crate::testing::{Pair, at, login, paired, pem, provider, settings, shared};

/// The place and key of each fault, and all messages together.
fn faults(list: Vec<AuthenticatorSettings>) -> (Vec<String>, String) {
    let faults = Authenticators::new(list, None).unwrap_err();
    let places = faults
        .iter()
        .map(|(place, f)| format!("{place} {}", f.path));
    let places = places.collect();
    let messages: Vec<_> = faults.into_iter().map(|(_, f)| f.message).collect();
    (places, messages.join("; "))
}

#[track_caller]
fn one(settings: AuthenticatorSettings, key: &'static str, words: &[&str]) {
    let (places, messages) = faults(vec![settings]);
    assert_eq!(places, [format!("0 {key}")], "{messages}");
    for word in words {
        assert!(messages.contains(word), "{word}: {messages}");
    }
}

fn pair_of(algorithm: Algorithm, public: String, private: Option<String>) -> AuthenticatorSettings {
    let keys = Keys::Pair {
        algorithm,
        public: public.into_bytes(),
        private: private.map(|p| Secret(p.into_bytes())),
    };
    settings("x", keys)
}

#[test]
fn together() {
    let default = |name| AuthenticatorSettings {
        is_default: true,
        ..shared(name)
    };
    let twice = AuthenticatorSettings {
        name: "other".to_owned(),
        ..shared("a")
    };
    let (places, messages) = faults(vec![default("a"), shared("a"), twice, default("d")]);
    assert_eq!(
        places,
        ["1 name", "1 issuer", "2 issuer", "3 default"],
        "{messages}"
    );
}

#[test]
fn nothing_is_empty() {
    let empty = AuthenticatorSettings {
        audience: String::new(),
        realm: String::new(),
        uid_claim: String::new(),
        issuer: String::new(),
        ..settings("x", Keys::Shared(Secret(Vec::new())))
    };
    let (places, _) = faults(vec![shared("fine"), empty]);
    assert_eq!(
        places,
        [
            "1 issuer",
            "1 audience",
            "1 realm",
            "1 uidClaim",
            "1 secretFile"
        ]
    );
}

#[test]
fn secrets() {
    for length in [1, 31] {
        one(
            settings("x", Keys::Shared(Secret(vec![b'x'; length]))),
            "secretFile",
            &[&format!("the secret has {length} bytes"), "at least 32"],
        );
    }
    made(vec![settings("x", Keys::Shared(Secret(vec![b'x'; 32])))]);
    let pem = Pair::ec().public_pem();
    one(
        settings("x", Keys::Shared(Secret(pem.into_bytes()))),
        "secretFile",
        &["PEM"],
    );
    let debug = format!("{:?}", made(vec![shared("fine")]));
    // As text, and as the numbers of its letters.
    assert!(
        !debug.contains("corp-") && !debug.contains("99, 111, 114, 112"),
        "{debug}"
    );
}

#[test]
fn keys_of_another_kind() {
    let (ec, ed, p384) = (Pair::ec(), Pair::ed(), Pair::p384());
    let public = |algorithm, pair: &Pair| pair_of(algorithm, pair.public_pem(), None);
    one(
        public(Algorithm::Rs256, &ec),
        "publicKeyFile",
        &["expected an RSA key", "P-256"],
    );
    one(public(Algorithm::Rs256, &ed), "publicKeyFile", &["Ed25519"]);
    one(
        public(Algorithm::Es256, Pair::rsa()),
        "publicKeyFile",
        &["expected a P-256 key", "RSA key of 2048 bits"],
    );
    one(
        public(Algorithm::Es256, &p384),
        "publicKeyFile",
        &["found a P-384 key"],
    );
    one(
        public(Algorithm::EdDsa, &ec),
        "publicKeyFile",
        &["expected an Ed25519 key", "P-256"],
    );
    let private = |pair: &Pair, other: &Pair| {
        pair_of(pair.algorithm, pair.public_pem(), Some(other.private_pem()))
    };
    one(
        private(Pair::rsa(), &ec),
        "privateKeyFile",
        &["expected an RSA key", "P-256"],
    );
    one(
        private(&ec, Pair::rsa()),
        "privateKeyFile",
        &["expected a P-256 key", "RSA"],
    );
    one(private(&ec, &p384), "privateKeyFile", &["P-384"]);
    one(private(&ed, &ec), "privateKeyFile", &["Ed25519"]);
}

#[test]
fn keys_that_do_not_belong_together() {
    for (pair, other) in [
        (&Pair::ec(), &Pair::ec()),
        (&Pair::ed(), &Pair::ed()),
        (Pair::rsa(), Pair::other_rsa()),
    ] {
        let settings = pair_of(pair.algorithm, pair.public_pem(), Some(other.private_pem()));
        one(settings, "privateKeyFile", &["does not belong"]);
        made(vec![paired("fine", pair)]);
    }
}

#[test]
fn weak_and_broken_keys() {
    let weak = pair_of(Algorithm::Rs256, weak_rsa(), None);
    one(weak, "publicKeyFile", &["2048", "1024 bits"]);
    for (text, word) in [
        (String::new(), "not PEM"),
        ("secret".to_owned(), "not PEM"),
        ("-----BEGIN PUBLIC KEY-----\n".to_owned(), "END"),
        (
            "-----BEGIN PUBLIC KEY-----\n%\n-----END PUBLIC KEY-----".to_owned(),
            "base64",
        ),
        (
            pem("PUBLIC KEY", &[0x30, 0x84, 255, 255, 255, 255]),
            "invalid public key",
        ),
        (pem("PUBLIC KEY", b""), "invalid public key"),
        (pem("CERTIFICATE", b"x"), "certificate"),
        (Pair::ec().private_pem(), "private key"),
        (pem("PGP MESSAGE", b"x"), "PGP MESSAGE"),
    ] {
        one(
            pair_of(Algorithm::Es256, text, None),
            "publicKeyFile",
            &[word],
        );
    }
    let ec = Pair::ec();
    for (text, word) in [
        (ec.public_pem(), "public key"),
        (pem("ENCRYPTED PRIVATE KEY", b"x"), "encrypted"),
        (pem("PRIVATE KEY", b"x"), "invalid private key"),
        (pem("EC PRIVATE KEY", b"x"), "invalid private key"),
        (pem("RSA PRIVATE KEY", b"x"), "expected a P-256 key"),
        (pem("CERTIFICATE", b"x"), "CERTIFICATE"),
    ] {
        one(
            pair_of(Algorithm::Es256, ec.public_pem(), Some(text)),
            "privateKeyFile",
            &[word],
        );
    }
    let broken = pair_of(
        Algorithm::Rs256,
        Pair::rsa().public_pem(),
        Some(pem("RSA PRIVATE KEY", b"x")),
    );
    one(broken, "privateKeyFile", &["invalid private key"]);
}

/// An RSA key of 1024 bits; its private half was not kept.
fn weak_rsa() -> String {
    let mut modulus = vec![0];
    modulus.extend([0xff; 128]);
    let integers = [&[2, 0x81, 129], modulus.as_slice(), &[2, 3, 1, 0, 1]].concat();
    let numbers = [
        &[0x30, 0x81, u8::try_from(integers.len()).unwrap()],
        integers.as_slice(),
    ]
    .concat();
    pem("RSA PUBLIC KEY", &numbers)
}

#[test]
fn addresses_of_providers() {
    let keys_url = |url: &str| provider("https://sso.example", Some(url.to_owned()));
    for url in [
        "http://sso.example/keys",
        "http://10.0.0.1/keys",
        "http://127.0.0.1.example/keys",
        "http://localhost.example/keys",
        "ftp://sso.example/keys",
        "sso.example/keys",
        "https://me:secret@sso.example/keys",
        "https://sso.example/keys#x",
        "https://sso.example\\@evil.example/",
        "https:///keys",
        "https://sso.example:0/",
        "https://sso.example:99999/",
        "unix:///run/keys.sock",
        "https://sso.example/é",
        "https://sso.example/ x",
        "",
    ] {
        let word = match url.starts_with("http://") {
            true => "loopback",
            false => "invalid",
        };
        one(keys_url(url), "keysUrl", &[word]);
    }
    for url in [
        "https://sso.example/keys?x=1",
        "http://127.0.0.1:8080/keys",
        "http://[::1]/keys",
        "http://localhost:1/",
    ] {
        made(vec![keys_url(url)]);
    }
    one(
        provider("http://sso.example", None),
        "issuer",
        &["https://"],
    );
    one(provider("corp", None), "issuer", &["address"]);
    one(
        provider("https://sso.example/?a", None),
        "issuer",
        &["queries"],
    );
    made(vec![provider("https://sso.example/realm/", None)]);
    // Without discovery the issuer is only a name.
    made(vec![provider(
        "http://sso.example",
        Some("https://sso.example/keys".to_owned()),
    )]);
}

#[test]
fn authorities_and_clients() {
    let with = |ca: &[u8]| AuthenticatorSettings {
        ca: Some(ca.to_vec()),
        ..provider("https://sso.example", None)
    };
    one(with(b""), "caFile", &["no certificate"]);
    one(
        with(b"-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----\n"),
        "caFile",
        &["PEM"],
    );
    one(
        with(pem("CERTIFICATE", b"x").as_bytes()),
        "caFile",
        &["invalid certificate"],
    );
    let certificate = rcgen::generate_simple_self_signed(["ca.example".to_owned()]).unwrap();
    made(vec![with(certificate.cert.pem().as_bytes())]);
    let no_provider = AuthenticatorSettings {
        login: Some(login(None)),
        ..shared("x")
    };
    one(no_provider, "clientId", &["OpenIDConnect"]);
    let empty_secret = AuthenticatorSettings {
        login: Some(login(Some(""))),
        ..provider("https://sso.example", None)
    };
    one(empty_secret, "clientSecretFile", &["empty"]);
}

#[test]
fn realms() {
    let nobody = made(Vec::new());
    assert_eq!(
        (nobody.default_realm(), nobody.realms()),
        ("portcullis", Vec::new())
    );
    let sso = AuthenticatorSettings {
        login: Some(login(None)),
        is_default: true,
        ..provider("https://sso.example", None)
    };
    let (ec, ed) = (Pair::ec(), Pair::ed());
    let list = vec![
        shared("corp"),
        paired("rs", Pair::rsa()),
        paired("es", &ec),
        paired("ed", &ed),
        sso,
    ];
    let authenticators = made(list);
    assert_eq!(authenticators.default_realm(), "realm-sso");
    let realms = authenticators.realms();
    let drivers: Vec<_> = realms
        .iter()
        .map(|r| (r.driver, r.is_default, r.can_login))
        .collect();
    let wanted = [
        ("HS256", false, false),
        ("RS256", false, false),
        ("ES256", false, false),
        ("EdDSA", false, false),
        ("OpenIDConnect", true, true),
    ];
    assert_eq!(drivers, wanted);
    let sso = Realm {
        name: "realm-sso".to_owned(),
        driver: "OpenIDConnect",
        authority: "https://sso.example".to_owned(),
        client_id: Some("client one".to_owned()),
        scope: Some(String::new()),
        audience: "portal".to_owned(),
        is_default: true,
        can_login: true,
    };
    assert_eq!(realms[4], sso);
    assert_eq!(
        made(vec![shared("a"), shared("b")]).default_realm(),
        "realm-a"
    );
}

#[test]
fn a_session_is_believed_as_long_as_its_issuer_is() {
    let sso = || AuthenticatorSettings {
        login: Some(login(None)),
        ..provider("https://sso.example", None)
    };
    let sessions = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(60));
    let of = |issuer: &str, realm: &str| {
        let claims = json!({"iss": issuer, "sub": "bob"});
        let identity = Identity {
            claims: claims.as_object().cloned().unwrap(),
            uid: "bob".to_owned(),
            admin: AdminOf::Nothing,
        };
        let cookie = sessions.seal(&identity, realm, at(0)).unwrap();
        sessions.open(&cookie, at(0)).unwrap()
    };
    let own = of("https://sso.example", "realm-sso");
    assert!(made(vec![shared("corp"), sso()]).vouches(&own));
    assert!(!made(vec![shared("corp")]).vouches(&own));
    let without_login = AuthenticatorSettings {
        login: None,
        ..sso()
    };
    assert!(!made(vec![without_login]).vouches(&own));
    assert!(!made(vec![sso()]).vouches(&of("https://sso.example", "realm-other")));
    assert!(!made(vec![sso()]).vouches(&of("https://other.example", "realm-sso")));
}
