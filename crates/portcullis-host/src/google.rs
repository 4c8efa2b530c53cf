//! Tokens for the services of Google.

use std::fmt;
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_net::header::{HeaderName, HeaderValue};
use portcullis_net::{Address, Host, StatusCode, Trust, Web};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::timeout_at;

use crate::http::{HttpCall, ask, bearer};
use crate::settings::GoogleToken;
use crate::target;
use crate::token_file::{self, LONGEST};

/// Where the metadata server has the token of the machine.
const METADATA: &str = "/computeMetadata/v1/instance/service-accounts/default/token";

/// How long before its end a token is no longer used.
const MARGIN: Duration = Duration::from_secs(60);

/// Whether a server is Google's, and may see our token.
pub(crate) fn is_google(web: &Web) -> bool {
    let ours = matches!(&web.host, Host::Name(name) if name.ends_with(".googleapis.com"));
    ours && web.secure
}

/// Gets tokens, and keeps the last one while it is good.
pub(crate) struct Tokens {
    source: GoogleToken,
    trust: Trust,
    kept: Mutex<Option<(String, Instant)>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Issued {
    access_token: String,
    expires_in: u64,
}

impl Tokens {
    /// Tokens of this source.
    pub(crate) fn new(source: GoogleToken, trust: Trust) -> Self {
        Self {
            source,
            trust,
            kept: Mutex::new(None),
        }
    }

    /// The header for a request to Google.
    pub(crate) async fn header(
        &self,
        deadline: Instant,
    ) -> Result<(HeaderName, HeaderValue), String> {
        let token = match &self.source {
            GoogleToken::None => return Err("there is no token for Google".to_owned()),
            GoogleToken::File(path) => token_file::read_until(path.clone(), deadline)
                .await
                .map_err(|error| format!("Google: {error}"))?,
            GoogleToken::Metadata(base) => self.ask_metadata(base, deadline).await?,
        };
        bearer(&token)
    }

    async fn ask_metadata(&self, base: &str, deadline: Instant) -> Result<String, String> {
        let late = |_| "no token for Google before the deadline".to_owned();
        let mut kept = timeout_at(deadline.into(), self.kept.lock())
            .await
            .map_err(late)?;
        if let Some((token, until)) = kept.as_ref()
            && clock::monotonic() < *until
        {
            return Ok(token.clone());
        }
        let server = target::web(base)?.with_path(METADATA.to_owned(), None);
        let answer = ask(HttpCall {
            address: Address::Web(server),
            path: None,
            trust: &self.trust,
            body: None,
            headers: vec![(
                HeaderName::from_static("metadata-flavor"),
                HeaderValue::from_static("Google"),
            )],
            limit: LONGEST,
            deadline,
        })
        .await?;
        if answer.status != StatusCode::OK {
            let status = answer.status.as_u16();
            return Err(format!(
                "the metadata server of Google answered with status {status}"
            ));
        }
        let issued: Issued = serde_json::from_slice(&answer.body)
            .map_err(|_| "the metadata server of Google did not answer with a token".to_owned())?;
        let good = Duration::from_secs(issued.expires_in.min(3600)).saturating_sub(MARGIN);
        *kept = Some((issued.access_token.clone(), clock::monotonic() + good));
        Ok(issued.access_token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_google_is_google() {
        let google = |address: &str| target::web(address).is_ok_and(|web| is_google(&web));
        assert!(google("https://x.googleapis.com/v1"));
        assert!(google("https://X.GoogleAPIs.com/v1"));
        assert!(!google("https://googleapis.com/"));
        assert!(!google("https://evilgoogleapis.com/"));
        assert!(!google("https://x.googleapis.com.evil.example/"));
        assert!(!google("https://evil.example/x.googleapis.com"));
        assert!(!google("http://x.googleapis.com/"));
        assert!(!google("/run/x.googleapis.com"));
    }

    #[test]
    fn a_token_is_never_shown() {
        let tokens = Tokens::new(GoogleToken::None, Trust::system());
        *tokens.kept.try_lock().unwrap() = Some(("hidden".to_owned(), clock::monotonic()));
        assert!(!format!("{tokens:?}").contains("hidden"));
        let (_, value) = bearer("hidden").unwrap();
        assert!(!format!("{value:?}").contains("hidden"));
    }
}
