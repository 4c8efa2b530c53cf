//! Known attacks on tokens.

use serde_json::{Value, json};

use super::{made, refused, verify};
use crate::encoding::encode;
use crate::error::Code;
use crate::testing::{By, Pair, SECRET, claims, paired, shared, token, token_with};

#[test]
fn no_signature() {
    let ec = Pair::ec();
    let authenticators = made(vec![
        shared("corp"),
        paired("rs", Pair::rsa()),
        paired("es", &ec),
    ]);
    for iss in ["corp", "rs", "es"] {
        let said = claims(iss, &json!({}));
        for alg in ["none", "None", "NONE", "nOnE", ""] {
            let header = json!({ "alg": alg });
            refused(
                &authenticators,
                &token_with(&header, &said, &By::Nobody),
                Code::BadSignature,
            );
            refused(
                &authenticators,
                &token_with(&header, &said, &By::Shared(b"")),
                Code::BadSignature,
            );
        }
        for header in [
            json!({}),
            json!({ "alg": null }),
            json!({ "alg": ["HS256"] }),
            json!({ "alg": 5 }),
        ] {
            refused(
                &authenticators,
                &token_with(&header, &said, &By::Shared(SECRET)),
                Code::BadSignature,
            );
        }
        for alg in ["HS256", "RS256", "ES256", "EdDSA"] {
            refused(
                &authenticators,
                &token_with(&json!({ "alg": alg }), &said, &By::Nobody),
                Code::BadSignature,
            );
        }
    }
}

#[test]
fn the_public_key_as_a_secret() {
    let (ec, ed) = (Pair::ec(), Pair::ed());
    let authenticators = made(vec![
        paired("rs", Pair::rsa()),
        paired("es", &ec),
        paired("ed", &ed),
    ]);
    for (iss, pair) in [("rs", Pair::rsa()), ("es", &ec), ("ed", &ed)] {
        let pem = pair.public_pem();
        let said = claims(iss, &json!({}));
        for secret in [pem.as_bytes(), pem.trim().as_bytes(), pair.public_der()] {
            refused(
                &authenticators,
                &token(&said, &By::Shared(secret)),
                Code::BadSignature,
            );
            let header = json!({ "alg": "RS256" });
            refused(
                &authenticators,
                &token_with(&header, &said, &By::Shared(secret)),
                Code::BadSignature,
            );
        }
    }
}

#[test]
fn other_algorithms_of_the_same_key() {
    let ec = Pair::ec();
    let authenticators = made(vec![
        shared("corp"),
        paired("rs", Pair::rsa()),
        paired("es", &ec),
    ]);
    for (iss, by, algs) in [
        (
            "corp",
            By::Shared(SECRET),
            ["HS384", "HS512", "hs256", "RS256"],
        ),
        (
            "rs",
            By::Pair(Pair::rsa()),
            ["PS256", "RS384", "RS512", "ES256"],
        ),
        ("es", By::Pair(&ec), ["ES384", "ES256K", "EdDSA", "RS256"]),
    ] {
        for alg in algs {
            let forged = token_with(&json!({ "alg": alg }), &claims(iss, &json!({})), &by);
            refused(&authenticators, &forged, Code::BadSignature);
        }
    }
}

#[test]
fn keys_in_the_token_itself() {
    let mine = Pair::ec();
    let theirs = Pair::ec();
    let authenticators = made(vec![paired("es", &theirs)]);
    let said = claims("es", &json!({}));
    let header = json!({ "alg": "ES256", "jwk": mine.jwk("k"), "kid": "k", "jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/" });
    refused(
        &authenticators,
        &token_with(&header, &said, &By::Pair(&mine)),
        Code::BadSignature,
    );
    verify(
        &authenticators,
        &token_with(&header, &said, &By::Pair(&theirs)),
    )
    .unwrap();
}

#[test]
fn what_must_be_understood_is_not() {
    let authenticators = made(vec![shared("corp")]);
    let said = claims("corp", &json!({}));
    for crit in [json!(["b64"]), json!([]), json!(null)] {
        let header = json!({ "alg": "HS256", "crit": crit, "b64": false });
        refused(
            &authenticators,
            &token_with(&header, &said, &By::Shared(SECRET)),
            Code::BadSignature,
        );
    }
}

#[test]
fn other_claims_under_a_good_signature() {
    let authenticators = made(vec![shared("corp")]);
    let good = token(&claims("corp", &json!({})), &By::Shared(SECRET));
    let parts: Vec<_> = good.split('.').collect();
    let swapped = encode(claims("corp", &json!({ "sub": "root" })).to_string());
    refused(
        &authenticators,
        &format!("{}.{swapped}.{}", parts[0], parts[2]),
        Code::BadSignature,
    );
    verify(&authenticators, &good).unwrap();
    refused(
        &authenticators,
        &format!("{}.{swapped}.{}", parts[0], parts[2]),
        Code::BadSignature,
    );
}

#[test]
fn a_token_of_another_issuers_key() {
    let authenticators = made(vec![
        paired("a", Pair::rsa()),
        paired("b", Pair::other_rsa()),
    ]);
    let forged = token(&claims("a", &json!({})), &By::Pair(Pair::other_rsa()));
    let error = refused(&authenticators, &forged, Code::BadSignature);
    assert_eq!(error.realm, "realm-a");
}

#[test]
fn signatures_of_odd_shape() {
    let ec = Pair::ec();
    let authenticators = made(vec![paired("es", &ec), paired("rs", Pair::rsa())]);
    for (iss, by) in [("es", By::Pair(&ec)), ("rs", By::Pair(Pair::rsa()))] {
        let good = token(&claims(iss, &json!({})), &by);
        let (message, _) = good.rsplit_once('.').unwrap();
        for length in [0, 1, 63, 64, 65, 72, 255, 256, 257] {
            refused(
                &authenticators,
                &format!("{message}.{}", encode(vec![0; length])),
                Code::BadSignature,
            );
        }
    }
}

#[test]
fn errors_say_nothing_of_the_content() {
    let authenticators = made(vec![shared("corp")]);
    let secret = "hunter2";
    for changes in [
        json!({ "exp": 1, "password": secret }),
        json!({ "aud": secret }),
        json!({ "sub": [secret] }),
        json!({ "zuul": { "admin": secret } }),
        json!({ "zuul": { "admin": [secret] } }),
        json!({ "nbf": secret }),
    ] {
        let said: Value = claims("corp", &changes);
        for by in [By::Shared(SECRET), By::Shared(b"wrong")] {
            let error = verify(&authenticators, &token(&said, &by)).unwrap_err();
            assert!(!format!("{error:?} {error}").contains(secret), "{error}");
        }
    }
    let long = "\u{1b}[31m".repeat(2000);
    let error = verify(
        &authenticators,
        &token(&claims(&long, &json!({})), &By::Shared(SECRET)),
    )
    .unwrap_err();
    assert!(
        error.message.len() < 800 && !error.message.contains('\u{1b}'),
        "{error}"
    );
}
