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
        let names_itself = document.get("authorization_response_iss_parameter_supported");
        Ok(Self {
            keys: address("jwks_uri")?.ok_or("its description has no `jwks_uri`")?,
            authorization: address("authorization_endpoint")?,
            token: address("token_endpoint")?,
            names_itself: names_itself == Some(&Value::Bool(true)),
        })
    }
}
