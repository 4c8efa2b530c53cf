use serde_json::{Value, json};

use super::*;
use crate::testing::Fake;

fn fake() -> Fake {
    let one = json!({
        "id": 4, "project": "shop/web", "controller": "budget", "reason": "<script>release week",
        "until": "2026-11-20T00:00:00.000Z", "ticket": "CHG-1", "granted_by": "<ada>",
        "granted_at": "2026-11-01T08:00:00.000Z", "expires_in_seconds": 600_000, "uses": 12,
        "last_used_at": "2026-11-18T09:30:00.000Z",
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
fn exemptions_say_who_granted_them_how_often_they_were_used_and_what_expires_soon() {
    let (_, html) = fake().page("/exemptions");
    for text in [
        "by &#60;ada&#62;",
        "2026-11-01 08:00:00 UTC",
        "href=\"/decisions?door=ci&#38;namespace=shop%2Fweb&#38;policy=budget\">12</a>",
        "2026-11-18 09:30:00 UTC",
        "expires in 6 days",
        "1 exemption expires within 7 days.",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    let (_, html) = fake().refusing("read-decisions").page("/exemptions");
    assert!(!html.contains("/decisions?"), "{html}");
    let left = |seconds: u64| {
        let one = json!({"id": 1, "user": "eve", "reason": "x", "until": "2026-11-20T00:00:00Z",
            "expires_in_seconds": seconds, "uses": 0, "last_used_at": null});
        let one: Exemption = serde_json::from_value(one).unwrap();
        one.soon().unwrap_or_default()
    };
    assert_eq!(left(30), "expires in less than a minute");
    assert_eq!(left(60), "expires in 1 minute");
    assert_eq!(left(7_200), "expires in 2 hours");
    assert_eq!(left(172_800), "expires in 2 days");
    assert_eq!(left(604_800), "");
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
