//! Answers and their reasons.

use portcullis_roles::{AccessDecision, Basis, Condition, Permission, Permitted, Refusal, Roles};
use serde_json::json;

use super::support::{admin_of, document, parameters, role, roles, rule, scope, tenant, who};

fn example() -> Roles {
    let both =
        json!({"enqueue": {"conditions": {"project": ["foo", "glob:bar/*"], "pipeline": "post"}}});
    roles(&document(&[
        rule(
            "boss",
            json!([{"preferred_username": "boss"}, {"groups": ["chiefs", "heads"]}]),
        ),
        rule(
            "alice",
            json!({"preferred_username": "alice", "iss": "corp"}),
        ),
        rule("all", json!({"iss": "corp"})),
        role("poster", both),
        role(
            "gater",
            json!({"enqueue": {"conditions": {"pipeline": "regex:g.te"}}, "promote": false}),
        ),
        tenant(
            "t",
            json!({
                "anonymous-read-access": false,
                "role-mappings": {"boss": "admin", "alice": ["poster", "gater"], "all": "read"},
            }),
        ),
    ]))
}

fn refused(answer: AccessDecision) -> Refusal {
    match answer {
        AccessDecision::Refused(refusal) => refusal,
        AccessDecision::Allowed(basis) => panic!("{basis:?}"),
    }
}

fn allowed(answer: AccessDecision) -> Basis {
    match answer {
        AccessDecision::Allowed(basis) => basis,
        AccessDecision::Refused(refusal) => panic!("{refusal:?}"),
    }
}

fn grant(rule: &str, role: &str) -> Basis {
    Basis::Grant {
        rule: rule.to_owned(),
        role: role.to_owned(),
    }
}

#[test]
fn an_allowed_request_names_rule_and_role() {
    let roles = example();
    let scope = scope(&roles, "t");
    let alice = who(json!({"iss": "corp", "preferred_username": "alice"}));
    let check = |text: &str| scope.check(Some(&alice), Permission::Enqueue, &parameters(text));
    assert_eq!(
        allowed(check("project=foo pipeline=post")),
        grant("alice", "poster")
    );
    assert_eq!(
        allowed(check("project=bar/a pipeline=post")),
        grant("alice", "poster")
    );
    assert_eq!(
        allowed(check("project=any pipeline=gate")),
        grant("alice", "gater")
    );
    let read = scope.check(Some(&alice), Permission::Read, &parameters(""));
    assert_eq!(allowed(read), grant("all", "read"));
    let admin = admin_of(&["t"]);
    let read = scope.check(Some(&admin), Permission::Read, &parameters(""));
    assert_eq!(allowed(read), Basis::Override);
    let root = roles.root();
    assert_eq!(
        allowed(root.check(None, Permission::Read, &parameters(""))),
        Basis::Anonymous
    );
    assert_eq!(
        allowed(root.check(Some(&alice), Permission::Read, &parameters(""))),
        Basis::Anonymous
    );
    assert_eq!(
        allowed(root.check(Some(&admin_of(&["*"])), Permission::Read, &parameters(""))),
        Basis::Override
    );
}

#[test]
fn a_refusal_names_what_failed_and_what_the_caller_has() {
    let roles = example();
    let scope = scope(&roles, "t");
    let alice = who(json!({"iss": "corp", "preferred_username": "alice"}));
    let check =
        |text: &str| refused(scope.check(Some(&alice), Permission::Enqueue, &parameters(text)));
    let refusal = check("project=foo pipeline=check");
    assert_eq!(refusal.permission, Permission::Enqueue);
    assert_eq!(refusal.rules, ["alice", "all"]);
    assert_eq!(refusal.roles, ["gater", "poster", "read"]);
    let misses: Vec<_> = refusal
        .misses
        .iter()
        .map(|m| {
            (
                m.rule.as_str(),
                m.role.as_str(),
                m.condition,
                m.wanted.clone(),
                m.got.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        misses,
        [
            (
                "alice",
                "poster",
                Condition::Pipeline,
                json!("post"),
                Some("check")
            ),
            (
                "alice",
                "gater",
                Condition::Pipeline,
                json!("regex:g.te"),
                Some("check")
            ),
        ]
    );
    let refusal = check("");
    let misses: Vec<_> = refusal
        .misses
        .iter()
        .map(|m| (m.condition, m.got.as_deref()))
        .collect();
    assert_eq!(
        misses,
        [
            (Condition::Project, None),
            (Condition::Pipeline, None),
            (Condition::Pipeline, None)
        ]
    );
    // Without any grant there is no condition that failed.
    let refusal = refused(scope.check(
        Some(&alice),
        Permission::Promote,
        &parameters("pipeline=gate"),
    ));
    assert_eq!((refusal.misses.len(), refusal.roles.len()), (0, 3));
    let refusal = refused(scope.check(None, Permission::Enqueue, &parameters("")));
    assert!(refusal.misses.is_empty() && refusal.roles.is_empty() && refusal.rules.is_empty());
}

#[test]
fn check_ever_looks_at_no_condition() {
    let roles = example();
    let scope = scope(&roles, "t");
    let alice = who(json!({"iss": "corp", "preferred_username": "alice"}));
    let bob = who(json!({"iss": "corp"}));
    assert_eq!(
        allowed(scope.check_ever(Some(&alice), Permission::Enqueue)),
        grant("alice", "poster")
    );
    let refusal = refused(scope.check_ever(Some(&bob), Permission::Enqueue));
    assert!(refusal.misses.is_empty());
    assert_eq!(refusal.roles, ["read"]);
    refused(scope.check_ever(Some(&alice), Permission::Promote));
    refused(scope.check_ever(None, Permission::Read));
    assert_eq!(
        allowed(scope.check_ever(Some(&admin_of(&["t"])), Permission::Promote)),
        Basis::Override
    );
    assert_eq!(
        allowed(roles.root().check_ever(None, Permission::Read)),
        Basis::Anonymous
    );
}

#[test]
fn admins_have_everything_always() {
    let roles = example();
    let scope = scope(&roles, "t");
    for admin in [
        who(json!({"preferred_username": "boss"})),
        who(json!({"groups": ["x", "heads"]})),
        admin_of(&["t"]),
        admin_of(&["*"]),
    ] {
        let effective = scope.effective(Some(&admin));
        assert!(effective.is_admin);
        let all: Vec<_> = Permission::ALL
            .iter()
            .map(|p| (*p, Permitted::Always))
            .collect();
        assert_eq!(effective.permissions, all);
    }
    assert!(!scope.effective(Some(&admin_of(&["other"]))).is_admin);
    assert!(!roles.root().effective(Some(&admin_of(&["t"]))).is_admin);
    let anonymous = roles.root().effective(None);
    assert_eq!(
        anonymous.permissions,
        [(Permission::Read, Permitted::Always)]
    );
    assert_eq!(scope.effective(None).permissions, []);
}

#[test]
fn an_explanation_names_everything_and_what_is_near() {
    let roles = example();
    let scope = scope(&roles, "t");
    let bob = who(json!({"iss": "corp", "preferred_username": "bob", "groups": ["a", "b"]}));
    let explanation = scope.explain(
        Some(&bob),
        Permission::Enqueue,
        &parameters("project=foo pipeline=post"),
    );
    refused(explanation.answer);
    let rules: Vec<_> = explanation
        .rules
        .iter()
        .map(|r| (r.rule.as_str(), r.matches, r.missed.join("; ")))
        .collect();
    assert_eq!(
        rules,
        [
            (
                "alice",
                false,
                "preferred_username is `bob`, not `alice`".to_owned()
            ),
            ("all", true, String::new()),
            (
                "boss",
                false,
                "preferred_username is `bob`, not `boss`".to_owned()
            ),
        ]
    );
    assert!(explanation.considered.is_empty());
    let near: Vec<_> = explanation
        .near
        .iter()
        .map(|g| (g.rule.as_str(), g.role.as_str()))
        .collect();
    assert_eq!(near, [("alice", "poster"), ("boss", "admin")]);

    let alice = who(json!({"iss": "corp", "preferred_username": "alice"}));
    let explanation = scope.explain(
        Some(&alice),
        Permission::Enqueue,
        &parameters("project=foo pipeline=gate"),
    );
    assert_eq!(allowed(explanation.answer), grant("alice", "gater"));
    let considered: Vec<_> = explanation
        .considered
        .iter()
        .map(|(g, misses)| (g.role.as_str(), misses.len()))
        .collect();
    assert_eq!(considered, [("poster", 1), ("gater", 0)]);

    let nobody = scope.explain(None, Permission::Read, &parameters(""));
    refused(nobody.answer);
    assert!(
        nobody
            .rules
            .iter()
            .all(|r| !r.matches && !r.missed.is_empty())
    );
    let absent = scope.explain(Some(&who(json!({}))), Permission::Read, &parameters(""));
    assert_eq!(absent.rules[1].missed, ["iss is missing, expected `corp`"]);
    // The nearest alternative is the one that misses least.
    let near = who(json!({"preferred_username": "alice", "iss": "other", "groups": []}));
    let explained = scope.explain(Some(&near), Permission::Read, &parameters(""));
    assert_eq!(explained.rules[0].missed, ["iss is `other`, not `corp`"]);
}

#[test]
fn who_can_leaves_open_what_is_not_given() {
    let roles = example();
    let scope = scope(&roles, "t");
    let holders = |what: &str| {
        let (name, rest) = what.split_once(' ').unwrap_or((what, ""));
        let holders = scope.who_can(super::support::permission(name), &parameters(rest));
        let line = |h: &portcullis_roles::Holder| {
            let conditions: Vec<_> = h.grant.conditions.iter().map(|(c, _)| c.name()).collect();
            format!(
                "{} {} [{}]",
                h.grant.rule,
                h.grant.role,
                conditions.join(" ")
            )
        };
        holders.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        holders("enqueue"),
        [
            "alice poster [project pipeline]",
            "alice gater [pipeline]",
            "boss admin []"
        ]
    );
    assert_eq!(
        holders("enqueue project=foo pipeline=post"),
        ["alice poster []", "boss admin []"]
    );
    assert_eq!(
        holders("enqueue project=bar/x"),
        [
            "alice poster [pipeline]",
            "alice gater [pipeline]",
            "boss admin []"
        ]
    );
    assert_eq!(
        holders("enqueue project=x pipeline=gate"),
        ["alice gater []", "boss admin []"]
    );
    assert_eq!(holders("tenant-state"), ["boss admin []"]);
    assert_eq!(holders("read"), ["all read []", "boss admin []"]);
    let asks: Vec<_> = scope
        .who_can(Permission::Enqueue, &parameters("pipeline=post"))
        .into_iter()
        .map(|h| h.asks)
        .collect();
    assert_eq!(
        asks,
        [
            "iss is `corp` and preferred_username is `alice`",
            "preferred_username is `boss`, or groups is one of `chiefs`, `heads`",
        ]
    );
}

#[test]
fn the_matrix_has_a_row_for_each_rule() {
    let roles = example();
    let matrix = scope(&roles, "t").matrix();
    assert!(!matrix.anonymous_read);
    let rows: Vec<_> = matrix
        .rows
        .iter()
        .map(|row| {
            let permissions =
                row.permissions
                    .iter()
                    .map(|(permission, permitted)| match permitted {
                        Permitted::Always => permission.to_string(),
                        Permitted::When(grants) => format!("{permission}/{}", grants.len()),
                    });
            let permissions: Vec<_> = permissions.collect();
            (
                row.rule.as_str(),
                row.roles.join(" "),
                permissions.len(),
                permissions[0].clone(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (
                "alice",
                "poster gater".to_owned(),
                1,
                "enqueue/2".to_owned()
            ),
            ("all", "read".to_owned(), 1, "read".to_owned()),
            (
                "boss",
                "admin".to_owned(),
                Permission::ALL.len(),
                "read".to_owned()
            ),
        ]
    );
    assert!(roles.root().matrix().anonymous_read);
}

#[test]
fn a_rule_of_both_older_settings_is_there_once() {
    let document = document(&[
        rule("ops", json!({"groups": "ops"})),
        tenant(
            "t",
            json!({"admin-rules": ["ops", "ops"], "access-rules": "ops"}),
        ),
    ]);
    let roles = roles(&document);
    let scope = scope(&roles, "t");
    let effective = scope.effective(Some(&who(json!({"groups": ["ops"]}))));
    assert_eq!(
        (effective.rules, effective.roles),
        (vec!["ops".to_owned()], vec!["admin".to_owned()])
    );
    assert_eq!(scope.matrix().rows.len(), 1);
    assert!(!scope.anonymous_read());
}
