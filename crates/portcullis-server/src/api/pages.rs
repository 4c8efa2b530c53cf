//! The pages at `/docs`, which show the description of the API.
//!
//! Everything is part of the program, nothing is loaded from another host. Swagger UI shows the
//! description; it comes from npm, unchanged, by `scripts/vendor-api-docs`. Only the frame is our own.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};

/// A file for browsers, and its headers. The handler also sends `etag`, 304 where
/// `if-none-match` names it, and [`HEADERS`].
#[derive(Debug)]
pub(crate) struct Page {
    /// `content-type`
    pub(crate) content_type: &'static str,
    /// `content-encoding`, if any. It is sent as it is: every browser understands it.
    pub(crate) encoding: Option<&'static str>,
    /// The body.
    pub(crate) body: &'static [u8],
    /// `cache-control`
    pub(crate) cache: &'static str,
    /// `content-security-policy`
    pub(crate) csp: &'static str,
    /// `etag`, quotes included.
    pub(crate) etag: &'static str,
}

/// Further headers of every page.
pub(crate) const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Scripts and styles come from files here, never from the text of a page; nothing is sent elsewhere.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Kept, and asked for again only to learn whether it is still the same.
const ASK_AGAIN: &str = "no-cache";
/// Its path has the version in it, so it is never another.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// A file, and where it is answered.
struct File {
    path: &'static str,
    content_type: &'static str,
    encoding: Option<&'static str>,
    cache: &'static str,
    body: &'static [u8],
}

const FILES: &[File] = &[
    File {
        path: "/docs",
        content_type: "text/html; charset=utf-8",
        encoding: None,
        cache: ASK_AGAIN,
        body: include_bytes!("../../assets/docs/page.html"),
    },
    File {
        path: "/docs/page.css",
        content_type: "text/css; charset=utf-8",
        encoding: None,
        cache: ASK_AGAIN,
        body: include_bytes!("../../assets/docs/page.css"),
    },
    File {
        path: "/docs/page.js",
        content_type: "text/javascript; charset=utf-8",
        encoding: None,
        cache: ASK_AGAIN,
        body: include_bytes!("../../assets/docs/page.js"),
    },
    File {
        path: "/docs/icon.svg",
        content_type: "image/svg+xml",
        encoding: None,
        cache: ASK_AGAIN,
        body: include_bytes!("../../assets/docs/icon.svg"),
    },
    File {
        path: "/docs/swagger-ui-5.34.1/swagger-ui.css",
        content_type: "text/css; charset=utf-8",
        encoding: Some("gzip"),
        cache: FOREVER,
        body: include_bytes!("../../assets/swagger-ui/swagger-ui.css.gz"),
    },
    File {
        path: "/docs/swagger-ui-5.34.1/swagger-ui-bundle.js",
        content_type: "text/javascript; charset=utf-8",
        encoding: Some("gzip"),
        cache: FOREVER,
        body: include_bytes!("../../assets/swagger-ui/swagger-ui-bundle.js.gz"),
    },
    File {
        path: "/docs/swagger-ui-5.34.1/swagger-ui-bundle.js.LICENSE.txt",
        content_type: "text/plain; charset=utf-8",
        encoding: None,
        cache: FOREVER,
        body: include_bytes!("../../assets/swagger-ui/swagger-ui-bundle.js.LICENSE.txt"),
    },
    File {
        path: "/docs/swagger-ui-5.34.1/LICENSE",
        content_type: "text/plain; charset=utf-8",
        encoding: None,
        cache: FOREVER,
        body: include_bytes!("../../assets/swagger-ui/LICENSE"),
    },
    File {
        path: "/docs/swagger-ui-5.34.1/NOTICE",
        content_type: "text/plain; charset=utf-8",
        encoding: None,
        cache: FOREVER,
        body: include_bytes!("../../assets/swagger-ui/NOTICE"),
    },
];

/// The tags of [`FILES`], in their order.
static TAGS: LazyLock<Vec<String>> =
    LazyLock::new(|| FILES.iter().map(|file| tag(file.body)).collect());

/// What is at this path, without its query; `/docs/` is `/docs`.
pub(crate) fn answer(path: &str) -> Option<Page> {
    let path = if path == "/docs/" { "/docs" } else { path };
    let (file, etag) = FILES
        .iter()
        .zip(TAGS.iter())
        .find(|(file, _)| file.path == path)?;
    Some(Page {
        content_type: file.content_type,
        encoding: file.encoding,
        body: file.body,
        cache: file.cache,
        csp: CSP,
        etag,
    })
}

fn tag(body: &[u8]) -> String {
    let mut tag = String::from("\"");
    for byte in digest(&SHA256, body).as_ref().iter().take(16) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}
