//! Warnings about documents.

use serde_json::{Value, json};

use super::support::{document, load, role, rule, tenant};

fn warned(parts: &[Value]) -> Vec<(String, String)> {
    let warnings = load(&document(parts)).warnings;
    warnings.into_iter().map(|w| (w.path, w.message)).collect()
}

/// That a document has one warning, at this path and with these words.
fn one(parts: &[Value], path: &str, words: &[&str]) {
    let warnings = warned(parts);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].0, path, "{warnings:?}");
    for word in words {
        assert!(warnings[0].1.contains(word), "no {word} in {warnings:?}");
    }
}

fn all() -> Value {
    rule("all", json!({"iss": "x"}))
}

fn holder() -> Value {
    role("holder", json!({"autohold": true}))
}

fn mapped(mappings: Value) -> Value {
    tenant(
        "t",
        json!({"anonymous-read-access": false, "role-mappings": mappings}),
    )
}

#[test]
fn rules_and_roles_that_nobody_uses() {
    let used = mapped(json!({"all": "holder"}));
    one(
        &[
            all(),
            rule("idle", json!({"a": "b"})),
            holder(),
            used.clone(),
        ],
        "[1].authorization-rule",
        &["rule `idle`", "never mapped"],
    );
    one(
        &[
            all(),
            holder(),
            role("idle", json!({"promote": true})),
            used,
        ],
        "[2].role",
        &["role `idle`", "never mapped"],
    );
    // Used by the root, or by the older settings, is used.
    let root =
        json!({"api-root": {"anonymous-read-access": false, "role-mappings": {"all": "holder"}}});
    assert_eq!(warned(&[all(), holder(), root]), []);
    assert_eq!(
        warned(&[all(), tenant("t", json!({"admin-rules": "all"}))]),
        []
    );
}

#[test]
fn conditions_that_everybody_or_nobody_meets() {
    for conditions in [json!({}), json!([{}])] {
        let place = if conditions.is_array() { "[0]" } else { "" };
        one(
            &[rule("any", conditions), mapped(json!({"any": "read"}))],
            &format!("[0].authorization-rule.conditions{place}"),
            &["rule `any`", "every authenticated caller"],
        );
    }
    for conditions in [json!([]), json!([[], []])] {
        one(
            &[rule("none", conditions), mapped(json!({"none": "read"}))],
            "[0].authorization-rule.conditions",
            &["rule `none`", "never matches"],
        );
    }
}

#[test]
fn roles_that_grant_nothing() {
    for permissions in [json!({}), json!({"autohold": false})] {
        one(
            &[
                all(),
                role("vain", permissions),
                mapped(json!({"all": "vain"})),
            ],
            "[1].role.permissions",
            &["role `vain`", "nothing"],
        );
    }
}

#[test]
fn mappings_that_add_nothing() {
    let open = |role: &str| tenant("t", json!({"role-mappings": {"all": role}}));
    one(
        &[all(), open("read")],
        "[1].tenant.role-mappings.all",
        &["`read`", "anyone may read"],
    );
    one(
        &[all(), role("reader", json!({"read": true})), open("reader")],
        "[2].tenant.role-mappings.all",
        &["`reader`", "anyone may read"],
    );
    one(
        &[all(), mapped(json!({"all": ["read", "admin"]}))],
        "[1].tenant.role-mappings.all[0]",
        &["`read`", "`admin`"],
    );
    one(
        &[all(), holder(), mapped(json!({"all": ["admin", "holder"]}))],
        "[2].tenant.role-mappings.all[1]",
        &["`holder`", "`admin`"],
    );
    one(
        &[all(), mapped(json!({"all": ["read", "read"]}))],
        "[1].tenant.role-mappings.all[1]",
        &["`read`", "twice"],
    );
    one(
        &[all(), mapped(json!({"all": []}))],
        "[1].tenant.role-mappings.all",
        &["`all`", "no role"],
    );
    one(
        &[
            all(),
            holder(),
            role(
                "some",
                json!({"autohold": {"conditions": {"project": "x"}}, "promote": true}),
            ),
            mapped(json!({"all": ["some", "holder"]})),
        ],
        "[3].tenant.role-mappings.all[0]",
        &["`autohold`", "`some`", "`holder`"],
    );
    // Of different rules, both count.
    let parts = [
        all(),
        rule("two", json!({"a": "b"})),
        mapped(json!({"all": "read", "two": "admin"})),
    ];
    assert_eq!(warned(&parts), []);
}

#[test]
fn what_is_known_elsewhere_is_ignored_here() {
    let keys = [
        "max-nodes-per-job",
        "max-job-timeout",
        "exclude-unprotected-branches",
        "exclude-locked-branches",
        "include-branches",
        "exclude-branches",
        "always-dynamic-branches",
        "default-parent",
        "default-ansible-version",
        "allowed-triggers",
        "allowed-reporters",
        "allowed-labels",
        "disallowed-labels",
        "web-root",
        "report-build-page",
        "authentication-realm",
        "semaphores",
        "max-dependencies",
        "max-changes-per-pipeline",
        "allow-circular-dependencies",
    ];
    for key in keys {
        let path = format!("[0].tenant.{key}");
        one(
            &[tenant("t", json!({key: 5}))],
            &path,
            &["`t`", key, "ignored"],
        );
    }
    one(
        &[json!({"api-root": {"authentication-realm": "R1"}})],
        "[0].api-root.authentication-realm",
        &["authentication-realm", "ignored"],
    );
    one(
        &[json!({"global-semaphore": {"name": "s"}})],
        "[0].global-semaphore",
        &["ignored"],
    );
    one(
        &[
            all(),
            tenant("t", json!({"access-rules": []})),
            mapped_root(),
        ],
        "[1].tenant.access-rules",
        &["empty"],
    );
    one(
        &[tenant("t", json!({"projects": []}))],
        "[0].tenant",
        &["no project"],
    );
}

fn mapped_root() -> Value {
    json!({"api-root": {"anonymous-read-access": false, "role-mappings": {"all": "read"}}})
}

#[test]
fn templates_at_the_root() {
    one(
        &[
            rule("own", json!({"groups": ["a", "{tenant.name}"]})),
            json!({"api-root": {"role-mappings": {"own": "admin"}}}),
        ],
        "[1].api-root.role-mappings.own",
        &["`own`", "never matches"],
    );
}
