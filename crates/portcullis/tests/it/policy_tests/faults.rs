//! Test files, policies and folders that can't be used.

use serde_json::json;

use super::{cases, folder, pod};
use crate::harness::{Folder, run_in};

#[test]
fn a_faulty_case_is_exit_3_with_its_place() {
    let head = "tests:\n- name: a\n  object: {apiVersion: v1, kind: Pod}\n";
    let faults: [(String, &[&str]); 9] = [
        (
            format!("{head}  expect: {{allowd: true}}\n"),
            &[
                "tests/a.test.yaml:4:12",
                "allowd",
                "did you mean `allowed`?",
            ],
        ),
        (
            format!("{head}  expect: {{policy: x}}\n"),
            &["tests/a.test.yaml:4:", "allowed"],
        ),
        (
            format!("{head}  expect: {{allowed: false, message: '(['}}\n"),
            &[
                "tests/a.test.yaml:4:37",
                "tests[0].expect.message",
                "not a regular expression: unclosed character class",
            ],
        ),
        (
            format!("{head}  expect: {{allowed: false, warnings: [a, '+']}}\n"),
            &["tests/a.test.yaml:4:42", "warnings[1]"],
        ),
        (
            format!("{head}  operation: PATCH\n  expect: {{allowed: true}}\n"),
            &["tests/a.test.yaml:4:14", "PATCH"],
        ),
        (
            format!("{head}  file: x.yaml\n  expect: {{allowed: true}}\n"),
            &["tests/a.test.yaml:4:9", "not both"],
        ),
        (
            "tests:\n- {name: a, file: none.yaml, expect: {allowed: true}}\n".to_owned(),
            &["tests/a.test.yaml:2:19", "none.yaml"],
        ),
        (
            "tests:\n- {name: a, expect: {allowed: true}}\n".to_owned(),
            &["tests/a.test.yaml:2:3", "no object"],
        ),
        (
            "tests:\n- {name: a, object: {kind: Pod}, expect: {allowed: true}}\n".to_owned(),
            &["tests/a.test.yaml:2:21", "apiVersion is missing"],
        ),
    ];
    for (text, needles) in faults {
        let folder = folder();
        folder.write("tests/a.test.yaml", &text);
        let ran = run_in(&folder, &["test"]);
        assert_eq!(ran.code, Some(3), "{text}: {}", ran.err);
        ran.says(needles);
    }
}

#[test]
fn a_faulty_script_is_exit_3_with_its_place() {
    let faults: [(&str, &[&str]); 6] = [
        (
            "const a: number = 1;\ntest('x', () => {\n",
            &["tests/a.test.ts:"],
        ),
        (
            "import { nothing } from \"../policies/lib/images.ts\";\n",
            &[
                "tests/a.test.ts:1:10",
                "does not export `nothing`",
                "isPinned",
            ],
        ),
        (
            "import { x } from \"../../secret.ts\";\n",
            &["tests/a.test.ts:1:19", "secret.ts"],
        ),
        (
            "const a = 1;\nnobody();\n",
            &["tests/a.test.ts:2:1", "nobody"],
        ),
        ("test('x');\n", &["tests/a.test.ts:1:", "needs a function"]),
        (
            "for (const name of ['a', '']) {\n  test(name, () => {});\n}\n",
            &["tests/a.test.ts:2:", "a test needs a name"],
        ),
    ];
    for (text, needles) in faults {
        let folder = folder();
        folder.write("tests/a.test.ts", text);
        let ran = run_in(&folder, &["test"]);
        assert_eq!(ran.code, Some(3), "{text}: {}{}", ran.out, ran.err);
        ran.says(needles);
    }
}

#[test]
fn a_faulty_policy_or_configuration_is_exit_3() {
    let folder = folder();
    cases(
        &folder,
        "a.test.yaml",
        &json!([{"name": "a", "object": pod("a", "a"), "expect": {"allowed": true}}]),
    );
    folder.write("policies/wrong.ts", "let a: = 1\n");
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["policies/wrong.ts:1:"]);
    folder.write("portcullis.yaml", "policyDirs: [policies]\nfoo: 1\n");
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["portcullis.yaml:2:1", "foo"]);
}

#[test]
fn nothing_to_run_is_exit_6() {
    let folder = folder();
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["no tests ran", "*.test.yaml"]);
    cases(
        &folder,
        "a.test.yaml",
        &json!([{"name": "a", "object": pod("a", "a:1"), "expect": {"allowed": true}}]),
    );
    let ran = run_in(&folder, &["test", "--filter", "other"]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["the filter `other` matches no test"]);
    cases(&folder, "a.test.yaml", &json!([]));
    assert_eq!(run_in(&folder, &["test"]).code, Some(6));
    folder.write("a.test.yaml", "tests: []");
    folder.write("b.test.js", "test.skip('x', () => {})");
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    assert!(ran.err.contains("every test is skipped"), "{}", ran.err);
}

#[test]
fn a_folder_that_is_not_there_is_exit_3_and_one_without_policies_too() {
    let folder = Folder::new();
    let ran = run_in(&folder, &["test", "none"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["none: cannot read the folder"]);
    cases(
        &folder,
        "p/a.test.yaml",
        &json!([{"name": "a", "object": pod("a", "a"), "expect": {"allowed": true}}]),
    );
    let ran = run_in(&folder, &["test", "p"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["p: there are tests, but neither a portcullis.yaml nor a policy"]);
}

#[test]
fn a_file_is_run_by_itself_with_what_judges_above_it() {
    let folder = folder();
    for name in ["a", "b"] {
        let case = json!([{"name": name, "object": pod(name, "a:1"), "expect": {"allowed": true}}]);
        cases(&folder, &format!("tests/{name}.test.yaml"), &case);
    }
    let ran = run_in(&folder, &["test", "tests/a.test.yaml"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "tests/a.test.yaml\n  pass   a\n");
    let ran = run_in(&folder, &["test", "tests/a.test.yaml", "tests/b.test.yaml"]);
    assert!(ran.err.starts_with("2 tests: 2 passed"), "{}", ran.err);
    let path = folder.path("tests/a.test.yaml");
    let ran = run_in(&folder, &["test", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder.write("other.yaml", "");
    for (path, told) in [
        ("other.yaml", "error: other.yaml: not a test file"),
        ("nosuch.test.yaml", "error: nosuch.test.yaml: "),
    ] {
        let ran = run_in(&folder, &["test", path]);
        assert_eq!(ran.code, Some(3), "{path}");
        ran.says(&[told]);
    }
    let elsewhere = crate::harness::Folder::new();
    elsewhere.write("policies/p.js", "return true");
    cases(&elsewhere, "x.test.yaml", &json!([]));
    let other = elsewhere.path("x.test.yaml");
    let ran = run_in(
        &folder,
        &["test", "tests/a.test.yaml", other.to_str().unwrap()],
    );
    assert_eq!(ran.code, Some(3));
    ran.says(&["judged by different configurations"]);
}
