//! `portcullis can-i VERB RESOURCE`, read here.

use serde_json::{Value, json};

use super::{PLACES, ask, json_of, office};
use crate::harness::{Folder, Ran};

#[track_caller]
fn can_i(folder: &Folder, robot: &str, request: &str, place: &[&str]) -> Ran {
    let user = format!("robot:{robot}");
    let who = ["--as", &user, "--as-group", "robots"];
    let request: Vec<&str> = request.split(' ').collect();
    ask(folder, &[&["can-i"], &request[..], &who].concat(), place)
}

#[test]
fn the_graph_decides() {
    let folder = office();
    for place in [
        PLACES[1],
        &["--authorizer", "office"],
        &["--profile", "office"],
    ] {
        for (robot, request, code) in [
            ("r1", "get badges/b1 -n hq", 0),
            ("r2", "get badges/b1 -n hq", 1),
            ("r1", "get badges/b1 -n other", 1),
            ("r1", "get badges/b1", 1),
            ("r1", "get robots.office.example/r1", 1),
            ("r1", "delete badges/b1 -n hq", 1),
            (
                "r1",
                "update desks.office.example/d1 -n hq --subresource status",
                0,
            ),
            (
                "r1",
                "update desks.office.example/d1 -n hq --subresource scale",
                1,
            ),
            (
                "r1",
                "list desks.office.example -n hq --selector robot=r1",
                0,
            ),
            ("r1", "list desks.office.example -n hq -l robot=r2", 1),
            ("r1", "list desks.office.example -n hq -l robot!=r2", 1),
            ("r1", "list desks.office.example -n hq", 1),
            (
                "r1",
                "list desks.office.example -n hq --field-selector metadata.name=d1",
                0,
            ),
            ("r1", "get /healthz", 1),
        ] {
            let ran = can_i(&folder, robot, request, place);
            assert_eq!(
                ran.code,
                Some(code),
                "{robot} {request}: {}{}",
                ran.out,
                ran.err
            );
            let word = if code == 0 { "yes: office" } else { "no: " };
            assert!(ran.out.starts_with(word), "{}", ran.out);
        }
    }
}

#[test]
fn all_authorizers_are_asked_in_the_order_of_the_configuration() {
    let folder = office();
    let answers = |request: &str, place: &[&str]| {
        let ran = can_i(&folder, "r2", &format!("{request} -o json"), place);
        let value = json_of(&ran);
        (
            ran.code,
            value["decision"].clone(),
            value["authorizer"].clone(),
        )
    };
    let denied = (Some(1), json!("deny"), json!("nobody"));
    assert_eq!(answers("get badges/b1 -n hq", &[]), denied);
    assert_eq!(answers("get pods", &["--authorizer", "nobody"]), denied);
    let ran = can_i(&folder, "r2", "get pods", &["--authorizer", "nobodi"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["there is no authorizer `nobodi`", "did you mean `nobody`?"]);
}

#[test]
fn an_explanation_names_the_path_or_the_nearest_miss() {
    let folder = office();
    let ran = can_i(&folder, "r1", "get badges/b1 -n hq --explain", PLACES[1]);
    assert_eq!(ran.code, Some(0));
    for text in [
        "robot, stands for Robot:r1",
        "rules[1]",
        "Badge:hq/b1 -> Desk:hq/d1 -> Robot:r1",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    for (robot, request, text) in [
        (
            "r2",
            "get badges/b1 -n hq",
            "Badge:hq/b1 leads to Robot:r1, not to Robot:r2",
        ),
        (
            "r2",
            "get badges/b9 -n hq",
            "Badge:hq/b9 is not in the graph",
        ),
    ] {
        let ran = can_i(&folder, robot, &format!("{request} --explain"), PLACES[1]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let stranger = [
        "can-i",
        "get",
        "badges/b1",
        "-n",
        "hq",
        "--as",
        "alice",
        "--explain",
    ];
    let ran = ask(&folder, &stranger, PLACES[1]);
    assert!(
        ran.out.contains("user  not an agent of this profile\n"),
        "{}",
        ran.out
    );
    let outside = [
        "can-i",
        "get",
        "badges/b1",
        "-n",
        "hq",
        "--as",
        "robot:r1",
        "--explain",
    ];
    let ran = ask(&folder, &outside, PLACES[1]);
    let told =
        "not an agent of this profile: user matches subject `robot`, but is not in group `robots`";
    assert!(ran.out.contains(told), "{}", ran.out);
    let ran = can_i(
        &folder,
        "r1",
        "list desks.office.example -n hq --explain",
        PLACES[1],
    );
    assert!(
        ran.out.contains("needs a selector: -l robot=r1\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.starts_with(
            "no: no authorizer allowed it (no opinion): must specify field or label selector for name r1: label robot=r1\n"
        ),
        "{}",
        ran.out
    );
}

#[test]
fn a_resource_without_its_group_is_hinted_at() {
    let folder = office();
    let ran = can_i(&folder, "r1", "get desks/d1 -n hq", PLACES[1]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("desks.office.example"), "{}", ran.err);
    let ran = can_i(&folder, "r1", "get desks/d1 -n hq -o json", PLACES[1]);
    assert_eq!(json_of(&ran)["hints"], json!(["desks.office.example"]));
    let ran = can_i(
        &folder,
        "r1",
        "get desks.office.example/d2 -n hq",
        PLACES[1],
    );
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
}

#[test]
fn the_answer_is_there_for_programs() {
    let folder = office();
    let ran = can_i(&folder, "r2", "get badges/b1 -n hq -o json", PLACES[1]);
    let value: Value = json_of(&ran);
    assert_eq!(value["allowed"], false);
    assert_eq!(value["decision"], "no_opinion");
    let why = &value["explanation"][0];
    assert_eq!(why["subject"], json!({"id": "robot", "vertex": "Robot:r2"}));
    assert_eq!(why["object"], "Badge:hq/b1");
    assert_eq!(why["leads_to"], json!(["Robot:r1"]));
}
