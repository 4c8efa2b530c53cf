//! The metadata of a provider (OpenID Connect Discovery).

use portcullis_net::{Trust, Web};
use serde_json::Value;

use crate::token::strict;
use crate::web;

/// Where things are at a provider.
#[derive(Debug)]
pub(crate) struct Description {
    /// Its keys.
    pub(crate) keys: Web,
    /// Where people sign in.
    pub(crate) authorization: Option<Web>,
    /// Where a code becomes a token.
    pub(crate) token: Option<Web>,
    /// Where a device without a browser begins to sign in (RFC 8628).
    pub(crate) device: Option<Web>,
    /// Where tokens are taken back (RFC 7009).
    pub(crate) revocation: Option<Web>,
    /// Whether it gives refresh tokens to those who ask for the scope.
    pub(crate) offers_offline: bool,
    /// Whether it says who it is when it sends people back (RFC 9207).
    pub(crate) names_itself: bool,
}

impl Description {
    /// Asks for it.
    pub(super) async fn fetch(address: &Web, issuer: &str, trust: &Trust) -> Result<Self, String> {
        let body = web::get(address, trust).await?;
        Self::read(&body, issuer).map_err(|problem| format!("{address}: {problem}"))
    }

    /// Reads it; it must be by this issuer.
    fn read(body: &[u8], issuer: &str) -> Result<Self, String> {
        let document = strict(body).ok_or("the answer is not a JSON object")?;
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        if text("issuer") != Some(issuer) {
            return Err("its description names another issuer than the configured one".to_owned());
        }
        let address = |name: &str| match text(name) {
            Some(text) => match web::address(text) {
                Ok(address) => Ok(Some(address)),
                Err(problem) => Err(format!("`{name}`: {problem}")),
            },
            None => Ok(None),
        };
        let scopes = document.get("scopes_supported").and_then(Value::as_array);
        let offers_offline =
            scopes.is_some_and(|all| all.iter().any(|one| one == "offline_access"));
        let names_itself = document.get("authorization_response_iss_parameter_supported");
        Ok(Self {
            keys: address("jwks_uri")?.ok_or("its description has no `jwks_uri`")?,
            authorization: address("authorization_endpoint")?,
            token: address("token_endpoint")?,
            device: address("device_authorization_endpoint")?,
            revocation: address("revocation_endpoint")?,
            offers_offline,
            names_itself: names_itself == Some(&Value::Bool(true)),
        })
    }
}
