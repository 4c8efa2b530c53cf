//! The behavioural cases of the reference that are about configuration and rules, by their numbers.

use portcullis_core::Identity;
use serde_json::{Value, json};

use super::support::{admin_of, document, faults, may, role, roles, rule, scope, tenant, who};

fn base(fooenq: Value, mappings: Value) -> Value {
    json!([
        rule("root", json!([{"preferred_username": "root"}])),
        rule("al", json!([{"preferred_username": "alice"}])),
        rule("all", json!([{"iss": "corp"}])),
        role("holder", json!({"autohold": true})),
        role("fooenq", fooenq),
        tenant(
            "t1",
            json!({"anonymous-read-access": false, "role-mappings": mappings})
        ),
    ])
}

fn config(letter: &str) -> Value {
    let only_foo = json!({"enqueue": {"conditions": {"project": "foo"}}});
    let post = json!({"enqueue": {"conditions": {"project": "foo", "pipeline": "post"}}});
    let mappings = json!({"root": "admin", "all": ["read", "holder"], "al": "fooenq"});
    let b = json!([
        rule("rel", json!([{"groups": "relmgr"}])),
        role(
            "relman",
            json!({"dequeue": {"conditions": {"ref": "refs/heads/stable"}}, "promote": true})
        ),
    ]);
    let una = rule("una", json!([{"preferred_username": "una"}]));
    let reads = |conditions: Value| {
        let keys = json!({"anonymous-read-access": false, "role-mappings": {"some": "read"}});
        json!([rule("some", conditions), tenant("t1", keys)])
    };
    match letter {
        "A" => base(only_foo, mappings),
        "P" => base(post, mappings),
        "A-" => base(only_foo, json!({"root": "admin", "al": "fooenq"})),
        "B" => document(&[b, tenant("t2", json!({"role-mappings": {"rel": "relman"}}))]),
        "AB" => document(&[config("A"), config("B")]),
        "ghost" => document(&[
            b,
            una,
            role(
                "ghosts",
                json!({"enqueue": {"conditions": {"project": "ghost"}}}),
            ),
            tenant(
                "t2",
                json!({"role-mappings": {"rel": "relman", "una": "ghosts"}}),
            ),
        ]),
        "C" => json!([
            rule("ops", json!([{"groups": "ops"}])),
            rule("staff", json!([{"groups": "staff"}])),
            tenant(
                "t3",
                json!({"admin-rules": ["ops"], "access-rules": ["staff"]})
            ),
        ]),
        "D" => document(&[
            config("B"),
            rule("all", json!([{"iss": "corp"}])),
            json!({"api-root": {"anonymous-read-access": false, "role-mappings": {"all": "read"}}}),
        ]),
        "E" => json!([
            rule("own", json!([{"groups": "{tenant.name}-admin"}])),
            tenant("t1", json!({"role-mappings": {"own": "admin"}})),
            tenant("t2", json!({"role-mappings": {"own": "admin"}})),
        ]),
        "27" => document(&[
            una,
            role(
                "both",
                json!({"dequeue": {"conditions": {"project": "a", "ref": "r"}}}),
            ),
            tenant("t1", json!({"role-mappings": {"una": "both"}})),
        ]),
        "28" => document(&[
            una,
            role("one", json!({"dequeue": {"conditions": {"project": "a"}}})),
            role("two", json!({"dequeue": {"conditions": {"ref": "r"}}})),
            tenant("t1", json!({"role-mappings": {"una": ["one", "two"]}})),
        ]),
        "38" => reads(json!([{"sub": "g", "iss": "x"}])),
        "39" => reads(json!([{"sub": "a"}, {"sub": "b"}])),
        "40" => reads(json!([{"ra.account.roles": "aff"}])),
        "41" => reads(json!([{"ra": {"account": {"roles": "aff"}}}])),
        "42" => reads(json!([{"zuul_uid": "a@b"}])),
        other => panic!("{other}"),
    }
}

fn caller(name: &str) -> Option<Identity> {
    let person = |user: &str, issuer: &str| {
        who(json!({"iss": issuer, "sub": user, "preferred_username": user}))
    };
    Some(match name {
        "-" => return None,
        "stranger" => person("stranger", "op"),
        "relmgr" | "ops" | "staff" | "t1-admin" => {
            who(json!({"iss": "corp", "sub": name, "groups": [name]}))
        }
        "op-t1" => admin_of(&["t1"]),
        "op-*" => admin_of(&["*"]),
        "g-y" => who(json!({"sub": "g", "iss": "y"})),
        "g-x" => who(json!({"sub": "g", "iss": "x"})),
        "a" | "b" | "c" => who(json!({"sub": name})),
        "aff" => who(json!({"sub": "7", "ra": {"account": {"roles": ["aff", "x"]}}})),
        "mail" => Identity {
            uid: "a@b".to_owned(),
            ..who(json!({"sub": "7", "email": "a@b"}))
        },
        "forger" => who(json!({"sub": "7", "zuul_uid": "a@b"})),
        user => person(user, "corp"),
    })
}

/// The number, the configuration, the caller, the tenant (`-` is the root), the request, whether it is
/// allowed.
const CASES: &[(u32, &str, &str, &str, &str, bool)] = &[
    (1, "A", "-", "t1", "read", false),
    (2, "A", "bob", "t1", "read", true),
    (3, "A", "bob", "t1", "autohold project=any", true),
    (4, "A", "bob", "t1", "enqueue project=foo", false),
    (5, "A", "alice", "t1", "enqueue project=foo", true),
    (5, "A", "-", "t1", "enqueue project=foo", false),
    (6, "A", "alice", "t1", "enqueue project=bar", false),
    (
        7,
        "P",
        "alice",
        "t1",
        "enqueue project=foo pipeline=check",
        false,
    ),
    (
        8,
        "P",
        "alice",
        "t1",
        "enqueue project=foo pipeline=post",
        true,
    ),
    (
        8,
        "P",
        "alice",
        "t1",
        "enqueue project=bar pipeline=post",
        false,
    ),
    (9, "A", "root", "t1", "tenant-state", true),
    (9, "A", "root", "t1", "set-tenant-state", true),
    (9, "A", "root", "t1", "playground", true),
    (9, "A", "root", "t1", "read", true),
    (10, "A", "stranger", "t1", "read", false),
    (11, "A", "alice", "t1", "dequeue project=foo", false),
    (12, "A", "alice", "t1", "read", true),
    (13, "A-", "alice", "t1", "read", false),
    (13, "A-", "alice", "t1", "enqueue project=foo", true),
    (14, "B", "-", "t2", "read", true),
    (15, "B", "-", "t2", "read", true),
    (16, "B", "-", "t2", "promote", false),
    (
        17,
        "B",
        "relmgr",
        "t2",
        "dequeue ref=refs/heads/stable",
        true,
    ),
    (17, "B", "relmgr", "t2", "promote pipeline=gate", true),
    (17, "B", "bob", "t2", "dequeue ref=refs/heads/stable", false),
    (18, "B", "relmgr", "t2", "dequeue change=12,1", false),
    (
        19,
        "B",
        "relmgr",
        "t2",
        "dequeue ref=refs/heads/main",
        false,
    ),
    (20, "ghost", "una", "t2", "enqueue project=foo", false),
    (20, "ghost", "una", "t2", "enqueue project=ghost", true),
    (27, "27", "una", "t1", "dequeue project=a ref=x", false),
    (27, "27", "una", "t1", "dequeue project=b ref=r", false),
    (27, "27", "una", "t1", "dequeue project=a ref=r", true),
    (28, "28", "una", "t1", "dequeue project=a ref=x", true),
    (28, "28", "una", "t1", "dequeue project=b ref=r", true),
    (28, "28", "una", "t1", "dequeue project=b ref=x", false),
    (34, "AB", "op-t1", "t1", "tenant-state", true),
    (34, "AB", "op-t1", "t2", "promote", false),
    (34, "D", "op-t1", "-", "read", false),
    (35, "AB", "op-*", "t1", "tenant-state", true),
    (35, "AB", "op-*", "t2", "enqueue project=foo", true),
    (35, "D", "op-*", "-", "manage-runners", true),
    (37, "E", "t1-admin", "t1", "tenant-state", true),
    (37, "E", "t1-admin", "t2", "tenant-state", false),
    (38, "38", "g-x", "t1", "read", true),
    (38, "38", "g-y", "t1", "read", false),
    (39, "39", "a", "t1", "read", true),
    (39, "39", "b", "t1", "read", true),
    (39, "39", "c", "t1", "read", false),
    (40, "40", "aff", "t1", "read", true),
    (40, "40", "bob", "t1", "read", false),
    (41, "41", "aff", "t1", "read", true),
    (41, "41", "bob", "t1", "read", false),
    (42, "42", "mail", "t1", "read", true),
    (42, "42", "forger", "t1", "read", false),
    (43, "D", "bob", "-", "read", true),
    (43, "D", "-", "-", "read", false),
    (43, "D", "stranger", "-", "read", false),
    (43, "A", "-", "-", "read", true),
    (44, "C", "staff", "t3", "read", true),
    (44, "C", "staff", "t3", "enqueue project=foo", false),
    (44, "C", "ops", "t3", "read", true),
    (44, "C", "ops", "t3", "enqueue project=foo", true),
    (44, "C", "-", "t3", "read", false),
    (44, "C", "bob", "t3", "read", false),
    (45, "D", "-", "-", "read", false),
    (45, "D", "-", "t2", "read", true),
    (45, "D", "bob", "-", "read", true),
    // The right to delete is asked in the tenant of the path: an admin of t1 has none in t2.
    (47, "AB", "root", "t1", "autohold project=foo", true),
    (47, "AB", "root", "t2", "autohold project=foo", false),
];

#[test]
fn requests() {
    for (number, letter, name, place, what, allowed) in CASES {
        let roles = roles(&config(letter));
        let scope = match *place {
            "-" => roles.root(),
            tenant => scope(&roles, tenant),
        };
        let caller = caller(name);
        let found = may(scope, caller.as_ref(), what);
        assert_eq!(found, *allowed, "case {number}: {name} {what} at {place}");
    }
}

#[test]
fn unknown_tenants_are_not_there() {
    // 43, as far as roles know it.
    assert!(roles(&config("A")).tenant("nowhere").is_none());
}

#[test]
fn configurations_that_are_refused() {
    let all = rule("all", json!([{"iss": "corp"}]));
    let t1 = |keys: Value| tenant("t1", keys);
    let mapped = |role: &str| t1(json!({"role-mappings": {"all": role}}));
    // The number, the document, and what its one fault must name.
    for (number, parts, words) in [
        (
            21,
            vec![
                all.clone(),
                t1(json!({"role-mappings": {"all": "read"}, "admin-rules": ["all"]})),
            ],
            vec!["t1", "admin-rules", "role-mappings"],
        ),
        (
            22,
            vec![all.clone(), mapped("nosuchrole")],
            vec!["t1", "nosuchrole"],
        ),
        (
            23,
            vec![t1(json!({"role-mappings": {"nosuchrule": "read"}}))],
            vec!["t1", "nosuchrule"],
        ),
        (
            24,
            vec![role("admin", json!({"autohold": true}))],
            vec!["admin"],
        ),
        (24, vec![role("read", json!({"read": true}))], vec!["read"]),
        (
            25,
            vec![role("pilot", json!({"fly": true}))],
            vec!["pilot", "fly"],
        ),
        (
            26,
            vec![role(
                "odd",
                json!({"enqueue": {"conditions": {"colour": "red"}}}),
            )],
            vec!["odd", "colour"],
        ),
        (
            26,
            vec![role("hollow", json!({"enqueue": {"conditions": {}}}))],
            vec!["hollow", "enqueue"],
        ),
    ] {
        let faults = faults(&document(&parts));
        assert_eq!(faults.len(), 1, "case {number}: {faults:?}");
        for word in words {
            let message = &faults[0].message;
            assert!(
                message.contains(word),
                "case {number}: no {word} in {message}"
            );
        }
    }
}
