//! `portcullis graph check`, and invalid sources.

use serde_json::json;

use super::{PROFILE, ask, json_of, office};
use crate::harness::run_in;

#[test]
fn built_in_profiles_are_good() {
    let folder = office();
    for (name, kind) in [
        ("gardener", "Shoot"),
        ("gardener-2021", "Shoot"),
        ("node", "Pod"),
    ] {
        let ran = run_in(&folder, &["graph", "check", name]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{name}");
        assert!(
            ran.out.starts_with(&format!("{name} is valid\n")),
            "{}",
            ran.out
        );
        assert!(ran.out.contains(kind), "{}", ran.out);
    }
}

#[test]
fn a_good_profile_is_summed_up() {
    let folder = office();
    let ran = run_in(&folder, &["graph", "check", "office.yaml"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for line in [
        "description  Robots that clean desks.",
        "graph        to Robot: indexed",
        "kinds        4 (Badge, Desk, Floor, Robot)",
        "watched      2 (Desk, Robot)",
        "subject      robot: robot:{name} stands for a Robot",
        "rules        2 rules about 2 resources, 0 static rules",
    ] {
        assert!(
            ran.out.lines().any(|own| own == line),
            "{line}: {}",
            ran.out
        );
    }
    let value = json_of(&run_in(
        &folder,
        &["graph", "check", "office.yaml", "-o", "json"],
    ));
    assert_eq!(value["watched"], json!(["Desk", "Robot"]));
    assert_eq!(value["graphs"][0]["answers"], "sets");
}

#[test]
fn faults_have_a_file_a_line_and_a_column() {
    let folder = office();
    for (name, text, told) in [
        (
            "syntax.yaml",
            "kind: RelationshipGraph\nrules: [\n".to_owned(),
            "syntax.yaml:",
        ),
        ("text.yaml", "hello\n".to_owned(), "text.yaml:1:1:"),
        (
            "keys.yaml",
            PROFILE.replace("rules:\n", "rulez:\n"),
            "did you mean `rules`?",
        ),
        (
            "kind.yaml",
            PROFILE.replace("- kind: Desk", "- kind: Dekk"),
            "did you mean `Desk`?",
        ),
        (
            "cel.yaml",
            PROFILE.replace("names: self.spec.floor", "names: 'self.spec.('"),
            "cel.yaml:13:",
        ),
    ] {
        folder.write(name, text);
        let ran = run_in(&folder, &["graph", "check", name]);
        assert_eq!(ran.code, Some(3), "{name}: {}{}", ran.out, ran.err);
        ran.says(&[name, told]);
    }
    let ran = run_in(&folder, &["graph", "check", "nosuch.yaml"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["nosuch.yaml"]);
}

#[test]
fn a_place_that_is_missing_or_faulty_is_told() {
    let folder = office();
    folder.write(
        "broken.yaml",
        "graph: {profiles: [{name: x, profile: nosuch, objects: objects}]}\n",
    );
    folder.write("empty.yaml", "{}\n");
    for command in [
        &["graph", "export", "--json"][..],
        &["graph", "path", "Badge:hq/b1", "Robot:r1"],
        &["can-i", "get", "badges/b1", "--as", "robot:r1"],
    ] {
        for (place, told) in [
            (&["--config", "nosuch.yaml"][..], "nosuch.yaml"),
            (&["--config", "broken.yaml"], "nosuch"),
            (&["--config", "empty.yaml"], "has no "),
            (&["--profile", "nosuch", "--objects", "objects"], "nosuch"),
            (
                &["--profile", "nosuch.yaml", "--objects", "objects"],
                "nosuch.yaml",
            ),
            (
                &["--profile", "office.yaml", "--objects", "nowhere"],
                "nowhere",
            ),
            (&["--profile", "nosuch"], "there is no profile `nosuch`"),
        ] {
            let ran = ask(&folder, command, place);
            assert_eq!(
                ran.code,
                Some(3),
                "{command:?} {place:?}: {}{}",
                ran.out,
                ran.err
            );
            ran.says(&[told]);
        }
    }
}

#[test]
fn profiles_of_the_configuration_are_listed_first() {
    let (folder, elsewhere) = (office(), crate::harness::Folder::new());
    let names = |folder: &crate::harness::Folder, arguments: &[&str]| -> Vec<(String, String)> {
        let ran = run_in(folder, arguments);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
        let all = value.as_array().unwrap().iter();
        all.map(|one| (text(one, "name"), text(one, "from")))
            .collect()
    };
    let built_in = names(&elsewhere, &["graph", "list", "-o", "json"]);
    assert!(
        built_in.iter().all(|(_, from)| from == "built-in"),
        "{built_in:?}"
    );
    let graph =
        json!({"profiles": [{"name": "desks", "profile": "office.yaml", "objects": "objects"}]});
    folder.write("some.yaml", json!({"graph": graph}).to_string());
    let all = names(
        &folder,
        &["graph", "list", "--config", "some.yaml", "-o", "json"],
    );
    assert_eq!(all[0], ("desks".to_owned(), "configuration".to_owned()));
    assert_eq!(all[1..], built_in);
    let missing = run_in(&folder, &["graph", "list", "--config", "missing.yaml"]);
    assert_eq!(missing.code, Some(3));
}
