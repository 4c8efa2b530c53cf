//! What holds for every document, caller and request.

use portcullis_core::{AdminOf, Identity};
use portcullis_roles::{
    Answer, Basis, Condition, Parameters, Permission, Permitted, Project, Roles, Scope,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::naive::{self, Given};
use super::support::{document, may, read, role, rule, tenant};

const RULES: [&str; 5] = ["r0", "r1", "r2", "r3", "r4"];
const ROLES: [&str; 5] = ["admin", "read", "o0", "o1", "o2"];
const KEYS: [&str; 6] = ["a", "b", "c", "a.b", "b.c", "a.b.c"];

fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    Value::Object(entries.collect())
}

/// Something that can be compared.
fn scalar() -> impl Strategy<Value = Value> + Clone {
    select(vec![
        json!("u"),
        json!("v"),
        json!("t1"),
        json!("{x}"),
        json!(true),
        json!(false),
        json!(1),
        json!(2),
    ])
}

/// What a rule expects of a claim.
fn expected() -> impl Strategy<Value = Value> + Clone {
    let one = prop_oneof![
        4 => scalar().prop_filter("no template", |v| v != "{x}"),
        1 => Just(json!("{tenant.name}")),
        1 => Just(json!("{{x}}")),
    ];
    prop_oneof![3 => one.clone(), 1 => vec(one, 1..3).prop_map(Value::Array)]
}

/// Claims, nested and with dots in their names.
fn claims() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        4 => scalar(),
        2 => vec(scalar(), 0..3).prop_map(Value::Array),
        1 => select(vec![json!(null), json!(1.0), json!(1.5), json!([["u"]]), json!([{"b": "u"}])]),
    ];
    let tree = leaf.prop_recursive(3, 24, 4, |inner| {
        btree_map(select(KEYS.to_vec()), inner, 0..4).prop_map(object)
    });
    let keys = [KEYS.as_slice(), &["zuul_uid"]].concat();
    btree_map(select(keys), tree, 0..6).prop_map(|entries| match object(entries) {
        Value::Object(map) => map,
        other => panic!("{other}"),
    })
}

fn identity() -> impl Strategy<Value = Identity> {
    let admin = prop_oneof![
        8 => Just(AdminOf::Nothing),
        1 => Just(AdminOf::Tenants(vec!["t1".to_owned()])),
        1 => Just(AdminOf::Tenants(vec!["t2".to_owned(), "*".to_owned()])),
        1 => Just(AdminOf::Everything),
    ];
    (claims(), select(vec!["u", "v", "w"]), admin).prop_map(|(claims, uid, admin)| Identity {
        claims,
        uid: uid.to_owned(),
        admin,
    })
}

fn conditions() -> impl Strategy<Value = Value> {
    let nested = btree_map(select(KEYS.to_vec()), expected(), 1..3).prop_map(object);
    let value = prop_oneof![3 => expected(), 1 => nested];
    let keys = [KEYS.as_slice(), &["zuul_uid"]].concat();
    let zuul_uid_is_no_map = |map: &Value| !map.get("zuul_uid").is_some_and(Value::is_object);
    let all = btree_map(select(keys), value, 0..3)
        .prop_map(object)
        .prop_filter("the uid is a text", zuul_uid_is_no_map);
    let any = vec(all.clone(), 0..3).prop_map(Value::Array);
    prop_oneof![
        all.clone(),
        any.clone(),
        (all, any).prop_map(|(all, any)| json!([all, any])),
    ]
}

fn permissions() -> impl Strategy<Value = Value> {
    let pattern = select(vec![
        "p",
        "host/p",
        "host/q/r",
        "glob:q/*",
        "glob:host/**",
        "x",
    ]);
    let wanted = prop_oneof![
        pattern.clone().prop_map(|p| json!(p)),
        vec(pattern, 1..3).prop_map(|p| json!(p)),
    ];
    let when = move |names: &'static [&'static str]| {
        btree_map(select(names), wanted.clone(), 1..3)
            .prop_map(|conditions| json!({"conditions": object(conditions)}))
    };
    let flag = any::<bool>().prop_map(|flag| json!(flag));
    (
        option::of(prop_oneof![flag.clone(), when(&["project", "pipeline"])]),
        option::of(prop_oneof![flag.clone(), when(&["project", "ref"])]),
        option::of(flag.clone()),
        option::of(flag),
    )
        .prop_map(|(enqueue, autohold, read, state)| {
            let entries = [
                ("enqueue", enqueue),
                ("autohold", autohold),
                ("read", read),
                ("tenant-state", state),
            ];
            object(
                entries
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
        })
}

/// The keys of a tenant or the root that say who has what.
fn access(with_admins: bool) -> impl Strategy<Value = Value> {
    let roles = prop_oneof![
        1 => subsequence(ROLES.to_vec(), 0..3),
        4 => subsequence(ROLES[2..].to_vec(), 1..3),
    ]
    .prop_map(|roles| json!(roles));
    let mappings = btree_map(select(RULES.to_vec()), roles, 0..5).prop_map(object);
    let new = (mappings, option::of(any::<bool>())).prop_map(|(mappings, anonymous)| {
        let mut keys = json!({ "role-mappings": mappings });
        if let Some(anonymous) = anonymous {
            keys["anonymous-read-access"] = json!(anonymous);
        }
        keys
    });
    let rules = || subsequence(RULES.to_vec(), 0..3);
    let old = (rules(), rules()).prop_map(move |(admins, readers)| {
        let mut keys = json!({ "access-rules": readers });
        if with_admins {
            keys["admin-rules"] = json!(admins);
        }
        keys
    });
    prop_oneof![4 => new, 1 => old]
}

/// A document without a fault.
fn good_document() -> impl Strategy<Value = Value> {
    let rules = vec(conditions(), RULES.len());
    let roles = vec(permissions(), ROLES.len() - 2);
    (
        rules,
        roles,
        access(true),
        access(true),
        option::of(access(false)),
    )
        .prop_map(|(rules, roles, t1, t2, root)| {
            let rules = RULES
                .iter()
                .zip(rules)
                .map(|(name, conditions)| rule(name, conditions));
            let roles = ROLES[2..]
                .iter()
                .zip(roles)
                .map(|(name, permits)| role(name, permits));
            let mut items = vec![tenant("t1", t1)];
            items.extend(rules.chain(roles));
            items.push(tenant("t2", t2));
            items.extend(root.map(|root| json!({ "api-root": root })));
            document(&items)
        })
}

fn given() -> impl Strategy<Value = Given> {
    let value = || option::weighted(0.8, select(vec!["p", "q/r", "q/r/s", "x"]));
    (value(), any::<bool>(), value(), value()).prop_map(|(project, hosted, pipeline, reference)| {
        let canonical = project
            .filter(|_| hosted)
            .map(|project| format!("host/{project}"));
        let text = |value: Option<&str>| value.map(str::to_owned);
        let all = [
            ("project", text(project)),
            ("project", canonical),
            ("pipeline", text(pipeline)),
            ("ref", text(reference)),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    })
}

fn with_parameters<T>(given: &Given, ask: impl FnOnce(&Parameters<'_>) -> T) -> T {
    let project = Project {
        name: String::new(),
        canonical: given
            .iter()
            .filter(|(n, _)| *n == "project")
            .nth(1)
            .map(|(_, v)| v.clone()),
    };
    // The canonical name first: the others are put in after it.
    let mut parameters = Parameters::new();
    if given.iter().any(|(name, _)| *name == "project") {
        parameters = parameters.with_project(&project);
    }
    for (name, value) in given.iter().rev() {
        parameters = parameters.with(Condition::parse(name).unwrap(), Some(value.as_str()));
    }
    ask(&parameters)
}

fn permission() -> impl Strategy<Value = Permission> {
    select(vec![
        Permission::Read,
        Permission::Enqueue,
        Permission::Enqueue,
        Permission::Autohold,
        Permission::Autohold,
        Permission::TenantState,
    ])
}

fn place<'r>(roles: &'r Roles, tenant: Option<&str>) -> &'r Scope {
    match tenant {
        Some(name) => roles.tenant(name).unwrap().scope(),
        None => roles.root(),
    }
}

/// JSON that looks like a document often enough to get far.
fn any_json() -> impl Strategy<Value = Value> {
    let words = vec![
        "authorization-rule",
        "admin-rule",
        "role",
        "tenant",
        "api-root",
        "global-semaphore",
        "name",
        "conditions",
        "permissions",
        "role-mappings",
        "anonymous-read-access",
        "projects",
        "source",
        "admin-rules",
        "access-rules",
        "enqueue",
        "read",
        "project",
        "config-projects",
        "a",
        "",
        "a.b",
        "zuul_uid",
        "{tenant.name}",
        "{",
        "glob:*",
        "regex:(",
        "é[",
        "max-nodes-per-job",
    ];
    let key = select(words.clone());
    let leaf = prop_oneof![
        4 => select(words).prop_map(|word| json!(word)),
        1 => any::<bool>().prop_map(|v| json!(v)),
        1 => any::<i64>().prop_map(|v| json!(v)),
        1 => any::<f64>().prop_map(|v| json!(v)),
        1 => Just(Value::Null),
        1 => any::<String>().prop_map(|v| json!(v)),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            btree_map(key.clone(), inner.clone(), 0..2).prop_map(object),
            btree_map(key.clone(), inner, 0..6).prop_map(object),
        ]
    })
}

/// A value at one or more keys below each other, once as maps and once as a dotted key.
fn dotted_and_nested() -> impl Strategy<Value = (Value, Value)> {
    (vec(select(KEYS.to_vec()), 1..4), expected()).prop_map(|(keys, leaf)| {
        let dotted = json!({keys.join("."): leaf});
        let nested = keys
            .iter()
            .rev()
            .fold(leaf, |inner, key| json!({ *key: inner }));
        (dotted, nested)
    })
}

fn rule_matches(conditions: &Value, who: &Identity) -> bool {
    let document = document(&[
        rule("r", conditions.clone()),
        tenant("t1", json!({"role-mappings": {"r": "admin"}})),
    ]);
    let roles = read(&document, None).unwrap().roles;
    may(roles.tenant("t1").unwrap().scope(), Some(who), "promote")
}

/// One question, and what the plain reading of the document says to it.
struct Asked<'a> {
    document: &'a Value,
    tenant: Option<&'a str>,
    who: Option<&'a Identity>,
    permission: Permission,
    given: &'a Given,
}

impl Asked<'_> {
    /// Every rule that matches, with every role it has.
    fn had(&self) -> Vec<(String, String)> {
        let mut pairs = naive::pairs(&naive::place(self.document, self.tenant));
        pairs.retain(|(rule, _)| {
            self.who
                .is_some_and(|who| naive::matches(self.document, rule, self.tenant, who))
        });
        pairs
    }

    fn compare(&self, scope: &Scope, parameters: &Parameters<'_>) -> Result<(), TestCaseError> {
        let (who, permission) = (self.who, self.permission);
        let wanted = naive::may(
            self.document,
            self.tenant,
            who,
            permission.name(),
            self.given,
        );
        let answer = scope.check(who, permission, parameters);
        prop_assert_eq!(matches!(answer, Answer::Allowed(_)), wanted);
        // The reasons are true.
        match &answer {
            Answer::Allowed(Basis::Grant { rule, role }) => {
                prop_assert!(self.had().contains(&(rule.clone(), role.clone())));
                prop_assert!(naive::grants(
                    self.document,
                    role,
                    permission.name(),
                    self.given
                ));
            }
            Answer::Refused(refusal) => {
                let mut roles: Vec<_> = self.had().into_iter().map(|(_, role)| role).collect();
                roles.sort();
                roles.dedup();
                prop_assert_eq!(&refusal.roles, &roles);
                for miss in &refusal.misses {
                    prop_assert!(self.had().contains(&(miss.rule.clone(), miss.role.clone())));
                }
            }
            Answer::Allowed(_) => {}
        }
        // So say the other questions.
        let explained = scope.explain(who, permission, parameters);
        prop_assert_eq!(&explained.answer, &answer);
        for rule in &explained.rules {
            prop_assert_eq!(rule.matches, rule.missed.is_empty());
        }
        let ever = matches!(scope.check_ever(who, permission), Answer::Allowed(_));
        prop_assert!(ever || !wanted);
        let effective = scope.effective(who);
        let permitted = effective.permissions.iter().find(|(p, _)| *p == permission);
        prop_assert_eq!(permitted.is_some(), ever);
        if matches!(permitted, Some((_, Permitted::Always))) {
            prop_assert!(wanted);
        }
        Ok(())
    }

    fn compare_holders(
        &self,
        scope: &Scope,
        parameters: &Parameters<'_>,
    ) -> Result<(), TestCaseError> {
        let holders = scope.who_can(self.permission, parameters);
        let is_open = self.permission == Permission::Read && scope.anonymous_read();
        if !is_open {
            let had = self.had();
            let mine = holders.iter().any(|holder| {
                let grant = &holder.grant;
                grant.conditions.is_empty() && had.iter().any(|(rule, _)| *rule == grant.rule)
            });
            let answer = scope.check(self.who, self.permission, parameters);
            prop_assert_eq!(mine, matches!(answer, Answer::Allowed(_)));
        }
        // What is left open is not given.
        for (condition, _) in holders.iter().flat_map(|holder| &holder.grant.conditions) {
            prop_assert!(self.given.iter().all(|(name, _)| *name != condition.name()));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn check_means_what_the_document_says(
        document in good_document(),
        callers in vec(option::weighted(0.9, identity()), 1..8),
        requests in vec((permission(), given()), 1..8),
    ) {
        let load = read(&document, None).unwrap();
        prop_assert!(load.left_out.is_empty(), "{:?}", load.left_out);
        for tenant in [Some("t1"), Some("t2"), None] {
            let scope = place(&load.roles, tenant);
            for who in &callers {
                for (permission, given) in &requests {
                    let asked = Asked { document: &document, tenant, who: who.as_ref(), permission: *permission, given };
                    with_parameters(given, |parameters| asked.compare(scope, parameters))?;
                }
            }
        }
    }

    #[test]
    fn who_can_lists_those_who_may(
        document in good_document(), callers in vec(identity(), 1..8), requests in vec((permission(), given()), 1..8),
    ) {
        let roles = read(&document, None).unwrap().roles;
        for tenant in [Some("t1"), Some("t2"), None] {
            let scope = place(&roles, tenant);
            for who in &callers {
                let who = Identity { admin: AdminOf::Nothing, ..who.clone() };
                for (permission, given) in &requests {
                    let asked = Asked { document: &document, tenant, who: Some(&who), permission: *permission, given };
                    with_parameters(given, |parameters| asked.compare_holders(scope, parameters))?;
                }
            }
        }
    }

    #[test]
    fn dotted_and_nested_keys_mean_the_same((dotted, nested) in dotted_and_nested(), who in identity()) {
        let who = Identity { admin: AdminOf::Nothing, ..who };
        prop_assert_eq!(rule_matches(&dotted, &who), rule_matches(&nested, &who));
    }

    #[test]
    fn loading_never_panics(document in any_json(), items in vec(any_json(), 0..4)) {
        let items = items.into_iter().zip(["authorization-rule", "role", "tenant", "api-root"]);
        let items: Vec<_> = items.map(|(value, kind)| json!({ kind: value })).collect();
        for document in [document, Value::Array(items)] {
            match read(&document, None) {
                Err(faults) => prop_assert!(!faults.0.is_empty()),
                Ok(load) => {
                    prop_assert!(load.left_out.iter().all(|left| !left.faults.0.is_empty()));
                    for tenant in load.roles.tenants() {
                        tenant.scope().matrix();
                        tenant.project("a");
                    }
                }
            }
        }
    }

    #[test]
    fn a_faulty_tenant_keeps_what_it_had(
        first in good_document(), second in good_document(), who in identity(), permission in permission(), given in given(),
    ) {
        let before = read(&first, None).unwrap().roles;
        let mut faulty = second.clone();
        faulty[0]["tenant"]["no-such-key"] = json!(1);
        let load = read(&faulty, Some(&before)).unwrap();
        prop_assert_eq!(load.left_out.len(), 1);
        prop_assert!(load.left_out[0].keeps_previous && load.left_out[0].tenant == "t1");
        prop_assert!(std::ptr::eq(before.tenant("t1").unwrap(), load.roles.tenant("t1").unwrap()));
        with_parameters(&given, |parameters| {
            for (tenant, document) in [(Some("t1"), &first), (Some("t2"), &second), (None, &second)] {
                let answer = place(&load.roles, tenant).check(Some(&who), permission, parameters);
                let wanted = naive::may(document, tenant, Some(&who), permission.name(), &given);
                prop_assert_eq!(matches!(answer, Answer::Allowed(_)), wanted);
            }
            Ok(())
        })?;
        prop_assert!(read(&faulty, None).unwrap().roles.tenant("t1").is_none());
    }
}
