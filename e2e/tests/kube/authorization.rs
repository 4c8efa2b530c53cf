//! Portcullis in the API server's authorization chain, before RBAC.
//!
//! ```text
//! alice, bob   /authorize/staff   ABAC file          then RBAC
//! carol        /authorize/open    AlwaysAllow
//! mallory      /authorize/locked  AlwaysDeny
//! dave         /authorize         ABAC file, AlwaysDeny; asked in v1beta1
//! fiona, nora  /authorize/staff   of a Portcullis that may be stopped;
//!                                 failurePolicy Deny (fiona), NoOpinion (nora)
//! ```

use portcullis_e2e::{Answer, AuthorizationWebhook, Portcullis, User};

use crate::manifests::config_map;
use crate::suite::{Space, in_namespace};

pub(crate) const CONFIGURATION: &str = "\
authorization:
  authorizers: [{name: staff, driver: ABAC, file: abac.jsonl}]
  chains: {staff: [staff], open: [AlwaysAllow], locked: [AlwaysDeny], default: [staff, AlwaysDeny]}
";

pub(crate) const RULES: &str = r#"{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "alice", "namespace": "authorized", "resource": "configmaps", "apiGroup": "*", "readonly": true}}
{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "alice", "nonResourcePath": "/metrics", "readonly": true}}
{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"group": "writers", "namespace": "authorized", "resource": "*", "apiGroup": "*"}}
"#;

pub(crate) const USERS: &[User] = &[
    User {
        name: "keeper",
        groups: &[],
    },
    User {
        name: "alice",
        groups: &[],
    },
    User {
        name: "bob",
        groups: &[],
    },
    User {
        name: "carol",
        groups: &[],
    },
    User {
        name: "mallory",
        groups: &[],
    },
    User {
        name: "dave",
        groups: &["writers"],
    },
    User {
        name: "fiona",
        groups: &["writers"],
    },
    User {
        name: "nora",
        groups: &["writers"],
    },
];

pub(crate) fn webhooks(steady: &Portcullis, fragile: &Portcullis) -> Vec<AuthorizationWebhook> {
    let webhook = |user, portcullis: &Portcullis, path, failure_policy| AuthorizationWebhook {
        name: user,
        version: if user == "dave" { "v1beta1" } else { "v1" },
        url: portcullis.url(path),
        failure_policy,
        user,
    };
    vec![
        webhook("alice", steady, "/authorize/staff", "Deny"),
        webhook("bob", steady, "/authorize/staff", "Deny"),
        webhook("carol", steady, "/authorize/open", "Deny"),
        webhook("mallory", steady, "/authorize/locked", "NoOpinion"),
        webhook("dave", steady, "/authorize", "Deny"),
        webhook("fiona", fragile, "/authorize/staff", "Deny"),
        webhook("nora", fragile, "/authorize/staff", "NoOpinion"),
    ]
}

#[test]
fn a_chain_allows_denies_or_leaves_it_to_rbac() {
    in_namespace("authorized", |space| {
        space.grant(&["bob", "mallory"], "list");
        let read = |user: &str, resource: &str| {
            let path = format!("/api/v1/namespaces/authorized/{resource}");
            space
                .kubectl
                .signed_in_as(user)
                .run(&["get", "--raw", &path])
        };
        let forbidden = |user: &str, resource: &str| {
            format!(
                "Error from server (Forbidden): {resource} is forbidden: User \"{user}\" cannot list resource \"{resource}\" \
                 in API group \"\" in the namespace \"authorized\""
            )
        };

        // The file allows, and has no opinion on what it does not name; nor has RBAC.
        read("alice", "configmaps").succeeds();
        let no_policy = format!("{}: No policy matched.", forbidden("alice", "pods"));
        read("alice", "pods").fails_saying(&no_policy);
        write(space, "alice").fails();
        space
            .kubectl
            .signed_in_as("alice")
            .run(&["get", "--raw", "/metrics"])
            .succeeds();
        space
            .kubectl
            .signed_in_as("bob")
            .run(&["get", "--raw", "/metrics"])
            .fails();
        // The file has no opinion, RBAC allows.
        read("bob", "pods").succeeds();
        // Allowed whatever RBAC thinks, and even to grant rights.
        read("carol", "secrets").succeeds();
        // Denied whatever RBAC thinks.
        let denied = format!("{}: Everything is forbidden.", forbidden("mallory", "pods"));
        read("mallory", "pods").fails_saying(&denied);
        // The first of the chain allows, so the second is not asked; otherwise it is.
        write(space, "dave").succeeds();
        space
            .kubectl
            .signed_in_as("dave")
            .run(&["get", "--raw", "/api/v1/namespaces/default/pods"])
            .fails();
    });
}

#[test]
fn the_answer_of_can_i_has_the_authorizers_word() {
    in_namespace("can-i", |space| {
        let can = |user: &str, verb: &str| {
            let kubectl = space.kubectl.impersonating(user);
            kubectl.run(&["auth", "can-i", verb, "configmaps"])
        };
        assert_eq!(can("carol", "delete").succeeds().stdout, "yes\n");
        assert_eq!(
            can("bob", "list").fails().stdout,
            "no - No policy matched.\n"
        );
    });
}

#[test]
fn the_failure_policy_of_an_authorizer_counts_when_it_is_gone() {
    in_namespace("authorizer-gone", |space| {
        let mut portcullis = space.suite.fragile_authorizer.lock().unwrap();
        space.grant(&["fiona", "nora"], "list");
        let read = |user: &str| {
            space.kubectl.signed_in_as(user).run(&[
                "get",
                "--raw",
                "/api/v1/namespaces/authorizer-gone/pods",
            ])
        };
        let both = || ["fiona", "nora"].map(|user| read(user).is_success());
        assert_eq!(both(), [true, true]);
        portcullis.stop();
        assert_eq!(both(), [false, true]);
        portcullis.start_again();
        assert_eq!(both(), [true, true]);
    });
}

/// Whether the user may create something.
fn write(space: &Space, user: &str) -> Answer {
    let path = format!("/api/v1/namespaces/{}/configmaps", space.name);
    let manifest = config_map(user).to_string();
    space
        .kubectl
        .signed_in_as(user)
        .run_with_input(&["create", "--raw", &path, "-f", "-"], &manifest)
}
