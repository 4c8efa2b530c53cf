//! Who an agent is, where names and groups are unusual, by the built-in profiles.

use super::support::{compile, user};
use crate::access_rules::{AccessRules, AgentIdentity};
use crate::built_in;

fn rules(profile: &str) -> AccessRules {
    compile(built_in::find(profile).unwrap()).unwrap()
}

fn is_unclear(rules: &AccessRules, name: &str, groups: &str) -> bool {
    matches!(
        rules.identify(&user(name, groups)),
        AgentIdentity::Unclear(_)
    )
}

#[test]
fn names_that_can_not_be_determined_are_unclear() {
    let seeds = ("gardener.cloud:system:seed:", "gardener.cloud:system:seeds");
    let shoots = "gardener.cloud:system:shoots";
    for (profile, prefix, groups) in [
        ("node", "system:node:", "system:nodes,system:authenticated"),
        ("gardener", seeds.0, seeds.1),
        ("gardener-2021", seeds.0, seeds.1),
        ("gardener", "gardener.cloud:system:shoot:garden-p:", shoots),
        (
            "gardener",
            "gardener.cloud:gardenadm:shoot:garden-p:",
            shoots,
        ),
    ] {
        let rules = rules(profile);
        let good = user(&format!("{prefix}a1"), groups);
        assert!(
            matches!(rules.identify(&good), AgentIdentity::Agent(_)),
            "{prefix}"
        );
        let long = "a".repeat(300);
        for rest in [
            "",
            "a:b",
            ":",
            "a/b",
            "a%2fb",
            "..",
            "a\nb",
            "a\u{202e}",
            &long,
        ] {
            let name = format!("{prefix}{rest}");
            assert!(is_unclear(&rules, &name, groups), "{profile}: {name:?}");
            // Without the group it claims nothing.
            let other = user(&name, "system:authenticated");
            assert_eq!(rules.identify(&other), AgentIdentity::Other, "{name:?}");
        }
    }
}

#[test]
fn names_of_others_are_not_claims() {
    for (profile, name, groups) in [
        ("node", "alice", "system:nodes"),
        ("node", "system:nodeadmin", "system:nodes"),
        ("gardener", "alice", "gardener.cloud:system:seeds"),
        (
            "gardener",
            "system:serviceaccount:seed-s1:gardenlet",
            "system:serviceaccounts,system:serviceaccounts:seed-s1",
        ),
        (
            "gardener",
            "system:serviceaccount:garden:extension-shoot--a",
            "system:serviceaccounts,system:serviceaccounts:garden",
        ),
    ] {
        let identity = rules(profile).identify(&user(name, groups));
        assert_eq!(identity, AgentIdentity::Other, "{name}");
    }
}

#[test]
fn a_service_account_is_in_one_namespace() {
    let rules = rules("gardener");
    let account = "system:serviceaccount:seed-s1:extension-foo";
    let hosted = "system:serviceaccount:garden:extension-shoot--a--b";
    let project = "system:serviceaccount:garden-p:extension-shoot--a--b";
    for (name, own) in [
        (account, "seed-s1"),
        (hosted, "garden"),
        (project, "garden-p"),
    ] {
        let groups = |more: &str| format!("system:serviceaccounts{more},system:authenticated");
        let own = format!(",system:serviceaccounts:{own}");
        for good in [own.clone(), format!("{own}{own}")] {
            let identity = rules.identify(&user(name, &groups(&good)));
            assert!(matches!(identity, AgentIdentity::Agent(_)), "{name} {good}");
        }
        for other in ["seed-s2", "seed-s1x", "default", ""] {
            let other = format!(",system:serviceaccounts:{other}");
            for both in [format!("{own}{other}"), format!("{other}{own}")] {
                assert!(is_unclear(&rules, name, &groups(&both)), "{name} {both}");
            }
            let identity = rules.identify(&user(name, &groups(&other)));
            assert_eq!(identity, AgentIdentity::Other, "{name} {other}");
        }
    }
}

#[test]
fn the_nearest_subject_is_named() {
    let rules = rules("gardener");
    for (name, groups, wanted) in [
        (
            "gardener.cloud:system:seed:s1",
            "system:authenticated",
            "user matches subject `gardenlet`, but is not in group `gardener.cloud:system:seeds`",
        ),
        (
            "system:serviceaccount:seed-s1:extension-x",
            "",
            "user matches subject `extension`, but is not in groups `system:serviceaccounts`, `system:serviceaccounts:seed-s1`",
        ),
        (
            "alice",
            "gardener.cloud:system:seeds",
            "user is in group `gardener.cloud:system:seeds` of subject `gardenlet`, but its name does not match `gardener.cloud:system:seed:{name}`",
        ),
    ] {
        let near = rules.subjects.nearest(&user(name, groups));
        assert_eq!(near.as_deref(), Some(wanted));
    }
    assert_eq!(
        rules
            .subjects
            .nearest(&user("alice", "system:authenticated")),
        None
    );
}
