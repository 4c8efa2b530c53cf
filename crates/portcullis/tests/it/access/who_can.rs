//! `portcullis who-can`.

use serde_json::json;

use super::{ask, example, folder, json_of};

#[test]
fn rules_are_listed_with_what_they_ask() {
    let folder = example();
    let ran = ask(&folder, &["who-can", "enqueue", "--tenant", "example"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    insta::assert_snapshot!(ran.out, @"
    RULE        ROLE          WHEN                                 CLAIMS
    admin-user  admin         always                               preferred_username is `admin`
    alice       enqueue-post  project is foo and pipeline is post  preferred_username is `alice`
    ");
}

#[test]
fn parameters_leave_out_who_can_not() {
    let folder = example();
    for (action, parameters, named, absent) in [
        (
            "enqueue",
            &["--param", "project=foo", "--param", "pipeline=post"][..],
            &["admin-user", "alice"][..],
            &["everyone"][..],
        ),
        (
            "enqueue",
            &["--param", "project=bar"],
            &["admin-user"],
            &["everyone", "alice"],
        ),
        ("autohold", &[], &["everyone", "admin-user"], &["alice"]),
        (
            "tenant-state",
            &[],
            &["admin-user"],
            &["everyone", "enqueue-post"],
        ),
    ] {
        let asked = [&["who-can", action, "--tenant", "example"][..], parameters].concat();
        let ran = ask(&folder, &asked);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for name in named {
            assert!(ran.out.contains(name), "{action}: {}", ran.out);
        }
        for name in absent {
            assert!(!ran.out.contains(name), "{action}: {}", ran.out);
        }
    }
}

#[test]
fn nobody_is_a_no_and_anybody_a_yes() {
    let folder = folder("- tenant: {name: t}\n");
    let ran = ask(&folder, &["who-can", "promote", "--tenant", "t"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("no rule grants it"), "{}", ran.err);
    let ran = ask(&folder, &["who-can", "read", "--tenant", "t", "-o", "json"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        json_of(&ran),
        json!({
            "action": "read", "tenant": "t", "parameters": {}, "anonymous": true, "holders": [],
        })
    );
    assert_eq!(
        ask(&folder, &["who-can", "fly", "--tenant", "t"]).code,
        Some(2)
    );
    assert_eq!(
        ask(&folder, &["who-can", "read", "--tenant", "u"]).code,
        Some(6)
    );
}
