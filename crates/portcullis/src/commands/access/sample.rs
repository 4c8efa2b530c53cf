//! Answers of the engine, for tests.

use portcullis_core::{AdminOf, Identity};
use portcullis_roles::{
    AccessDecision, Basis, Condition, Explanation, Grant, Miss, Permission, Refusal, RuleMatch,
};
use serde_json::{Map, Value, json};

use super::caller::Caller;

pub(in crate::commands) fn alice() -> Caller {
    Caller::Known(Identity {
        claims: Map::new(),
        uid: "alice".to_owned(),
        admin: AdminOf::Nothing,
    })
}

/// What the source document's alice has, with one more pipeline.
pub(in crate::commands) fn grant() -> Grant {
    Grant {
        rule: "alice".to_owned(),
        role: "enqueue-post".to_owned(),
        conditions: vec![
            (Condition::Project, json!("foo")),
            (Condition::Pipeline, json!(["post", "gate"])),
        ],
    }
}

/// Always, by another rule.
pub(in crate::commands) fn admin() -> Grant {
    Grant {
        rule: "admin-user".to_owned(),
        role: "admin".to_owned(),
        conditions: Vec::new(),
    }
}

/// She may enqueue foo in post.
pub(in crate::commands) fn allowed() -> Explanation {
    Explanation {
        answer: AccessDecision::Allowed(Basis::Grant {
            rule: "alice".to_owned(),
            role: "enqueue-post".to_owned(),
        }),
        considered: vec![(grant(), Vec::new())],
        ..refused()
    }
}

/// She may not enqueue bar nowhere.
pub(in crate::commands) fn refused() -> Explanation {
    let miss = |condition, wanted: Value, got: Option<&str>| Miss {
        rule: "alice".to_owned(),
        role: "enqueue-post".to_owned(),
        condition,
        wanted,
        got: got.map(str::to_owned),
    };
    let misses = vec![
        miss(Condition::Project, json!("foo"), Some("bar")),
        miss(Condition::Pipeline, json!(["post", "gate"]), None),
    ];
    let rule = |name: &str, roles: &[&str], missed: Option<&str>| RuleMatch {
        rule: name.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        matches: missed.is_none(),
        missed: missed.map(str::to_owned).into_iter().collect(),
    };
    Explanation {
        answer: AccessDecision::Refused(Refusal {
            permission: Permission::Enqueue,
            misses: misses.clone(),
            roles: vec!["autohold".into(), "enqueue-post".into(), "read".into()],
            rules: vec!["alice".into(), "everyone".into()],
        }),
        rules: vec![
            rule(
                "admin-user",
                &["admin"],
                Some("preferred_username is `alice`, not `admin`"),
            ),
            rule("everyone", &["read", "autohold"], None),
            rule("alice", &["enqueue-post"], None),
        ],
        considered: vec![(grant(), misses)],
        near: vec![admin()],
    }
}
