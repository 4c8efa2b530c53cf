//! Cookies: `HttpOnly` and `SameSite=Lax`, and over TLS bound to this host by the prefix `__Host-`.

use hyper::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

use crate::http::Response;
use crate::http::error::HttpError;
use crate::visitor::Visitor;
use portcullis_gate::access::Access;

/// A cookie: over TLS only this host can set the prefixed one, so only that one counts there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CookieName {
    over_tls: &'static str,
    without: &'static str,
}

/// The session.
pub(super) const SESSION: CookieName = CookieName {
    over_tls: "__Host-portcullis-session",
    without: "portcullis-session",
};
/// A login under way.
pub(super) const LOGIN: CookieName = CookieName {
    over_tls: "__Host-portcullis-login",
    without: "portcullis-login",
};
/// A form for a user without a session.
pub(super) const FORM: CookieName = CookieName {
    over_tls: "__Host-portcullis-form",
    without: "portcullis-form",
};

impl CookieName {
    /// The name that counts.
    pub(super) fn at(self, is_secure: bool) -> &'static str {
        match is_secure {
            true => self.over_tls,
            false => self.without,
        }
    }
}

/// Whether the browser comes over TLS.
pub(super) fn is_secure(visitor: &Visitor, access: &Access) -> bool {
    match &access.public_url {
        Some(url) => url.starts_with("https://"),
        None => visitor.setup.load().tls.is_some(),
    }
}

/// Sets a cookie, or takes it away when it lasts no time.
pub(super) fn set_cookie(
    (visitor, access): (&Visitor, &Access),
    response: &mut Response,
    name: CookieName,
    value: &str,
    seconds: u64,
) -> Result<(), HttpError> {
    let is_secure = is_secure(visitor, access);
    let name = name.at(is_secure);
    let mark = if is_secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{mark}");
    let mut cookie = HeaderValue::try_from(text).map_err(|_| HttpError::internal())?;
    cookie.set_sensitive(true);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(())
}

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let pairs = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|v| v.to_str().ok());
    let mut pairs = pairs.flat_map(|text| text.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == wanted).then_some(value)
    })
}
