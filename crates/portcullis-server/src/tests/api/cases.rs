//! What a caller may do under a configuration, case by case: rules, roles, tokens, tenants.
//!
//! Settings: issuer `corp` (realm R1, the default, no override), issuer `op` (override allowed).

use serde_json::{Value, json};

use super::Api;
use crate::tests::harness::Answer;
use portcullis_testing::tokens::{claims, from_now, of, signed, token};

fn rule(name: &str, conditions: Value) -> Value {
    json!({"authorization-rule": {"name": name, "conditions": conditions}})
}

fn role(name: &str, permissions: Value) -> Value {
    json!({"role": {"name": name, "permissions": permissions}})
}

fn tenant(name: &str, more: Value) -> Value {
    let mut tenant = json!({"name": name, "projects": ["foo", "bar", "a", "b"]});
    for (key, value) in more.as_object().unwrap() {
        tenant[key] = value.clone();
    }
    json!({"tenant": tenant})
}

fn private(name: &str, mappings: Value) -> Value {
    tenant(
        name,
        json!({"anonymous-read-access": false, "role-mappings": mappings}),
    )
}

/// A: one private tenant with an admin, a reader, and a caller who may enqueue one project.
fn a(enqueue: Value) -> Vec<Value> {
    vec![
        rule("root", json!([{"preferred_username": "root"}])),
        rule("al", json!([{"preferred_username": "alice"}])),
        rule("all", json!([{"iss": "corp"}])),
        role("holder", json!({"autohold": true})),
        role("fooenq", json!({"enqueue": {"conditions": enqueue}})),
        private(
            "t1",
            json!({"root": "admin", "all": ["read", "holder"], "al": "fooenq"}),
        ),
    ]
}

/// B: one tenant that anyone may read.
fn b() -> Vec<Value> {
    vec![
        rule("rel", json!([{"groups": "relmgr"}])),
        role(
            "relman",
            json!({"dequeue": {"conditions": {"ref": "refs/heads/stable"}}, "promote": true}),
        ),
        tenant("t2", json!({"role-mappings": {"rel": "relman"}})),
    ]
}

fn with(user: &str, issuer: &str, more: Value) -> String {
    let mut claims = claims(issuer, user);
    for (key, value) in more.as_object().unwrap() {
        claims[key] = value.clone();
    }
    token(issuer, &claims)
}

/// The token of a caller by name; any other name is a plain token of `corp`.
fn bearer(who: &str) -> Option<String> {
    Some(match who {
        "-" => return None,
        "garbage" => "not-a-token".to_owned(),
        "stranger" => token("op", &claims("op", "eve")),
        "relmgr" => with("rita", "corp", json!({"groups": ["relmgr"]})),
        "expired" => with(
            "bob",
            "corp",
            json!({"iat": from_now(-660), "exp": from_now(-60)}),
        ),
        "aud-other" => with("bob", "corp", json!({"aud": "other"})),
        "iss-unknown" => token("nobody", &claims("nobody", "bob")),
        "wrong-key" => signed(&json!({"alg": "HS256"}), &claims("corp", "bob"), "wrong"),
        "alg-none" => {
            let whole = signed(&json!({"alg": "none"}), &claims("corp", "bob"), "");
            let (text, _) = whole.rsplit_once('.').unwrap();
            format!("{text}.")
        }
        "self-admin" => with("bob", "corp", json!({"zuul": {"admin": ["t1"]}})),
        "op-admin" => with("oscar", "op", json!({"zuul": {"admin": ["t1"]}})),
        "op-star" => with("oscar", "op", json!({"zuul": {"admin": "*"}})),
        "op-stars" => with("oscar", "op", json!({"zuul": {"admin": ["*"]}})),
        "short-no-iat" => {
            let mut claims = claims("short", "bob");
            claims.as_object_mut().unwrap().remove("iat");
            token("short", &claims)
        }
        "short-old" => with("bob", "short", json!({"iat": from_now(-120)})),
        "t1-admin" => with("bob", "corp", json!({"groups": ["t1-admin"]})),
        "g-of-short" => with("g", "short", json!({})),
        "nested" => with(
            "bob",
            "corp",
            json!({"ra": {"account": {"roles": ["aff", "x"]}}}),
        ),
        "mail" => with("7", "mail", json!({"email": "a@b"})),
        "mail-none" => token("mail", &claims("mail", "7")),
        "staff" => with("bob", "corp", json!({"groups": ["staff"]})),
        "ops" => with("bob", "corp", json!({"groups": ["ops"]})),
        user => of(user),
    })
}

/// Does what a line says: `WHO ACTION TENANT[/PROJECT] [key=value]`.
fn act(api: &Api, line: &str) -> Answer {
    let words: Vec<&str> = line.split(' ').collect();
    let [who, action, rest @ ..] = words.as_slice() else {
        panic!("{line}")
    };
    let target = rest.first().copied().unwrap_or_default();
    let (tenant, project) = target.split_once('/').unwrap_or((target, ""));
    let parameter = rest.get(1).and_then(|word| word.split_once('='));
    let base = format!("/api/tenant/{tenant}");
    let run = |parameter: Option<(&str, &str)>| match parameter {
        Some(("ref", value)) => json!({"pipeline": "post", "ref": value}),
        Some((key, value)) => {
            let mut body = json!({"pipeline": "post", "change": "1,1"});
            body[key] = json!(value);
            body
        }
        None => json!({"pipeline": "post", "change": "1,1"}),
    };
    let (method, path, body) = match *action {
        "tenants" | "info" => ("GET", format!("/api/{action}"), None),
        "status" | "authorizations" => ("GET", format!("{base}/{action}"), None),
        "enqueue" | "dequeue" => {
            let path = format!("{base}/project/{project}/{action}");
            ("POST", path, Some(run(parameter)))
        }
        "autohold" => {
            let path = format!("{base}/project/{project}/autohold");
            ("POST", path, Some(json!({"job": "unit"})))
        }
        "promote" => {
            let body = json!({"pipeline": "gate", "changes": ["1,1"]});
            ("POST", format!("{base}/promote"), Some(body))
        }
        "state" => (
            "POST",
            format!("{base}/state"),
            Some(json!({"reason": "why"})),
        ),
        other => panic!("{other}"),
    };
    api.call(bearer(who).as_deref(), method, &path, body.as_ref())
}

/// What enqueue, dequeue and promote say where nothing was submitted.
const NOTHING_THERE: [&str; 3] = [
    "it was never submitted",
    "it has no live job",
    "no job of it is waiting",
];

/// Tries lines `WHO ACTION TARGET -> STATUS[:CODE]`. Where nothing was ever submitted, `ok` of enqueue,
/// dequeue and promote is 404: the caller was let through, and there is nothing.
#[track_caller]
fn expect(tenants: &[Value], lines: &[&str]) {
    let api = Api::start(&json!(tenants));
    for line in lines {
        let (asked, wanted) = line.split_once(" -> ").unwrap();
        let answer = act(&api, asked);
        let is_run = ["enqueue", "dequeue", "promote"]
            .iter()
            .any(|a| asked.contains(a));
        let got = match answer.status {
            200 if !is_run => "ok".to_owned(),
            404 if is_run
                && NOTHING_THERE
                    .iter()
                    .any(|text| answer.text().contains(text)) =>
            {
                "ok".to_owned()
            }
            status if wanted.contains(':') => {
                format!(
                    "{status}:{}",
                    answer.json()["error"]["code"].as_str().unwrap()
                )
            }
            status => status.to_string(),
        };
        assert_eq!(got, wanted, "{asked}: {}", answer.text());
        if answer.status == 401 {
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer realm=\""), "{challenge}");
        }
        if answer.status >= 400 {
            answer.error(answer.status);
        }
    }
}

fn a_and_b() -> Vec<Value> {
    [a(json!({"project": "foo"})), b()].concat()
}

#[test]
fn cases_1_to_6_a_private_tenant() {
    expect(
        &a_and_b(),
        &[
            "- status t1 -> 401:missing_token",
            "bob status t1 -> ok",
            "bob autohold t1/foo -> ok",
            "bob autohold t1/bar -> ok",
            "bob enqueue t1/foo -> 403",
            "alice enqueue t1/foo -> ok",
            "alice enqueue t1/bar -> 403",
        ],
    );
}

#[test]
fn cases_7_and_8_a_condition_on_the_pipeline() {
    expect(
        &a(json!({"project": "foo", "pipeline": "post"})),
        &[
            "alice enqueue t1/foo pipeline=check -> 403",
            "alice enqueue t1/foo pipeline=post -> ok",
        ],
    );
}

#[test]
fn cases_9_to_12_admins_strangers_and_what_adds_up() {
    expect(
        &a_and_b(),
        &[
            "root state t1 -> ok",
            "root promote t1 -> ok",
            "root dequeue t1/bar -> ok",
            "stranger status t1 -> 403",
            "alice dequeue t1/foo -> 403",
            "alice status t1 -> ok",
        ],
    );
}

#[test]
fn case_13_writing_does_not_imply_reading() {
    let mut tenants = a(json!({"project": "foo"}));
    tenants.pop();
    tenants.push(private("t1", json!({"root": "admin", "al": "fooenq"})));
    expect(
        &tenants,
        &[
            "alice status t1 -> 403",
            "alice enqueue t1/foo -> ok",
            "alice authorizations t1 -> ok",
        ],
    );
}

#[test]
fn cases_14_to_19_a_tenant_that_anybody_may_read() {
    expect(
        &a_and_b(),
        &[
            "- status t2 -> ok",
            "garbage status t2 -> ok",
            "garbage promote t2 -> 401:undecodable",
            "relmgr dequeue t2/foo ref=refs/heads/stable -> ok",
            "relmgr dequeue t2/foo change=12,1 -> 403",
            "relmgr dequeue t2/foo ref=refs/heads/main -> 403",
            "relmgr promote t2 -> ok",
        ],
    );
}

#[test]
fn case_20_a_project_that_is_not_there_never_matches_or_is_unknown() {
    let mut tenants = vec![
        rule("gus", json!([{"preferred_username": "gus"}])),
        role(
            "ghosts",
            json!({"enqueue": {"conditions": {"project": "ghost"}}}),
        ),
        tenant("t2", json!({"role-mappings": {"gus": "ghosts"}})),
    ];
    expect(
        &tenants,
        &["gus enqueue t2/foo -> 403", "gus enqueue t2/ghost -> 404"],
    );
    tenants.truncate(2);
    tenants.push(json!({"tenant": {"name": "t2", "role-mappings": {"gus": "ghosts"}}}));
    expect(&tenants, &["gus enqueue t2/ghost -> ok"]);
}

#[test]
fn cases_27_and_28_and_within_a_role_or_between_roles() {
    let una = || rule("una", json!([{"preferred_username": "una"}]));
    let both = json!({"dequeue": {"conditions": {"project": "a", "ref": "r"}}});
    expect(
        &[
            una(),
            role("both", both),
            tenant("t1", json!({"role-mappings": {"una": "both"}})),
        ],
        &[
            "una dequeue t1/a ref=x -> 403",
            "una dequeue t1/a ref=r -> ok",
        ],
    );
    expect(
        &[
            una(),
            role("one", json!({"dequeue": {"conditions": {"project": "a"}}})),
            role("two", json!({"dequeue": {"conditions": {"ref": "r"}}})),
            tenant("t1", json!({"role-mappings": {"una": ["one", "two"]}})),
        ],
        &[
            "una dequeue t1/a ref=x -> ok",
            "una dequeue t1/b ref=x -> 403",
        ],
    );
}

#[test]
fn cases_29_to_35_tokens_that_are_no_good_and_admins_by_token() {
    expect(
        &a_and_b(),
        &[
            "expired autohold t1/foo -> 401:expired",
            "aud-other autohold t1/foo -> 401:wrong_audience",
            "iss-unknown status t1 -> 401:unknown_issuer",
            "wrong-key status t1 -> 401:bad_signature",
            "alg-none status t1 -> 401:bad_signature",
            "self-admin status t1 -> 401:admin_claim_not_allowed",
            "op-admin state t1 -> ok",
            "op-admin promote t2 -> 403",
            "op-star state t1 -> 401:bad_admin_claim",
            "op-stars state t1 -> ok",
            "op-stars promote t2 -> ok",
        ],
    );
}

#[test]
fn case_36_tokens_that_are_too_old_whatever_they_say() {
    expect(
        &[
            rule("s", json!([{"iss": "short"}])),
            private("t1", json!({"s": "read"})),
        ],
        &[
            "g-of-short status t1 -> ok",
            "short-no-iat status t1 -> 401:missing_claim",
            "short-old status t1 -> 401:expired",
        ],
    );
}

#[test]
fn case_37_a_rule_with_the_name_of_the_tenant() {
    let own = json!({"role-mappings": {"own": "admin"}});
    expect(
        &[
            rule("own", json!([{"groups": "{tenant.name}-admin"}])),
            tenant("t1", own.clone()),
            tenant("t2", own),
        ],
        &["t1-admin state t1 -> ok", "t1-admin state t2 -> 403"],
    );
}

#[test]
fn cases_38_to_42_how_claims_are_compared() {
    let reads = |conditions| [rule("r", conditions), private("t1", json!({"r": "read"}))];
    expect(
        &reads(json!([{"sub": "g", "iss": "corp"}])),
        &["g status t1 -> ok", "g-of-short status t1 -> 403"],
    );
    expect(
        &reads(json!([{"sub": "a"}, {"sub": "b"}])),
        &["b status t1 -> ok", "c status t1 -> 403"],
    );
    for conditions in [
        json!([{"ra.account.roles": "aff"}]),
        json!([{"ra": {"account": {"roles": "aff"}}}]),
    ] {
        expect(
            &reads(conditions),
            &["nested status t1 -> ok", "bob status t1 -> 403"],
        );
    }
    expect(
        &reads(json!([{"zuul_uid": "a@b"}])),
        &[
            "mail status t1 -> ok",
            "mail-none status t1 -> 401:missing_claim",
        ],
    );
}

#[test]
fn case_43_a_tenant_that_is_not_there_looks_like_a_private_one() {
    let root =
        json!({"api-root": {"anonymous-read-access": false, "role-mappings": {"all": "read"}}});
    let tenants = [
        vec![rule("all", json!([{"iss": "corp"}])), root],
        vec![private("toms", json!({}))],
    ]
    .concat();
    expect(
        &tenants,
        &[
            "bob status nowhere -> 404",
            "- status nowhere -> 401:missing_token",
            "garbage status nowhere -> 401:undecodable",
            "stranger status nowhere -> 403",
            "stranger enqueue nowhere/foo -> 403",
        ],
    );
    let api = Api::start(&json!(tenants));
    for action in [
        "status",
        "enqueue",
        "autohold",
        "state",
        "promote",
        "authorizations",
    ] {
        let project = if ["enqueue", "autohold"].contains(&action) {
            "/foo"
        } else {
            ""
        };
        let mut answers = ["nowhere", "toms"].map(|tenant| {
            let mut answer = act(&api, &format!("stranger {action} {tenant}{project}")).json();
            answer.as_object_mut().unwrap().remove("request_id");
            answer
        });
        let [nowhere, toms] = &mut answers;
        assert_eq!(nowhere, toms, "{action}");
    }
    let info = |tenant: &str| {
        let text = api.get(None, &format!("/api/tenant/{tenant}/info")).text();
        text.replace(tenant, "TENANT")
    };
    assert_eq!(info("nowhere"), info("toms"));
}

#[test]
fn case_44_the_older_rules() {
    expect(
        &[
            rule("ops", json!([{"groups": "ops"}])),
            rule("staff", json!([{"groups": "staff"}])),
            tenant(
                "t3",
                json!({"admin-rules": ["ops"], "access-rules": ["staff"]}),
            ),
        ],
        &[
            "staff status t3 -> ok",
            "staff enqueue t3/foo -> 403",
            "ops status t3 -> ok",
            "ops enqueue t3/foo -> ok",
            "- status t3 -> 401:missing_token",
        ],
    );
}

#[test]
fn case_45_the_root_of_the_api() {
    let root =
        json!({"api-root": {"anonymous-read-access": false, "role-mappings": {"all": "read"}}});
    let tenants = [b(), vec![rule("all", json!([{"iss": "corp"}])), root]].concat();
    expect(
        &tenants,
        &[
            "- tenants -> 401:missing_token",
            "- info -> ok",
            "- status t2 -> ok",
            "bob tenants -> ok",
            "stranger tenants -> 403",
        ],
    );
}
