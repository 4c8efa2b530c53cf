//! Web pages from outside: who sees them, and that forms do what the API would do.

use serde_json::{Value, json};

use super::browser::{Browser, hidden};
use super::{Api, of};

fn tenants() -> Value {
    json!([
        {"authorization-rule": {"name": "kim", "conditions": [{"preferred_username": "kim"}]}},
        {"authorization-rule": {"name": "bob", "conditions": [{"preferred_username": "bob"}]}},
        {"role": {"name": "watcher", "permissions": {"read": true, "read-decisions": true}}},
        {"role": {"name": "reader", "permissions": {"read": true}}},
        {"api-root": {"role-mappings": {"kim": "watcher", "bob": "reader"}, "anonymous-read-access": false}},
        {"tenant": {"name": "t1", "anonymous-read-access": false, "role-mappings": {"kim": "admin", "bob": "reader"}}},
    ])
}

fn signed_in(api: &Api, who: &str) -> Browser {
    let mut browser = Browser::new(api.port);
    let answer = browser.sign_in(&of(who), "/");
    assert_eq!(answer.status, 303, "{}", answer.text());
    browser
}

#[test]
fn a_page_needs_a_session_and_a_permission() {
    let api = Api::start(&tenants());
    let mut nobody = Browser::new(api.port);
    let answer = nobody.get("/decisions?verdict=deny");
    assert_eq!(answer.status, 303);
    let to = "/sign-in?next=%2Fdecisions%3Fverdict%3Ddeny";
    assert_eq!(answer.header("location"), Some(to));
    let page = signed_in(&api, "kim").get("/decisions?verdict=deny");
    assert_eq!(page.status, 200, "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert!(page.text().contains("Signed in as <strong>kim</strong>"));
    let page = signed_in(&api, "bob").get("/decisions");
    assert_eq!(page.status, 403);
    assert!(page.text().contains("read-decisions"), "{}", page.text());
    // Everybody with a session has a first page.
    assert_eq!(signed_in(&api, "eve").get("/").status, 200);
}

#[test]
fn what_is_wrong_with_an_address_is_said() {
    let api = Api::start(&tenants());
    let mut kim = signed_in(&api, "kim");
    for (path, status, word) in [
        ("/decisions?colour=red", 400, "colour"),
        ("/decisions?verdict=maybe", 400, "maybe"),
        ("/decisions?limit=x", 400, "limit"),
        ("/decisions/01K9ZV3N5J0000000000000ABC", 404, "decision"),
        ("/tenants/nowhere", 404, "tenant"),
        ("/no-such-page", 404, "path"),
    ] {
        let page = kim.get(path);
        assert_eq!(page.status, status, "{path}: {}", page.text());
        assert!(page.text().contains(word), "{path}: {}", page.text());
    }
    assert_eq!(kim.get("/decisions?limit=5000&user=").status, 200);
    assert_eq!(kim.send("PUT", "/decisions", &[], "").status, 405);
}

#[test]
fn a_form_does_what_the_api_does() {
    let api = Api::start(&tenants());
    let mut kim = signed_in(&api, "kim");
    let page = kim.get("/tenants/t1").text();
    let csrf = hidden(&page, "csrf");
    let pause = |csrf: &str| {
        let fields = [("trigger_queue_paused", "true"), ("reason", "moving")];
        [
            &[("csrf", csrf.to_owned())],
            &fields.map(|(n, v)| (n, v.to_owned()))[..],
        ]
        .concat()
    };
    let send = |csrf: &str, by: &mut Browser| {
        let fields = pause(csrf);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        by.post_form("/tenants/t1/state", &fields)
    };
    let state = || api.get(Some(&of("kim")), "/api/tenant/t1/status").json()["state"].clone();
    for wrong in ["", "AAAAAAAAAAAAAAAAAAAAAAAA"] {
        assert_eq!(send(wrong, &mut kim).status, 403, "{wrong}");
    }
    assert_eq!(state()["trigger_queue_paused"], false);
    let answer = send(&csrf, &mut kim);
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/tenants/t1"))
    );
    assert_eq!(state()["trigger_queue_paused"], true);
    assert_eq!(state()["reason"], "moving");
    assert!(kim.get("/tenants/t1").text().contains("moving"));
    // Others see the button, disabled, and may not send the form all the same.
    let mut bob = signed_in(&api, "bob");
    let page = bob.get("/tenants/t1").text();
    assert!(
        page.contains("<fieldset disabled>") && page.contains("tenant-state"),
        "{page}"
    );
    let csrf = hidden(&page, "csrf");
    let answer = send(&csrf, &mut bob);
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("tenant-state"), "{}", answer.text());
}

#[test]
fn a_form_that_is_wrong_is_shown_again_with_what_was_typed() {
    let api = Api::start(&tenants());
    let mut kim = signed_in(&api, "kim");
    let csrf = hidden(&kim.get("/tenants/t1").text(), "csrf");
    let fields = [
        ("csrf", csrf.as_str()),
        ("project", "org%2Fp"),
        ("job", ""),
        ("reason", "flaky%3Cb%3E"),
    ];
    let answer = kim.post_form("/tenants/t1/holds", &fields);
    assert_eq!(answer.status, 400);
    let text = answer.text();
    assert!(
        text.contains("role=\"alert\"") && text.contains("Job is missing."),
        "{text}"
    );
    assert!(
        text.contains("value=\"org/p\"") && text.contains("flaky&#60;b&#62;"),
        "{text}"
    );
}

#[test]
fn every_file_that_a_page_names_is_there() {
    let api = Api::start(&tenants());
    let mut kim = signed_in(&api, "kim");
    for path in ["/", "/decisions", "/tenants/t1"] {
        let page = kim.get(path).text();
        let named = page.split('"').filter(|text| text.starts_with("/assets/"));
        let named: Vec<&str> = named.collect();
        assert!(named.len() >= 2, "{path}: {named:?}");
        for file in named {
            let answer = kim.get(file);
            assert_eq!(answer.status, 200, "{file}");
            let cache = answer.header("cache-control").unwrap();
            assert!(cache.contains("immutable"), "{file}: {cache}");
            // Scripts are kept compressed.
            let encoding = file.ends_with(".js").then_some("gzip");
            assert_eq!(answer.header("content-encoding"), encoding, "{file}");
        }
        // No text of a page is a script.
        assert!(!page.contains("<script>"), "{path}");
        assert!(!page.contains(" onclick="), "{path}");
    }
}
