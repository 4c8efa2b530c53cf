//! Whether a body has the required media type: JSON, without an encoding.

use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

use super::error::HttpError;

/// Bodies are JSON; a client that doesn't say is assumed to send that.
pub(crate) fn expect_json(headers: &HeaderMap) -> Result<(), HttpError> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        return Err(HttpError::unsupported_media_type(
            "compressed bodies are not supported",
        ));
    }
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = value
        .as_bytes()
        .split(|b| *b == b';')
        .next()
        .unwrap_or_default();
    if essence
        .trim_ascii()
        .eq_ignore_ascii_case(b"application/json")
    {
        return Ok(());
    }
    Err(HttpError::unsupported_media_type(
        "expected content type application/json",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_taken() {
        let checked = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            expect_json(&headers).is_ok()
        };
        assert!(checked("application/json") && checked("Application/JSON ; charset=utf-8"));
        assert!(!checked("text/plain") && !checked("application/jsonp") && !checked(""));
    }
}
