//! The authenticators: which tokens are accepted, and verifying a token.

mod check;

use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::Identity;
use serde_json::{Map, Value};

use crate::cache::Cache;
use crate::claims::{self, TimeLimits, Times};
use crate::encoding::sha256;
use crate::error::{Code, Problem, TokenError, shown};
use crate::identity;
use crate::key::{Signer, Signing, Verifier};
use crate::provider::Provider;
use crate::session::Session;
use crate::settings::{AuthenticatorSettings, SettingsFault};
use crate::token::{LONGEST, Token};

/// How many verified tokens are remembered, and how long they may be together.
const REMEMBERED: usize = 16_384;
const REMEMBERED_BYTES: usize = 32 << 20;

/// All authenticators whose tokens are accepted.
#[derive(Debug)]
pub struct Authenticators {
    list: Vec<Authenticator>,
    verified: Cache<Verified>,
}

/// An authenticator whose tokens are accepted.
#[derive(Debug)]
pub(crate) struct Authenticator {
    pub(crate) settings: AuthenticatorSettings,
    pub(crate) keys: Keyring,
    /// Makes tokens.
    pub(crate) signer: Option<Signer>,
}

/// What tokens of one authenticator are verified with.
#[derive(Debug)]
pub(crate) enum Keyring {
    /// Always the same key.
    Fixed(Verifier),
    /// The keys of a provider.
    Provider(Arc<Provider>),
}

/// A token whose signature and claims were good; whether its times are must be asked each time.
#[derive(Debug, Clone)]
struct Verified {
    identity: Arc<Identity>,
    times: Times,
    /// Of whom, by place in the list.
    authenticator: usize,
    /// Of which keys.
    generation: u64,
}

/// Where people can be known from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Realm {
    /// Its name.
    pub name: String,
    /// How its tokens are signed: `HS256`, `RS256`, `ES256`, `EdDSA`, or `OpenIDConnect`.
    pub driver: &'static str,
    /// Who issues its tokens.
    pub authority: String,
    /// The client id at the provider.
    pub client_id: Option<String>,
    /// What is asked for at signing in, separated by blanks.
    pub scope: Option<String>,
    /// What its tokens must say in `aud`; empty if anything.
    pub audience: String,
    /// Whether it is the one that is named when no other is.
    pub is_default: bool,
    /// Whether people can sign in with it.
    pub can_login: bool,
}

impl Authenticators {
    /// Makes all of them, or says everything that is wrong. What was fetched for providers that are
    /// also in `previous` is kept.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the settings.
    pub fn new(
        list: Vec<AuthenticatorSettings>,
        previous: Option<&Authenticators>,
    ) -> Result<Self, Vec<SettingsFault>> {
        let mut faults = check::together(&list);
        let mut made = Vec::with_capacity(list.len());
        for (place, settings) in list.into_iter().enumerate() {
            match check::one(place, settings) {
                Ok(authenticator) => made.push(authenticator),
                Err(more) => faults.extend(more),
            }
        }
        if !faults.is_empty() {
            faults.sort_by_key(|(place, _)| *place);
            return Err(faults);
        }
        if let Some(previous) = previous {
            for authenticator in &mut made {
                if let Keyring::Provider(provider) = &mut authenticator.keys
                    && let Some(same) = previous.same_provider(provider)
                {
                    *provider = same;
                }
            }
        }
        Ok(Self {
            list: made,
            verified: Cache::new(REMEMBERED, REMEMBERED_BYTES),
        })
    }

    fn same_provider(&self, provider: &Provider) -> Option<Arc<Provider>> {
        self.list.iter().find_map(|known| match &known.keys {
            Keyring::Provider(known) if known.is_same(provider) => Some(Arc::clone(known)),
            _ => None,
        })
    }

    /// The realms, in the order of the settings.
    pub fn realms(&self) -> Vec<Realm> {
        let default = self.default_place();
        let realm = |(place, a): (usize, &Authenticator)| {
            let settings = &a.settings;
            Realm {
                name: settings.realm.clone(),
                driver: a.driver(),
                authority: settings.issuer.clone(),
                client_id: settings.login.as_ref().map(|l| l.client_id.clone()),
                scope: settings.login.as_ref().map(|l| l.scopes.join(" ")),
                audience: settings.audience.clone(),
                is_default: place == default,
                can_login: settings.login.is_some(),
            }
        };
        self.list.iter().enumerate().map(realm).collect()
    }

    /// The realm that is named when no other is.
    pub fn default_realm(&self) -> &str {
        let default = self.list.get(self.default_place());
        default.map_or("portcullis", |a| &a.settings.realm)
    }

    fn default_place(&self) -> usize {
        let default = self.list.iter().position(|a| a.settings.is_default);
        default.unwrap_or_default()
    }

    /// The session with its identity, if its issuer still vouches for it: a token must be valid now, as in
    /// a new request; a provider must still be configured.
    pub async fn revive(&self, session: Session, now: SystemTime) -> Option<Session> {
        let Some(token) = &session.token else {
            return self.vouches(&session).then_some(session);
        };
        let identity = self.verify(&token.0, now).await.ok()?;
        Some(Session {
            identity,
            ..session
        })
    }

    /// The realm of a caller whose token was verified.
    pub fn realm_of(&self, identity: &Identity) -> &str {
        match self.issuer_of(&identity.claims) {
            Ok((_, authenticator)) => &authenticator.settings.realm,
            Err(_) => self.default_realm(),
        }
    }

    fn vouches(&self, session: &Session) -> bool {
        let issuer = claims::text(&session.identity.claims, "iss").ok();
        self.list.iter().any(|one| {
            let settings = &one.settings;
            settings.login.is_some()
                && *settings.realm == *session.realm
                && issuer == Some(&settings.issuer)
        })
    }

    /// Verifies a token, or says why it is rejected. The token comes alone, without `Bearer`.
    ///
    /// # Errors
    ///
    /// If the token is rejected, or can't be verified now.
    pub async fn verify(&self, token: &str, now: SystemTime) -> Result<Arc<Identity>, TokenError> {
        if token.len() > LONGEST {
            // Not even hashed.
            return Err(self.in_default_realm(Problem::new(
                Code::Undecodable,
                "this token is longer than 16 KiB",
            )));
        }
        let digest = sha256(token.as_bytes());
        if let Some(verified) = self.verified.get(&digest)
            && let Some(authenticator) = self.list.get(verified.authenticator)
            && authenticator.generation(now) == Some(verified.generation)
        {
            return match verified.times.check(authenticator.limits(), now) {
                Ok(()) => Ok(verified.identity),
                Err(problem) => Err(problem.in_realm(&authenticator.settings.realm)),
            };
        }
        // Apart, so that the usual way stays small.
        let verified = Box::pin(self.verify_anew(token, now)).await?;
        let identity = Arc::clone(&verified.identity);
        self.verified.insert(digest, verified, token.len());
        Ok(identity)
    }

    async fn verify_anew(&self, text: &str, now: SystemTime) -> Result<Verified, TokenError> {
        let token = Token::read(text).map_err(|p| self.in_default_realm(p))?;
        let (place, authenticator) = self.issuer_of(&token.claims)?;
        let in_realm = |problem: Problem| problem.in_realm(&authenticator.settings.realm);
        let checked = authenticator.check(token, &authenticator.settings.audience, now);
        let (claims, times, generation) = checked.await.map_err(in_realm)?;
        let identity = identity::of(claims, &authenticator.settings).map_err(in_realm)?;
        Ok(Verified {
            identity: Arc::new(identity),
            times,
            authenticator: place,
            generation,
        })
    }

    /// The caller that these claims describe, as if a trusted issuer had signed them now.
    ///
    /// # Errors
    ///
    /// If no authenticator would accept these claims.
    pub fn identity_of(&self, claims: Map<String, Value>) -> Result<Identity, TokenError> {
        if self.list.is_empty() || !claims.contains_key("iss") {
            return Ok(identity::as_is(claims));
        }
        let (_, authenticator) = self.issuer_of(&claims)?;
        let identity = identity::of(claims, &authenticator.settings);
        identity.map_err(|problem| problem.in_realm(&authenticator.settings.realm))
    }

    /// The authenticator of the issuer, with its place.
    fn issuer_of(
        &self,
        claims: &Map<String, Value>,
    ) -> Result<(usize, &Authenticator), TokenError> {
        let issuer = claims::text(claims, "iss").map_err(|p| self.in_default_realm(p))?;
        let mut list = self.list.iter().enumerate();
        list.find(|(_, a)| a.settings.issuer == issuer)
            .ok_or_else(|| {
                self.in_default_realm(Problem::new(
                    Code::UnknownIssuer,
                    format!("unknown issuer `{}`", shown(issuer)),
                ))
            })
    }

    fn in_default_realm(&self, problem: Problem) -> TokenError {
        problem.in_realm(self.default_realm())
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[Authenticator] {
        &self.list
    }

    /// How many verified tokens are remembered.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.verified.len()
    }
}

impl Authenticator {
    fn driver(&self) -> &'static str {
        match &self.keys {
            Keyring::Fixed(key) => key.signing().name(),
            Keyring::Provider(_) => "OpenIDConnect",
        }
    }

    fn limits(&self) -> TimeLimits {
        TimeLimits {
            skew: self.settings.skew,
            max_validity: self.settings.max_validity,
        }
    }

    fn generation(&self, now: SystemTime) -> Option<u64> {
        match &self.keys {
            Keyring::Fixed(_) => Some(0),
            Keyring::Provider(provider) => provider.generation(now),
        }
    }

    /// Checks everything that is the same for every token: signature, required claims, times, audience.
    pub(crate) async fn check(
        &self,
        token: Token<'_>,
        audience: &str,
        now: SystemTime,
    ) -> Result<(Map<String, Value>, Times, u64), Problem> {
        let bad = |what: String| Problem::new(Code::BadSignature, what);
        let signing = Signing::named(&token.algorithm);
        let wanted = match (&self.keys, signing) {
            (Keyring::Fixed(key), Some(signing)) => signing == key.signing(),
            (Keyring::Provider(_), Some(signing)) => signing != Signing::Hs256,
            (_, None) => false,
        };
        let (Some(signing), true) = (signing, wanted) else {
            let ways = match &self.keys {
                Keyring::Fixed(key) => key.signing().name(),
                Keyring::Provider(_) => "RS256, ES256 or EdDSA",
            };
            return Err(bad(format!("tokens of this issuer are signed with {ways}")));
        };
        if token.critical {
            return Err(bad("unsupported token header `crit`".to_owned()));
        }
        let (good, generation) = match &self.keys {
            Keyring::Fixed(key) => (key.verify(token.message, token.signature), 0),
            Keyring::Provider(provider) => {
                let key = provider
                    .verifier(token.key.as_deref(), signing, now)
                    .await?;
                (key.0.verify(token.message, token.signature), key.1)
            }
        };
        if !good {
            return Err(bad("invalid token signature".to_owned()));
        }
        let times = claims::required(&token.claims)?;
        times.check(self.limits(), now)?;
        claims::audience(&token.claims, audience)?;
        Ok((token.claims, times, generation))
    }
}

#[cfg(test)]
mod tests;
