//! Signing in with OpenID Connect: the authorization code flow with PKCE.
//!
//! Nothing is kept here between the two halves: what the second must know of the first is in a signed
//! cookie that expires after ten minutes.

mod error;
mod redeem;
mod return_to;
mod terminal;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::Identity;
use portcullis_core::clock::Stopwatch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::authenticators::{Authenticator, Authenticators, Keyring};
use crate::encoding::{encode, random, same, sha256};
use crate::error::Code;
use crate::identity;
use crate::provider::Provider;
use crate::session::{self, Sessions, since_epoch};
use crate::settings::LoginSettings;
use crate::token::Token;

pub use error::LoginError;
use return_to::local;
pub use return_to::local as local_path;
pub use terminal::{
    BrowserSignIn, DevicePoll, DeviceSignIn, Renewed, TerminalLogin, TerminalSettings, TokenFacts,
    Tokens,
};

/// How long people have to sign in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The longest query that is looked at.
const LONGEST_QUERY: usize = 16 << 10;

/// A user who is sent to the provider.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginBegun {
    /// Where to send them.
    pub location: String,
    /// The value of the cookie they must bring back.
    pub cookie: String,
}

/// A user who came back from the provider.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedIn {
    /// The user.
    pub identity: Arc<Identity>,
    /// Where they signed in.
    pub realm: String,
    /// Where the user wanted to go; a path of this server.
    pub return_to: String,
}

impl std::fmt::Debug for LoginBegun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LoginBegun(secret)")
    }
}

/// What the cookie holds.
#[derive(Serialize, Deserialize)]
struct Begun {
    state: String,
    nonce: String,
    verifier: String,
    /// The authenticator's name.
    with: String,
    return_to: String,
    /// Until when, in seconds since 1970.
    ends: u64,
}

/// The provider to sign in with.
struct With<'a> {
    authenticator: &'a Authenticator,
    provider: &'a Arc<Provider>,
    settings: &'a LoginSettings,
}

impl<'a> With<'a> {
    fn of(authenticator: &'a Authenticator) -> Option<Self> {
        match (&authenticator.keys, &authenticator.settings.login) {
            (Keyring::Provider(provider), Some(settings)) => Some(Self {
                authenticator,
                provider,
                settings,
            }),
            _ => None,
        }
    }
}

impl Authenticators {
    /// Sends the user to the provider of this realm: of the default one, or of the first that has one.
    ///
    /// # Errors
    ///
    /// If sign-in is not available there, or not now.
    pub async fn begin_login(
        &self,
        realm: Option<&str>,
        redirect_uri: &str,
        return_to: &str,
        sessions: &Sessions,
        now: SystemTime,
    ) -> Result<LoginBegun, LoginError> {
        let with = self.login_of(realm)?;
        let description = with.provider.description(now).await;
        let description = description.map_err(LoginError::Unavailable)?;
        let endpoint = description.authorization.as_ref().ok_or_else(|| {
            LoginError::Unavailable("its description has no `authorization_endpoint`".to_owned())
        })?;

        let secret = || random::<32>().map(encode).map_err(|_| LoginError::Failed);
        let begun = Begun {
            state: secret()?,
            nonce: secret()?,
            verifier: secret()?,
            with: with.authenticator.settings.name.clone(),
            return_to: local(return_to).to_owned(),
            ends: since_epoch(now.checked_add(PATIENCE).unwrap_or(now)),
        };
        let mut scopes: Vec<&str> = with.settings.scopes.iter().map(String::as_str).collect();
        if scopes.is_empty() {
            scopes.push("profile");
        }
        if !scopes.contains(&"openid") {
            scopes.insert(0, "openid");
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &with.settings.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &begun.state)
            .append_pair("nonce", &begun.nonce)
            .append_pair("code_challenge", &encode(sha256(begun.verifier.as_bytes())))
            .append_pair("code_challenge_method", "S256");
        let endpoint = endpoint.url();
        let mark = if endpoint.contains('?') { '&' } else { '?' };
        let content = serde_json::to_vec(&begun).map_err(|_| LoginError::Failed)?;
        Ok(LoginBegun {
            location: format!("{endpoint}{mark}{}", query.finish()),
            cookie: sessions.login.close(&content),
        })
    }

    /// Receives the user back from the provider.
    ///
    /// # Errors
    ///
    /// If sign-in failed, or it can't be proved that this user started it.
    pub async fn finish_login(
        &self,
        query: &str,
        cookie: &str,
        redirect_uri: &str,
        sessions: &Sessions,
        now: SystemTime,
    ) -> Result<LoggedIn, LoginError> {
        let watch = Stopwatch::start();
        let begun = begun(cookie, sessions, now)?;
        let answer = Callback::read(query)?;
        let state = answer.state.as_deref().unwrap_or_default();
        if !same(state.as_bytes(), begun.state.as_bytes()) {
            return Err(LoginError::WrongState);
        }
        let with = self.list().iter().find(|a| a.settings.name == begun.with);
        let with = with.and_then(With::of).ok_or(LoginError::NoLogin)?;
        let settings = &with.authenticator.settings;
        let description = with.provider.description(now).await;
        let description = description.map_err(LoginError::Unavailable)?;
        match &answer.issuer {
            Some(issuer) if *issuer != settings.issuer => return Err(LoginError::WrongIssuer),
            None if description.names_itself => return Err(LoginError::WrongIssuer),
            _ => {}
        }
        if let Some(error) = &answer.error {
            return Err(LoginError::refused(error));
        }
        let code = answer.code.as_deref().filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| LoginError::BadAnswer("it has no `code`".to_owned()))?;

        let id_token =
            redeem::code(code, &begun.verifier, redirect_uri, &with, &description).await?;
        // The token was issued while this waited for it: after `now`.
        let now = now + watch.elapsed();
        let claims = identity_claims(&id_token, &with, Some(&begun.nonce), now).await?;
        let identity = identity::of_person(claims, settings);
        let identity = identity.map_err(|p| LoginError::BadToken(p.message))?;
        Ok(LoggedIn {
            identity: Arc::new(identity),
            realm: settings.realm.clone(),
            return_to: local(&begun.return_to).to_owned(),
        })
    }

    fn login_of(&self, realm: Option<&str>) -> Result<With<'_>, LoginError> {
        let list = || self.list().iter();
        let first_of = |realm: &str| {
            let mut of_realm = list().filter(|a| a.settings.realm == realm);
            of_realm.find_map(With::of)
        };
        match realm {
            Some(realm) => match first_of(realm) {
                Some(with) => Ok(with),
                None if list().any(|a| a.settings.realm == realm) => Err(LoginError::NoLogin),
                None => Err(LoginError::UnknownRealm),
            },
            None => first_of(self.default_realm())
                .or_else(|| list().find_map(With::of))
                .ok_or(LoginError::NoLogin),
        }
    }
}

/// What the cookie holds, if it was made here and is not too old.
fn begun(cookie: &str, sessions: &Sessions, now: SystemTime) -> Result<Begun, LoginError> {
    if cookie.len() > session::LONGEST {
        return Err(LoginError::NotBegun);
    }
    let content = sessions.login.open(cookie).ok_or(LoginError::NotBegun)?;
    let begun: Begun = serde_json::from_slice(&content).map_err(|_| LoginError::NotBegun)?;
    if since_epoch(now) >= begun.ends {
        return Err(LoginError::TooLate);
    }
    Ok(begun)
}

/// The claims of an identity token, for us and, if there is a nonce, for this attempt.
async fn identity_claims(
    id_token: &str,
    with: &With<'_>,
    nonce: Option<&str>,
    now: SystemTime,
) -> Result<serde_json::Map<String, Value>, LoginError> {
    let bad = |what: &str| LoginError::BadToken(what.to_owned());
    let token = Token::read(id_token).map_err(|p| LoginError::BadToken(p.message))?;
    let issuer = token.claims.get("iss").and_then(Value::as_str);
    if issuer != Some(with.authenticator.settings.issuer.as_str()) {
        return Err(bad("it is from another issuer"));
    }
    let client = with.settings.client_id.as_str();
    let checked = with.authenticator.check(token, client, now).await;
    let (claims, _, _) = checked.map_err(|problem| match problem.code {
        Code::KeysUnavailable => LoginError::Unavailable(problem.message),
        _ => LoginError::BadToken(problem.message),
    })?;
    let several = claims
        .get("aud")
        .and_then(Value::as_array)
        .is_some_and(|list| list.len() > 1);
    match claims.get("azp") {
        Some(Value::String(party)) if party == client => {}
        None if !several => {}
        _ => return Err(bad("it was issued to another client (`azp`)")),
    }
    if let Some(nonce) = nonce {
        let said = claims.get("nonce").and_then(Value::as_str);
        if !said.is_some_and(|said| same(said.as_bytes(), nonce.as_bytes())) {
            return Err(bad("it belongs to another sign-in attempt (`nonce`)"));
        }
    }
    Ok(claims)
}

/// What the provider says when it sends the user back.
#[derive(Default)]
struct Callback {
    state: Option<String>,
    code: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
}

impl Callback {
    fn read(query: &str) -> Result<Self, LoginError> {
        let bad = |what: &str| LoginError::BadAnswer(what.to_owned());
        if query.len() > LONGEST_QUERY {
            return Err(bad("it is too long"));
        }
        let mut answer = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = match name.as_ref() {
                "state" => &mut answer.state,
                "code" => &mut answer.code,
                "iss" => &mut answer.issuer,
                "error" => &mut answer.error,
                _ => continue,
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(bad("a parameter is repeated"));
            }
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests;
