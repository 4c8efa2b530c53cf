//! Exchanges a code for an identity token.

use portcullis_net::StatusCode;
use serde_json::Value;

use super::{LoginError, With};
use crate::provider::Description;
use crate::token::strict;
use crate::web::{self, Form};

/// Asks the provider for the identity token of this code.
pub(super) async fn code(
    code: &str,
    verifier: &str,
    redirect_uri: &str,
    with: &With<'_>,
    description: &Description,
) -> Result<String, LoginError> {
    let endpoint = description.token.as_ref().ok_or_else(|| {
        LoginError::Unavailable("its description has no `token_endpoint`".to_owned())
    })?;
    let client = &with.settings.client_id;
    // With a secret, the client says who it is in a header; both parts are encoded first (RFC 6749).
    let secret = with.settings.client_secret.as_ref();
    let form = Form {
        client: secret.map(|secret| (encoded(client.as_bytes()), encoded(&secret.0))),
        body: form(
            code,
            verifier,
            redirect_uri,
            secret.is_none().then_some(client),
        ),
    };
    let answer = web::post(endpoint, with.provider.trust(), form).await;
    let answer = answer.map_err(LoginError::Unavailable)?;
    let document = strict(&answer.body);
    let text = |name: &str| {
        let value = document.as_ref().and_then(|d| d.get(name));
        value.and_then(Value::as_str)
    };
    if answer.status != StatusCode::OK {
        return Err(match text("error") {
            Some(word) if answer.status.is_client_error() => LoginError::refused(word),
            _ => LoginError::Unavailable(format!("{endpoint}: status {}", answer.status.as_u16())),
        });
    }
    let id_token = text("id_token").map(str::to_owned);
    id_token.ok_or_else(|| LoginError::BadAnswer("it has no `id_token`".to_owned()))
}

/// What is brought to the provider; a client without a secret says here who it is.
pub(super) fn form(
    code: &str,
    verifier: &str,
    redirect_uri: &str,
    client: Option<&String>,
) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("code_verifier", verifier);
    if let Some(client) = client {
        form.append_pair("client_id", client);
    }
    form.finish()
}

fn encoded(bytes: &[u8]) -> String {
    form_urlencoded::byte_serialize(bytes).collect()
}
