//! The pages are complete: what they link to exists, and nothing they link to is elsewhere.

use std::collections::BTreeSet;
use std::{fs, path::Path};

use super::{CSP, FILES, answer};

fn text(path: &str) -> &'static str {
    std::str::from_utf8(answer(path).unwrap().body).unwrap()
}

/// The values of `href` and `src`.
fn links(html: &str) -> Vec<&str> {
    ["href=\"", "src=\""]
        .iter()
        .flat_map(|start| html.split(start).skip(1))
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

#[test]
fn everything_the_page_names_is_there() {
    let links = links(text("/docs"));
    assert!(links.len() > 6, "{links:?}");
    for link in links {
        let elsewhere = ["/openapi.json", "/sign-in?next=/docs", "#reference"];
        assert!(
            answer(link).is_some() || elsewhere.contains(&link),
            "{link} is not there"
        );
    }
}

#[test]
fn nothing_of_ours_names_another_host() {
    for path in ["/docs", "/docs/page.js", "/docs/page.css", "/docs/icon.svg"] {
        let text = text(path).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!text.contains("//") || path == "/docs/page.js", "{path}");
        assert!(
            !text.contains("http:") && !text.contains("https:"),
            "{path}"
        );
    }
}

#[test]
fn the_page_keeps_to_its_policy() {
    assert!(!CSP.contains("unsafe"), "{CSP}");
    let page = text("/docs");
    assert!(!page.contains("<style") && !page.contains(" style="));
    assert!(!page.contains(" on"), "a handler in the text of the page");
    for script in page.split("<script").skip(1) {
        assert!(script.starts_with(" src="), "{script}");
    }
}

#[test]
fn everything_has_a_tag_of_its_own() {
    let tags: BTreeSet<_> = FILES
        .iter()
        .map(|file| answer(file.path).unwrap().etag)
        .collect();
    assert_eq!(tags.len(), FILES.len());
    for tag in tags {
        assert!(
            tag.len() == 34 && tag.starts_with('"') && tag.ends_with('"'),
            "{tag}"
        );
    }
}

#[test]
fn only_what_never_changes_under_its_path_is_kept_without_asking() {
    for file in FILES {
        let forever = file.cache.contains("immutable");
        assert_eq!(
            forever,
            file.path.starts_with("/docs/swagger-ui-5"),
            "{}",
            file.path
        );
    }
}

#[test]
fn what_is_said_to_be_compressed_is() {
    for file in FILES {
        let compressed = file.body.starts_with(&[0x1f, 0x8b]);
        assert_eq!(compressed, file.encoding.is_some(), "{}", file.path);
    }
}

#[test]
fn the_version_in_the_paths_is_the_one_that_is_fetched() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/vendor-api-docs");
    let script = fs::read_to_string(script).unwrap();
    let version = script
        .lines()
        .find_map(|line| line.strip_prefix("version="));
    let folder = format!("/docs/swagger-ui-{}/", version.unwrap());
    let vendored = FILES.iter().filter(|file| file.path.contains("swagger-ui"));
    for file in vendored {
        assert!(file.path.starts_with(&folder), "{} and {folder}", file.path);
    }
}

#[test]
fn other_paths_are_not_there() {
    assert!(answer("/docs/").is_some());
    for path in [
        "",
        "/",
        "/docs/x",
        "/docs/../docs",
        "/docsx",
        "/docs/page.html",
        "/docs//",
    ] {
        assert!(answer(path).is_none(), "{path}");
    }
}
