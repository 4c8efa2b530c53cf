//! Times as policies see them.

use ::time::OffsetDateTime;
use ::time::format_description::well_known::Rfc3339;

/// Seconds since 1970 in RFC 3339; empty for a year that it can't write.
pub(super) fn rfc3339(seconds: i64) -> String {
    OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}
