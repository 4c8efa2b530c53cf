//! What the answer of a controller's web server means.

use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::timestamp::Timestamp;

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The body is to be read as a verdict.
    Verdict,
    /// The controller will call back.
    Deferred,
    /// The controller is gone, and must not be called any more.
    Gone,
    /// The try failed.
    Failed {
        /// Why.
        error: String,
        /// The pause that the controller asks for.
        retry_after: Option<Duration>,
    },
}

/// What an answer with this status means. Redirects are not followed.
pub fn classify_answer(
    status: u16,
    is_body_empty: bool,
    retry_after: Option<&str>,
    now: Timestamp,
) -> Answer {
    let failed = |error: String| Answer::Failed {
        error,
        retry_after: None,
    };
    match status {
        202 | 204 => Answer::Deferred,
        200..=299 if is_body_empty => Answer::Deferred,
        200..=299 => Answer::Verdict,
        300..=399 => failed(format!("status {status}: redirects are not followed")),
        410 => Answer::Gone,
        429 | 503 => Answer::Failed {
            error: format!("status {status}"),
            retry_after: retry_after.and_then(|text| read_retry_after(text, now)),
        },
        _ => failed(format!("status {status}")),
    }
}

/// The value of a header `Retry-After`: seconds, or a date.
pub fn read_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    Some(Timestamp::from(SystemTime::from(date)).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(784_111_777_000);

    fn meaning(status: u16, is_body_empty: bool) -> &'static str {
        match classify_answer(status, is_body_empty, None, NOW) {
            Answer::Verdict => "verdict",
            Answer::Deferred => "deferred",
            Answer::Gone => "gone",
            Answer::Failed { .. } => "failed",
        }
    }

    #[test]
    fn the_status_says_what_an_answer_means() {
        for (status, is_body_empty, wanted) in [
            (200, false, "verdict"),
            (201, false, "verdict"),
            (200, true, "deferred"),
            (202, false, "deferred"), // case 23
            (204, true, "deferred"),
            (100, true, "failed"),
            (302, false, "failed"), // case 30
            (400, false, "failed"),
            (404, true, "failed"),
            (410, true, "gone"), // case 31
            (429, true, "failed"),
            (500, false, "failed"), // case 29
            (999, false, "failed"),
        ] {
            assert_eq!(meaning(status, is_body_empty), wanted, "{status}");
        }
    }

    #[test]
    fn throttling_says_for_how_long() {
        // Case 32.
        for (status, header, wanted) in [
            (429, Some("20"), Some(20)),
            (503, Some(" 7 "), Some(7)),
            (503, Some("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60)),
            (503, Some("Sun, 06 Nov 1990 08:50:37 GMT"), Some(0)),
            (429, Some("soon"), None),
            (429, Some("-1"), None),
            (429, None, None),
            (500, Some("20"), None),
        ] {
            let answer = classify_answer(status, true, header, NOW);
            let Answer::Failed { retry_after, .. } = answer else {
                panic!("{answer:?}");
            };
            assert_eq!(retry_after, wanted.map(Duration::from_secs), "{header:?}");
        }
        let long = read_retry_after(&"9".repeat(40), NOW);
        assert_eq!(long, Some(Duration::from_secs(u64::MAX)));
    }
}
