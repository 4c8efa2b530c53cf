//! Sessions: a cookie that holds the identity of a caller, signed so that no one else can make one.
//!
//! Nothing is kept here of a session but a bounded cache of cookies that were read before. A session that
//! began at a provider holds its claims, without those that grant admin rights. One that began with a
//! token holds the token, encrypted, so that it means what the token means, for as long as that is good.

mod cipher;
mod key;
mod seal;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_core::{AdminOf, Identity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cache::Cache;
use crate::encoding::{encode, random, sha256};

use cipher::Cipher;
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
    form: Seal,
    token: Cipher,
    opened: Cache<Session>,
}

/// A user who is signed in.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The user.
    pub identity: Arc<Identity>,
    /// Where they signed in.
    pub realm: Arc<str>,
    /// The session itself.
    pub id: Arc<str>,
    /// When it began, in whole seconds.
    pub begun: SystemTime,
    /// When it ends.
    pub expires: SystemTime,
    /// The token that it began with. Until that is verified again, `identity` has no claims.
    pub(crate) token: Option<HeldToken>,
}

/// A token that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HeldToken(pub(crate) Arc<str>);

impl fmt::Debug for HeldToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(token)")
    }
}

/// What ties a form to the browser that it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormProof {
    /// For a cookie.
    pub cookie: String,
    /// For a hidden field.
    pub field: String,
}

/// A session that doesn't fit in a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the claims are too large for a session cookie")]
pub struct TooLarge;

/// What a cookie holds.
#[derive(Serialize, Deserialize)]
struct Content {
    /// The user.
    u: String,
    /// Where.
    r: String,
    /// The session.
    s: String,
    /// Since when, in seconds since 1970.
    #[serde(default)]
    b: u64,
    /// Until when, in seconds since 1970.
    e: u64,
    /// The claims.
    c: Map<String, Value>,
    /// The token instead of them, encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<String>,
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
            form: key.seal("form", "v1"),
            token: key.cipher("token"),
            opened: Cache::new(REMEMBERED, REMEMBERED_BYTES),
        }
    }

    /// The value of a cookie for a user who signed in.
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
        self.close(&Content {
            u: identity.uid.clone(),
            r: realm.to_owned(),
            s: new_id()?,
            b: since_epoch(now),
            e: since_epoch(self.ends(now)),
            c: claims,
            t: None,
        })
    }

    /// The value of a cookie for a user who presented a verified token, and when it expires: with the
    /// token at the latest.
    ///
    /// # Errors
    ///
    /// If it would be too long.
    pub fn seal_token(
        &self,
        token: &str,
        identity: &Identity,
        realm: &str,
        now: SystemTime,
    ) -> Result<(String, SystemTime), TooLarge> {
        let id = new_id()?;
        let exp = identity.claims.get("exp").and_then(Value::as_f64);
        let exp = exp.and_then(|exp| Duration::try_from_secs_f64(exp).ok());
        let exp = exp.and_then(|exp| UNIX_EPOCH.checked_add(exp));
        let ends = exp.map_or(self.ends(now), |exp| exp.min(self.ends(now)));
        let cookie = self.close(&Content {
            u: identity.uid.clone(),
            r: realm.to_owned(),
            b: since_epoch(now),
            e: since_epoch(ends),
            c: Map::new(),
            t: Some(self.token.close(token, &id).ok_or(TooLarge)?),
            s: id,
        })?;
        Ok((cookie, ends))
    }

    /// When a session that begins now ends at the latest.
    pub fn ends(&self, now: SystemTime) -> SystemTime {
        now.checked_add(self.lifetime).unwrap_or(now)
    }

    fn close(&self, content: &Content) -> Result<String, TooLarge> {
        let content = serde_json::to_vec(content).map_err(|_| TooLarge)?;
        let cookie = self.session.close(&content);
        if cookie.len() > LONGEST {
            return Err(TooLarge);
        }
        Ok(cookie)
    }

    /// The session of this cookie, if it was made here and has not expired.
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
        let begun = UNIX_EPOCH.checked_add(Duration::from_secs(content.b))?;
        let token = match &content.t {
            None => None,
            Some(sealed) => Some(HeldToken(self.token.open(sealed, &content.s)?.into())),
        };
        Some(Session {
            identity: Arc::new(Identity {
                claims: content.c,
                uid: content.u,
                admin: AdminOf::Nothing,
            }),
            realm: content.r.into(),
            id: content.s.into(),
            begun,
            expires,
            token,
        })
    }

    /// What ties a form to a browser that has no session yet.
    ///
    /// # Errors
    ///
    /// If the system can't provide random numbers.
    pub fn form_proof(&self) -> Result<FormProof, std::io::Error> {
        let cookie = encode(random::<16>().map_err(std::io::Error::other)?);
        let field = self.form.mark(cookie.as_bytes());
        Ok(FormProof { cookie, field })
    }

    /// Whether a form came from the browser that it was made for.
    pub fn is_form_proof(&self, cookie: &str, field: &str) -> bool {
        cookie.len() <= LONGEST && self.form.is_mark(cookie.as_bytes(), field)
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

fn new_id() -> Result<String, TooLarge> {
    random::<16>().map(encode).map_err(|_| TooLarge)
}

/// Whole seconds since 1970.
pub(crate) fn since_epoch(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
