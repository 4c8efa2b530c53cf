//! `docs/architecture.svg` shows the current crates and their dependencies. `UPDATE_PICTURE=1` draws it
//! again.

mod drawing;
mod layout;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::drawing::Step;
use self::layout::{BOX, Crate, TOP, WIDTH};
use crate::harness::repository;
use crate::layering::{cargo, level};

/// The way of a request through the crates.
const WAY: &[Step] = &[
    (
        "portcullis-server",
        "takes the connection and the body, within limits",
    ),
    ("portcullis-kube", "reads the review: who wants what"),
    ("portcullis-core", "asks the plug-ins of the chain in order"),
    ("portcullis-js", "evaluates the policies that match"),
    (
        "portcullis-kube",
        "writes the answer, with who decided and why",
    ),
    ("portcullis-record", "makes a line of it, secrets masked"),
    ("portcullis-store", "keeps the lines, many at once"),
];

/// The crates that have a level: all but the tools.
fn crates() -> BTreeMap<String, Crate> {
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ];
    let metadata: Value = serde_json::from_slice(&cargo(&arguments)).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let drawn = packages.filter_map(|package| {
        let name = package["name"].as_str()?;
        let uses = package["dependencies"].as_array()?.iter();
        let uses = uses.filter(|dependency| dependency["kind"] != "dev");
        let uses = uses.filter_map(|dependency| dependency["name"].as_str());
        let found = Crate {
            level: level(name)?,
            description: package["description"].as_str().unwrap_or("").to_owned(),
            uses: uses
                .filter(|used| level(used).is_some())
                .map(str::to_owned)
                .collect(),
        };
        Some((name.to_owned(), found))
    });
    drawn.collect()
}

#[test]
fn the_picture_shows_the_crates_there_are() {
    let crates = crates();
    assert!(crates.len() >= 4, "{crates:?}");
    for (name, found) in &crates {
        assert!(!found.description.is_empty(), "{name} has no description");
    }
    for (name, _) in WAY {
        assert!(
            crates.contains_key(*name),
            "the way of a request leads through {name}, which isn't there"
        );
    }
    let drawn = drawing::draw(&crates, &layout::lay_out(&crates), WAY);
    let path = repository().join("docs/architecture.svg");
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "{} is stale: run the tests with UPDATE_PICTURE=1",
        path.display()
    );
}

/// Crates with a level and what they use, by number.
fn made(all: &[(u8, &[usize])]) -> BTreeMap<String, Crate> {
    let name = |number: usize| format!("crate-{number:02}");
    let crates = all.iter().enumerate().map(|(number, (level, uses))| {
        let found = Crate {
            level: *level,
            description: "<&> and so on".to_owned(),
            uses: uses.iter().map(|used| name(*used)).collect(),
        };
        (name(number), found)
    });
    crates.collect()
}

#[test]
fn crates_stand_apart_and_above_what_they_use() {
    let mut many: Vec<(u8, &[usize])> = vec![(0, &[]); 2];
    many.extend([(1, &[0_usize][..]); 9]);
    many.push((3, &[0, 1, 2, 10]));
    let crates = made(&many);
    let layout = layout::lay_out(&crates);
    assert_eq!(layout.boxes.len(), crates.len());
    // Level 1 has more than fit into a row.
    let levels: Vec<u8> = layout.rows.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [3, 1, 1, 0]);
    for (name, (x, y)) in &layout.boxes {
        assert!(*x >= 0.0 && x + BOX.0 <= WIDTH && *y >= TOP, "{name}");
        for (other, (left, top)) in layout.boxes.iter().filter(|(other, _)| *other != name) {
            let apart = (x - left).abs() >= BOX.0 || (y - top).abs() >= BOX.1;
            assert!(apart, "{name} covers {other}");
        }
        for used in &crates[name].uses {
            assert!(*y < layout.boxes[used].1, "{name} stands below {used}");
        }
    }
    // No arrow crosses a crate: between its ends it stands beside those of each row.
    for points in &layout.arrows {
        for (x, y) in &points[1..points.len() - 1] {
            let inside = |(left, top): &(f64, f64)| {
                *x > *left && *x < left + BOX.0 && *y > *top && *y < top + BOX.1
            };
            assert!(!layout.boxes.values().any(inside), "{points:?}");
        }
    }
}

#[test]
fn an_arrow_that_follows_from_others_is_left_out() {
    let crates = made(&[(0, &[]), (1, &[0]), (2, &[0, 1])]);
    let arrows: BTreeSet<(String, String)> = layout::needed(&crates).into_iter().collect();
    let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let wanted = [arrow("crate-01", "crate-00"), arrow("crate-02", "crate-01")];
    assert_eq!(arrows, BTreeSet::from(wanted));
}

#[test]
fn text_is_escaped() {
    let crates = made(&[(0, &[])]);
    let drawn = drawing::draw(&crates, &layout::lay_out(&crates), &[("crate-00", "a < b")]);
    assert!(drawn.contains("&lt;&amp;&gt; and so on") && drawn.contains("a &lt; b"));
}
