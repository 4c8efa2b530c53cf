//! An OpenID Connect provider: its description, and its keys.
//!
//! Keys are fetched when first needed, refreshed while they are used, and kept for a while when the
//! provider is unavailable. However many callers ask at once, only one fetch is under way.

mod description;
mod key_ring;

pub(crate) use description::Description;
use key_ring::KeyLookup;
pub(crate) use key_ring::KeyRing;
use portcullis_core::sync::{Mutex, MutexGuard};

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwapOption;
use portcullis_net::{Trust, Web};

use crate::error::{Code, Problem, shown};
use crate::key::{Signing, Verifier, key_set};
use crate::settings::{AuthenticatorSettings, Keys};
use crate::token::strict;
use crate::web;

/// When keys are looked at again.
const STALE: Duration = Duration::from_secs(5 * 60);
/// When keys are not used any more.
const GONE: Duration = Duration::from_secs(24 * 60 * 60);
/// When a description is looked at again.
const DESCRIPTION_STALE: Duration = Duration::from_secs(60 * 60);
/// The least time between fetches because of an unknown key, and between tries to refresh.
const PAUSE: Duration = Duration::from_secs(10);
/// The least time between tries to get any keys at all.
const RETRY: Duration = Duration::from_secs(1);

/// A provider.
#[derive(Debug)]
pub(crate) struct Provider {
    issuer: String,
    discovery: Option<Web>,
    keys_url: Option<Web>,
    ca: Option<Vec<u8>>,
    trust: Trust,
    keys: ArcSwapOption<KeyRing>,
    described: ArcSwapOption<Described>,
    /// Held by who asks for the description; when that last failed, and how.
    describing: tokio::sync::Mutex<Option<(SystemTime, String)>>,
    /// Held by who fetches.
    flight: Arc<tokio::sync::Mutex<()>>,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Described {
    description: Arc<Description>,
    at: SystemTime,
}

/// What was tried.
#[derive(Debug, Default)]
struct Log {
    /// How many fetches ended.
    fetches: u64,
    /// When the last one began.
    last: Option<SystemTime>,
    /// How the last one failed, if it did.
    failure: Option<String>,
    /// When an unknown key last made us fetch.
    unknown_key: Option<SystemTime>,
}

impl Provider {
    /// Of these settings; the message comes with the key that is wrong.
    pub(crate) fn new(settings: &AuthenticatorSettings) -> Result<Self, (&'static str, String)> {
        let Keys::Provider { keys_url } = &settings.keys else {
            return Err(("driver", "not an OpenID Connect provider".to_owned()));
        };
        let keys_url = match keys_url {
            Some(url) => Some(web::address(url).map_err(|e| ("keysUrl", e))?),
            None => None,
        };
        let discovery = if keys_url.is_none() || settings.login.is_some() {
            if settings.issuer.contains('?') {
                return Err((
                    "issuer",
                    "invalid issuer: queries (`?`) are not allowed".to_owned(),
                ));
            }
            let base = settings
                .issuer
                .strip_suffix('/')
                .unwrap_or(&settings.issuer);
            let address = web::address(&format!("{base}/.well-known/openid-configuration"));
            Some(address.map_err(|e| ("issuer", e))?)
        } else {
            None
        };
        let trust = Trust::new(settings.ca.as_deref()).map_err(|e| ("caFile", e.to_string()))?;
        Ok(Self {
            issuer: settings.issuer.clone(),
            discovery,
            keys_url,
            ca: settings.ca.clone(),
            trust,
            keys: ArcSwapOption::empty(),
            described: ArcSwapOption::empty(),
            describing: tokio::sync::Mutex::default(),
            flight: Arc::default(),
            log: Mutex::default(),
        })
    }

    /// Whether this is the same provider, asked in the same way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.issuer == other.issuer
            && self.discovery == other.discovery
            && self.keys_url == other.keys_url
            && self.ca == other.ca
    }

    /// Which keys are good now, without waiting; other numbers are other keys.
    pub(crate) fn generation(self: &Arc<Self>, now: SystemTime) -> Option<u64> {
        self.ring(now).map(|ring| ring.generation)
    }

    /// The key a token must have been signed with, and which keys it is one of.
    pub(crate) async fn verifier(
        self: &Arc<Self>,
        id: Option<&str>,
        signing: Signing,
        now: SystemTime,
    ) -> Result<(Verifier, u64), Problem> {
        let (ring, fresh) = match self.ring(now) {
            Some(ring) => (ring, false),
            None => (self.first_keys(now).await?, true),
        };
        let known = ring.find(id, signing);
        let known = match known {
            KeyLookup::Key(_) | KeyLookup::OtherAlgorithm | KeyLookup::NotNamed => known,
            KeyLookup::Nothing if fresh => known,
            KeyLookup::Nothing => match self.keys_again(now).await? {
                Some(ring) => return self.picked(&ring, ring.find(id, signing)),
                None => known,
            },
        };
        self.picked(&ring, known)
    }

    fn picked(&self, ring: &KeyRing, known: KeyLookup) -> Result<(Verifier, u64), Problem> {
        let issuer = shown(&self.issuer);
        let message = match known {
            KeyLookup::Key(verifier) => return Ok((verifier, ring.generation)),
            KeyLookup::Nothing => format!("this token was not signed with a key of {issuer}"),
            KeyLookup::OtherAlgorithm => {
                format!(
                    "the algorithm of this token does not match the key of {issuer} that it names"
                )
            }
            KeyLookup::NotNamed => {
                format!("this token must name its key (`kid`): {issuer} has several")
            }
        };
        Err(Problem::new(Code::BadSignature, message))
    }

    /// The keys, if they may still be used. Old ones are looked at again in the background.
    fn ring(self: &Arc<Self>, now: SystemTime) -> Option<Arc<KeyRing>> {
        let ring = self.keys.load_full()?;
        let age = passed(ring.fetched, now);
        if age >= STALE {
            self.refresh_aside(now);
        }
        (age < GONE).then_some(ring)
    }

    fn refresh_aside(self: &Arc<Self>, now: SystemTime) {
        if self.tried_within(PAUSE, now) {
            return;
        }
        // The holder of the lock is fetching already.
        let Ok(flight) = Arc::clone(&self.flight).try_lock_owned() else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let provider = Arc::clone(self);
        runtime.spawn(async move {
            provider.fetch(now).await;
            drop(flight);
        });
    }

    async fn first_keys(self: &Arc<Self>, now: SystemTime) -> Result<Arc<KeyRing>, Problem> {
        if !self.failed_within(RETRY, now) {
            self.fetch_shared(now).await;
        }
        match self.ring(now) {
            Some(ring) => Ok(ring),
            None => Err(self.unavailable()),
        }
    }

    /// Keys that are newer, if it is time to look for them.
    async fn keys_again(
        self: &Arc<Self>,
        now: SystemTime,
    ) -> Result<Option<Arc<KeyRing>>, Problem> {
        let wait = {
            let mut log = self.log();
            let wait = log.unknown_key.is_some_and(|at| recent(at, now, PAUSE));
            if !wait {
                log.unknown_key = Some(now);
            }
            wait
        };
        if wait {
            // Another caller may be fetching because of the same key; its answer serves this one too.
            if self.flight.try_lock().is_err() {
                self.fetch_shared(now).await;
            } else if self.log().failure.is_some() {
                return Err(self.unavailable());
            }
        } else {
            self.fetch_shared(now).await;
        }
        if self.log().failure.is_some() {
            return Err(self.unavailable());
        }
        Ok(self.ring(now))
    }

    /// Fetches, or waits for the fetch that is under way. Goes on when no caller waits any more.
    async fn fetch_shared(self: &Arc<Self>, now: SystemTime) {
        let before = self.log().fetches;
        let flight = Arc::clone(&self.flight).lock_owned().await;
        if self.log().fetches != before {
            return;
        }
        let provider = Arc::clone(self);
        let fetch = tokio::spawn(async move {
            provider.fetch(now).await;
            drop(flight);
        });
        // It fails only when everything ends.
        let _ = fetch.await;
    }

    async fn fetch(&self, now: SystemTime) {
        self.log().last = Some(now);
        let result = self.fetched_keys(now).await;
        if let Ok(keys) = &result {
            let next = match self.keys.load_full() {
                Some(ring) => ring.followed_by(keys.clone(), now),
                None => KeyRing::first(keys.clone(), now),
            };
            self.keys.store(Some(Arc::new(next)));
        }
        let mut log = self.log();
        log.fetches += 1;
        log.failure = result.err();
    }

    async fn fetched_keys(&self, now: SystemTime) -> Result<Vec<crate::key::Jwk>, String> {
        let address = match &self.keys_url {
            Some(url) => url.clone(),
            None => self.description(now).await?.keys.clone(),
        };
        let result = match web::get(&address, &self.trust).await {
            Ok(body) => match strict(&body) {
                Some(document) => key_set(&document).map_err(|e| format!("{address}: {e}")),
                None => Err(format!("{address}: the answer is not a JSON object")),
            },
            Err(problem) => Err(problem),
        };
        if result.is_err() {
            // The keys may have moved.
            self.described.store(None);
        }
        result
    }

    /// What the provider says of itself; what it said before while it can't be asked.
    pub(crate) async fn description(&self, now: SystemTime) -> Result<Arc<Description>, String> {
        if let Some(description) = self.described_within(DESCRIPTION_STALE, now) {
            return Ok(description);
        }
        let mut failure = self.describing.lock().await;
        // Another caller may have fetched it while this one waited.
        if let Some(description) = self.described_within(DESCRIPTION_STALE, now) {
            return Ok(description);
        }
        let problem = match failure.take() {
            Some((at, problem)) if recent(at, now, RETRY) => (at, problem),
            _ => match self.fetched_description(now).await {
                Ok(description) => return Ok(description),
                Err(problem) => (now, problem),
            },
        };
        let (_, text) = failure.insert(problem);
        self.described_within(GONE, now).ok_or_else(|| text.clone())
    }

    fn described_within(&self, age: Duration, now: SystemTime) -> Option<Arc<Description>> {
        let known = self.described.load_full()?;
        (passed(known.at, now) < age).then(|| Arc::clone(&known.description))
    }

    async fn fetched_description(&self, now: SystemTime) -> Result<Arc<Description>, String> {
        let Some(address) = &self.discovery else {
            return Err("this provider has no discovery address".to_owned());
        };
        let fetched = Description::fetch(address, &self.issuer, &self.trust).await?;
        let description = Arc::new(fetched);
        self.described.store(Some(Arc::new(Described {
            description: Arc::clone(&description),
            at: now,
        })));
        Ok(description)
    }

    /// The trusted certificates for connections to it.
    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    fn tried_within(&self, pause: Duration, now: SystemTime) -> bool {
        self.log().last.is_some_and(|at| recent(at, now, pause))
    }

    fn failed_within(&self, pause: Duration, now: SystemTime) -> bool {
        let log = self.log();
        log.failure.is_some() && log.last.is_some_and(|at| recent(at, now, pause))
    }

    fn unavailable(&self) -> Problem {
        let failure = self.log().failure.clone();
        let failure = failure.unwrap_or_else(|| "not fetched yet".to_owned());
        Problem::new(
            Code::KeysUnavailable,
            format!(
                "cannot fetch the keys of {}: {failure}",
                shown(&self.issuer)
            ),
        )
    }

    /// No code that can panic runs under the lock.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock()
    }
}

/// How much time passed; none if the clock was set back.
fn passed(since: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(since).unwrap_or_default()
}

/// Whether this was less than a pause ago. If the clock was set back, it was not.
fn recent(at: SystemTime, now: SystemTime, pause: Duration) -> bool {
    now.duration_since(at).is_ok_and(|passed| passed < pause)
}

#[cfg(test)]
mod tests;
