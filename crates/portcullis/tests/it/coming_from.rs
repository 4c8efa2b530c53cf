//! `examples/coming-from`: one policy for Kyverno, Gatekeeper, jsPolicy and Portcullis, side by side. Those for jsPolicy and
//! Portcullis say the same of the same objects; those of others are read as far as YAML goes (`scripts/test-peer-policies`
//! runs them where they can be had).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Folder, repository, run_in};

/// What is run here: policies as files of their own.
const OURS: [&str; 2] = ["portcullis.js", "jspolicy.yaml"];

fn all() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("examples/coming-from")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

/// What `eval` answers about the objects of a file, and how it ends.
fn eval(policy: &Path, objects: &Path) -> (Option<i32>, Vec<Value>) {
    let (policy, objects) = (policy.to_str().unwrap(), objects.to_str().unwrap());
    let words = ["eval", objects, "--policies", policy, "-o", "json"];
    let ran = run_in(&Folder::new(), &words);
    let value: Value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|error| panic!("{policy}: {error}: {}{}", ran.out, ran.err));
    let results = value["results"].as_array().unwrap().clone();
    assert!(!results.is_empty(), "{objects}");
    (ran.code, results)
}

#[test]
fn every_comparison_is_complete() {
    let folders = all();
    assert!(folders.len() >= 10, "{folders:?}");
    for folder in &folders {
        let has = |file: &str| folder.join(file).exists();
        for file in OURS.into_iter().chain(["kyverno.yaml", "gatekeeper.yaml"]) {
            assert!(has(file), "{}: {file} is missing", name(folder));
        }
        let is_validating = has("tests/good.yaml") && has("tests/bad.yaml");
        let is_mutating = has("tests/before.yaml") && has("tests/after.yaml");
        assert_ne!(is_validating, is_mutating, "{}", name(folder));
    }
}

#[test]
fn policies_for_jspolicy_and_for_portcullis_say_the_same() {
    for folder in all() {
        for policy in OURS.map(|file| folder.join(file)) {
            let place = policy.display();
            if !folder.join("tests/good.yaml").exists() {
                continue;
            }
            let (code, results) = eval(&policy, &folder.join("tests/good.yaml"));
            let passed = passed(&folder, &results[0]);
            // A policy that is not asked about an object has judged nothing.
            let wanted = if passed == "skip" { 6 } else { 0 };
            assert_eq!(code, Some(wanted), "{place}: {results:?}");
            for one in &results {
                assert_eq!(one["policies"][0]["outcome"], passed, "{place}: {one}");
                assert_eq!(one["patch"].as_array().unwrap().len(), 0, "{place}: {one}");
            }
            let (code, results) = eval(&policy, &folder.join("tests/bad.yaml"));
            assert_eq!(code, Some(1), "{place}");
            for one in &results {
                assert_eq!(one["policies"][0]["outcome"], "deny", "{place}: {one}");
            }
        }
    }
}

/// What a policy says of a good object: it has nothing to say, or is not asked.
fn passed(folder: &Path, result: &Value) -> &'static str {
    let is_skipped = name(folder) == "disallow-default-namespace"
        && result["policies"][0]["name"] == "portcullis";
    if is_skipped { "skip" } else { "pass" }
}

#[test]
fn policies_for_jspolicy_and_for_portcullis_change_the_same() {
    let mut changing = 0;
    for folder in all() {
        if !folder.join("tests/before.yaml").exists() {
            continue;
        }
        for policy in OURS.map(|file| folder.join(file)) {
            let place = policy.display();
            let objects = |file: &str| {
                let (code, results) = eval(&policy, &folder.join(file));
                assert_eq!(code, Some(0), "{place}: {results:?}");
                let is_changed = results[0]["patch"] != serde_json::json!([]);
                assert_eq!(is_changed, file.contains("before"), "{place}: {results:?}");
                results
                    .into_iter()
                    .map(|one| one["object"].clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                objects("tests/before.yaml"),
                objects("tests/after.yaml"),
                "{place}"
            );
            changing += 1;
        }
    }
    assert_eq!(changing, 2);
}

#[test]
fn policies_of_others_are_objects_of_their_kinds() {
    for folder in all() {
        let kinds = |file: &str| {
            let (_, results) = eval(&folder.join(OURS[0]), &folder.join(file));
            let kind = |one: &Value| one["kind"].as_str().unwrap().to_owned();
            results.iter().map(kind).collect::<Vec<_>>()
        };
        assert_eq!(
            kinds("kyverno.yaml"),
            ["ClusterPolicy"],
            "{}",
            name(&folder)
        );
        let gatekeeper = kinds("gatekeeper.yaml");
        let wanted = match folder.join("tests/before.yaml").exists() {
            true => ["AssignMetadata", "Assign"].map(str::to_owned).to_vec(),
            false => vec!["ConstraintTemplate".to_owned(), constraint(&folder)],
        };
        assert_eq!(gatekeeper, wanted, "{}", name(&folder));
    }
}

/// The kind that the template of a folder defines.
fn constraint(folder: &Path) -> String {
    let (_, results) = eval(&folder.join(OURS[0]), &folder.join("gatekeeper.yaml"));
    let template = &results[0]["object"];
    let kind = template["spec"]["crd"]["spec"]["names"]["kind"].as_str();
    let words = name(folder).split('-').collect::<String>();
    let kind = kind.unwrap_or_else(|| panic!("{template}"));
    assert_eq!(kind.to_lowercase(), words, "{}", folder.display());
    assert_eq!(template["metadata"]["name"], words, "{}", folder.display());
    kind.to_owned()
}

/// Where the page begins to show the files.
const SHOWN_FROM: &str = "<!-- From here on written by UPDATE_DOCS=1 cargo test -p portcullis --test it coming_from, \
                          from examples/coming-from -->\n";

/// The page shows every file as it is, those of one policy beside each other.
#[test]
fn the_page_shows_what_is_run() {
    let path = repository().join("docs/coming-from.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (written, shown) = page.split_once(SHOWN_FROM).unwrap();
    for folder in all() {
        let link = format!("| [{0}](#{0}) |", name(&folder));
        assert!(written.contains(&link), "{link}");
    }
    let wanted: String = all().iter().map(|folder| side_by_side(folder)).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{written}{SHOWN_FROM}{wanted}")).unwrap();
        return;
    }
    // A difference in one place, not two whole pages.
    for (line, (shown, wanted)) in shown.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(shown, wanted, "line {line} behind the comment");
    }
    assert_eq!(shown.len(), wanted.len());
}

/// The section of the page about one policy.
fn side_by_side(folder: &Path) -> String {
    let name = name(folder);
    let file = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let own = file(OURS[0]);
    let description = own.split_once("description: \"").unwrap().1;
    let description = description.split_once('"').unwrap().0;
    let place = format!("../examples/coming-from/{name}");
    let mut text = format!("\n### {name}\n\n{description} [All files]({place})\n\n<table>\n");
    let pairs = [
        [("Portcullis", OURS[0]), ("jsPolicy", OURS[1])],
        [
            ("Kyverno", "kyverno.yaml"),
            ("Gatekeeper", "gatekeeper.yaml"),
        ],
    ];
    for pair in pairs {
        let heading = pair.map(|(who, file)| {
            format!("<th align=\"left\">{who}: <a href=\"{place}/{file}\">{file}</a></th>")
        });
        text.push_str(&format!(
            "<tr>{}</tr>\n<tr valign=\"top\">",
            heading.concat()
        ));
        for (_, one) in pair {
            let language = one.rsplit('.').next().unwrap();
            let code = file(one);
            text.push_str(&format!("<td>\n\n```{language}\n{code}```\n\n</td>"));
        }
        text.push_str("</tr>\n");
    }
    text + "</table>\n"
}
