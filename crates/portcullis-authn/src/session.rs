//! Staying signed in: a cookie that holds who somebody is, signed so that nobody else can make one.
//!
//! Nothing is kept here of a session but a bounded memory of cookies that were read before. What made
//! somebody admin in a token is never carried.

mod key;
mod seal;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_authz::roles::{AdminOf, Identity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cache::Cache;
use crate::encoding::{encode, random, sha256};

pub use key::SessionKey;
pub(crate) use seal::Seal;

/// The most bytes the value of a cookie may have; browsers keep 4 KiB with its name and attributes.
pub(crate) const LONGEST: usize = 3_800;

/// How many sessions are remembered, and how long their cookies may be together.
const REMEMBERED: usize = 16_384;
const REMEMBERED_BYTES: usize = 32 << 20;

/// Makes and reads sessions.
#[derive(Debug)]
pub struct Sessions {
    lifetime: Duration,
    session: Seal,
    csrf: Seal,
    pub(crate) login: Seal,
    opened: Cache<Session>,
}

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Who.
    pub identity: Arc<Identity>,
    /// Where they signed in.
    pub realm: Arc<str>,
    /// The session itself, for logs.
    pub id: Arc<str>,
    /// When it ends.
    pub expires: SystemTime,
}

/// A session that has no place in a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what the provider says of you is too much for a cookie; let it send fewer claims")]
pub struct TooLarge;

/// What a cookie holds.
#[derive(Serialize, Deserialize)]
struct Content {
    /// Who.
    u: String,
    /// Where.
    r: String,
    /// The session.
    s: String,
    /// Until when, in seconds since 1970.
    e: u64,
    /// The claims.
    c: Map<String, Value>,
}

impl Sessions {
    /// Sessions that are sealed with this key and last so long.
    #[expect(clippy::needless_pass_by_value, reason = "a key has one owner")]
    pub fn new(key: SessionKey, lifetime: Duration) -> Self {
        Self {
            lifetime,
            session: key.seal("session", "v1"),
            csrf: key.seal("csrf", "v1"),
            login: key.seal("login", "v1"),
            opened: Cache::new(REMEMBERED, REMEMBERED_BYTES),
        }
    }

    /// The value of a cookie for somebody who signed in.
    ///
    /// # Errors
    ///
    /// If it would be too long.
    pub fn seal(
        &self,
        identity: &Identity,
        realm: &str,
        now: SystemTime,
    ) -> Result<String, TooLarge> {
        let mut claims = identity.claims.clone();
        claims.remove("zuul");
        let ends = now.checked_add(self.lifetime).unwrap_or(now);
        let content = Content {
            u: identity.uid.clone(),
            r: realm.to_owned(),
            s: encode(random::<16>().map_err(|_| TooLarge)?),
            e: since_epoch(ends),
            c: claims,
        };
        let content = serde_json::to_vec(&content).map_err(|_| TooLarge)?;
        let cookie = self.session.close(&content);
        if cookie.len() > LONGEST {
            return Err(TooLarge);
        }
        Ok(cookie)
    }

    /// The session of this cookie, if it is one of ours and still lasts.
    pub fn open(&self, cookie: &str, now: SystemTime) -> Option<Session> {
        if cookie.len() > LONGEST {
            return None;
        }
        let digest = sha256(cookie.as_bytes());
        let session = match self.opened.get(&digest) {
            Some(session) => session,
            None => {
                let session = self.read(cookie)?;
                if now < session.expires {
                    self.opened.insert(digest, session.clone(), cookie.len());
                }
                session
            }
        };
        (now < session.expires).then_some(session)
    }

    fn read(&self, cookie: &str) -> Option<Session> {
        let content: Content = serde_json::from_slice(&self.session.open(cookie)?).ok()?;
        let expires = UNIX_EPOCH.checked_add(Duration::from_secs(content.e))?;
        Some(Session {
            identity: Arc::new(Identity {
                claims: content.c,
                uid: content.u,
                admin: AdminOf::Nothing,
            }),
            realm: content.r.into(),
            id: content.s.into(),
            expires,
        })
    }

    /// What pages of this session send back with everything that changes something.
    pub fn csrf(&self, session: &Session) -> String {
        self.csrf.mark(session.id.as_bytes())
    }

    /// Whether this is what [`Sessions::csrf`] says.
    pub fn csrf_matches(&self, session: &Session, given: &str) -> bool {
        self.csrf.is_mark(session.id.as_bytes(), given)
    }
}

/// Whole seconds since 1970.
pub(crate) fn since_epoch(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
