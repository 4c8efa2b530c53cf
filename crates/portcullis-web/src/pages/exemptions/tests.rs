use serde_json::{Value, json};

use super::*;
use crate::testing::Fake;

fn fake() -> Fake {
    let one = json!({
        "id": 4, "project": "shop/web", "controller": "budget", "reason": "<script>release week",
        "until": "2026-11-20T00:00:00.000Z", "ticket": "CHG-1",
    });
    let listing = json!({"items": [one], "next": null});
    Fake::new()
        .with(LIST, listing.clone())
        .with("/api/v1/exemptions?limit=500", listing)
        .with("/api/tenants", json!([{"name": "t1"}]))
}

#[test]
fn exemptions_are_listed_with_what_they_are_from_and_why() {
    let (status, html) = fake().page("/exemptions");
    assert_eq!(status, 200, "{html}");
    assert!(html.contains("controller budget"), "{html}");
    assert!(html.contains("&#60;script&#62;release week"), "{html}");
    assert!(!html.contains("<script>"));
    assert!(html.contains("2026-11-20 00:00:00 UTC"));
    assert!(html.contains("CHG-1"));
    assert!(html.contains(r#"action="/exemptions/4/revoke""#));
    assert!(html.contains(r#"name="csrf" value="token-of-the-session""#));
    assert!(!html.contains("role=\"alert\""));
}

#[test]
fn one_who_may_grant_none_sees_why() {
    let (_, html) = fake().refusing(MANAGES).page("/exemptions");
    assert!(html.contains("disabled"), "{html}");
    assert!(html.contains("none of your roles here permits `manage-exemptions`"));
    assert!(!html.contains("/exemptions/4/revoke"), "{html}");
}

#[test]
fn a_form_becomes_a_call_without_what_is_empty() {
    let fake = fake().answering(Verb::Post, LIST, Ok(Value::Null));
    let form = [
        ("project", " shop/web "),
        ("user", ""),
        ("controller", "budget"),
        ("reason", "release week"),
        ("until", "2026-11-20T00:00"),
    ];
    let to = fake.send("/exemptions", &form);
    assert_eq!(to, Reply::SeeOther("/exemptions".to_owned()));
    let body = json!({
        "project": "shop/web", "controller": "budget", "reason": "release week",
        "until": "2026-11-20T00:00:00Z",
    });
    assert_eq!(fake.changes(), [(Verb::Post, LIST.to_owned(), body)]);
}

#[test]
fn a_wrongly_filled_form_is_shown_again_as_it_was_typed() {
    let fault = Problem {
        status: 422,
        message: "until: it is in the past".to_owned(),
    };
    let fake = fake().answering(Verb::Post, LIST, Err(fault));
    let form = [
        ("project", "a\"b"),
        ("reason", "why"),
        ("until", "2020-01-01T00:00"),
    ];
    let Reply::Page { status, html } = fake.send("/exemptions", &form) else {
        panic!("the form was taken");
    };
    assert_eq!(status, 400);
    assert!(
        html.contains("role=\"alert\"") && html.contains("Until: it is in the past."),
        "{html}"
    );
    assert!(html.contains(r#"value="a&#34;b""#), "{html}");
    assert!(html.contains(r#"value="2020-01-01T00:00""#), "{html}");
}

#[test]
fn revoking_asks_first_and_says_what_is_revoked() {
    let fake = fake().answering(Verb::Delete, "/api/v1/exemptions/4", Ok(Value::Null));
    let (status, html) = fake.page("/exemptions/4/revoke");
    assert_eq!(status, 200, "{html}");
    assert!(
        html.contains("release week") && html.contains("controller budget"),
        "{html}"
    );
    assert!(html.contains(r#"action="/exemptions/4/revoke""#));
    assert!(fake.changes().is_empty());
    let to = fake.send("/exemptions/4/revoke", &[]);
    assert_eq!(to, Reply::SeeOther("/exemptions".to_owned()));
    assert_eq!(fake.page("/exemptions/5/revoke").0, 404);
}
