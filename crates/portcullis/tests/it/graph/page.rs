//! The page of a running server.

use super::rest::served;
use crate::api::of;

const PAGE: &str = "/debug/resource-dependency-graph";

#[test]
fn the_page_shows_what_fits() {
    let api = served();
    let grace = of("grace");
    for (query, there, absent) in [
        (
            "",
            &["Badge", "b1", "d2", "r1"][..],
            &["no such vertex"][..],
        ),
        (
            "?kind=Desk&namespace=hq&name=d1",
            &["d1", "b1", "r1", "f1"],
            &["d2", "r2"],
        ),
        (
            "?kind=Robot&namespace=&name=",
            &["r1", "r2", "d1"],
            &["b1", "f1"],
        ),
        ("?profile=office&name=d2", &["d2", "r2"], &["d1", "b1"]),
        ("?target=Floor&name=d1", &["f1", "b1"], &["r1"]),
        (
            "?name=%3Cb%3Ex",
            &["There is no such vertex", "&lt;b&gt;x"],
            &["<b>"],
        ),
    ] {
        let answer = api.get(Some(&grace), &format!("{PAGE}{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let text = answer.text();
        let (_, body) = text.split_once("</style>").unwrap();
        for name in there {
            assert!(body.contains(name), "{query}: {name}: {body}");
        }
        for name in absent {
            assert!(!body.contains(name), "{query}: {name}: {body}");
        }
    }
    api.get(Some(&grace), &format!("{PAGE}?profile=other"))
        .error(404);
    api.get(Some(&grace), &format!("{PAGE}?colour=red"))
        .error(400);
    assert_eq!(api.call(Some(&grace), "HEAD", PAGE, None).status, 200);
}

#[test]
fn nothing_runs_and_nothing_is_kept() {
    let api = served();
    let answer = api.get(Some(&of("grace")), PAGE);
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("x-content-type-options"), "nosniff");
    let policy = header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
}
