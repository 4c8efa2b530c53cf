//! Tokens that are created here are accepted here.

use std::time::Duration;

use portcullis_core::AdminOf;
use serde_json::{Map, Value, json};

use super::{Mint, MintError};
use crate::authenticators::Authenticators;
use crate::settings::{AuthenticatorSettings, Keys};
use crate::testing::{NOW, Pair, at, paired, provider, shared};

fn wish(changes: &Value) -> Mint {
    Mint {
        subject: "zoe".to_owned(),
        tenants: Vec::new(),
        claims: changes.as_object().cloned().unwrap_or_default(),
        expires_in: Duration::from_secs(600),
    }
}

fn made() -> Authenticators {
    let verifying_only = {
        let mut settings = paired("verifying", Pair::rsa());
        if let Keys::Pair { private, .. } = &mut settings.keys {
            *private = None;
        }
        settings
    };
    let list = vec![
        shared("corp"),
        paired("rs", Pair::rsa()),
        paired("es", &Pair::ec()),
        paired("ed", &Pair::ed()),
        AuthenticatorSettings {
            allow_authz_override: true,
            ..shared("op")
        },
        AuthenticatorSettings {
            uid_claim: "email".to_owned(),
            ..shared("mail")
        },
        AuthenticatorSettings {
            max_validity: Some(Duration::from_secs(60)),
            ..shared("short")
        },
        provider("https://sso.example", None),
        verifying_only,
    ];
    Authenticators::new(list, None).unwrap()
}

fn claims_of(authenticators: &Authenticators, token: &str) -> Map<String, Value> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let identity = runtime
        .block_on(authenticators.verify(token, at(0)))
        .unwrap();
    identity.claims.clone()
}

#[test]
fn every_algorithm() {
    let authenticators = made();
    for name in ["corp", "rs", "es", "ed"] {
        let said = json!({ "level": 5, "groups": ["a", "b"], "eq": "a=b" });
        let token = authenticators.mint(name, &wish(&said), at(0)).unwrap();
        let mut got = claims_of(&authenticators, &token);
        let id = got.remove("jti").unwrap();
        assert_eq!(id.as_str().unwrap().len(), 22);
        let wanted = json!({
            "iss": name, "aud": "portal", "sub": "zoe", "iat": NOW, "exp": NOW + 600,
            "level": 5, "groups": ["a", "b"], "eq": "a=b",
        });
        assert_eq!(Value::Object(got), wanted);
        assert_ne!(
            authenticators.mint(name, &wish(&said), at(0)).unwrap(),
            token
        );
    }
}

#[test]
fn admin_where_it_is_allowed() {
    let authenticators = made();
    let admin = Mint {
        tenants: vec!["t1".to_owned()],
        ..wish(&json!({}))
    };
    let token = authenticators.mint("op", &admin, at(0)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let identity = runtime
        .block_on(authenticators.verify(&token, at(0)))
        .unwrap();
    assert_eq!(identity.admin, AdminOf::Tenants(vec!["t1".to_owned()]));
    assert_eq!(
        authenticators.mint("corp", &admin, at(0)),
        Err(MintError::OverrideNotAllowed)
    );
}

#[test]
fn the_claim_that_names_people() {
    let authenticators = made();
    let of = |said: Value| authenticators.mint("mail", &wish(&said), at(0));
    assert_eq!(
        claims_of(&authenticators, &of(json!({})).unwrap())["email"],
        json!("zoe")
    );
    assert_eq!(
        claims_of(&authenticators, &of(json!({ "email": "z@e" })).unwrap())["email"],
        json!("z@e")
    );
    assert_eq!(
        of(json!({ "email": 7 })),
        Err(MintError::UidNotText("email".to_owned()))
    );
}

#[test]
fn what_can_not_be_made() {
    let authenticators = made();
    let mint = |name: &str, wish: &Mint| authenticators.mint(name, wish, at(0)).unwrap_err();
    let plain = wish(&json!({}));
    let error = mint("nosuch", &plain);
    assert!(error.to_string().contains("corp, rs, es"), "{error}");
    assert_eq!(mint("sso", &plain), MintError::NoPrivateKey);
    assert_eq!(mint("verifying", &plain), MintError::NoPrivateKey);
    for name in ["iss", "aud", "sub", "iat", "exp", "zuul"] {
        assert_eq!(
            mint("op", &wish(&json!({ name: 1 }))),
            MintError::Reserved(name.to_owned())
        );
    }
    assert_eq!(
        mint("short", &plain),
        MintError::TooLong(Duration::from_secs(60))
    );
    let minute = Mint {
        expires_in: Duration::from_secs(60),
        ..plain.clone()
    };
    authenticators.mint("short", &minute, at(0)).unwrap();
    let endless = Mint {
        expires_in: Duration::MAX,
        ..plain.clone()
    };
    authenticators.mint("corp", &endless, at(0)).unwrap();
    let nothing = Mint {
        expires_in: Duration::from_millis(999),
        ..plain.clone()
    };
    assert_eq!(mint("corp", &nothing), MintError::TooShort);
    let nobody = Mint {
        subject: String::new(),
        ..plain
    };
    assert_eq!(mint("corp", &nobody), MintError::NoSubject);
    assert_eq!(
        mint("corp", &wish(&json!({ "x": "y".repeat(20_000) }))),
        MintError::TooLarge
    );
}
