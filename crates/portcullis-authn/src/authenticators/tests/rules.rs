//! One rule at a time: what a token must be and say.

use std::time::Duration;

use portcullis_core::AdminOf;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{made, refused, verify, verify_at};
use crate::error::Code;
use crate::settings::AuthenticatorSettings;
use crate::testing::{By, NOW, Pair, SECRET, at, claims, paired, raw, shared, token};

fn corp() -> AuthenticatorSettings {
    shared("corp")
}

fn corp_token(changes: &Value) -> String {
    token(&claims("corp", changes), &By::Shared(SECRET))
}

#[test]
fn good_tokens_of_every_algorithm() {
    let (ec, ed) = (Pair::ec(), Pair::ed());
    let list = vec![
        corp(),
        paired("rs", Pair::rsa()),
        paired("es", &ec),
        paired("ed", &ed),
    ];
    let authenticators = made(list);
    for (name, by) in [
        ("corp", By::Shared(SECRET)),
        ("rs", By::Pair(Pair::rsa())),
        ("es", By::Pair(&ec)),
        ("ed", By::Pair(&ed)),
    ] {
        let said = claims(name, &json!({ "groups": ["a", {"b": 1.5}] }));
        let identity = verify(&authenticators, &token(&said, &by)).unwrap();
        assert_eq!(Value::Object(identity.claims.clone()), said);
        assert_eq!(
            (identity.uid.as_str(), &identity.admin),
            ("bob", &AdminOf::Nothing)
        );
    }
}

#[test]
fn what_is_no_token() {
    let authenticators = made(vec![corp()]);
    let good = corp_token(&json!({}));
    let (message, signature) = good.rsplit_once('.').unwrap();
    let header = r#"{"alg":"HS256"}"#;
    let by = By::Shared(SECRET);
    let mut bad: Vec<String> = ["", ".", "..", "...", "a.b.c", "not-a-token", "é.è.à"]
        .map(str::to_owned)
        .to_vec();
    bad.extend([
        format!("{good}."),
        format!("{good}.{signature}"),
        format!(" {good}"),
        format!("{good}="),
        format!("{message}.*"),
        good.replacen('.', "=.", 1),
        raw("[]", "{}", &by),
        raw("7", "{}", &by),
        raw(header, "[]", &by),
        raw(header, "null", &by),
        raw(header, "", &by),
        raw(header, r#"{"iss":"corp"} {}"#, &by),
        raw(header, r#"{"iss":"corp","sub":"a","sub":"b"}"#, &by),
        raw(header, r#"{"iss":"corp","x":{"a":1,"\u0061":2}}"#, &by),
        raw(r#"{"alg":"HS256","alg":"none"}"#, "{}", &by),
        raw(r#"{"alg":"HS256","kid":7}"#, "{}", &by),
        raw(header, r#"{"iss":"corp","exp":1e400}"#, &by),
        raw(
            header,
            &format!(
                r#"{{"iss":"corp","x":{}{}}}"#,
                "[".repeat(32),
                "]".repeat(32)
            ),
            &by,
        ),
        raw(
            header,
            &format!(r#"{{"iss":"corp","x":{}"#, "[".repeat(9000)),
            &by,
        ),
        "x".repeat(16 * 1024 + 1),
        "x".repeat(10 << 20),
    ]);
    for token in bad {
        let error = refused(&authenticators, &token, Code::Undecodable);
        assert_eq!(error.realm, "realm-corp");
    }
    let deep = format!(r#"{}1{}"#, "[".repeat(31), "]".repeat(31));
    let said = claims(
        "corp",
        &json!({ "x": serde_json::from_str::<Value>(&deep).unwrap() }),
    );
    verify(&authenticators, &token(&said, &by)).unwrap();
}

#[test]
fn the_longest_token_is_good() {
    let authenticators = made(vec![corp()]);
    let long = |n| corp_token(&json!({ "x": "y".repeat(n) }));
    let fits = (1..).find(|n| long(12_000 + n).len() > 16_384).unwrap() + 12_000 - 1;
    verify(&authenticators, &long(fits)).unwrap();
    refused(&authenticators, &long(fits + 1), Code::Undecodable);
}

#[test]
fn issuers() {
    let default = AuthenticatorSettings {
        is_default: true,
        ..shared("main")
    };
    let authenticators = made(vec![corp(), default]);
    let error = refused(
        &authenticators,
        &corp_token(&json!({ "iss": "nobody" })),
        Code::UnknownIssuer,
    );
    assert_eq!(error.realm, "realm-main");
    assert!(error.message.contains("`nobody`"), "{error}");
    for iss in [json!(null), json!(7), json!(["corp"])] {
        let mut said = claims("corp", &json!({}));
        said["iss"] = iss;
        let error = refused(
            &authenticators,
            &token(&said, &By::Shared(SECRET)),
            Code::MissingClaim,
        );
        assert!(error.message.contains("`iss`"), "{error}");
    }
    refused(
        &authenticators,
        &corp_token(&json!({ "iss": null })),
        Code::MissingClaim,
    );
    refused(
        &authenticators,
        &corp_token(&json!({ "iss": "Corp" })),
        Code::UnknownIssuer,
    );
}

#[test]
fn required_claims() {
    let authenticators = made(vec![corp()]);
    for name in ["exp", "aud", "sub"] {
        for value in [json!(null), json!(true), json!({}), json!([7])] {
            let mut said = claims("corp", &json!({}));
            said[name] = value;
            let error = refused(
                &authenticators,
                &token(&said, &By::Shared(SECRET)),
                Code::MissingClaim,
            );
            assert!(error.message.contains(&format!("`{name}`")), "{error}");
            assert_eq!(error.realm, "realm-corp");
        }
        refused(
            &authenticators,
            &corp_token(&json!({ name: null })),
            Code::MissingClaim,
        );
    }
    refused(
        &authenticators,
        &corp_token(&json!({ "exp": "1900000000" })),
        Code::MissingClaim,
    );
    refused(
        &authenticators,
        &corp_token(&json!({ "sub": 7 })),
        Code::MissingClaim,
    );
    refused(
        &authenticators,
        &corp_token(&json!({ "nbf": "soon" })),
        Code::MissingClaim,
    );
    refused(
        &authenticators,
        &corp_token(&json!({ "iat": [] })),
        Code::MissingClaim,
    );
}

#[test]
fn times_without_skew() {
    let authenticators = made(vec![corp()]);
    let cases = [
        (json!({ "exp": NOW + 1 }), None),
        (json!({ "exp": 1_800_000_000.5 }), None),
        (json!({ "exp": NOW }), Some(Code::Expired)),
        (json!({ "exp": 1_799_999_999.5 }), Some(Code::Expired)),
        (json!({ "exp": 0 }), Some(Code::Expired)),
        (json!({ "exp": -1 }), Some(Code::Expired)),
        (json!({ "exp": -1e300 }), Some(Code::Expired)),
        (json!({ "exp": 1e300 }), None),
        (json!({ "exp": u64::MAX }), None),
        (json!({ "exp": i64::MIN }), Some(Code::Expired)),
        (json!({ "nbf": NOW }), None),
        (json!({ "nbf": NOW + 1 }), Some(Code::NotYetValid)),
        (json!({ "nbf": 1e300 }), Some(Code::NotYetValid)),
        (json!({ "nbf": -1e300 }), None),
        (json!({ "iat": NOW + 1 }), Some(Code::NotYetValid)),
        (json!({ "iat": u64::MAX }), Some(Code::NotYetValid)),
        (json!({ "iat": null }), None),
        (json!({ "iat": i64::MIN }), None),
    ];
    for (changes, want) in cases {
        let got = verify(&authenticators, &corp_token(&changes))
            .err()
            .map(|e| e.code);
        assert_eq!(got, want, "{changes}");
    }
}

#[test]
fn times_with_skew() {
    let authenticators = made(vec![AuthenticatorSettings {
        skew: Duration::from_secs(30),
        ..corp()
    }]);
    let cases = [
        (json!({ "exp": NOW - 29 }), None),
        (json!({ "exp": NOW - 30 }), Some(Code::Expired)),
        (json!({ "nbf": NOW + 30 }), None),
        (json!({ "nbf": NOW + 31 }), Some(Code::NotYetValid)),
        (json!({ "iat": NOW + 30 }), None),
        (json!({ "iat": NOW + 31 }), Some(Code::NotYetValid)),
    ];
    for (changes, want) in cases {
        let got = verify(&authenticators, &corp_token(&changes))
            .err()
            .map(|e| e.code);
        assert_eq!(got, want, "{changes}");
    }
}

#[test]
fn the_greatest_age() {
    let hour = Some(Duration::from_secs(3600));
    let authenticators = made(vec![
        AuthenticatorSettings {
            max_validity: hour,
            ..corp()
        },
        AuthenticatorSettings {
            max_validity: hour,
            skew: Duration::from_secs(10),
            ..shared("lax")
        },
        AuthenticatorSettings {
            max_validity: Some(Duration::MAX),
            ..shared("endless")
        },
    ]);
    let of = |iss: &str, iat: Value| {
        token(
            &claims(iss, &json!({ "iat": iat, "exp": NOW + 9000 })),
            &By::Shared(SECRET),
        )
    };
    verify(&authenticators, &of("corp", json!(NOW - 3600))).unwrap();
    refused(
        &authenticators,
        &of("corp", json!(NOW - 3601)),
        Code::Expired,
    );
    refused(&authenticators, &of("corp", json!(i64::MIN)), Code::Expired);
    refused(
        &authenticators,
        &of("corp", json!(null)),
        Code::MissingClaim,
    );
    verify(&authenticators, &of("lax", json!(NOW - 3610))).unwrap();
    refused(
        &authenticators,
        &of("lax", json!(NOW - 3611)),
        Code::Expired,
    );
    verify(&authenticators, &of("endless", json!(-1e18))).unwrap();
}

#[test]
fn audiences() {
    let authenticators = made(vec![corp()]);
    for aud in [json!("portal"), json!(["portal"]), json!(["x", "portal"])] {
        verify(&authenticators, &corp_token(&json!({ "aud": aud }))).unwrap();
    }
    for aud in [
        json!("elsewhere"),
        json!([]),
        json!(["x"]),
        json!("Portal"),
        json!("portal "),
        json!(""),
    ] {
        let error = refused(
            &authenticators,
            &corp_token(&json!({ "aud": aud })),
            Code::WrongAudience,
        );
        assert!(!error.message.contains("elsewhere"), "{error}");
    }
}

#[test]
fn who_it_is() {
    let mail = AuthenticatorSettings {
        uid_claim: "email".to_owned(),
        ..corp()
    };
    let authenticators = made(vec![mail]);
    let identity = verify(&authenticators, &corp_token(&json!({ "email": "a@b" }))).unwrap();
    assert_eq!(identity.uid, "a@b");
    for email in [json!(null), json!(7), json!(["a@b"])] {
        let error = refused(
            &authenticators,
            &corp_token(&json!({ "email": email })),
            Code::MissingClaim,
        );
        assert!(error.message.contains("`email`"), "{error}");
    }
}

#[test]
fn admin_claims() {
    let allowed = AuthenticatorSettings {
        allow_authz_override: true,
        ..shared("op")
    };
    let authenticators = made(vec![corp(), allowed]);
    let of =
        |iss: &str, zuul: Value| token(&claims(iss, &json!({ "zuul": zuul })), &By::Shared(SECRET));
    let tenants =
        |names: &[&str]| AdminOf::Tenants(names.iter().map(|n| (*n).to_owned()).collect());
    for (zuul, admin) in [
        (json!({}), AdminOf::Nothing),
        (json!({ "admin": [] }), AdminOf::Nothing),
        (json!({ "other": 1 }), AdminOf::Nothing),
        (json!({ "admin": ["t1"] }), tenants(&["t1"])),
        (json!({ "admin": ["t1", "t2"] }), tenants(&["t1", "t2"])),
        (json!({ "admin": ["*"] }), AdminOf::Everything),
        (json!({ "admin": ["t1", "*"] }), AdminOf::Everything),
    ] {
        assert_eq!(
            verify(&authenticators, &of("op", zuul.clone()))
                .unwrap()
                .admin,
            admin
        );
        if admin == AdminOf::Nothing {
            verify(&authenticators, &of("corp", zuul)).unwrap();
        } else {
            refused(
                &authenticators,
                &of("corp", zuul),
                Code::AdminClaimNotAllowed,
            );
        }
    }
    for zuul in [
        json!([]),
        json!("admin"),
        json!({ "admin": "*" }),
        json!({ "admin": "t1" }),
        json!({ "admin": 5 }),
        json!({ "admin": null }),
        json!({ "admin": [1] }),
        json!({ "admin": ["t1", null] }),
        json!({ "admin": {"t1": true} }),
    ] {
        refused(
            &authenticators,
            &of("op", zuul.clone()),
            Code::BadAdminClaim,
        );
        refused(&authenticators, &of("corp", zuul), Code::BadAdminClaim);
    }
}

#[test]
fn the_order_of_problems() {
    let authenticators = made(vec![AuthenticatorSettings {
        uid_claim: "email".to_owned(),
        max_validity: Some(Duration::from_secs(60)),
        ..corp()
    }]);
    let mut said =
        json!({ "iss": "corp", "exp": 1, "nbf": NOW + 9, "aud": "x", "sub": "s", "zuul": 7 });
    let mut next = |change: Value| {
        for (name, value) in change.as_object().unwrap() {
            said[name] = value.clone();
        }
        verify(&authenticators, &token(&said, &By::Shared(SECRET)))
            .err()
            .map(|e| e.code)
    };
    assert_eq!(next(json!({})), Some(Code::Expired));
    assert_eq!(next(json!({ "exp": NOW + 9 })), Some(Code::NotYetValid));
    assert_eq!(next(json!({ "nbf": 0 })), Some(Code::MissingClaim));
    assert_eq!(next(json!({ "iat": 0 })), Some(Code::Expired));
    assert_eq!(next(json!({ "iat": NOW })), Some(Code::WrongAudience));
    assert_eq!(next(json!({ "aud": "portal" })), Some(Code::MissingClaim));
    assert_eq!(next(json!({ "email": "e" })), Some(Code::BadAdminClaim));
    assert_eq!(
        next(json!({ "zuul": {"admin": ["t"]} })),
        Some(Code::AdminClaimNotAllowed)
    );
    assert_eq!(next(json!({ "zuul": {} })), None);
}

#[test]
fn claims_that_nobody_signed() {
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    let mail = AuthenticatorSettings {
        uid_claim: "email".to_owned(),
        ..shared("mail")
    };
    let op = AuthenticatorSettings {
        allow_authz_override: true,
        ..shared("op")
    };
    let authenticators = made(vec![corp(), mail, op]);
    let of = |value: Value| authenticators.identity_of(object(value));
    assert_eq!(of(json!({ "iss": "corp", "sub": "a" })).unwrap().uid, "a");
    assert_eq!(
        of(json!({ "iss": "mail", "sub": "a", "email": "b" }))
            .unwrap()
            .uid,
        "b"
    );
    assert_eq!(
        of(json!({ "iss": "mail", "sub": "a" })).unwrap_err().code,
        Code::MissingClaim
    );
    assert_eq!(
        of(json!({ "iss": "x", "sub": "a" })).unwrap_err().code,
        Code::UnknownIssuer
    );
    assert_eq!(
        of(json!({ "iss": 7 })).unwrap_err().code,
        Code::MissingClaim
    );
    let admin = json!({ "admin": ["*"] });
    assert_eq!(
        of(json!({ "iss": "op", "sub": "a", "zuul": admin }))
            .unwrap()
            .admin,
        AdminOf::Everything
    );
    assert_eq!(
        of(json!({ "iss": "corp", "sub": "a", "zuul": admin }))
            .unwrap_err()
            .code,
        Code::AdminClaimNotAllowed
    );
    let plain = of(json!({ "sub": "a", "zuul": admin, "x": 1 })).unwrap();
    assert_eq!(
        (plain.uid.as_str(), &plain.admin, plain.claims.len()),
        ("a", &AdminOf::Nothing, 3)
    );
    assert_eq!(of(json!({ "groups": [] })).unwrap().uid, "");
    let nobody = made(Vec::new());
    assert_eq!(
        nobody
            .identity_of(object(json!({ "iss": "x", "sub": "s" })))
            .unwrap()
            .uid,
        "s"
    );
    assert_eq!(nobody.identity_of(Map::new()).unwrap().uid, "");
    refused(&nobody, &corp_token(&json!({})), Code::UnknownIssuer);
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in ".{0,300}", header in ".{0,60}", body in ".{0,200}", seconds in any::<f64>()) {
        let authenticators = made(vec![corp()]);
        let _ = verify(&authenticators, &text);
        let _ = verify(&authenticators, &raw(&header, &body, &By::Shared(SECRET)));
        let said = claims("corp", &json!({ "exp": seconds, "iat": seconds, "nbf": seconds }));
        let _ = verify(&authenticators, &token(&said, &By::Shared(SECRET)));
    }

    #[test]
    fn a_changed_byte_is_never_believed(place in any::<prop::sample::Index>(), to in any::<u8>()) {
        let authenticators = made(vec![corp()]);
        let good = corp_token(&json!({}));
        let mut bytes = good.clone().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = to;
        if let Ok(text) = String::from_utf8(bytes)
            && text != good
        {
            prop_assert!(verify(&authenticators, &text).is_err());
        }
    }
}

#[test]
fn a_time_before_1970() {
    let authenticators = made(vec![corp()]);
    let early = std::time::UNIX_EPOCH - Duration::from_secs(100);
    let said = corp_token(&json!({ "exp": -50, "iat": -150 }));
    verify_at(&authenticators, &said, early).unwrap();
    assert_eq!(
        verify_at(&authenticators, &said, at(0)).unwrap_err().code,
        Code::Expired
    );
}
