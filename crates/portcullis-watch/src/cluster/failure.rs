//! Why something could not be read from the API server, without secrets.

use std::error::Error;
use std::time::Duration;

use portcullis_core::text::{is_odd, start};
use serde::Deserialize;

/// Longer texts of the API server are cut.
const MAX_WORDS: usize = 300;

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// It may work the next time.
    Passing,
    /// What was known is too old (or of another history): everything must be listed again.
    Outdated,
    /// There is no such resource.
    Missing,
    /// The answer is larger than what may be kept.
    TooLarge,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) nature: Nature,
    pub(super) words: String,
    /// How long the API server wants to be left alone.
    pub(super) rest: Option<Duration>,
}

/// What an API server says of a failure.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    code: Option<u16>,
    reason: Option<String>,
    message: Option<String>,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Option<Vec<Cause>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: Option<String>,
}

impl Failure {
    pub(super) fn new(nature: Nature, words: impl Into<String>) -> Self {
        Self {
            nature,
            words: words.into(),
            rest: None,
        }
    }

    pub(super) fn passing(words: impl Into<String>) -> Self {
        Self::new(Nature::Passing, words)
    }

    /// A failure the API server reports, by the code of its answer or, in a watch, by the one in the text.
    pub(super) fn told(code: Option<u16>, body: &[u8]) -> Self {
        let status: Status = serde_json::from_slice(body).unwrap_or_default();
        let code = code.or(status.code).unwrap_or_default();
        let causes = status.details.and_then(|details| details.causes);
        let mut causes = causes.unwrap_or_default().into_iter();
        // After a restore from a backup the versions begin further back.
        let future = causes.any(|cause| cause.reason.as_deref() == Some("ResourceVersionTooLarge"));
        let nature = match code {
            410 | 400 => Nature::Outdated,
            _ if future => Nature::Outdated,
            404 => Nature::Missing,
            _ => Nature::Passing,
        };
        let text = status.message.or(status.reason).unwrap_or_default();
        let text = if text.is_empty() {
            format!("the API server answered {code}")
        } else {
            format!("the API server answered {code}: {}", tidy(&text))
        };
        Self::new(nature, text)
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        Self::passing(words(&error))
    }
}

/// The innermost cause. What a credential helper printed is left out: it may be a token.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    loop {
        let secret = cause.is::<kube::client::AuthError>()
            || matches!(cause.downcast_ref(), Some(kube::Error::Auth(_)));
        if secret {
            return "the credentials are unavailable or invalid".to_owned();
        }
        match cause.source() {
            Some(inner) => cause = inner,
            None => return tidy(&cause.to_string()),
        }
    }
}

fn tidy(text: &str) -> String {
    start(text, MAX_WORDS).replace(is_odd, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natures_follow_from_what_is_told() {
        let too_large =
            br#"{"code":504,"reason":"Timeout","message":"Too large resource version: 7",
            "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#;
        let expired = br#"{"code":410,"reason":"Expired","message":"too old"}"#;
        for (code, body, nature) in [
            (Some(410), &b""[..], Nature::Outdated),
            (None, expired, Nature::Outdated),
            (Some(504), too_large, Nature::Outdated),
            (Some(504), b"", Nature::Passing),
            (Some(404), b"404 page not found", Nature::Missing),
            (Some(403), b"{\"message\": 5}", Nature::Passing),
            (None, b"", Nature::Passing),
        ] {
            assert_eq!(Failure::told(code, body).nature, nature, "{code:?}");
        }
        let words = Failure::told(None, expired).words;
        assert_eq!(words, "the API server answered 410: too old");
        let long = format!("{{\"message\":\"a\\n{}\"}}", "b".repeat(5000));
        let words = Failure::told(Some(500), long.as_bytes()).words;
        assert!(words.len() < 400 && !words.contains('\n'));
    }

    #[test]
    fn what_a_credential_helper_printed_is_not_told() {
        let told = kube::client::AuthError::AuthExec("s3cret".to_owned());
        let words = words(&kube::Error::Auth(told));
        assert!(!words.contains("s3cret"), "{words}");
        let told = kube::client::AuthError::AuthExec("s3cret".to_owned());
        let words = super::words(&kube::Error::Service(Box::new(told)));
        assert!(!words.contains("s3cret"), "{words}");
    }
}
