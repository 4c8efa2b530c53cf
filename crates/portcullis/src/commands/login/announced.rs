//! How a server says that people sign in: `capabilities.auth` of `GET /api/info`.

use std::collections::BTreeMap;

use portcullis_core::text::printable;
use serde::Deserialize;

use crate::client::ClientError;
use crate::commands::failure::Failure;
use crate::commands::remote::Remote;
use crate::exit::Exit;

/// The driver of realms at which people sign in with OpenID Connect.
const DRIVER: &str = "OpenIDConnect";

#[derive(Debug, Deserialize)]
struct Answer {
    info: Info,
}

#[derive(Debug, Deserialize)]
struct Info {
    capabilities: Capabilities,
}

#[derive(Debug, Deserialize)]
struct Capabilities {
    auth: Auth,
}

#[derive(Debug, Deserialize)]
struct Auth {
    #[serde(default)]
    realms: BTreeMap<String, AnnouncedRealm>,
    #[serde(default)]
    default_realm: Option<String>,
}

#[derive(Debug, Deserialize)]
struct AnnouncedRealm {
    #[serde(default)]
    authority: String,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    audience: Option<String>,
    #[serde(default)]
    driver: String,
}

/// Where people sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Realm {
    pub(super) issuer: String,
    pub(super) client_id: String,
    pub(super) scopes: Vec<String>,
    pub(super) audience: Option<String>,
}

/// The realm that is named, or else the default one, or else the only one where people sign in.
pub(super) fn realm(remote: &mut Remote, named: Option<&str>) -> Result<Realm, Failure> {
    let value = remote.get(&["info"])?;
    let answer: Answer = serde_json::from_value(value)
        .map_err(|error| ClientError::senseless("information", &error))?;
    chosen(answer.info.capabilities.auth, named)
}

fn chosen(auth: Auth, named: Option<&str>) -> Result<Realm, Failure> {
    let can_sign_in = |realm: &AnnouncedRealm| realm.driver == DRIVER && realm.client_id.is_some();
    let names: Vec<String> = auth
        .realms
        .iter()
        .filter(|(_, realm)| can_sign_in(realm))
        .map(|(name, _)| printable(name).into_owned())
        .collect();
    let name = match (named, auth.default_realm) {
        (Some(named), _) => Some(named.to_owned()),
        (None, Some(usual)) if auth.realms.get(&usual).is_some_and(can_sign_in) => Some(usual),
        (None, _) => match names.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
    };
    let found = name
        .and_then(|name| auth.realms.get(&name))
        .filter(|realm| can_sign_in(realm));
    match found {
        Some(found) => {
            let scopes = found.scope.as_deref().unwrap_or_default();
            Ok(Realm {
                issuer: found.authority.clone(),
                client_id: found.client_id.clone().unwrap_or_default(),
                scopes: scopes.split_whitespace().map(str::to_owned).collect(),
                audience: found
                    .audience
                    .clone()
                    .filter(|audience| !audience.is_empty()),
            })
        }
        None if names.is_empty() => Err(Failure::new(
            Exit::Invalid,
            "people can't sign in to this server with OpenID Connect: give it a token with --token-stdin",
        )),
        None => Err(Failure::new(
            Exit::Usage,
            format!("choose a realm with --realm: {}", names.join(", ")),
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "it is written in the call")]
    fn choose(realms: Value, default: Option<&str>, named: Option<&str>) -> Result<Realm, Failure> {
        let auth = json!({"realms": realms, "default_realm": default, "read_protected": true});
        chosen(serde_json::from_value(auth).unwrap(), named)
    }

    fn sso(issuer: &str) -> Value {
        json!({"authority": issuer, "client_id": "cli", "driver": "OpenIDConnect", "scope": "openid  email", "type": "JWT"})
    }

    #[test]
    fn the_realm_is_named_or_the_default_or_the_only_one() {
        let key = json!({"authority": "corp", "client_id": null, "driver": "HS256"});
        let both = json!({"a": sso("https://a"), "b": sso("https://b"), "key": key});
        let issuer = |found: Result<Realm, Failure>| found.unwrap().issuer;
        assert_eq!(issuer(choose(both.clone(), Some("b"), None)), "https://b");
        assert_eq!(
            issuer(choose(both.clone(), Some("b"), Some("a"))),
            "https://a"
        );
        assert!(choose(both.clone(), Some("key"), None).is_err());
        assert!(choose(both, Some("b"), Some("key")).is_err());
        let one = json!({"a": sso("https://a"), "key": key});
        let found = choose(one, Some("key"), None).unwrap();
        assert_eq!(found.issuer, "https://a");
        assert_eq!(found.scopes, ["openid", "email"]);
        assert!(choose(json!({"key": key}), Some("key"), None).is_err());
        assert!(choose(json!({}), None, None).is_err());
    }
}
