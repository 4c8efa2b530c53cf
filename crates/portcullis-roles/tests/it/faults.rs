//! Faults in documents: their position, message and suggestion.

use serde_json::{Value, json};

use super::support::{document, faults, read, role, rule, tenant};

fn some_rule(conditions: Value) -> Value {
    json!([rule("r", conditions)])
}

fn some_role(permissions: Value) -> Value {
    json!([role("r", permissions)])
}

fn some_tenant(keys: Value) -> Value {
    json!([rule("all", json!({"iss": "x"})), tenant("t", keys)])
}

/// A document, and of its one fault the path and words of the message.
fn table() -> Vec<(Value, &'static str, Vec<&'static str>)> {
    let deep = (0..40).fold(json!({"a": "b"}), |inner, _| json!([inner]));
    let deep_map = (0..40).fold(json!("b"), |inner, _| json!({ "a": inner }));
    let long = "a".repeat(2000);
    vec![
        // the document
        (json!(null), "", vec!["empty"]),
        (json!([]), "", vec!["empty"]),
        (
            json!({"tenant": {"name": "t"}}),
            "",
            vec!["a list of items", "a map"],
        ),
        (json!("text"), "", vec!["a list of items", "text"]),
        (
            json!(["tenant"]),
            "[0]",
            vec!["an item must be a map", "text"],
        ),
        (json!([{}]), "[0]", vec!["exactly one key", "none"]),
        (
            json!([{"a": 1, "b": 2}]),
            "[0]",
            vec!["exactly one key", "`a`, `b`"],
        ),
        (
            json!([{"tenannt": {"name": "t1"}}]),
            "[0].tenannt",
            vec!["tenannt"],
        ),
        // rules
        (
            json!([{"authorization-rule": []}]),
            "[0].authorization-rule",
            vec!["a map"],
        ),
        (
            json!([{"authorization-rule": {"name": "halfrule"}}]),
            "[0].authorization-rule",
            vec!["halfrule", "conditions"],
        ),
        (
            json!([{"authorization-rule": {"conditions": []}}]),
            "[0].authorization-rule",
            vec!["name"],
        ),
        (
            json!([rule("", json!([]))]),
            "[0].authorization-rule.name",
            vec!["empty"],
        ),
        (
            json!([rule("a\n", json!([]))]),
            "[0].authorization-rule.name",
            vec!["control"],
        ),
        (
            json!([{"authorization-rule": {"name": 5, "conditions": []}}]),
            "[0].authorization-rule.name",
            vec!["text", "quotes"],
        ),
        (
            json!([{"authorization-rule": {"name": "r", "conditions": [], "condition": []}}]),
            "[0].authorization-rule.condition",
            vec!["`r`", "condition:", "unknown key", "`conditions`"],
        ),
        (
            some_rule(json!(null)),
            "[0].authorization-rule.conditions",
            vec!["`r`", "a map of claims"],
        ),
        (
            some_rule(json!("iss")),
            "[0].authorization-rule.conditions",
            vec!["`r`", "a map of claims"],
        ),
        (
            some_rule(json!([{"a": "b"}, "iss"])),
            "[0].authorization-rule.conditions[1]",
            vec!["`r`", "a map of claims"],
        ),
        (
            some_rule(json!([{"a": null}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "`a`", "nothing"],
        ),
        (
            some_rule(json!([{"a": 1.5}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "`a`", "a fraction"],
        ),
        (
            some_rule(json!([{"a": {}}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "`a`"],
        ),
        (
            some_rule(json!([{"a": []}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "`a`", "empty"],
        ),
        (
            some_rule(json!([{"a": ["x", null]}])),
            "[0].authorization-rule.conditions[0].a[1]",
            vec!["`r`", "nothing"],
        ),
        (
            some_rule(json!([{"a": [{"b": "c"}]}])),
            "[0].authorization-rule.conditions[0].a[0]",
            vec!["`r`", "a map"],
        ),
        (
            some_rule(json!([{"a": [["b"]]}])),
            "[0].authorization-rule.conditions[0].a[0]",
            vec!["`r`", "a list"],
        ),
        (
            some_rule(json!([{"a.b": {"c d": null}}])),
            "[0].authorization-rule.conditions[0][\"a.b\"][\"c d\"]",
            vec!["`a.b.c d`"],
        ),
        (
            some_rule(json!([{"a": "{tenant}"}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "`{tenant}`", "{tenant.name}"],
        ),
        (
            some_rule(json!([{"a": "x{"}])),
            "[0].authorization-rule.conditions[0].a",
            vec!["`r`", "not closed"],
        ),
        (
            some_rule(json!([{"a": ["x}"]}])),
            "[0].authorization-rule.conditions[0].a[0]",
            vec!["`r`", "not opened"],
        ),
        (
            some_rule(deep),
            &*Box::leak(
                format!("[0].authorization-rule.conditions{}", "[0]".repeat(32)).into_boxed_str(),
            ),
            vec!["too deep"],
        ),
        (
            some_rule(deep_map),
            &*Box::leak(
                format!("[0].authorization-rule.conditions{}", ".a".repeat(32)).into_boxed_str(),
            ),
            vec!["too deep"],
        ),
        (
            some_rule(json!({ long.as_str(): "x" })),
            &*Box::leak(format!("[0].authorization-rule.conditions.{long}").into_boxed_str()),
            vec!["too long"],
        ),
        // roles
        (json!([{"role": null}]), "[0].role", vec!["a map"]),
        (
            json!([{"role": {"name": "r"}}]),
            "[0].role",
            vec!["`r`", "permissions"],
        ),
        (
            json!([{"role": {"name": "r", "permissions": {"read": true}, "permisions": {}}}]),
            "[0].role.permisions",
            vec!["`r`", "permisions"],
        ),
        (
            some_role(json!(["read"])),
            "[0].role.permissions",
            vec!["`r`", "a list"],
        ),
        (
            some_role(json!({"fly": true})),
            "[0].role.permissions.fly",
            vec!["`r`", "`fly`"],
        ),
        (
            some_role(json!({"admin": true})),
            "[0].role.permissions.admin",
            vec!["`r`", "`admin`"],
        ),
        (
            some_role(json!({"enqueue": "yes"})),
            "[0].role.permissions.enqueue",
            vec!["`r`", "`enqueue`", "text"],
        ),
        (
            some_role(json!({"enqueue": null})),
            "[0].role.permissions.enqueue",
            vec!["`r`", "`enqueue`", "nothing"],
        ),
        (
            some_role(json!({"enqueue": {}})),
            "[0].role.permissions.enqueue",
            vec!["`r`", "`enqueue`", "enqueue: true"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {}}})),
            "[0].role.permissions.enqueue.conditions",
            vec!["`r`", "`enqueue`", "empty"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": []}})),
            "[0].role.permissions.enqueue.conditions",
            vec!["`r`", "a list"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"project": "a"}, "condition": 1}})),
            "[0].role.permissions.enqueue.condition",
            vec!["`r`", "condition:", "unknown key", "`conditions`"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"colour": "red"}}})),
            "[0].role.permissions.enqueue.conditions.colour",
            vec!["`r`", "`colour`", "`project`, `pipeline`, `ref`, `change`"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"job": "x"}}})),
            "[0].role.permissions.enqueue.conditions.job",
            vec!["`r`", "`job`", "it takes `project`"],
        ),
        (
            some_role(json!({"tenant-state": {"conditions": {"project": "x"}}})),
            "[0].role.permissions.tenant-state.conditions.project",
            vec!["`r`", "`project`", "none"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"project": []}}})),
            "[0].role.permissions.enqueue.conditions.project",
            vec!["`r`", "`project`", "empty"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"change": 12}}})),
            "[0].role.permissions.enqueue.conditions.change",
            vec!["`r`", "`change`", "quotes", "\"12\""],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"ref": ["a", true]}}})),
            "[0].role.permissions.enqueue.conditions.ref[1]",
            vec!["`r`", "`ref`", "quotes", "\"true\""],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"ref": {"a": "b"}}}})),
            "[0].role.permissions.enqueue.conditions.ref",
            vec!["`r`", "`ref`", "a map"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"ref": "regex:("}}})),
            "[0].role.permissions.enqueue.conditions.ref",
            vec!["`r`", "`ref`", "regular expression", "unclosed"],
        ),
        (
            some_role(json!({"enqueue": {"conditions": {"ref": "regex:\\w{1000}{1000}"}}})),
            "[0].role.permissions.enqueue.conditions.ref",
            vec!["too large"],
        ),
        (
            some_role(json!({"tenant-state": true, "set-tenant-state": true})),
            "[0].role.permissions.tenant-state",
            vec!["`r`", "twice"],
        ),
        // tenants
        (json!([{"tenant": "t"}]), "[0].tenant", vec!["a map"]),
        (json!([{"tenant": {}}]), "[0].tenant", vec!["name"]),
        (
            json!([tenant("a/b", json!({}))]),
            "[0].tenant.name",
            vec!["a/b", "`/`"],
        ),
        (
            json!([tenant("", json!({}))]),
            "[0].tenant.name",
            vec!["empty"],
        ),
        (
            json!([tenant("a\u{7}", json!({}))]),
            "[0].tenant.name",
            vec!["control"],
        ),
        (
            some_tenant(json!({"anonymous_read_acess": true})),
            "[1].tenant.anonymous_read_acess",
            vec!["`t`", "anonymous_read_acess"],
        ),
        (
            some_tenant(json!({"anonymous-read-access": "no"})),
            "[1].tenant.anonymous-read-access",
            vec!["`t`", "text"],
        ),
        (
            some_tenant(json!({"role-mappings": ["all"]})),
            "[1].tenant.role-mappings",
            vec!["`t`", "a list"],
        ),
        (
            some_tenant(json!({"role-mappings": null})),
            "[1].tenant.role-mappings",
            vec!["`t`", "nothing"],
        ),
        (
            some_tenant(json!({"role-mappings": {"all": null}})),
            "[1].tenant.role-mappings.all",
            vec!["`t`", ".all:", "nothing"],
        ),
        (
            some_tenant(json!({"role-mappings": {"all": ["read", 5]}})),
            "[1].tenant.role-mappings.all[1]",
            vec!["`t`", ".all[1]:", "quotes"],
        ),
        (
            some_tenant(json!({"role-mappings": {"all": ["read", "reed"]}})),
            "[1].tenant.role-mappings.all[1]",
            vec!["`t`", "`reed`"],
        ),
        (
            some_tenant(json!({"role-mappings": {"a.b": "read"}})),
            "[1].tenant.role-mappings[\"a.b\"]",
            vec!["`t`", "`a.b`"],
        ),
        (
            some_tenant(json!({"admin-rules": ["al"]})),
            "[1].tenant.admin-rules[0]",
            vec!["`t`", "`al`"],
        ),
        (
            some_tenant(json!({"access-rules": {"all": 1}})),
            "[1].tenant.access-rules",
            vec!["`t`", "access-rules", "a map"],
        ),
        (
            some_tenant(json!({"access-rules": "all", "anonymous-read-access": true})),
            "[1].tenant.anonymous-read-access",
            vec!["`t`", "access-rules"],
        ),
        (
            some_tenant(json!({"projects": null})),
            "[1].tenant.projects",
            vec!["nothing"],
        ),
        (
            some_tenant(json!({"projects": [""]})),
            "[1].tenant.projects[0]",
            vec!["empty"],
        ),
        (
            some_tenant(json!({"projects": ["a", 5]})),
            "[1].tenant.projects[1]",
            vec!["quotes"],
        ),
        (
            some_tenant(json!({"source": ["a"]})),
            "[1].tenant.source",
            vec!["a list"],
        ),
        (
            some_tenant(json!({"source": {"h.x": ["a"]}})),
            "[1].tenant.source[\"h.x\"]",
            vec!["a list"],
        ),
        (
            some_tenant(json!({"source": {"h": {"untrusted-project": ["a"]}}})),
            "[1].tenant.source.h.untrusted-project",
            vec!["untrusted-project"],
        ),
        (
            some_tenant(json!({"source": {"h": {"config-projects": [5]}}})),
            "[1].tenant.source.h.config-projects[0]",
            vec!["quotes"],
        ),
        (
            some_tenant(json!({"source": {"h": {"config-projects": [{"a": {}, "b": {}}]}}})),
            "[1].tenant.source.h.config-projects[0]",
            vec!["a project"],
        ),
        (
            some_tenant(json!({"source": {"h": {"config-projects": [{"a": "b"}]}}})),
            "[1].tenant.source.h.config-projects[0].a",
            vec!["options", "`a`"],
        ),
        // the root
        (json!([{"api-root": null}]), "[0].api-root", vec!["a map"]),
        (
            json!([{"api-root": {"admin-rules": []}}]),
            "[0].api-root.admin-rules",
            vec!["api-root", "admin-rules"],
        ),
        (
            json!([{"api-root": {"role-mappings": {"x": "read"}}}]),
            "[0].api-root.role-mappings.x",
            vec!["api-root", "`x`"],
        ),
    ]
}

#[test]
fn each_has_its_place_and_its_words() {
    for (document, path, words) in table() {
        let faults = faults(&document);
        // An unknown key `admin-rules` of the root is said once; nothing else is made of it.
        assert_eq!(faults.len(), 1, "{document}: {faults:?}");
        assert_eq!(faults[0].path, path, "{document}: {faults:?}");
        for word in words {
            assert!(
                faults[0].to_string().contains(word),
                "{document}: no {word} in {faults:?}"
            );
        }
    }
}

#[test]
fn what_is_not_known_comes_with_what_is() {
    for (document, written, among) in [
        (json!([{"tenannt": {"name": "t1"}}]), "tenannt", "tenant"),
        (
            json!([{"authorization-rule": {"name": "r", "conditions": [], "condition": 1}}]),
            "condition",
            "conditions",
        ),
        (some_role(json!({"dequeu": true})), "dequeu", "dequeue"),
        (
            some_role(json!({"enqueue": {"conditions": {"projct": "x"}}})),
            "projct",
            "project",
        ),
        (
            some_role(
                json!({"enqueue": {"condition": {"project": "x"}, "conditions": {"project": "x"}}}),
            ),
            "condition",
            "conditions",
        ),
        (
            some_tenant(json!({"role-mapping": {}})),
            "role-mapping",
            "role-mappings",
        ),
        (
            some_tenant(json!({"role-mappings": {"al": "read"}})),
            "al",
            "all",
        ),
        (
            some_tenant(json!({"role-mappings": {"all": "reed"}})),
            "reed",
            "read",
        ),
        (
            some_tenant(json!({"source": {"h": {"untrusted-project": []}}, "projects": "x"})),
            "untrusted-project",
            "untrusted-projects",
        ),
        (
            json!([{"api-root": {"access-rule": "x"}}]),
            "access-rule",
            "access-rules",
        ),
    ] {
        let faults = faults(&document);
        assert_eq!(faults.len(), 1, "{document}: {faults:?}");
        let fault = &faults[0];
        assert!(fault.to_string().contains(written), "{fault}");
        assert_eq!(fault.suggestion.as_deref(), Some(among), "{fault}");
        assert!(fault.help.as_ref().unwrap().contains(among), "{fault}");
    }
}

#[test]
fn all_of_them_are_said_at_once() {
    let document = document(&[
        rule("a", json!([{"x": null}, {"y": 1.5}])),
        role("b", json!({"fly": true, "enqueue": {}})),
        json!({"colour": "red"}),
        tenant("t", json!({"role-mappings": {"a": "b", "nosuch": "read"}})),
        json!({"api-root": {"x": 1}}),
    ]);
    let faults = read(&document, None).unwrap_err();
    let paths: Vec<_> = faults.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "[2].colour",
            "[0].authorization-rule.conditions[0].x",
            "[0].authorization-rule.conditions[1].y",
            "[1].role.permissions.enqueue",
            "[1].role.permissions.fly",
            "[4].api-root.x",
            // The mapping to the faulty rule and role is not called undefined.
            "[3].tenant.role-mappings.nosuch",
        ]
    );
}

#[test]
fn conditions_are_taken_where_a_request_has_them() {
    for (permission, taken) in [
        ("enqueue", "project pipeline ref change"),
        ("dequeue", "project pipeline ref change"),
        ("promote", "pipeline"),
        ("autohold", "project job ref"),
        ("submit-job", "project ref job"),
        ("retry-job", "project ref job"),
        ("cancel-job", "project ref job"),
        ("read", ""),
        ("tenant-state", ""),
    ] {
        for condition in ["project", "pipeline", "ref", "change", "job", "controller"] {
            let document = some_role(json!({permission: {"conditions": {condition: "x"}}}));
            let faults = faults(&document);
            let is_taken = taken.split(' ').any(|t| t == condition);
            assert_eq!(faults.is_empty(), is_taken, "{permission} {condition}");
        }
    }
}
