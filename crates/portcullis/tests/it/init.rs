//! `portcullis init`: the folders to start from.

mod typescript;

use crate::harness::{Folder, run_in};

const TEMPLATES: [&str; 2] = ["kubernetes", "ci"];

/// A fresh starter folder, `demo` in this folder.
#[track_caller]
fn started(template: &str) -> Folder {
    let folder = Folder::new();
    let ran = run_in(&folder, &["init", "demo", "--template", template]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    folder
}

fn policies(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("demo/policies")).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let is_policy =
        |n: &String| (n.ends_with(".ts") || n.ends_with(".js")) && !n.ends_with(".d.ts");
    names.filter(is_policy).collect()
}

#[test]
fn the_folder_is_valid_and_passes_its_tests() {
    for template in TEMPLATES {
        let folder = started(template);
        let check = run_in(&folder, &["check", "--config", "demo/portcullis.yaml"]);
        assert_eq!(check.code, Some(0), "{}", check.err);
        assert!(!check.err.contains("warning"), "{}", check.err);
        let test = run_in(&folder, &["test", "demo", "--coverage"]);
        assert_eq!(test.code, Some(0), "{}{}", test.out, test.err);
        assert!(
            test.out.contains(".test.ts") && test.out.contains(".test.yaml"),
            "{}",
            test.out
        );
    }
}

#[test]
fn each_policy_is_tested() {
    for template in TEMPLATES {
        let names = policies(&started(template));
        assert!(names.len() >= 2, "{names:?}");
        for name in names {
            let folder = started(template);
            folder.write(&format!("demo/policies/{name}"), "// says nothing\n");
            let ran = run_in(&folder, &["test", "demo"]);
            assert_eq!(
                ran.code,
                Some(1),
                "{template}: {name} is not tested: {}",
                ran.out
            );
        }
    }
}

#[test]
fn nothing_is_written_over_or_in_part() {
    let folder = Folder::new();
    folder.write("demo/tsconfig.json", "mine");
    folder.write("demo/notes.txt", "mine too");
    let ran = run_in(&folder, &["init", "demo"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["nothing was written", "demo/tsconfig.json"]);
    let kept = std::fs::read_to_string(folder.path("demo/tsconfig.json")).unwrap();
    assert_eq!(kept, "mine");
    assert!(!folder.path("demo/portcullis.yaml").exists());
    std::fs::remove_file(folder.path("demo/tsconfig.json")).unwrap();
    assert_eq!(
        run_in(&folder, &["init", "demo"]).code,
        Some(0),
        "a folder that is there is fine"
    );
    assert_eq!(
        run_in(&folder, &["init", "demo"]).code,
        Some(2),
        "only once"
    );
}

#[test]
fn what_was_written_is_taken_back_when_the_rest_can_not_be() {
    let folder = Folder::new();
    // `policies` is a file, so that nothing can be written below it.
    folder.write("demo/policies", "");
    let ran = run_in(&folder, &["init", "demo"]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&["cannot write demo/policies/"]);
    let left: Vec<String> = std::fs::read_dir(folder.path("demo"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, ["policies"]);
}

#[test]
fn the_kubernetes_folder_judges_manifests() {
    let folder = started("kubernetes");
    let ran = run_in(
        &folder,
        &[
            "eval",
            "-f",
            "demo/tests/pods",
            "--config",
            "demo/portcullis.yaml",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(
        run_in(&folder, &["init", "x", "--template", "other"]).code,
        Some(2)
    );
}

#[test]
fn what_is_told_can_be_typed() {
    let folder = Folder::new();
    let next =
        "  portcullis test --coverage\n  portcullis eval -f tests/pods --config portcullis.yaml\n";
    for (named, wanted) in [
        ("demo", format!("Wrote demo. Next:\n\n  cd demo\n{next}")),
        ("a b", format!("Wrote 'a b'. Next:\n\n  cd 'a b'\n{next}")),
        (".", format!("Wrote the files. Next:\n\n{next}")),
    ] {
        let ran = run_in(&folder, &["init", named]);
        assert_eq!((ran.code, ran.err), (Some(0), wanted), "{named}");
    }
    folder.write("a-file", "");
    let ran = run_in(&folder, &["init", "a-file"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.err, "error: a-file is not a directory\n");
}
