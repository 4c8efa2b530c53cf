//! Headers that browsers send about a request, and headers for them in answers.
//!
//! Browsers send cookies and certificates along with requests that pages of other sites make, and reach
//! ports on loopback that others can't. They also say which site made the request; other clients don't.

use hyper::header::{
    HOST, HeaderName, HeaderValue, ORIGIN, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

use super::Response;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a page of another site made a browser ask. `public_url` is how browsers reach this server,
/// if that is configured.
pub(crate) fn is_foreign(head: &Parts, public_url: Option<&str>) -> bool {
    if let Some(site) = head.headers.get(&SEC_FETCH_SITE)
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return true;
    }
    let Some(origin) = head.headers.get(ORIGIN) else {
        return false;
    };
    let Ok(origin) = origin.to_str() else {
        return true;
    };
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| head.uri.authority().map(Authority::as_str));
    !is_own(origin, host, public_url)
}

/// Whether an origin is this server's.
fn is_own(origin: &str, host: Option<&str>, public_url: Option<&str>) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let public = public_url.and_then(|url| url.split_once("://"));
    let is_public = public.is_some_and(|(own, rest)| {
        let own_authority = rest.split('/').next().unwrap_or_default();
        own == scheme && is_same(scheme, own_authority, authority)
    });
    is_public || host.is_some_and(|host| is_same(scheme, host, authority))
}

fn is_same(scheme: &str, one: &str, other: &str) -> bool {
    without_port(scheme, one).eq_ignore_ascii_case(without_port(scheme, other))
}

/// An authority without the port that its scheme has anyway.
fn without_port<'a>(scheme: &str, authority: &'a str) -> &'a str {
    let port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return authority,
    };
    authority.strip_suffix(port).unwrap_or(authority)
}

/// Tells browsers not to guess what an answer is, and whether this host is to be asked over TLS only.
pub(crate) fn protect(response: &mut Response, is_strict: bool) {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_strict {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(headers: &[(&str, &str)], public_url: Option<&str>) -> bool {
        let mut request = hyper::Request::builder().uri("/x");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        is_foreign(&request.body(()).unwrap().into_parts().0, public_url)
    }

    #[test]
    fn clients_that_are_no_browsers_say_nothing() {
        assert!(!foreign(&[], None));
        assert!(!foreign(&[("host", "gate:8443")], None));
    }

    #[test]
    fn the_site_that_made_a_browser_ask_counts() {
        for (site, is) in [
            ("same-origin", false),
            ("none", false),
            ("same-site", true),
            ("cross-site", true),
            ("", true),
        ] {
            assert_eq!(foreign(&[("sec-fetch-site", site)], None), is, "{site}");
        }
    }

    #[test]
    fn an_origin_must_be_this_host() {
        let at = |host: &str, origin: &str| foreign(&[("host", host), ("origin", origin)], None);
        assert!(!at("gate.example:8080", "http://gate.example:8080"));
        assert!(!at("GATE.example:443", "https://gate.example"));
        assert!(!at("[::1]:8080", "http://[::1]:8080"));
        for origin in [
            "http://gate.example",
            "http://gate.example:80",
            "https://evil.example",
            "http://gate.example:8080.evil.example",
            "http://evil.example/gate.example:8080",
            "null",
            "",
        ] {
            assert!(at("gate.example:8080", origin), "{origin}");
        }
        assert!(foreign(&[("origin", "http://gate.example")], None));
    }

    #[test]
    fn the_configured_address_is_this_host_too() {
        let url = Some("https://gate.example/portcullis");
        let headers = |origin| [("host", "10.0.0.1:8080"), ("origin", origin)];
        assert!(!foreign(&headers("https://gate.example"), url));
        assert!(!foreign(&headers("http://10.0.0.1:8080"), url));
        assert!(foreign(&headers("http://gate.example"), url));
        assert!(foreign(&headers("https://gate.example:8443"), url));
    }
}
