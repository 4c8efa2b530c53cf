//! Which key a token is verified with.

use serde_json::{Value, json};

use super::{ISSUER, code, made, publishing, signed};
use crate::encoding::encode;
use crate::error::Code;
use crate::testing::{By, Pair, SECRET, claims, token_with};

#[tokio::test]
async fn every_kind_of_key() {
    let (ec, ed) = (Pair::ec(), Pair::ed());
    let server = publishing(vec![Pair::rsa().jwk("r"), ec.jwk("e"), ed.jwk("d")]);
    let authenticators = made(&server);
    for (pair, id) in [(Pair::rsa(), "r"), (&ec, "e"), (&ed, "d")] {
        assert_eq!(
            code(&authenticators, &signed(pair, Some(id), 0), 0).await,
            None
        );
        // Without a name, if there is no other of its kind.
        assert_eq!(code(&authenticators, &signed(pair, None, 0), 0).await, None);
    }
}

#[tokio::test]
async fn the_key_decides_how_it_is_used() {
    let ec = Pair::ec();
    let server = publishing(vec![Pair::rsa().jwk("r"), ec.jwk("e")]);
    let authenticators = made(&server);
    let said = claims(ISSUER, &json!({}));
    for (header, by) in [
        // The name of one key, signed with the other.
        (json!({ "alg": "ES256", "kid": "r" }), By::Pair(&ec)),
        (json!({ "alg": "RS256", "kid": "e" }), By::Pair(Pair::rsa())),
        (json!({ "alg": "ES256", "kid": "e" }), By::Pair(Pair::rsa())),
        // A secret of what everybody knows.
        (
            json!({ "alg": "HS256", "kid": "r" }),
            By::Shared(Pair::rsa().public_pem().as_bytes()),
        ),
        (
            json!({ "alg": "HS256" }),
            By::Shared(Pair::rsa().public_der()),
        ),
        (json!({ "alg": "none", "kid": "r" }), By::Nobody),
        (json!({ "alg": "PS256", "kid": "r" }), By::Pair(Pair::rsa())),
        // A key of one's own.
        (
            json!({ "alg": "RS256", "kid": "r", "jwk": Pair::other_rsa().jwk("r") }),
            By::Pair(Pair::other_rsa()),
        ),
    ] {
        let token = token_with(&header, &said, &by);
        assert_eq!(
            code(&authenticators, &token, 0).await,
            Some(Code::BadSignature),
            "{header}"
        );
    }
}

#[tokio::test]
async fn nothing_is_fetched_for_tokens_that_no_key_could_verify() {
    let server = publishing(vec![Pair::rsa().jwk("r")]);
    let authenticators = made(&server);
    let said = claims(ISSUER, &json!({}));
    for (header, by) in [
        (json!({ "alg": "HS256", "kid": "r" }), By::Shared(SECRET)),
        (json!({ "alg": "none" }), By::Nobody),
        (json!({ "alg": "RS512", "kid": "r" }), By::Pair(Pair::rsa())),
        (
            json!({ "alg": "RS256", "kid": "r", "crit": ["exp"] }),
            By::Pair(Pair::rsa()),
        ),
    ] {
        let token = token_with(&header, &said, &by);
        assert_eq!(
            code(&authenticators, &token, 0).await,
            Some(Code::BadSignature),
            "{header}"
        );
    }
    assert_eq!(server.count("/keys"), 0);
}

#[tokio::test]
async fn without_a_name_there_is_one_key_only() {
    let (one, two) = (Pair::ec(), Pair::ec());
    let server = publishing(vec![one.jwk("1"), two.jwk("2"), Pair::rsa().jwk("3")]);
    let authenticators = made(&server);
    assert_eq!(
        code(&authenticators, &signed(&one, None, 0), 0).await,
        Some(Code::BadSignature)
    );
    assert_eq!(
        code(&authenticators, &signed(&one, Some("1"), 0), 0).await,
        None
    );
    assert_eq!(
        code(&authenticators, &signed(&one, Some("2"), 0), 0).await,
        Some(Code::BadSignature)
    );
    assert_eq!(
        code(&authenticators, &signed(Pair::rsa(), None, 0), 0).await,
        None
    );
}

#[tokio::test]
async fn keys_that_are_passed_over() {
    let ec = Pair::ec();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut key = ec.jwk("bad");
        change(&mut key);
        key
    };
    let bad = vec![
        json!({ "kty": "oct", "kid": "bad", "alg": "HS256", "k": encode(SECRET) }),
        json!({ "kty": "oct", "kid": "bad", "k": encode(SECRET) }),
        json!({ "kty": "new", "kid": "bad" }),
        json!({ "kid": "bad" }),
        json!("bad"),
        json!(null),
        changed(&|key| key["use"] = json!("enc")),
        changed(&|key| key["use"] = json!(7)),
        changed(&|key| key["key_ops"] = json!(["encrypt"])),
        changed(&|key| key["key_ops"] = json!("verify")),
        changed(&|key| key["alg"] = json!("ES384")),
        changed(&|key| key["alg"] = json!("RS256")),
        changed(&|key| key["crv"] = json!("P-384")),
        changed(&|key| key["x"] = key["y"].clone()),
        changed(&|key| key["x"] = json!("*")),
        changed(&|key| key["y"] = json!("AAAA")),
        changed(&|key| key["kid"] = json!(7)),
        json!({ "kty": "RSA", "kid": "bad", "n": encode([0xff; 128]), "e": "AQAB" }),
        json!({ "kty": "RSA", "kid": "bad", "n": encode([0xff; 256]), "e": "AQ" }),
        json!({ "kty": "RSA", "kid": "bad", "n": encode([0xff; 256]), "e": "Ag" }),
        json!({ "kty": "RSA", "kid": "bad", "n": encode([0xff; 2048]), "e": "AQAB" }),
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": "bad", "x": encode([1; 31]) }),
        json!({ "kty": "OKP", "crv": "Ed448", "kid": "bad", "x": encode([1; 57]) }),
    ];
    for key in &bad {
        let keys = crate::key::key_set(json!({ "keys": [key] }).as_object().unwrap());
        assert!(keys.is_err(), "{key}");
    }
    let mut all = bad;
    all.push(ec.jwk("good"));
    let server = publishing(all);
    let authenticators = made(&server);
    assert_eq!(
        code(&authenticators, &signed(&ec, Some("good"), 0), 0).await,
        None
    );
    assert_eq!(
        code(&authenticators, &signed(&ec, Some("bad"), 0), 0).await,
        Some(Code::BadSignature)
    );
    let shared = json!({ "alg": "HS256", "kid": "bad" });
    let forged = token_with(&shared, &claims(ISSUER, &json!({})), &By::Shared(SECRET));
    assert_eq!(
        code(&authenticators, &forged, 0).await,
        Some(Code::BadSignature)
    );
}

#[test]
fn keys_that_are_taken() {
    let mut rsa = Pair::rsa().jwk("r");
    rsa.as_object_mut().unwrap().remove("alg");
    rsa.as_object_mut().unwrap().remove("use");
    let mut ed = Pair::ed().jwk("d");
    ed["alg"] = json!("Ed25519");
    let mut ec = Pair::ec().jwk("e");
    ec["key_ops"] = json!(["verify"]);
    ec["x5c"] = json!(["whatever"]);
    let document = json!({ "keys": [rsa, ed, ec], "more": 1 });
    assert_eq!(
        crate::key::key_set(document.as_object().unwrap())
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_hundred_keys_at_most() {
    let key = Pair::ec();
    let many: Vec<_> = (0..150).map(|n| key.jwk(&n.to_string())).collect();
    let document = json!({ "keys": many });
    assert_eq!(
        crate::key::key_set(document.as_object().unwrap())
            .unwrap()
            .len(),
        100
    );
}
