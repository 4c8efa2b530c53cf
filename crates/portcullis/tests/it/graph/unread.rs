//! Objects that can't be read: they are reported, and a no that may depend on them is not given.

use super::{PLACES, ask, json_of, office, told};
use crate::harness::Folder;

/// The office, and a desk that would let `r2` have the badge, in a file with a fault.
fn faulty() -> Folder {
    let folder = office();
    folder.write(
        "objects/d3.yaml",
        "apiVersion: office.example/v1\nkind: Desk\nmetadata: {name: d3, namespace: hq\nspec: {robot: r2, badge: b1}\n",
    );
    folder
}

const WHO: [&str; 4] = ["--as", "robot:r2", "--as-group", "robots"];

#[test]
fn a_no_that_may_depend_on_them_is_not_a_no() {
    let folder = faulty();
    let can_i = |what: &'static str| [&["can-i", "get", what, "-n", "hq"][..], &WHO].concat();
    let path = |from: &'static str, to: &'static str| vec!["graph", "path", from, to];
    for place in [PLACES[1], &["--authorizer", "office"]] {
        for (command, code) in [
            (can_i("badges/b1"), 5),
            (can_i("badges/b9"), 5),
            (can_i("desks.office.example/d2"), 0),
            // No object makes a rule about pods.
            (can_i("pods/x"), 1),
        ] {
            let ran = ask(&folder, &command, place);
            assert_eq!(ran.code, Some(code), "{command:?}: {}{}", ran.out, ran.err);
            told(&ran, &["warning: ", "objects/d3.yaml:", ": not valid YAML"]);
            assert_eq!(ran.out.starts_with("can't tell"), code == 5, "{}", ran.out);
        }
    }
    for place in PLACES {
        for (command, code) in [
            (path("Badge:hq/b1", "Robot:r1"), 0),
            (path("Badge:hq/b1", "Robot:r2"), 5),
            (path("Badge:hq/b9", "Robot:r2"), 5),
            (vec!["graph", "neighbors", "Desk:hq/d1"], 0),
            (vec!["graph", "neighbors", "Desk:hq/d3"], 5),
            (vec!["graph", "export", "-o", "json"], 5),
            (vec!["graph", "export", "-o", "dot"], 5),
        ] {
            let ran = ask(&folder, &command, place);
            assert_eq!(ran.code, Some(code), "{command:?}: {}{}", ran.out, ran.err);
            let first = ran.err.lines().next().unwrap();
            assert!(
                first.starts_with("warning: ") && first.contains("objects/d3.yaml:"),
                "{}",
                ran.err
            );
            // A partial graph is never exported as a complete one.
            assert!(command[1] != "export" || ran.out.is_empty(), "{}", ran.out);
        }
    }
    let ran = ask(
        &folder,
        &[&can_i("badges/b1")[..], &["-o", "json"]].concat(),
        PLACES[1],
    );
    let value = json_of(&ran);
    assert_eq!(ran.code, Some(5));
    assert_eq!(value["is_uncertain"], true);
    assert_eq!(value["problems"].as_array().unwrap().len(), 1, "{value}");
}

#[test]
fn names_do_not_forge_lines() {
    let folder = office();
    folder.write(
        "objects/d3.yaml",
        "apiVersion: office.example/v1\nkind: Desk\nmetadata: {name: \"d3\\nwarning: forged\", namespace: hq}\n",
    );
    let ran = ask(&folder, &["graph", "neighbors", "Desk:hq/d1"], PLACES[1]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    told(
        &ran,
        &[r#"objects/d3.yaml:1:1: Desk "d3\nwarning: forged": metadata.name: invalid name"#],
    );
}
