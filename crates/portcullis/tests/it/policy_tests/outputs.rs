//! Tables, JSON, YAML and reports say the same.

use serde_json::json;

use super::{cases, folder, pod, test};
use crate::eval::xml::elements;
use crate::harness::{Folder, run_in};

/// One test that passes, one that fails.
fn mixed() -> Folder {
    let folder = folder();
    let all = json!([
        {"name": "good & <fine>", "object": pod("a", "a:1"), "expect": {"allowed": true}},
        {"name": "bad", "object": pod("a", "a:latest"), "expect": {"allowed": true}},
    ]);
    cases(&folder, "tests/a.test.yaml", &all);
    folder
}

#[test]
fn the_exit_code_does_not_depend_on_the_output() {
    let folder = mixed();
    for output in ["table", "json", "yaml"] {
        let ran = run_in(&folder, &["test", "-o", output]);
        assert_eq!(ran.code, Some(1), "{output}");
        assert!(
            ran.out.contains("bad") && ran.out.contains("pin a version"),
            "{}",
            ran.out
        );
        assert_eq!(ran.err, "2 tests: 1 passed, 1 failed, 0 skipped\n");
    }
}

#[test]
fn the_table_says_what_was_expected_and_what_came() {
    let ran = run_in(&mixed(), &["test"]);
    for line in [
        "tests/a.test.yaml\n",
        "  pass   good & <fine>\n",
        "  FAIL   bad   tests/a.test.yaml:1\n",
        "         allowed: expected true, got false: no-latest: pin a version\n",
        "         deny   no-latest  pin a version\n",
        "                4 |     if (!isPinned(c.image)) deny(\"pin a version\");\n",
        "         skip   owner  not asked: no-latest denied it\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn the_report_has_a_suite_for_each_file() {
    let folder = mixed();
    folder.write(
        "tests/b.test.js",
        "test('three', () => {})\ntest.skip('four', () => {})",
    );
    let done = test(&folder, &["--report", "junit=j.xml"]);
    assert_eq!(done.code, Some(1));
    let all = elements(&std::fs::read_to_string(folder.path("j.xml")).unwrap());
    let suites: Vec<(&str, &str, &str, &str)> = all
        .iter()
        .filter(|e| e.name == "testsuite")
        .map(|e| {
            let of = |key| e.attribute(key);
            (of("name"), of("tests"), of("failures"), of("skipped"))
        })
        .collect();
    assert_eq!(
        suites,
        [
            ("tests/a.test.yaml", "2", "1", "0"),
            ("tests/b.test.js", "2", "0", "1")
        ]
    );
    let names: Vec<&str> = all
        .iter()
        .filter(|e| e.name == "testcase")
        .map(|e| e.attribute("name"))
        .collect();
    assert_eq!(names, ["good & <fine>", "bad", "three", "four"]);
}

#[test]
fn a_report_that_can_not_be_written_is_exit_5() {
    let folder = mixed();
    let ran = run_in(
        &folder,
        &["test", "--filter", "good", "--report", "junit=none/j.xml"],
    );
    assert_eq!(ran.code, Some(5));
    assert!(ran.err.contains("none/j.xml"), "{}", ran.err);
    let usage = run_in(&folder, &["test", "--report", "sarif=x"]);
    assert_eq!(usage.code, Some(2));
}
