//! Tenants: their projects, and what happens to them when the document changes.

use portcullis_roles::{Permission, Roles, Tenant};
use serde_json::{Value, json};

use super::support::{admin_of, document, may, read, role, roles, rule, scope, tenant, who};

fn names(roles: &Roles, tenant: &str) -> Vec<String> {
    let projects = roles.tenant(tenant).unwrap().projects();
    projects.into_iter().map(|project| project.name).collect()
}

#[test]
fn projects_are_held_by_name_by_pattern_or_all() {
    let source = json!({"git.example.org": {"untrusted-projects": ["org/p", "org/q"], "config-projects": ["org/config"]}});
    let roles = roles(&document(&[
        tenant("every", json!({})),
        tenant("group", json!({"projects": ["group/*"]})),
        tenant("one", json!({"projects": "solo"})),
        tenant("zuul", json!({"source": source})),
        tenant(
            "both",
            json!({"source": source, "projects": ["org/**", "extra"]}),
        ),
    ]));
    for (tenant, named, found) in [
        ("every", "foo", Some("foo")),
        ("every", "some/where/deep", Some("some/where/deep")),
        ("group", "group/a", Some("group/a")),
        ("group", "group/a/b", None),
        ("group", "other/a", None),
        ("group", "group", None),
        ("one", "solo", Some("solo")),
        ("one", "sol", None),
        ("zuul", "org/p", Some("org/p")),
        ("zuul", "org/config", Some("org/config")),
        ("zuul", "git.example.org/org/p", Some("org/p")),
        ("zuul", "org/x", None),
        ("zuul", "other.example/org/p", None),
        ("both", "org/x", Some("org/x")),
        ("both", "git.example.org/org/q", Some("org/q")),
        ("both", "extra", Some("extra")),
        ("both", "other", None),
    ] {
        let project = roles.tenant(tenant).unwrap().project(named);
        assert_eq!(
            project.map(|p| p.name).as_deref(),
            found,
            "{tenant} {named}"
        );
    }
    assert_eq!(names(&roles, "zuul"), ["org/config", "org/p", "org/q"]);
    assert_eq!(
        names(&roles, "both"),
        ["org/config", "org/p", "org/q", "extra"]
    );
    assert_eq!(names(&roles, "group"), [""; 0]);
}

#[test]
fn sources_may_be_written_in_every_way() {
    let source = json!({
        "gerrit": {
            "config-projects": "config",
            "untrusted-projects": [
                "plain",
                {"with-options": {"include": ["job"], "shadow": "config"}},
                {"with-nothing": null},
                {"projects": ["grouped", {"grouped-with-options": {"exclude": "job"}}], "include": []},
                {"projects": "grouped-alone"},
            ],
        },
        "github": {"untrusted-projects": [{"org/p": {}}, "plain"]},
    });
    let load = super::support::load(&document(&[tenant("t", json!({"source": source}))]));
    assert_eq!(
        names(&load.roles, "t"),
        [
            "config",
            "gerrit/plain",
            "with-options",
            "with-nothing",
            "grouped",
            "grouped-with-options",
            "grouped-alone",
            "org/p",
            "github/plain",
        ]
    );
    assert!(
        load.warnings
            .iter()
            .any(|w| w.message.contains("`plain` is on several hosts"))
    );
    assert_eq!(load.roles.tenant("t").unwrap().project("plain"), None);
}

#[test]
fn without_a_document_there_is_one_tenant_that_anybody_reads() {
    let roles = Roles::without_document();
    let tenants: Vec<_> = roles.tenants().map(Tenant::name).collect();
    assert_eq!(tenants, ["default"]);
    let tenant = roles.tenant("default").unwrap();
    assert!(tenant.project("any/project").is_some());
    for scope in [tenant.scope(), roles.root()] {
        for permission in Permission::ALL {
            let reads = *permission == Permission::Read;
            assert_eq!(may(scope, None, permission.name()), reads);
            assert_eq!(
                may(scope, Some(&who(json!({"sub": "a"}))), permission.name()),
                reads
            );
            assert!(may(scope, Some(&admin_of(&["*"])), permission.name()));
        }
    }
    assert_eq!(roles.root().tenant(), None);
    assert_eq!(tenant.scope().tenant(), Some("default"));
}

fn base() -> Value {
    json!([
        rule("all", json!({"iss": "corp"})),
        role("holder", json!({"autohold": true})),
        role("mover", json!({"promote": true})),
    ])
}

fn mapped(name: &str, role: &str) -> Value {
    tenant(
        name,
        json!({"anonymous-read-access": false, "role-mappings": {"all": ["read", role]}}),
    )
}

#[test]
fn a_faulty_tenant_keeps_its_own_and_the_others_change() {
    let first = roles(&document(&[
        base(),
        mapped("t1", "holder"),
        mapped("t2", "holder"),
    ]));
    let second = document(&[
        base(),
        mapped("t1", "nosuchrole"),
        mapped("t2", "mover"),
        mapped("t3", "nosuchrole"),
        json!({"tenant": {"role-mappings": {}}}),
    ]);
    let load = read(&second, Some(&first)).unwrap();
    let left: Vec<_> = load
        .left_out
        .iter()
        .map(|l| (l.tenant.as_str(), l.keeps_previous))
        .collect();
    assert_eq!(left, [("t1", true), ("t3", false), ("", false)]);
    assert_eq!(
        load.left_out[0].faults.0[0].path,
        "[3].tenant.role-mappings.all[1]"
    );
    assert_eq!(load.left_out[2].faults.0[0].path, "[6].tenant");
    let roles = load.roles;
    assert!(std::ptr::eq(
        first.tenant("t1").unwrap(),
        roles.tenant("t1").unwrap()
    ));
    let corp = who(json!({"iss": "corp"}));
    assert!(may(scope(&roles, "t1"), Some(&corp), "autohold"));
    assert!(!may(scope(&roles, "t2"), Some(&corp), "autohold"));
    assert!(may(scope(&roles, "t2"), Some(&corp), "promote"));
    assert!(roles.tenant("t3").is_none());
    assert_eq!(roles.tenants().count(), 2);
    // It keeps it as long as it is faulty, and loses it when it is no longer there.
    let again = read(&second, Some(&roles)).unwrap().roles;
    assert!(may(scope(&again, "t1"), Some(&corp), "autohold"));
    let gone = read(&document(&[base(), mapped("t2", "mover")]), Some(&again)).unwrap();
    assert!(gone.roles.tenant("t1").is_none());
}

#[test]
fn a_faulty_rule_role_or_root_makes_nothing() {
    let first = roles(&document(&[base(), mapped("t1", "holder")]));
    for item in [
        json!({"authorization-rule": {"name": "half"}}),
        role("pilot", json!({"fly": true})),
        json!({"api-root": {"role-mappings": {"nosuch": "read"}}}),
        json!({"colour": 1}),
        mapped("t1", "mover"),
    ] {
        let document = document(&[base(), mapped("t1", "mover"), item.clone()]);
        assert!(read(&document, Some(&first)).is_err(), "{item}");
    }
    assert!(read(&json!(null), Some(&first)).is_err());
}
