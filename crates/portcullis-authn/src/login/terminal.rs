//! Signing in at a terminal: the authorization code flow with PKCE over a loopback address (RFC 8252), the device flow
//! (RFC 8628), and renewing and revoking what they give.
//!
//! The client is public: it has no secret. Nothing is kept here; whoever asks keeps the tokens. What a provider answers
//! is checked as it is for pages: the signature of the identity token, its issuer, its client and its nonce.

use std::time::{Duration, SystemTime};

use portcullis_core::clock::Stopwatch;
use portcullis_net::{HttpResponse, StatusCode, Web};
use serde_json::{Map, Value};

use super::redeem;
use super::{Callback, LoginError, With, identity_claims};
use crate::authenticators::Authenticators;
use crate::encoding::{encode, random, same, sha256};
use crate::provider::Description;
use crate::settings::{AuthenticatorSettings, Keys, LoginSettings};
use crate::token::{Token, strict};
use crate::web::{self, Form};

const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// What lets a client renew its tokens.
const OFFLINE: &str = "offline_access";
/// How often a provider is asked if it doesn't say.
const USUAL_INTERVAL: Duration = Duration::from_secs(5);
/// Intervals and lifetimes of devices are never longer.
const LONGEST: Duration = Duration::from_secs(3600);

/// Which provider, and as which client.
#[derive(Debug, Clone)]
pub struct TerminalSettings {
    /// The issuer.
    pub issuer: String,
    /// The client id; a public client.
    pub client_id: String,
    /// What is asked for, besides `openid`.
    pub scopes: Vec<String>,
    /// Authorities (PEM) to trust instead of the system's.
    pub ca: Option<Vec<u8>>,
}

/// A provider that one can sign in with.
#[derive(Debug)]
pub struct TerminalLogin {
    authenticators: Authenticators,
}

/// A sign-in that was begun in a browser.
pub struct BrowserSignIn {
    /// Where the person signs in.
    pub location: String,
    redirect_uri: String,
    state: String,
    nonce: String,
    verifier: String,
}

/// A sign-in that was begun with a code, which the person types into a browser anywhere.
pub struct DeviceSignIn {
    /// What the person types.
    pub user_code: String,
    /// Where.
    pub verification_uri: String,
    /// The same address with the code in it, if the provider has one.
    pub verification_uri_complete: Option<String>,
    /// How long the code is valid.
    pub expires_in: Duration,
    /// How long to wait between two questions.
    pub interval: Duration,
    device_code: String,
}

/// What a provider says while the person signs in elsewhere.
#[derive(Debug)]
pub enum DevicePoll {
    /// They are done.
    Done(Box<Tokens>),
    /// They are not done.
    Pending,
    /// They are not done, and the provider wants to be asked less often.
    SlowDown,
}

/// What a provider gives to someone who signed in.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The identity token.
    pub id_token: String,
    /// The access token.
    pub access_token: Option<String>,
    /// What new tokens can be had for.
    pub refresh_token: Option<String>,
}

impl std::fmt::Debug for BrowserSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BrowserSignIn(secret)")
    }
}

impl std::fmt::Debug for DeviceSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DeviceSignIn(secret)")
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(secret)")
    }
}

/// What a token says of itself, unverified: enough to choose one and to know when to renew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFacts {
    /// When it expires.
    pub expires: Option<SystemTime>,
    /// Whom it names.
    pub subject: Option<String>,
    /// Whom it is for.
    pub audiences: Vec<String>,
}

impl TokenFacts {
    /// Of a token; nothing if it is opaque.
    pub fn of(token: &str) -> Option<Self> {
        let claims = Token::read(token).ok()?.claims;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let audiences = match claims.get("aud") {
            Some(Value::Array(all)) => all.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        };
        let seconds = claims.get("exp").and_then(Value::as_f64);
        let seconds = seconds.filter(|seconds| (0.0..1e11).contains(seconds));
        Some(Self {
            expires: seconds.map(|at| SystemTime::UNIX_EPOCH + Duration::from_secs_f64(at)),
            subject: claims.get("sub").and_then(text),
            audiences,
        })
    }
}

/// What a provider gives for a refresh token. It need not say again who someone is.
#[derive(Clone, PartialEq, Eq)]
pub struct Renewed {
    /// The identity token, if there is a new one.
    pub id_token: Option<String>,
    /// The access token.
    pub access_token: Option<String>,
    /// What the next tokens can be had for: another one, or the same as before.
    pub refresh_token: String,
}

impl std::fmt::Debug for Renewed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Renewed(secret)")
    }
}

impl Tokens {
    /// The token that a server takes which wants this audience.
    pub fn for_audience(&self, audience: Option<&str>) -> &str {
        let found = for_audience(Some(&self.id_token), self.access_token.as_deref(), audience);
        found.unwrap_or(&self.id_token)
    }
}

impl Renewed {
    /// The token that a server takes which wants this audience, if there is a new one.
    pub fn for_audience(&self, audience: Option<&str>) -> Option<&str> {
        for_audience(
            self.id_token.as_deref(),
            self.access_token.as_deref(),
            audience,
        )
    }
}

/// The token that is for this audience, or else the one that says who someone is.
fn for_audience<'a>(
    identity: Option<&'a str>,
    access: Option<&'a str>,
    audience: Option<&str>,
) -> Option<&'a str> {
    let Some(audience) = audience.filter(|audience| !audience.is_empty()) else {
        return identity;
    };
    let is_for = |token: &&str| {
        let facts = TokenFacts::of(token);
        facts.is_some_and(|facts| facts.audiences.iter().any(|one| one == audience))
    };
    let both = [identity, access];
    both.into_iter().flatten().find(is_for).or(identity)
}

impl TerminalLogin {
    /// With this provider; asks nothing yet.
    ///
    /// # Errors
    ///
    /// When the settings can't be used.
    pub fn new(settings: TerminalSettings) -> Result<Self, LoginError> {
        let keys = Keys::Provider { keys_url: None };
        let settings = AuthenticatorSettings {
            issuer: settings.issuer,
            audience: settings.client_id.clone(),
            skew: Duration::from_secs(30),
            login: Some(LoginSettings {
                client_id: settings.client_id,
                client_secret: None,
                scopes: settings.scopes,
            }),
            ca: settings.ca,
            ..AuthenticatorSettings::new("provider", keys)
        };
        let authenticators = Authenticators::new(vec![settings], None).map_err(|faults| {
            let words = faults.into_iter().map(|(_, fault)| fault.message);
            LoginError::BadAnswer(words.collect::<Vec<_>>().join("; "))
        })?;
        Ok(Self { authenticators })
    }

    fn with(&self) -> Result<With<'_>, LoginError> {
        let first = self.authenticators.list().first();
        first.and_then(With::of).ok_or(LoginError::NoLogin)
    }

    async fn description(
        &self,
        now: SystemTime,
    ) -> Result<std::sync::Arc<Description>, LoginError> {
        let description = self.with()?.provider.description(now).await;
        description.map_err(LoginError::Unavailable)
    }

    /// Whether the provider has the device flow.
    ///
    /// # Errors
    ///
    /// When it can't be asked.
    pub async fn has_devices(&self, now: SystemTime) -> Result<bool, LoginError> {
        Ok(self.description(now).await?.device.is_some())
    }

    /// Begins to sign in with a browser, which comes back to this address.
    ///
    /// # Errors
    ///
    /// When the provider can't be asked.
    pub async fn begin_in_browser(
        &self,
        redirect_uri: &str,
        now: SystemTime,
    ) -> Result<BrowserSignIn, LoginError> {
        let description = self.description(now).await?;
        let endpoint = needed(description.authorization.as_ref(), "authorization_endpoint")?;
        let secret = || random::<32>().map(encode).map_err(|_| LoginError::Failed);
        let (state, nonce, verifier) = (secret()?, secret()?, secret()?);
        let scopes = self.scopes(&description)?;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.with()?.settings.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &scopes)
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &encode(sha256(verifier.as_bytes())))
            .append_pair("code_challenge_method", "S256");
        if description.offers_offline {
            // Without it the provider leaves the scope out.
            query.append_pair("prompt", "consent");
        }
        let endpoint = endpoint.url();
        let mark = if endpoint.contains('?') { '&' } else { '?' };
        Ok(BrowserSignIn {
            location: format!("{endpoint}{mark}{}", query.finish()),
            redirect_uri: redirect_uri.to_owned(),
            state,
            nonce,
            verifier,
        })
    }

    /// Goes on with the query that the browser brings back.
    ///
    /// # Errors
    ///
    /// When sign-in failed, or the query belongs to something else.
    pub async fn finish_in_browser(
        &self,
        begun: &BrowserSignIn,
        query: &str,
        now: SystemTime,
    ) -> Result<Tokens, LoginError> {
        let watch = Stopwatch::start();
        let answer = Callback::read(query)?;
        let state = answer.state.as_deref().unwrap_or_default();
        if !same(state.as_bytes(), begun.state.as_bytes()) {
            return Err(LoginError::WrongState);
        }
        let with = self.with()?;
        let description = self.description(now).await?;
        match &answer.issuer {
            Some(issuer) if *issuer != with.authenticator.settings.issuer => {
                return Err(LoginError::WrongIssuer);
            }
            None if description.names_itself => return Err(LoginError::WrongIssuer),
            _ => {}
        }
        if let Some(error) = &answer.error {
            return Err(LoginError::refused(error));
        }
        let code = answer.code.as_deref().filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| LoginError::BadAnswer("it has no `code`".to_owned()))?;
        let form = redeem::form(
            code,
            &begun.verifier,
            &begun.redirect_uri,
            Some(&with.settings.client_id),
        );
        let answer = self.ask_for_tokens(&description, form).await?;
        let tokens = granted(&answer)?;
        identity_claims(
            &tokens.id_token,
            &with,
            Some(&begun.nonce),
            now + watch.elapsed(),
        )
        .await?;
        Ok(tokens)
    }

    /// Begins to sign in with a code.
    ///
    /// # Errors
    ///
    /// When the provider can't be asked, or has no such flow.
    pub async fn begin_with_device(&self, now: SystemTime) -> Result<DeviceSignIn, LoginError> {
        let description = self.description(now).await?;
        let endpoint = needed(description.device.as_ref(), "device_authorization_endpoint")?;
        let body = form(&[
            ("client_id", &self.with()?.settings.client_id),
            ("scope", &self.scopes(&description)?),
        ]);
        let answer = self.post(endpoint, body).await?;
        let document = granted_document(&answer, endpoint)?;
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        // What is shown and opened must be an address of the web.
        let address = |name: &str| match text(name) {
            None => Ok(None),
            Some(found) => match web::address(found) {
                Ok(_) => Ok(Some(found.to_owned())),
                Err(problem) => Err(LoginError::BadAnswer(format!("`{name}`: {problem}"))),
            },
        };
        let seconds = |name: &str, usual: Duration| {
            let found = document.get(name).and_then(Value::as_u64);
            found.map_or(usual, Duration::from_secs).min(LONGEST)
        };
        let user_code = text("user_code").filter(|code| is_typeable(code));
        Ok(DeviceSignIn {
            user_code: user_code.ok_or_else(|| lacking("user_code"))?.to_owned(),
            verification_uri: address("verification_uri")?
                .ok_or_else(|| lacking("verification_uri"))?,
            verification_uri_complete: address("verification_uri_complete")?,
            expires_in: seconds("expires_in", Duration::from_secs(600)),
            interval: seconds("interval", USUAL_INTERVAL).max(Duration::from_secs(1)),
            device_code: text("device_code")
                .ok_or_else(|| lacking("device_code"))?
                .to_owned(),
        })
    }

    /// Asks whether the person is done.
    ///
    /// # Errors
    ///
    /// When they denied it, or the code expired, or the provider can't be asked.
    pub async fn poll_device(
        &self,
        begun: &DeviceSignIn,
        now: SystemTime,
    ) -> Result<DevicePoll, LoginError> {
        let watch = Stopwatch::start();
        let with = self.with()?;
        let description = self.description(now).await?;
        let body = form(&[
            ("grant_type", DEVICE_GRANT),
            ("device_code", &begun.device_code),
            ("client_id", &with.settings.client_id),
        ]);
        match self.ask_for_tokens(&description, body).await {
            Ok(answer) => {
                let tokens = granted(&answer)?;
                identity_claims(&tokens.id_token, &with, None, now + watch.elapsed()).await?;
                Ok(DevicePoll::Done(Box::new(tokens)))
            }
            Err(LoginError::Refused(word)) => match word.as_str() {
                "authorization_pending" => Ok(DevicePoll::Pending),
                "slow_down" => Ok(DevicePoll::SlowDown),
                "expired_token" => Err(LoginError::TooLate),
                _ => Err(LoginError::Refused(word)),
            },
            Err(other) => Err(other),
        }
    }

    /// New tokens for old ones. A provider may give another refresh token, too, and take the old one back; it may leave
    /// the identity token out.
    ///
    /// # Errors
    ///
    /// When the provider refuses, or can't be asked.
    pub async fn renew(&self, refresh_token: &str, now: SystemTime) -> Result<Renewed, LoginError> {
        let watch = Stopwatch::start();
        let with = self.with()?;
        let description = self.description(now).await?;
        let body = form(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
            ("client_id", &with.settings.client_id),
        ]);
        let answer = self.ask_for_tokens(&description, body).await?;
        let renewed = Renewed {
            id_token: text(&answer, "id_token"),
            access_token: text(&answer, "access_token"),
            refresh_token: text(&answer, "refresh_token")
                .unwrap_or_else(|| refresh_token.to_owned()),
        };
        match &renewed.id_token {
            Some(token) => {
                identity_claims(token, &with, None, now + watch.elapsed()).await?;
            }
            None if renewed.access_token.is_none() => return Err(lacking("access_token")),
            None => {}
        }
        Ok(renewed)
    }

    /// Takes a refresh token back, and with it what it stands for. Says whether the provider has a way to do so.
    ///
    /// # Errors
    ///
    /// When the provider can't be asked, or doesn't do it.
    pub async fn revoke(&self, refresh_token: &str, now: SystemTime) -> Result<bool, LoginError> {
        let description = self.description(now).await?;
        let Some(endpoint) = &description.revocation else {
            return Ok(false);
        };
        let body = form(&[
            ("token", refresh_token),
            ("token_type_hint", "refresh_token"),
            ("client_id", &self.with()?.settings.client_id),
        ]);
        let answer = self.post(endpoint, body).await?;
        match answer.status.is_success() {
            true => Ok(true),
            false => Err(LoginError::Unavailable(format!(
                "{endpoint}: status {}",
                answer.status.as_u16()
            ))),
        }
    }

    /// What is asked for: always an identity, and what renews it if the provider offers that.
    fn scopes(&self, description: &Description) -> Result<String, LoginError> {
        let wanted = &self.with()?.settings.scopes;
        let mut scopes = vec!["openid"];
        scopes.extend(
            wanted
                .iter()
                .map(String::as_str)
                .filter(|one| *one != "openid"),
        );
        if scopes.len() == 1 {
            scopes.push("profile");
        }
        if description.offers_offline && !scopes.contains(&OFFLINE) {
            scopes.push(OFFLINE);
        }
        Ok(scopes.join(" "))
    }

    async fn ask_for_tokens(
        &self,
        description: &Description,
        body: String,
    ) -> Result<Map<String, Value>, LoginError> {
        let endpoint = needed(description.token.as_ref(), "token_endpoint")?;
        let answer = self.post(endpoint, body).await?;
        granted_document(&answer, endpoint)
    }

    async fn post(&self, endpoint: &Web, body: String) -> Result<HttpResponse, LoginError> {
        let form = Form { body, client: None };
        let answer = web::post(endpoint, self.with()?.provider.trust(), form).await;
        answer.map_err(LoginError::Unavailable)
    }
}

fn needed<'a>(address: Option<&'a Web>, name: &str) -> Result<&'a Web, LoginError> {
    let missing = || LoginError::Unavailable(format!("its description has no `{name}`"));
    address.ok_or_else(missing)
}

/// The document of a good answer, or the provider's word for why it refuses.
fn granted_document(
    answer: &HttpResponse,
    endpoint: &Web,
) -> Result<Map<String, Value>, LoginError> {
    let document = strict(&answer.body);
    if answer.status == StatusCode::OK {
        let bad = || LoginError::BadAnswer("it is not a JSON object".to_owned());
        return document.ok_or_else(bad);
    }
    let word = document
        .as_ref()
        .and_then(|found| found.get("error")?.as_str());
    Err(match word {
        Some(word) if answer.status.is_client_error() => LoginError::refused(word),
        _ => LoginError::Unavailable(format!("{endpoint}: status {}", answer.status.as_u16())),
    })
}

fn granted(document: &Map<String, Value>) -> Result<Tokens, LoginError> {
    Ok(Tokens {
        id_token: text(document, "id_token").ok_or_else(|| lacking("id_token"))?,
        access_token: text(document, "access_token"),
        refresh_token: text(document, "refresh_token"),
    })
}

fn text(document: &Map<String, Value>, name: &str) -> Option<String> {
    let found = document.get(name).and_then(Value::as_str);
    found.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn lacking(name: &str) -> LoginError {
    LoginError::BadAnswer(format!("it has no `{name}`"))
}

fn form(fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

/// Codes are typed by people, and shown on a terminal.
fn is_typeable(code: &str) -> bool {
    (1..=64).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

#[cfg(test)]
mod tests;
