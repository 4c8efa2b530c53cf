//! Values that are secrets wherever they are: JSON Web Tokens and private keys.
//!
//! | What | How it looks |
//! |---|---|
//! | JWT | `eyJ` and what base64url has, a dot, more of it, a dot: a text that contains this |
//! | Private key | a text that contains `PRIVATE KEY-----` |

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::MASKED;

static JWT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"eyJ"));
static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"PRIVATE KEY-----"));
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// Shortest first part of a token: `{"alg":""}` has 14 characters.
const SHORTEST: usize = 12;

/// Whether any text in this text may be one. Escapes that could hide one count.
pub(crate) fn may_have_secrets(text: &[u8]) -> bool {
    let has_escapes = || {
        memchr::memchr(b'\\', text)
            .and_then(|first| text.get(first..))
            .is_some_and(|rest| memmem::find(rest, b"\\u").is_some())
    };
    JWT.find(text).is_some() || KEY.find(text).is_some() || has_escapes()
}

/// Whether a text contains one.
pub(crate) fn is_secret(text: &str) -> bool {
    token(text).is_some() || key(text).is_some()
}

/// Whether a text contains a private key, or a part of one that says so.
pub(crate) fn has_key(text: &str) -> bool {
    key(text).is_some()
}

/// The first token in a text.
pub(crate) fn first_token(text: &str) -> Option<&str> {
    token(text).and_then(|(start, end)| text.get(start..end))
}

/// The text without JSON Web Tokens and private keys.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let mut found = all(text, token);
    let keys = all(text, key);
    if !keys.is_empty() {
        found.extend(keys);
        found.sort_unstable();
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in found {
        if start >= from {
            result.push_str(text.get(from..start).unwrap_or_default());
            result.push_str(MASKED);
        }
        from = from.max(end);
    }
    result.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(result)
}

/// Where all of one sort are.
fn all(text: &str, first: impl Fn(&str) -> Option<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((start, end)) = text.get(from..).and_then(&first) {
        found.push((from + start, from + end));
        from += end;
    }
    found
}

/// Where the first token is.
fn token(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let part = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        from + rest.iter().take_while(is_part).count()
    };
    let mut from = 0;
    while let Some(found) = JWT.find(bytes.get(from..)?) {
        let start = from + found;
        let first = part(start);
        if first - start >= SHORTEST && bytes.get(first) == Some(&b'.') {
            let second = part(first + 1);
            if bytes.get(second) == Some(&b'.') {
                let mut end = part(second + 1);
                // An encrypted one has two more parts.
                while bytes.get(end) == Some(&b'.') && part(end + 1) > end + 1 {
                    end = part(end + 1);
                }
                return Some((start, end));
            }
        }
        from = first;
    }
    None
}

/// Where the first private key is.
fn key(text: &str) -> Option<(usize, usize)> {
    let found = KEY.find(text.as_bytes())?;
    let start = text.get(..found)?.rfind(BEGIN).unwrap_or(found);
    let rest = text.get(found..)?;
    let end = rest.find(END).map_or(text.len(), |at| {
        let behind = rest.get(at + END.len()..).unwrap_or_default();
        let closed = behind.find("-----").map_or(behind.len(), |dash| dash + 5);
        found + at + END.len() + closed
    });
    Some((start, end.max(found + 16)))
}
