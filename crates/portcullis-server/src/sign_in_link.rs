//! A link that signs a person in, once: whoever starts a server for themselves opens its pages with it.
//!
//! The link holds a random code, not a token. Codes are compared by their digests in constant time, and one is valid once
//! and for a short time only.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use portcullis_core::clock::Stopwatch;
use portcullis_core::sync::Mutex;

/// How long a link can be followed.
const LIFE: Duration = Duration::from_secs(600);

/// The path that links lead to.
pub(crate) const PATH: &str = "/sign-in/link";

/// A link that was not followed yet.
#[derive(Clone)]
pub struct SignInLink {
    code: String,
    token: String,
    next: String,
    made: Stopwatch,
}

impl std::fmt::Debug for SignInLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInLink")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl SignInLink {
    /// A link for who may use this token, which leads to this path of the server.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn new(token: String, next: &str) -> Result<Self, String> {
        let mut random = [0; 32];
        aws_lc_rs::rand::fill(&mut random)
            .map_err(|_| "the operating system returned no random numbers".to_owned())?;
        Ok(Self {
            code: random.iter().map(|byte| format!("{byte:02x}")).collect(),
            token,
            next: next.to_owned(),
            made: Stopwatch::start(),
        })
    }

    /// Path and query of the link.
    pub fn path(&self) -> String {
        format!("{PATH}?code={}", self.code)
    }
}

/// The link that a server waits for, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Option<SignInLink>>);

/// What a link is good for: a token, and where to go with it.
pub(crate) struct Followed {
    pub(crate) token: String,
    pub(crate) next: String,
}

impl Waiting {
    pub(crate) fn new(link: Option<SignInLink>) -> Self {
        Self(Mutex::new(link))
    }

    /// Takes the link of this code; none if it was taken, is too old, or is another.
    pub(crate) fn take(&self, code: &str) -> Option<Followed> {
        self.take_after(code, LIFE)
    }

    fn take_after(&self, code: &str, life: Duration) -> Option<Followed> {
        let mut waiting = self.0.lock();
        if waiting.as_ref()?.made.elapsed() > life {
            *waiting = None;
        }
        let digest_of = |text: &str| digest(&SHA256, text.as_bytes());
        let wanted = digest_of(&waiting.as_ref()?.code);
        verify_slices_are_equal(wanted.as_ref(), digest_of(code).as_ref()).ok()?;
        let SignInLink { token, next, .. } = waiting.take()?;
        Some(Followed { token, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> (Waiting, String) {
        let link = SignInLink::new("token".to_owned(), "/playground").unwrap();
        let path = link.path();
        let code = path.strip_prefix("/sign-in/link?code=").unwrap().to_owned();
        (Waiting::new(Some(link)), code)
    }

    #[test]
    fn a_link_can_be_followed_once() {
        let (waiting, code) = waiting();
        assert_eq!(code.len(), 64);
        for wrong in [
            "",
            "0",
            code.get(1..).unwrap(),
            &format!("{code}0"),
            &code.to_uppercase(),
        ] {
            assert!(waiting.take(wrong).is_none() || wrong == code, "{wrong}");
        }
        let followed = waiting.take(&code).unwrap();
        assert_eq!(
            (followed.token.as_str(), followed.next.as_str()),
            ("token", "/playground")
        );
        assert!(waiting.take(&code).is_none());
        assert!(Waiting::default().take(&code).is_none());
    }

    #[test]
    fn a_link_is_valid_for_a_short_time() {
        let (waiting, code) = waiting();
        std::thread::sleep(Duration::from_millis(2));
        assert!(
            waiting
                .take_after(&code, Duration::from_millis(1))
                .is_none()
        );
        // It does not come back.
        assert!(waiting.take(&code).is_none());
    }

    #[test]
    fn neither_code_nor_token_is_shown() {
        let link = SignInLink::new("geheim".to_owned(), "/").unwrap();
        let shown = format!("{link:?}");
        assert!(
            !shown.contains("geheim") && !shown.contains(&link.code),
            "{shown}"
        );
    }
}
