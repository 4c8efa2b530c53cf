//! `portcullis graph path` and `neighbors`, read here.

use serde_json::json;

use super::{PLACES, ask, json_of, office};

#[test]
fn a_path_is_shown_vertex_by_vertex() {
    let folder = office();
    for place in PLACES {
        let ran = ask(
            &folder,
            &["graph", "path", "Badge:hq/b1", "Robot:r1"],
            place,
        );
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{place:?}");
        assert_eq!(ran.out, "Badge:hq/b1\n-> Desk:hq/d1\n-> Robot:r1\n");
    }
}

#[test]
fn every_outcome_has_its_code() {
    let folder = office();
    for place in PLACES {
        for (from, to, code, told) in [
            ("Badge:hq/b1", "Floor:f1", 0, "-> Floor:f1"),
            ("Robot:r1", "Robot:r1", 0, "Robot:r1"),
            (
                "Badge:hq/b1",
                "Robot:r2",
                1,
                "Badge:hq/b1 leads to Robot:r1",
            ),
            (
                "Robot:r1",
                "Badge:hq/b1",
                1,
                "no path from Robot:r1 to Badge:hq/b1",
            ),
            (
                "Badge:hq/b9",
                "Robot:r1",
                6,
                "from: there is no vertex `Badge:hq/b9`",
            ),
            (
                "Badge:hq/b1",
                "Robot:r9",
                6,
                "to: there is no vertex `Robot:r9`",
            ),
            ("Badge:hq/b1", "Robbot:r1", 6, "did you mean `Robot`?"),
            ("Badge:b1", "Robot:r1", 6, "`Badge:NAMESPACE/b1`"),
        ] {
            let ran = ask(&folder, &["graph", "path", from, to], place);
            let said = if code < 2 { &ran.out } else { &ran.err };
            assert_eq!(ran.code, Some(code), "{from} {to}: {}{}", ran.out, ran.err);
            assert!(said.contains(told), "{told}: {}{}", ran.out, ran.err);
        }
    }
}

#[test]
fn neighbours_are_shown_in_both_directions() {
    let folder = office();
    for place in PLACES {
        let ran = ask(&folder, &["graph", "neighbors", "Desk:hq/d1"], place);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        insta::allow_duplicates! {
            insta::assert_snapshot!(ran.out, @"
            Desk:hq/d1
              <- (1)
                Badge:hq/b1  (by Desk:hq/d1)
              -> (2)
                Floor:f1  (by Desk:hq/d1)
                Robot:r1  (by Desk:hq/d1)
            ");
        }
    }
    let one = ["graph", "neighbours", "Desk:hq/d1", "--target", "Floor"];
    let ran = ask(&folder, &one, PLACES[0]);
    assert!(
        ran.out.contains("Floor:f1") && !ran.out.contains("Robot:r1"),
        "{}",
        ran.out
    );
    let ran = ask(&folder, &["graph", "neighbors", "Desk:hq/d9"], PLACES[0]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["there is no vertex `Desk:hq/d9`"]);
}

#[test]
fn answers_are_there_for_programs() {
    let folder = office();
    let json = ["-o", "json"];
    let path = [&["graph", "path", "Badge:hq/b1", "Robot:r2"][..], &json].concat();
    let ran = ask(&folder, &path, PLACES[0]);
    assert_eq!(ran.code, Some(1));
    let value = json_of(&ran);
    assert_eq!(
        (&value["found"], &value["path"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(value["leads_to"][0], "Robot:r1");
    let neighbors = [&["graph", "neighbors", "Robot:r2"][..], &json].concat();
    let value = json_of(&ask(&folder, &neighbors, PLACES[0]));
    assert_eq!(
        value,
        json!({
            "vertex": "Robot:r2", "is_object": false, "is_cut": false, "outgoing": [],
            "incoming": [{"vertex": "Desk:hq/d2", "owners": ["Desk:hq/d2"]}],
        })
    );
    let yaml = ["graph", "path", "Badge:hq/b1", "Robot:r1", "-o", "yaml"];
    let ran = ask(&folder, &yaml, PLACES[0]);
    assert!(ran.out.contains("found: true\n"), "{}", ran.out);
}

#[test]
fn one_of_several_profiles_is_picked() {
    let folder = office();
    folder.write("other/none.yaml", "");
    let profile = |name: &str, objects: &str| json!({"name": name, "profile": "office.yaml", "objects": objects});
    let both =
        json!({"graph": {"profiles": [profile("empty", "other"), profile("full", "objects")]}});
    folder.write("portcullis.yaml", both.to_string());
    let command = ["graph", "path", "Badge:hq/b1", "Robot:r1"];
    let ran = ask(&folder, &command, PLACES[0]);
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    assert!(
        ran.err.contains("choose another with --profile"),
        "{}",
        ran.err
    );
    let ran = ask(
        &folder,
        &[&command[..], &["--profile", "full"]].concat(),
        PLACES[0],
    );
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let ran = ask(
        &folder,
        &[&command[..], &["--profile", "ful"]].concat(),
        PLACES[0],
    );
    assert_eq!(ran.code, Some(3));
    ran.says(&[
        "there is no profile `ful`",
        "did you mean `full`?",
        "empty, full",
    ]);
}
