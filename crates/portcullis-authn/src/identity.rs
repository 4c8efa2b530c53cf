//! Claims to a caller: its name, and where it is admin.

use portcullis_core::{AdminOf, Identity};
use serde_json::{Map, Value};

use crate::claims;
use crate::error::Problem;
use crate::settings::AuthenticatorSettings;

/// The caller of whom these claims, by this authenticator, speak.
pub(crate) fn of(
    claims: Map<String, Value>,
    settings: &AuthenticatorSettings,
) -> Result<Identity, Problem> {
    let uid = claims::text(&claims, &settings.uid_claim)?.to_owned();
    let admin = claims::admin(&claims, settings.allow_authz_override)?;
    Ok(Identity { claims, uid, admin })
}

/// The caller without any claims that grant admin rights: signing in makes no one an admin.
pub(crate) fn of_person(
    mut claims: Map<String, Value>,
    settings: &AuthenticatorSettings,
) -> Result<Identity, Problem> {
    claims.remove("zuul");
    let uid = claims::text(&claims, &settings.uid_claim)?.to_owned();
    Ok(Identity {
        claims,
        uid,
        admin: AdminOf::Nothing,
    })
}

/// Claims that no authenticator is responsible for, as they are.
pub(crate) fn as_is(claims: Map<String, Value>) -> Identity {
    let uid = claims.get("sub").and_then(Value::as_str);
    Identity {
        uid: uid.unwrap_or_default().to_owned(),
        claims,
        admin: AdminOf::Nothing,
    }
}
