//! Behaviour that users of Zuul know, as far as it is decided here.

use std::time::Duration;

use portcullis_core::AdminOf;
use serde_json::{Value, json};

use super::{made, refused, verify};
use crate::authenticators::Authenticators;
use crate::error::Code;
use crate::settings::AuthenticatorSettings;
use crate::testing::{By, NOW, SECRET, claims, shared, token};

fn both() -> Authenticators {
    made(vec![
        AuthenticatorSettings {
            is_default: true,
            realm: "R1".to_owned(),
            ..shared("corp")
        },
        AuthenticatorSettings {
            allow_authz_override: true,
            ..shared("op")
        },
    ])
}

fn of(issuer: &str, changes: &Value) -> String {
    token(&claims(issuer, changes), &By::Shared(SECRET))
}

#[test]
fn case_29_expired() {
    refused(
        &both(),
        &of("corp", &json!({ "iat": NOW - 660, "exp": NOW - 60 })),
        Code::Expired,
    );
}

#[test]
fn case_30_other_audience() {
    refused(
        &both(),
        &of("corp", &json!({ "aud": "other" })),
        Code::WrongAudience,
    );
}

#[test]
fn case_31_unknown_issuer() {
    let error = refused(&both(), &of("nobody", &json!({})), Code::UnknownIssuer);
    assert_eq!(error.realm, "R1");
}

#[test]
fn case_32_wrong_key_and_none() {
    let said = claims("corp", &json!({}));
    refused(
        &both(),
        &token(
            &said,
            &By::Shared(b"wrong-0123456789abcdef0123456789abcdef"),
        ),
        Code::BadSignature,
    );
    refused(&both(), &token(&said, &By::Nobody), Code::BadSignature);
}

#[test]
fn case_33_admin_where_it_is_not_allowed() {
    refused(
        &both(),
        &of("corp", &json!({ "zuul": {"admin": ["t1"]} })),
        Code::AdminClaimNotAllowed,
    );
}

#[test]
fn case_34_admin_of_a_tenant() {
    let identity = verify(&both(), &of("op", &json!({ "zuul": {"admin": ["t1"]} }))).unwrap();
    assert_eq!(identity.admin, AdminOf::Tenants(vec!["t1".to_owned()]));
}

#[test]
fn case_35_admin_of_everything() {
    refused(
        &both(),
        &of("op", &json!({ "zuul": {"admin": "*"} })),
        Code::BadAdminClaim,
    );
    let identity = verify(&both(), &of("op", &json!({ "zuul": {"admin": ["*"]} }))).unwrap();
    assert_eq!(identity.admin, AdminOf::Everything);
}

#[test]
fn case_36_the_greatest_age() {
    let short = AuthenticatorSettings {
        max_validity: Some(Duration::from_secs(60)),
        ..shared("short")
    };
    let authenticators = made(vec![short]);
    verify(&authenticators, &of("short", &json!({}))).unwrap();
    refused(
        &authenticators,
        &of("short", &json!({ "iat": null })),
        Code::MissingClaim,
    );
    refused(
        &authenticators,
        &of("short", &json!({ "iat": NOW - 120 })),
        Code::Expired,
    );
}

#[test]
fn case_42_people_by_mail() {
    let mail = AuthenticatorSettings {
        uid_claim: "email".to_owned(),
        ..shared("mail")
    };
    let authenticators = made(vec![mail]);
    let identity = verify(
        &authenticators,
        &of("mail", &json!({ "email": "a@b", "sub": "7" })),
    )
    .unwrap();
    assert_eq!(identity.uid, "a@b");
    refused(
        &authenticators,
        &of("mail", &json!({ "sub": "7" })),
        Code::MissingClaim,
    );
}
