//! `JUnit` and SARIF.

use serde_json::{Value, json};

use super::xml::{Element, elements};
use super::{BASELINE, LABELS, eval, folder};
use crate::harness::{Folder, privileged, run_in};

#[test]
fn junit_has_a_suite_for_each_plugin_and_a_case_for_each_object() {
    let folder = folder();
    let mut odd = privileged();
    odd["metadata"]["name"] = json!("a<b>&\"'\u{1}\n");
    odd["metadata"]["namespace"] = json!("prod");
    folder.write("odd <&\"'>.yaml", odd.to_string());
    folder.write("bad.yaml", "{");
    let files = [
        "-f",
        "fine.yaml",
        "-f",
        "wrong.yaml",
        "-f",
        "settings.yaml",
        "-f",
        "odd <&\"'>.yaml",
        "-f",
        "bad.yaml",
    ];
    let chain = [
        "--admission-control",
        "AlwaysPullImages,PodSecurity",
        "--report",
        "junit=out/junit.xml",
    ];
    std::fs::create_dir(folder.path("out")).unwrap();
    let done = eval(&folder, &[&files[..], LABELS, &chain].concat());
    assert_eq!(done.code, Some(3));
    let all = elements(&std::fs::read_to_string(folder.path("out/junit.xml")).unwrap());
    let suites: Vec<(&str, &str, &str, &str, &str)> = all
        .iter()
        .filter(|e| e.name == "testsuite")
        .map(|e| {
            let of = |key| e.attribute(key);
            (
                of("name"),
                of("tests"),
                of("failures"),
                of("errors"),
                of("skipped"),
            )
        })
        .collect();
    assert_eq!(
        suites,
        [
            ("AlwaysPullImages", "4", "0", "0", "1"),
            ("PodSecurity", "4", "2", "0", "1"),
            ("manifests", "1", "0", "1", "0"),
        ]
    );
    let root = &all[0];
    assert_eq!(
        (root.name.as_str(), root.attribute("tests"), root.depth),
        ("testsuites", "9", 0)
    );
    assert_eq!(
        (root.attribute("failures"), root.attribute("errors")),
        ("2", "1")
    );
    let cases: Vec<&Element> = all.iter().filter(|e| e.name == "testcase").collect();
    assert_eq!(cases.len(), 9);
    assert_eq!(cases[0].attribute("name"), "Pod prod/web");
    assert_eq!(cases[3].attribute("classname"), "odd <&\"'>.yaml");
    let failures: Vec<&str> = all
        .iter()
        .filter(|e| e.name == "failure")
        .map(|e| e.attribute("message"))
        .collect();
    assert_eq!(failures.len(), 2);
    assert_eq!(Value::from(failures[0]), done.results()[1]["message"]);
    let left: Vec<String> = std::fs::read_dir(folder.path("out"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, ["junit.xml"], "something is left beside the report");
}

fn sarif(folder: &Folder, arguments: &[&str]) -> Value {
    let all = [&["eval", "--report", "sarif=out.sarif"], arguments].concat();
    run_in(folder, &all);
    serde_json::from_slice(&std::fs::read(folder.path("out.sarif")).unwrap()).unwrap()
}

#[test]
fn sarif_names_rule_place_and_a_lasting_fingerprint() {
    let folder = folder();
    let wrong = std::fs::read_to_string(folder.path("wrong.yaml")).unwrap();
    let named = |name: &str| wrong.replace("\"web\"", &format!("{name:?}"));
    folder.write(
        "m n/all.yaml",
        format!("# first\n---\n{}\n---\n{}\n", named("a"), named("b")),
    );
    folder.write("bad.yaml", "a: b\nkind: [");
    let absolute = folder.text("m n/all.yaml");
    let arguments = [
        &["-f", &absolute, "-f", "bad.yaml", "-f", "fine.yaml"],
        BASELINE,
    ]
    .concat();
    let report = sarif(&folder, &arguments);
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "portcullis");
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["id"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["PodSecurity", "unreadable-manifest"]);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let place = |r: &Value| r["locations"][0]["physicalLocation"].clone();
    let wanted = [
        ("PodSecurity", "m%20n/all.yaml", 3),
        ("PodSecurity", "m%20n/all.yaml", 5),
        ("unreadable-manifest", "bad.yaml", 2),
    ];
    for (result, (rule, uri, line)) in results.iter().zip(wanted) {
        assert_eq!(result["ruleId"], rule);
        assert_eq!(result["level"], "error");
        assert_eq!(place(result)["artifactLocation"]["uri"], uri);
        assert_eq!(place(result)["region"]["startLine"], line, "{result}");
        assert!(
            result["message"]["text"]
                .as_str()
                .is_some_and(|t| !t.is_empty())
        );
    }
    let print = |r: &Value| r["partialFingerprints"]["primaryLocationLineHash"].clone();
    assert!(print(&results[0]).is_string() && print(&results[0]) != print(&results[1]));
    // Lines move, the findings stay the same.
    folder.write(
        "m n/all.yaml",
        format!("# first\n\n\n---\n{}\n---\n{}\n", named("b"), named("a")),
    );
    let moved = sarif(&folder, &arguments);
    let moved = &moved["runs"][0]["results"];
    assert_eq!(print(&moved[0]), print(&results[1]));
    assert_eq!(print(&moved[1]), print(&results[0]));
}

#[test]
fn sarif_has_warnings_too_and_nothing_when_all_is_well() {
    let folder = folder();
    let of = |label: &str| {
        let chain = [
            "-f",
            "fine.yaml",
            "--admission-control",
            "PodSecurity",
            "--namespace",
            "prod",
        ];
        sarif(
            &folder,
            &[&chain[..], &["--namespace-labels", label]].concat(),
        )["runs"][0]["results"]
            .clone()
    };
    let warned = of("pod-security.kubernetes.io/warn=restricted");
    assert_eq!(
        (&warned[0]["level"], &warned[0]["ruleId"]),
        (&json!("warning"), &json!("PodSecurity"))
    );
    assert_eq!(of("pod-security.kubernetes.io/warn=baseline"), json!([]));
}

#[test]
fn a_report_that_cannot_be_written_is_told_and_exit_5() {
    let folder = folder();
    let arguments = [
        &[
            "eval",
            "-f",
            "fine.yaml",
            "--report",
            "junit=no/such/folder/x.xml",
        ],
        BASELINE,
    ]
    .concat();
    let ran = run_in(&folder, &arguments);
    assert_eq!(ran.code, Some(5));
    assert!(ran.err.contains("no/such/folder/x.xml"), "{}", ran.err);
    // One that is there is replaced whole.
    folder.write("x.xml", "before");
    let arguments = [
        &["eval", "-f", "fine.yaml", "--report", "junit=x.xml"],
        BASELINE,
    ]
    .concat();
    assert_eq!(run_in(&folder, &arguments).code, Some(0));
    assert!(!elements(&std::fs::read_to_string(folder.path("x.xml")).unwrap()).is_empty());
}
