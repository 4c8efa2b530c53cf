//! Objects in a directory, while it changes.

use portcullis_testing::garden::{bastion, binding, comes_true, garden, may, place, seed, shoot};

use super::gate;
use crate::harness::until;

#[test]
fn what_changes_in_the_directory_changes_answers() {
    let gate = gate(&garden());
    let get = "get secrets garden-a/infra";
    assert!(may(&gate, "one", get));
    gate.folder.replace(
        &place(&shoot("crane", "")),
        shoot("crane", "two").to_string(),
    );
    comes_true(&gate, "two", get, true);
    comes_true(&gate, "one", get, false);
    std::fs::remove_file(gate.folder.path(&place(&binding("")))).unwrap();
    comes_true(&gate, "two", get, false);
    assert!(may(
        &gate,
        "two",
        "get secretbindings.core.gardener.cloud garden-a/binding"
    ));
    gate.folder
        .write(&place(&binding("")), binding("another").to_string());
    comes_true(&gate, "two", "get secrets garden-a/another", true);
    assert!(!may(&gate, "two", get));
}

#[test]
fn several_documents_lists_and_subfolders_count_and_other_files_do_not() {
    let gate = gate(&[seed("one")]);
    let get = |name: &str| format!("get bastions.operations.gardener.cloud garden-a/{name}");
    let document = |name: &str| bastion(name, "one").to_string();
    let (a, b) = (document("a"), document("b"));
    gate.folder.write(
        "objects/deep/er/two.yml",
        format!("---\n{a}\n---\n---\n{b}\n"),
    );
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [bastion("c", "one"), bastion("d", "one")]});
    gate.folder.write("objects/list.json", list.to_string());
    gate.folder.write("objects/.hidden.yaml", document("e"));
    gate.folder.write("objects/notes.txt", document("f"));
    gate.folder.write("objects/old.yaml.bak", document("g"));
    for name in ["a", "b", "c", "d"] {
        comes_true(&gate, "one", &get(name), true);
    }
    for name in ["e", "f", "g"] {
        assert!(!may(&gate, "one", &get(name)), "{name}");
    }
}

#[test]
fn a_file_that_turns_malformed_keeps_its_objects_and_is_told() {
    let gate = gate(&garden());
    let file = place(&binding(""));
    gate.folder.replace(&file, "kind: [SecretBinding\n");
    let name = file.strip_prefix("objects/").unwrap();
    until("a word about the file", || {
        gate.get("/readyz?verbose").text().contains(name) && gate.log().contains(name)
    });
    assert_eq!(gate.get("/readyz").status, 200);
    assert!(may(&gate, "one", "get secrets garden-a/infra"));
    gate.folder.replace(&file, "");
    assert!(may(&gate, "one", "get secrets garden-a/infra"));
    gate.folder.replace(&file, binding("mended").to_string());
    comes_true(&gate, "one", "get secrets garden-a/mended", true);
    until("no word about the file", || {
        !gate.get("/readyz?verbose").text().contains(name)
    });
}

#[test]
fn of_two_files_with_one_object_the_later_name_wins() {
    let gate = gate(&[seed("one"), seed("two")]);
    let get = "get bastions.operations.gardener.cloud garden-a/b";
    gate.folder
        .write("objects/x1.yaml", bastion("b", "one").to_string());
    comes_true(&gate, "one", get, true);
    gate.folder
        .write("objects/x2.yaml", bastion("b", "two").to_string());
    comes_true(&gate, "two", get, true);
    assert!(!may(&gate, "one", get));
    std::fs::remove_file(gate.folder.path("objects/x2.yaml")).unwrap();
    comes_true(&gate, "one", get, true);
    assert!(!may(&gate, "two", get));
}

#[test]
fn answers_never_flap_while_a_file_is_renamed_into_place() {
    let gate = gate(&garden());
    let file = place(&shoot("crane", ""));
    for round in 0..40 {
        let mut same = shoot("crane", "one");
        same["metadata"]["generation"] = round.into();
        gate.folder.replace(&file, same.to_string());
        for _ in 0..10 {
            assert!(may(&gate, "one", "get secrets garden-a/infra"), "{round}");
        }
    }
}
