//! Prints what a role check costs: `cargo run --release -p portcullis-roles --example role_check`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for people at a terminal"
)]

use std::hint::black_box;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::{AdminOf, Identity};
use portcullis_document::Document;
use portcullis_roles::{AccessDecision, Condition, Parameters, Permission, Roles, Scope};
use serde_json::{Value, json};

/// How many rules there are, and how many roles.
const MANY: usize = 200;

/// How often each is done in one go, and how many goes there are: the best and the middle count.
const TIMES: u32 = 1000;
const GOES: usize = 300;

fn main() {
    println!("{MANY} rules and {MANY} roles, all mapped in one tenant\n");
    println!("{:44} {:>9} {:>10} {:>10}", "", "", "best", "middle");
    for (kind, rules) in [
        ("one claim, other values", same_claim as fn(usize) -> Value),
        ("two claims, one of them shared", two_claims),
        ("a claim for each rule", own_claims),
        ("alternatives, nested claims", alternatives),
    ] {
        let roles = load(rules);
        measure(kind, roles.tenant("t").unwrap().scope());
    }
    let roles = load(|_| json!({"iss": "corp"}));
    let scope = roles.tenant("t").unwrap().scope();
    println!("one claim, the same value: all {MANY} rules match");
    row(
        scope,
        "allowed",
        &caller(0),
        Permission::Enqueue,
        &enqueue("p199"),
    );
    row(
        scope,
        "refused, 200 conditions missed",
        &caller(0),
        Permission::Enqueue,
        &enqueue("none"),
    );
    row(
        scope,
        "refused without a grant",
        &caller(0),
        Permission::TenantState,
        &Parameters::new(),
    );
}

fn same_claim(rule: usize) -> Value {
    json!([{"preferred_username": format!("user{rule}")}])
}

fn two_claims(rule: usize) -> Value {
    json!([{"iss": "corp", "groups": format!("group{rule}")}])
}

fn own_claims(rule: usize) -> Value {
    json!([{format!("claim{rule}"): true}])
}

fn alternatives(rule: usize) -> Value {
    json!([{"realm": {"roles": [format!("role{rule}"), format!("lead{rule}")]}}, {"sub": format!("user{rule}"), "iss": "corp"}])
}

fn load(conditions: fn(usize) -> Value) -> Roles {
    let mut items = Vec::new();
    let mut mappings = serde_json::Map::new();
    for n in 0..MANY {
        items.push(json!({"authorization-rule": {"name": format!("rule{n:03}"), "conditions": conditions(n)}}));
        items.push(json!({"role": {"name": format!("role{n:03}"), "permissions": {
            "autohold": true,
            "enqueue": {"conditions": {"project": [format!("p{n}"), format!("glob:org{n}/*")], "pipeline": "post"}},
        }}}));
        mappings.insert(
            format!("rule{n:03}"),
            json!([format!("role{n:03}"), "read"]),
        );
    }
    items.push(
        json!({"tenant": {"name": "t", "anonymous-read-access": false, "role-mappings": mappings}}),
    );
    let document = Document::without_text("tenants", &Value::Array(items));
    Roles::load(&document, None).unwrap().roles
}

/// A caller whom the rule of this number matches.
fn caller(number: usize) -> Identity {
    let claims = json!({
        "iss": "corp", "aud": "portal", "exp": 1_900_000_000, "iat": 1_800_000_000,
        "sub": format!("user{number}"),
        "preferred_username": format!("user{number}"),
        "groups": ["staff", "everyone", format!("group{number}")],
        "realm": {"roles": ["offline", format!("lead{number}")]},
        format!("claim{number}"): true,
    });
    Identity {
        claims: claims.as_object().unwrap().clone(),
        uid: format!("user{number}"),
        admin: AdminOf::Nothing,
    }
}

fn enqueue(project: &str) -> Parameters<'_> {
    Parameters::new()
        .with(Condition::Project, Some(project))
        .with(Condition::Pipeline, Some("post"))
}

fn measure(kind: &str, scope: &Scope) {
    println!("{kind}");
    let (first, last, nobody) = (caller(0), caller(MANY - 1), caller(MANY));
    let admin = Identity {
        admin: AdminOf::Everything,
        ..caller(MANY)
    };
    row(
        scope,
        "allowed by the first rule",
        &first,
        Permission::Enqueue,
        &enqueue("p0"),
    );
    row(
        scope,
        "allowed by the last rule",
        &last,
        Permission::Enqueue,
        &enqueue("p199"),
    );
    row(
        scope,
        "allowed by a glob",
        &last,
        Permission::Enqueue,
        &enqueue("org199/some-project"),
    );
    row(
        scope,
        "allowed to read",
        &last,
        Permission::Read,
        &Parameters::new(),
    );
    row(
        scope,
        "refused by a condition",
        &last,
        Permission::Enqueue,
        &enqueue("p0"),
    );
    row(
        scope,
        "refused, no role grants it",
        &last,
        Permission::TenantState,
        &Parameters::new(),
    );
    row(
        scope,
        "refused, no rule matches",
        &nobody,
        Permission::Enqueue,
        &enqueue("p0"),
    );
    row(
        scope,
        "admin by token",
        &admin,
        Permission::Enqueue,
        &enqueue("p0"),
    );
    println!();
}

fn row(
    scope: &Scope,
    what: &str,
    who: &Identity,
    permission: Permission,
    parameters: &Parameters<'_>,
) {
    let answer = scope.check(Some(who), permission, parameters);
    assert_eq!(
        matches!(answer, AccessDecision::Allowed(_)),
        what.starts_with("allowed") || what.starts_with("admin"),
        "{what}: {answer:?}"
    );
    let mut goes: Vec<Duration> = (0..GOES)
        .map(|_| {
            let watch = Stopwatch::start();
            for _ in 0..TIMES {
                black_box(scope.check(black_box(Some(who)), permission, black_box(parameters)));
            }
            watch.elapsed()
        })
        .collect();
    goes.sort_unstable();
    let nanoseconds = |go: Option<&Duration>| go.unwrap().as_nanos() / u128::from(TIMES);
    println!(
        "  {what:42} {:>9} {:>7} ns {:>7} ns",
        if matches!(answer, AccessDecision::Allowed(_)) {
            "allowed"
        } else {
            "refused"
        },
        nanoseconds(goes.first()),
        nanoseconds(goes.get(GOES / 2)),
    );
}
