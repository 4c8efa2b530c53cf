//! What a caller needs: machine-readable, and in words.

use portcullis_roles::{Condition, Permission};
use serde_json::{Value, json};

use crate::api::access::{Access, Credential};

/// The ways of saying who one is.
pub(super) fn schemes() -> Value {
    json!({
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A JSON Web Token of one of the configured authenticators. \
                `portcullis token create` makes short-lived ones.",
        },
        "controllerSecret": {
            "type": "http",
            "scheme": "bearer",
            "description": "The secret of an admission controller, `whsec_...`: it is shown when the controller is \
                created, and when its secret is rotated.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": "portcullis-session",
            "description": "The cookie that signing in at `/auth/login` sets. With it, every request but GET \
                and HEAD must carry the header `X-CSRF-Token` with the value `csrf` of `GET /auth/session`; \
                without that header it is rejected with 403. Requests with a token need no such header.",
        },
    })
}

/// Either way of saying who one is.
pub(super) fn signed_in() -> Value {
    json!([{"bearer": []}, {"session": []}])
}

/// The `security` of a call.
pub(super) fn security(access: Access) -> Value {
    match access {
        Access::Public(_)
        | Access::Credential(Credential::Callback | Credential::Runner | Credential::Job) => {
            json!([])
        }
        Access::Credential(Credential::Controller) => json!([{"controllerSecret": []}]),
        // Tenants and the root may let everybody read.
        Access::Reader(_)
        | Access::Tenant(Permission::Read, _)
        | Access::Root(Permission::Read, _) => {
            json!([{"bearer": []}, {"session": []}, {}])
        }
        Access::SignedIn(_) | Access::Tenant(..) | Access::Root(..) | Access::Holder(..) => {
            signed_in()
        }
    }
}

/// `x-portcullis-permission`: the permission a call needs.
pub(super) fn permission(access: Access) -> Option<Value> {
    let (permission, at, conditions) = match access {
        Access::Public(_) | Access::SignedIn(_) | Access::Reader(_) | Access::Credential(_) => {
            return None;
        }
        Access::Tenant(permission, conditions) => (permission, "tenant", conditions),
        Access::Root(permission, conditions) => (permission, "root", conditions),
        Access::Holder(permission, conditions) => (permission, "holder", conditions),
    };
    let conditions: Vec<_> = conditions
        .iter()
        .map(|condition| condition.name())
        .collect();
    Some(json!({"permission": permission.name(), "at": at, "conditions": conditions}))
}

/// The same in words, Markdown.
pub(super) fn in_words(access: Access) -> String {
    match access {
        Access::Public(why) => format!("**Needs no permission:** it {why}."),
        Access::SignedIn(what) => {
            format!("**Needs authentication, but no permission:** it {what}.")
        }
        Access::Reader(what) => format!(
            "**Needs the permission `read`** at the root of the API, or a role by which the caller may read a tenant: it \
             {what}."
        ),
        Access::Tenant(permission, conditions) => needs(permission, "in the tenant", conditions),
        Access::Root(permission, conditions) => {
            needs(permission, "at the root of the API", conditions)
        }
        Access::Holder(permission, conditions) => needs(
            permission,
            "in a tenant that holds the project or the whole group; for the whole instance, at the root of the API",
            conditions,
        ),
        Access::Credential(Credential::Callback) => {
            "**Needs no other credential** than the token in the path.".to_owned()
        }
        Access::Credential(Credential::Controller) => {
            "**Needs the secret of the controller** as a bearer token.".to_owned()
        }
        Access::Credential(Credential::Runner) => {
            "**Needs no other credential** than the token of the runner.".to_owned()
        }
        Access::Credential(Credential::Job) => {
            "**Needs no other credential** than the token of the job.".to_owned()
        }
    }
}

fn needs(permission: Permission, place: &str, conditions: &[Condition]) -> String {
    let mut text = format!("**Needs the permission `{permission}`** {place}");
    if !conditions.is_empty() {
        let names: Vec<_> = conditions
            .iter()
            .map(|condition| format!("`{condition}`"))
            .collect();
        text.push_str(". Roles may grant it only for some values of ");
        text.push_str(&names.join(", "));
    }
    if permission == Permission::Read {
        text.push_str(", unless anyone may read there");
    }
    text.push('.');
    text
}
