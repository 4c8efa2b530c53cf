//! What a person sees whose browser could not sign in.

use hyper::header::{ACCEPT, CACHE_CONTROL, HeaderName, HeaderValue};
use hyper::http::request::Parts;

use super::super::html::escaped;
use crate::http::Response;
use crate::http::error::{HttpError, with_type};

const STYLE: &str = "color-scheme:light dark;font:16px/1.5 system-ui,sans-serif;max-width:36rem;\
                     margin:15vh auto;padding:0 1rem";
/// Only this page's own style, by its hash; see the test.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-hashes' \
                      'sha256-z0TdgnWBMYcU7PHeagu1Fby9TTqzE6cK2lmdEr2f+BM='; frame-ancestors 'none'";

/// An error as a page, for those who want one; as it is, for others.
pub(super) fn for_people(
    head: &Parts,
    result: Result<Response, HttpError>,
) -> Result<Response, HttpError> {
    let accept = head
        .headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    let wants_page = accept.is_some_and(|accept| accept.contains("text/html"));
    match result {
        Err(error) if wants_page => Ok(page(&error)),
        result => result,
    }
}

fn page(error: &HttpError) -> Response {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Not signed in</title></head>\
         <body style=\"{STYLE}\"><main><h1>Not signed in</h1><p>{}</p>\
         <p><a href=\"/auth/login?return_to=/docs\">Sign in again</a></p></main></body></html>\n",
        escaped(error.message())
    );
    let mut response = with_type(
        error.status(),
        text.into_bytes(),
        "text/html; charset=utf-8",
    );
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    response
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn the_pages_policy_allows_its_own_style_only() {
        let hash = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
        assert!(POLICY.contains(&format!("'sha256-{hash}'")), "{hash}");
    }
}
