//! Matching of subjects, verbs, resources and paths in both forms, and faults.

use std::fmt::Write as _;
use std::sync::Arc;

use portcullis_core::access::ResourceTarget;
use portcullis_core::{Access, Authorizer, Opinion, Target, UserInfo};
use portcullis_document::{Fault, Source};
use serde_json::{Value, json};

use super::*;

/// The policies of a text.
fn read(text: &str) -> Result<AbacPolicies, Vec<Fault>> {
    parse(&Source::text_named("abac.jsonl", text))
}

fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo {
        username: name.into(),
        groups: groups.iter().map(|g| (*g).to_owned()).collect(),
        ..UserInfo::default()
    }
}

/// An authenticated user.
fn known(name: &str) -> UserInfo {
    user(name, &["system:authenticated"])
}

fn anonymous() -> UserInfo {
    user("system:anonymous", &["system:unauthenticated"])
}

fn access(user: UserInfo, verb: &str, target: Target) -> Access {
    Access {
        user,
        verb: verb.into(),
        target,
        context: Arc::default(),
    }
}

fn resource(group: &str, resource: &str, namespace: &str) -> Target {
    Target::Resource(ResourceTarget {
        group: group.into(),
        resource: resource.into(),
        namespace: namespace.into(),
        ..ResourceTarget::default()
    })
}

fn path(path: &str) -> Target {
    Target::Path(path.into())
}

fn versioned(specs: &[Value]) -> AbacPolicies {
    let mut text = String::new();
    for spec in specs {
        let policy = json!({
            "apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": spec,
        });
        writeln!(text, "{policy}").expect("text");
    }
    read(&text).expect("policies")
}

fn unversioned(policies: &[Value]) -> AbacPolicies {
    let lines: Vec<String> = policies.iter().map(ToString::to_string).collect();
    read(&lines.join("\n")).expect("policies")
}

fn allows(policies: &AbacPolicies, access: &Access) -> bool {
    match policies.authorize(access).expect("an opinion") {
        Opinion::Allow(_) => true,
        Opinion::NoOpinion(reason) => {
            assert_eq!(reason, "No policy matched.");
            false
        }
        Opinion::Deny(reason) => panic!("denied: {reason}"),
    }
}

#[test]
fn subjects_match_by_user_and_group() {
    let foo = |groups: &[&str]| user("Foo", groups);
    let authed = "system:authenticated";
    // Subject of the policy, subject of the request, matches in v0, in v1beta1.
    let cases = [
        (json!({}), anonymous(), false, false),
        (json!({}), known("Foo"), true, false),
        (json!({}), foo(&["a", "b", authed]), true, false),
        (json!({"user": "", "group": ""}), known("Foo"), true, false),
        (json!({"user": "*"}), anonymous(), false, false),
        (json!({"user": "*"}), known("Foo"), true, true),
        (json!({"group": "*"}), anonymous(), false, false),
        (json!({"group": "*"}), known("Foo"), true, true),
        // A star wins over whatever the other one says.
        (json!({"user": "*", "group": "x"}), known("Foo"), true, true),
        (
            json!({"user": "Bar", "group": "*"}),
            known("Foo"),
            true,
            true,
        ),
        // A user without the group of authenticated users is not authenticated.
        (json!({"user": "*"}), foo(&["a"]), false, false),
        (json!({"user": "Foo"}), foo(&[]), true, true),
        (json!({"user": "Foo"}), anonymous(), false, false),
        (json!({"user": "Foo"}), known("Bar"), false, false),
        (json!({"user": "Foo"}), known("foo"), false, false),
        (json!({"user": "Foo"}), known("FooBar"), false, false),
        (json!({"user": "Foo"}), known("Foo"), true, true),
        (json!({"group": "B"}), anonymous(), false, false),
        (json!({"group": "B"}), foo(&["A", authed]), false, false),
        (
            json!({"group": "B"}),
            foo(&["A", "b", authed]),
            false,
            false,
        ),
        (
            json!({"group": "B"}),
            foo(&["A", "BBB", authed]),
            false,
            false,
        ),
        (json!({"group": "B"}), foo(&["A", "B", authed]), true, true),
        (
            json!({"group": "system:unauthenticated"}),
            anonymous(),
            true,
            true,
        ),
        (
            json!({"user": "Foo", "group": "B"}),
            user("Bar", &["A", "B"]),
            false,
            false,
        ),
        (
            json!({"user": "Foo", "group": "D"}),
            foo(&["A", "B"]),
            false,
            false,
        ),
        (
            json!({"user": "Foo", "group": "B"}),
            foo(&["A", "B"]),
            true,
            true,
        ),
    ];
    for (subject, asker, in_v0, in_v1beta1) in cases {
        let request = access(asker.clone(), "get", path("/x"));
        assert_eq!(
            allows(&unversioned(std::slice::from_ref(&subject)), &request),
            in_v0,
            "v0 {subject} {asker:?}"
        );
        let mut spec = subject;
        spec["nonResourcePath"] = json!("*");
        assert_eq!(
            allows(&versioned(std::slice::from_ref(&spec)), &request),
            in_v1beta1,
            "v1beta1 {spec} {asker:?}"
        );
    }
}

#[test]
fn lines_without_a_version_match_what_they_leave_out() {
    let policies = unversioned(&[
        json!({"readonly": true, "resource": "events"}),
        json!({"user": "scheduler", "readonly": true, "resource": "pods"}),
        json!({"user": "scheduler", "resource": "bindings"}),
        json!({"user": "kubelet", "readonly": true, "resource": "bindings"}),
        json!({"user": "kubelet", "resource": "events"}),
        json!({"user": "alice", "namespace": "caribou"}),
        json!({"user": "bob", "readonly": true, "namespace": "caribou"}),
    ]);
    let cases = [
        ("scheduler", "list", resource("", "pods", "ns1"), true),
        ("scheduler", "list", resource("", "pods", ""), true),
        ("scheduler", "create", resource("", "pods", "ns1"), false),
        ("scheduler", "create", resource("", "pods", ""), false),
        ("scheduler", "get", resource("", "bindings", "ns1"), true),
        ("scheduler", "create", resource("", "bindings", ""), true),
        ("kubelet", "create", resource("", "bindings", ""), false),
        ("alice", "get", resource("", "pods", "caribou"), true),
        ("alice", "get", resource("", "widgets", "caribou"), true),
        ("alice", "get", resource("", "", "caribou"), true),
        ("alice", "update", resource("", "pods", "caribou"), true),
        ("alice", "update", resource("", "", "caribou"), true),
        ("alice", "update", resource("bar", "foo", "caribou"), true),
        ("alice", "get", resource("", "pods", "ns1"), false),
        ("alice", "get", resource("", "", "ns1"), false),
        ("bob", "get", resource("", "pods", "caribou"), true),
        ("bob", "patch", resource("", "pods", "caribou"), false),
        ("chuck", "get", resource("", "events", "ns1"), true),
        ("chuck", "get", resource("", "events", ""), true),
        ("chuck", "update", resource("", "events", "ns1"), false),
        ("chuck", "get", resource("", "pods", "ns1"), false),
        ("chuck", "get", path("/"), false),
        ("alice", "get", path("/"), false),
    ];
    for (name, verb, target, expected) in cases {
        let request = access(known(name), verb, target);
        assert_eq!(allows(&policies, &request), expected, "{request:?}");
    }
    // A line with neither resource nor namespace is for paths as well.
    let all = unversioned(&[
        json!({"user": "root"}),
        json!({"user": "ro", "readonly": true}),
    ]);
    assert!(allows(
        &all,
        &access(known("root"), "post", path("/any/path"))
    ));
    assert!(allows(
        &all,
        &access(known("root"), "delete", resource("g", "r", "n"))
    ));
    assert!(allows(&all, &access(known("ro"), "get", path(""))));
    assert!(!allows(
        &all,
        &access(known("ro"), "post", path("/any/path"))
    ));
}

#[test]
fn lines_of_v1beta1_match_only_what_they_say() {
    let policies = versioned(&[
        json!({"user": "*", "readonly": true, "nonResourcePath": "/api"}),
        json!({"user": "*", "nonResourcePath": "/custom"}),
        json!({"user": "*", "nonResourcePath": "/root/*"}),
        json!({"user": "noresource", "nonResourcePath": "*"}),
        json!({"user": "*", "readonly": true, "resource": "events", "namespace": "*"}),
        json!({"user": "scheduler", "readonly": true, "resource": "pods", "namespace": "*"}),
        json!({"user": "scheduler", "resource": "bindings", "namespace": "*"}),
        json!({"user": "alice", "resource": "*", "namespace": "caribou"}),
        json!({"user": "bob", "readonly": true, "resource": "*", "namespace": "caribou"}),
        json!({"user": "debbie", "resource": "pods", "namespace": "caribou"}),
        json!({"user": "groups", "resource": "*", "namespace": "any", "apiGroup": "*"}),
        json!({"user": "groups", "resource": "*", "namespace": "empty", "apiGroup": ""}),
        json!({"user": "groups", "resource": "*", "namespace": "x", "apiGroup": "x"}),
        json!({"user": "cluster", "resource": "nodes"}),
    ]);
    let cases = [
        ("scheduler", "list", resource("", "pods", "ns1"), true),
        ("scheduler", "watch", resource("", "pods", ""), true),
        ("scheduler", "create", resource("", "pods", "ns1"), false),
        ("scheduler", "get", resource("", "bindings", "ns1"), true),
        ("scheduler", "create", resource("", "bindings", ""), true),
        ("alice", "update", resource("", "widgets", "caribou"), true),
        ("alice", "get", resource("", "", "caribou"), true),
        (
            "alice",
            "get",
            resource("apps", "widgets", "caribou"),
            false,
        ),
        ("alice", "get", resource("", "pods", "ns1"), false),
        ("alice", "get", resource("", "pods", ""), false),
        (
            "bob",
            "deletecollection",
            resource("", "pods", "caribou"),
            false,
        ),
        ("debbie", "update", resource("", "pods", "caribou"), true),
        (
            "debbie",
            "update",
            resource("", "services", "caribou"),
            false,
        ),
        ("chuck", "get", resource("", "events", "ns1"), true),
        ("chuck", "update", resource("", "events", "ns1"), false),
        ("chuck", "get", resource("", "floop", "ns1"), false),
        ("chuck", "get", path("/"), false),
        ("chuck", "get", path("/api"), true),
        ("chuck", "get", path("/api/"), false),
        ("chuck", "create", path("/api"), false),
        ("chuck", "update", path("/custom"), true),
        ("chuck", "get", path("/root"), false),
        ("chuck", "get", path("/root/"), true),
        ("chuck", "get", path("/root/test/1/2/3"), true),
        ("noresource", "get", path(""), true),
        ("noresource", "get", path("/foo/bar/baz"), true),
        ("noresource", "get", resource("", "", "bar"), false),
        ("noresource", "get", resource("", "foo", "bar"), false),
        ("groups", "get", resource("x", "foo", "any"), true),
        ("groups", "get", resource("x", "foo", "empty"), false),
        ("groups", "get", resource("", "foo", "empty"), true),
        ("groups", "get", resource("x", "foo", "x"), true),
        ("groups", "get", resource("y", "foo", "x"), false),
        ("cluster", "create", resource("", "nodes", ""), true),
        ("cluster", "create", resource("", "nodes", "ns1"), false),
        // An empty path in the request is matched by a policy without one.
        ("cluster", "get", path(""), true),
        ("cluster", "get", path("/"), false),
    ];
    for (name, verb, target, expected) in cases {
        let request = access(known(name), verb, target);
        assert_eq!(allows(&policies, &request), expected, "{request:?}");
    }
    let stranger = access(anonymous(), "get", path("/api"));
    assert!(!allows(&policies, &stranger));
}

#[test]
fn a_star_is_special_only_at_the_end_of_a_path() {
    let policies = versioned(&[
        json!({"user": "a", "nonResourcePath": "/x**"}),
        json!({"user": "a", "nonResourcePath": "/*/y"}),
        json!({"user": "a", "resource": "po*", "namespace": "*"}),
    ]);
    let asks = |target| access(known("a"), "get", target);
    assert!(allows(&policies, &asks(path("/x"))));
    assert!(allows(&policies, &asks(path("/xyz"))));
    assert!(allows(&policies, &asks(path("/*/y"))));
    assert!(!allows(&policies, &asks(path("/z/y"))));
    assert!(!allows(&policies, &asks(resource("", "pods", "n"))));
}

#[test]
fn names_and_subresources_are_not_looked_at() {
    let policies = versioned(&[json!({"user": "a", "resource": "pods", "namespace": "n"})]);
    let target = Target::Resource(ResourceTarget {
        resource: "pods".into(),
        namespace: "n".into(),
        name: "web".into(),
        subresource: "exec".into(),
        ..ResourceTarget::default()
    });
    assert!(allows(&policies, &access(known("a"), "create", target)));
}

#[test]
fn the_reason_names_the_line_of_the_first_match() {
    let text =
        "\n# who may what\r\n  {\"user\": \"a\", \"resource\": \"pods\"}\r\n\n{\"user\": \"a\"}";
    let policies = read(text).expect("policies");
    assert_eq!(policies.policies.len(), 2);
    assert!(!policies.is_empty());
    let said = |target| {
        policies
            .authorize(&access(known("a"), "get", target))
            .expect("an opinion")
    };
    assert_eq!(
        said(resource("", "pods", "")),
        Opinion::Allow("ABAC policy, line 3".into())
    );
    assert_eq!(
        said(path("/")),
        Opinion::Allow("ABAC policy, line 5".into())
    );
}

#[test]
fn a_file_without_policies_allows_nothing() {
    for text in ["", "\n\n", "# nothing\n   #\t{}"] {
        let policies = read(text).expect("no policies");
        assert!(policies.is_empty());
        assert!(!allows(&policies, &access(known("a"), "get", path(""))));
    }
}

#[test]
fn null_is_the_same_as_absent() {
    let policies = versioned(&[json!({"user": "a", "readonly": null, "nonResourcePath": "*"})]);
    assert!(allows(&policies, &access(known("a"), "post", path("/"))));
    assert!(read(r#"{"apiVersion": null, "kind": null, "user": "a"}"#).is_ok());
}

#[test]
fn the_old_form_may_declare_itself() {
    for declared in [
        json!({"kind": "Policy", "user": "a"}),
        json!({"apiVersion": "abac.authorization.kubernetes.io/v0", "kind": "Policy", "user": "a"}),
    ] {
        let policies = unversioned(&[declared]);
        assert!(allows(&policies, &access(known("a"), "get", path("/"))));
    }
}

#[test]
fn every_fault_is_told_with_its_line() {
    let v1beta1 = |rest: &str| {
        format!(
            r#"{{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy"{rest}}}"#
        )
    };
    let cases = [
        ("{".to_owned(), "2: the text ends too early"),
        ("user: a".to_owned(), "1: expected a value"),
        (r#"{"user":"a"} {}"#.to_owned(), ""),
        (
            r#"{"user":"a","user":"b"}"#.to_owned(),
            "13: duplicate key `user`",
        ),
        ("[]".to_owned(), "1: expected a map, found a list"),
        ("7".to_owned(), "1: expected a map, found the number `7`"),
        (
            r#"{"usr":"a"}"#.to_owned(),
            "1: usr: unknown key, did you mean `user`?",
        ),
        (
            r#"{"spec":{"user":"a"}}"#.to_owned(),
            "1: spec: unknown key",
        ),
        (
            r#"{"user":1}"#.to_owned(),
            "1: user: expected text, found a number: put it in quotes",
        ),
        (
            r#"{"user":"a","readonly":"true"}"#.to_owned(),
            "1: readonly: expected true or false, found the text `true`",
        ),
        (
            r#"{"user":"a","nonResourcePath":"*"}"#.to_owned(),
            "1: nonResourcePath: unknown key",
        ),
        (
            r#"{"kind":"Role","user":"a"}"#.to_owned(),
            "1: kind: expected `Policy`, found `Role`",
        ),
        (r#"{"kind":1}"#.to_owned(), "1: kind: expected a string"),
        (
            r#"{"apiVersion":"abac.authorization.kubernetes.io/v1","kind":"Policy","spec":{}}"#
                .to_owned(),
            "1: apiVersion: expected `abac.authorization.kubernetes.io/v1beta1`, found",
        ),
        (
            r#"{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","spec":{}}"#.to_owned(),
            "1: kind: expected `Policy`, found ``",
        ),
        (v1beta1(""), "1: the key `spec` is missing"),
        (v1beta1(r#","spec":{},"user":"a""#), "1: user: unknown key"),
        (
            v1beta1(r#","spec":{"User":"a"}"#),
            "1: spec.User: unknown key, did you mean `user`?",
        ),
        (
            v1beta1(r#","spec":{"readonly":1}"#),
            "1: spec.readonly: expected true or false, found the number `1`",
        ),
        (
            v1beta1(r#","spec":[]"#),
            "1: spec: expected a map, found a list",
        ),
    ];
    let text: Vec<&str> = cases.iter().map(|(line, _)| line.as_str()).collect();
    let text = format!("# a comment\n{{\"user\":\"good\"}}\n{}", text.join("\n"));
    let faults = read(&text).expect_err("faults");
    assert_eq!(faults.len(), cases.len());
    for (index, (fault, (line, expected))) in faults.iter().zip(&cases).enumerate() {
        let expected = match *expected {
            "" => format!("abac.jsonl:{}:", index + 3),
            expected => format!("abac.jsonl:{}:{expected}", index + 3),
        };
        assert!(fault.to_string().starts_with(&expected), "{line}: {fault}");
    }
}
