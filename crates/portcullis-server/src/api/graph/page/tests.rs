//! The page of a small graph.

use serde_json::json;

use super::write::Page;
use super::*;

#[expect(dead_code, reason = "a part of it is for other tests")]
#[path = "../../../../../portcullis-gate/src/graph_answers/sample.rs"]
mod sample;

fn page(asked: Asked) -> Page {
    let state = sample::state();
    Page {
        is_caught_up: true,
        profile: "office".to_owned(),
        profiles: vec!["office".to_owned()],
        view: GraphView::new(&state, asked.target.as_deref()).unwrap(),
        asked,
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The text alone, as people see it: tags left out.
fn plain(html: &str) -> String {
    let (_, body) = html.split_once("<div class=\"graph\"").unwrap();
    let mut text = String::new();
    let mut is_tag = true;
    let lines = body
        .replace("</h2>", "\n</h2>")
        .replace("</h3>", "\n</h3>")
        .replace("</li>", "\n</li>")
        .replace("</p>", "\n</p>")
        .replace("<span class=\"hidden\">incoming</span>", "")
        .replace("<span class=\"hidden\">outgoing</span>", "");
    for character in lines.chars() {
        match character {
            '<' => is_tag = true,
            '>' => is_tag = false,
            other if !is_tag => text.push(other),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">")
}

#[test]
fn vertices_are_laid_out_as_text() {
    let desk = Asked {
        kind: some("Desk"),
        name: some("d1"),
        ..Asked::default()
    };
    let rule = "-".repeat(80);
    assert_eq!(
        plain(&page(desk).text()).trim(),
        format!(
            "{rule}\n|\n| # Desk:hq/d1\n|   <- (1)\n|     Badge:hq/b1\n|   -> (2)\n|     Floor:f1\n\
             |     Robot:r1\n|\n{rule}"
        )
    );
}

#[test]
fn every_part_is_a_link_and_neighbours_on_the_page_can_be_jumped_to() {
    let text = page(Asked::default()).text();
    for part in [
        "<a href=\"?kind=Desk\">Desk</a>:<a href=\"?kind=Desk&amp;namespace=hq\">hq</a>/\
         <a href=\"?kind=Desk&amp;namespace=hq&amp;name=d1\">d1</a>",
        "<article id=\"Desk:hq/d1\">",
        "<a href=\"#Desk:hq/d1\" aria-label=\"jump to Desk:hq/d1\">",
        "Robot</a>:<a href=\"?kind=Robot&amp;name=r2\">r2</a><span class=\"draw\"> (referenced, but no such object",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let robots = Asked {
        kind: some("Robot"),
        ..Asked::default()
    };
    let text = page(robots).text();
    assert!(!text.contains("href=\"#Desk"), "{text}");
    assert!(text.contains("<option value=\"Robot\" selected>"), "{text}");
}

#[test]
fn only_the_graph_of_a_target_is_shown_if_one_is_picked() {
    let floors = Asked {
        target: some("Floor"),
        name: some("d1"),
        ..Asked::default()
    };
    let text = page(floors).text();
    let shown = plain(&text);
    assert!(
        shown.contains("Floor:f1") && !shown.contains("Robot:r1"),
        "{shown}"
    );
    assert!(text.contains("?target=Floor&amp;kind=Desk\""), "{text}");
}

#[test]
fn large_graphs_are_cut_and_it_is_said() {
    let text = page(Asked::default()).bounded(3, LINES);
    assert!(
        text.contains("more than 3 vertices, so only those of kind Robot"),
        "{text}"
    );
    assert!(!plain(&text).contains("# Desk"), "{text}");
    let all_named = Asked {
        namespace: some("hq"),
        ..Asked::default()
    };
    let text = page(all_named).bounded(2, LINES);
    assert!(text.contains("Only the first 2 vertices"), "{text}");
    let text = page(Asked::default()).bounded(VERTICES, 1);
    assert_eq!(
        text.matches("the page is full").count(),
        6,
        "{}",
        plain(&text)
    );
}

#[test]
fn what_is_not_there_is_said() {
    for asked in [
        Asked {
            kind: some("Nothing"),
            ..Asked::default()
        },
        Asked {
            name: some("nobody"),
            ..Asked::default()
        },
    ] {
        let text = page(asked).text();
        assert!(text.contains("There is no such vertex"), "{text}");
        assert!(!text.contains("<article"), "{text}");
    }
    let mut late = page(Asked::default());
    late.is_caught_up = false;
    assert!(late.text().contains("has not caught up"));
}

#[test]
fn nothing_that_others_say_is_more_than_text() {
    let evil = "\"><script>alert('x')</script>&";
    let state = sample::state();
    state.apply(&json!({
        "apiVersion": "office.example/v1", "kind": "Desk",
        "metadata": {"namespace": evil, "name": evil}, "spec": {"robot": evil, "badge": evil},
    }));
    let asked = Asked {
        namespace: some(evil),
        name: some(evil),
        ..Asked::default()
    };
    for asked in [asked, Asked::default()] {
        let page = Page {
            is_caught_up: true,
            profile: evil.to_owned(),
            profiles: vec![evil.to_owned(), "other".to_owned()],
            view: GraphView::new(&state, None).unwrap(),
            asked,
        };
        let text = page.text();
        assert!(
            !text.contains("<script") && !text.contains("alert('"),
            "{text}"
        );
        assert!(text.contains("&lt;script&gt;"), "{text}");
    }
}

#[test]
fn the_policy_allows_its_own_style_only() {
    let policy = POLICY.as_ref().unwrap().to_str().unwrap();
    let hash = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    assert!(
        policy.contains(&format!("style-src 'sha256-{hash}'")),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe") && !policy.contains("script-src"),
        "{policy}"
    );
    let text = page(Asked::default()).text();
    assert!(
        !text.contains("style=") && !text.contains("<script"),
        "{text}"
    );
    assert!(text.contains(&format!("<style>{STYLE}</style>")), "{text}");
    assert!(!STYLE.contains("</") && !STYLE.contains("url("), "{STYLE}");
}
