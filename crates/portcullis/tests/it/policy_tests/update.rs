//! `--update`, `--scaffold`, `--filter` and what coverage can do beside its table.

use std::fs;

use serde_json::json;

use super::{cases, folder, pod, test};
use crate::harness::{run_at, run_in};

/// Cases that fail for different reasons, with comments.
const CASES: &str = "# about these cases\ntests:\n- name: message\n  object: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: \"a:latest\"}]}} # an object\n  expect: {allowed: false, message: something else} # why\n- name: verdict\n  object: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: \"a:latest\"}]}}\n  expect:\n    # it was allowed once\n    allowed: true\n";

#[test]
fn values_are_written_and_everything_else_stays() {
    let folder = folder();
    folder.write("tests/a.test.yaml", CASES);
    let ran = run_in(&folder, &["test", "--update"]);
    assert_eq!(ran.code, Some(1), "the verdict still differs: {}", ran.err);
    assert!(
        ran.err
            .contains("updated tests/a.test.yaml: message: message"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("verdict: the verdict changed"),
        "{}",
        ran.err
    );
    let text = fs::read_to_string(folder.path("tests/a.test.yaml")).unwrap();
    let (before, after) = CASES.split_once("something else").unwrap();
    assert!(text.starts_with(before) && text.ends_with(after), "{text}");
    assert!(test(&folder, &["--filter", "message"]).code == Some(0));

    let ran = run_in(&folder, &["test", "--update=verdict"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = fs::read_to_string(folder.path("tests/a.test.yaml")).unwrap();
    assert!(
        text.contains("allowed: false") && !text.contains("allowed: true"),
        "{text}"
    );
    assert!(text.starts_with("# about these cases\n"), "{text}");
    // Nothing is left to write.
    let ran = run_in(&folder, &["test", "--update=verdict"]);
    assert!(!ran.err.contains("updated"), "{}", ran.err);
    assert_eq!(
        fs::read_to_string(folder.path("tests/a.test.yaml")).unwrap(),
        text
    );
}

#[test]
fn a_scaffold_passes() {
    let folder = folder();
    folder.write("manifests/a.json", pod("a", "a:1").to_string());
    folder.write("manifests/b.json", pod("b", "b:latest").to_string());
    let ran = run_in(&folder, &["test", "--scaffold", "manifests"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder.write("tests/made.test.yaml", &ran.out);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}\n{}", done.value, ran.out);
    assert_eq!(
        done.outcomes(),
        [
            ("CREATE Pod default/a is allowed", "passed"),
            ("CREATE Pod default/b is denied", "passed"),
        ]
    );
    let empty = run_in(&folder, &["test", "--scaffold", "missing"]);
    assert_eq!(empty.code, Some(3), "{}", empty.err);
}

#[test]
fn filters_are_texts_patterns_and_regular_expressions() {
    let folder = folder();
    let list = json!([
        {"name": "good one", "object": pod("a", "a:1"), "expect": {"allowed": true}},
        {"name": "good two", "object": pod("a", "a:1"), "expect": {"allowed": true}},
        {"name": "third", "object": pod("a", "a:1"), "expect": {"allowed": true}},
    ]);
    cases(&folder, "tests/a.test.yaml", &list);
    for (filter, count) in [
        ("good", 2),
        ("good*", 2),
        ("*o*", 2),
        ("/^(good )?t[hw]/", 2),
        ("tests/*", 3),
        ("/one$/", 1),
    ] {
        let done = test(&folder, &["--filter", filter]);
        assert_eq!(done.outcomes().len(), count, "{filter}");
    }
    assert_eq!(
        run_in(&folder, &["test", "--filter", "nothing*"]).code,
        Some(6)
    );
    let wrong = run_in(&folder, &["test", "--filter", "/(/"]);
    assert_eq!(wrong.code, Some(2));
    wrong.says(&["invalid regular expression"]);
}

#[test]
fn coverage_has_a_minimum_a_page_and_lines() {
    let folder = folder();
    let good = json!([{"name": "good", "object": pod("a", "a:1"), "expect": {"allowed": true}}]);
    cases(&folder, "tests/a.test.yaml", &good);
    let ran = run_in(&folder, &["test", "--coverage-min", "72"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err
            .contains("coverage is 71.4 %, less than the 72 % of --coverage-min"),
        "{}",
        ran.err
    );
    assert_eq!(
        run_in(&folder, &["test", "--coverage-min", "71"]).code,
        Some(0)
    );
    assert_eq!(
        run_in(&folder, &["test", "--coverage-min", "101"]).code,
        Some(2)
    );

    let ran = run_in(
        &folder,
        &["test", "--coverage=lines", "--report", "html=page.html"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("        4 | "), "{}", ran.out);
    let page = fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(
        page.contains("policies/no-latest.ts") && page.contains("class=\"missed\""),
        "{page}"
    );
    for foreign in ["<script", "http:", "https:", "src="] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn a_loose_pattern_stays_as_long_as_it_matches() {
    let folder = folder();
    let expect = "{allowed: false, policy: another, message: \"pin a\"}";
    folder.write(
        "tests/a.test.yaml",
        format!(
            "tests:\n- name: loose\n  object: {}\n  expect: {expect}\n",
            pod("b", "b:latest")
        ),
    );
    let ran = run_in(&folder, &["test", "--update=verdict"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = fs::read_to_string(folder.path("tests/a.test.yaml")).unwrap();
    assert!(text.contains("policy: no-latest"), "{text}");
    assert!(text.contains("message: \"pin a\""), "{text}");

    // Of several warnings, those that are expected loosely stay so.
    let expect = "{allowed: true, warnings: [\"owned by .*test$\", \"something else\"]}";
    folder.write(
        "tests/a.test.yaml",
        format!(
            "tests:\n- name: loose\n  object: {}\n  expect: {expect}\n",
            pod("b", "b:1")
        ),
    );
    let ran = run_in(&folder, &["test", "--update"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = fs::read_to_string(folder.path("tests/a.test.yaml")).unwrap();
    assert!(text.contains("owned by .*test$"), "{text}");
    assert!(!text.contains("something else"), "{text}");
}

#[test]
fn a_scaffold_has_what_was_written_in_the_order_of_reading() {
    let folder = folder();
    folder.write("schemas/tests.json", "{}");
    folder.write(
        "limits.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  \
         - {name: c, image: \"a:1\", resources: {limits: {memory: 1Gi}}}\n",
    );
    let ran = run_in(&folder, &["test", "--scaffold", "limits.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let first = "# yaml-language-server: $schema=../schemas/tests.json\ntests:\n\
                 - name: \"CREATE Pod default/a is allowed\"\n  object:\n";
    assert!(ran.out.starts_with(first), "{}", ran.out);
    let keys: Vec<&str> = ran
        .out
        .lines()
        .filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|line| !line.starts_with(' '))
        })
        .collect();
    assert_eq!(keys, ["object:", "expect:"]);
    // An API server sets requests and the namespace.
    assert!(
        !ran.out.contains("requests:") && !ran.out.contains("namespace:"),
        "{}",
        ran.out
    );
    folder.write("tests/made.test.yaml", &ran.out);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}\n{}", done.value, ran.out);
}

#[test]
fn what_judges_is_found_above_the_tests() {
    let folder = folder();
    let good = json!([{"name": "good", "object": pod("a", "a:1"), "expect": {"allowed": true}}]);
    cases(&folder, "tests/a.test.yaml", &good);
    folder.write(
        "tests/b.test.ts",
        "import { isPinned } from \"../policies/lib/images.ts\";\n\
         test(\"pinned\", () => expect(isPinned(\"a:1\")).toBe(true));\n",
    );
    let inside = folder.path("tests");
    for (at, arguments, count) in [
        (folder.root(), &["test", "tests"][..], 2),
        (folder.root(), &["test", "./tests/a.test.yaml"], 1),
        (&inside, &["test", "a.test.yaml"], 1),
        (&inside, &["test"], 2),
        (&inside, &["test", "../tests"], 2),
    ] {
        let ran = run_at(&folder, at, arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}{}", ran.out, ran.err);
        let wanted = match count {
            1 => "1 test: 1 passed",
            _ => "2 tests: 2 passed",
        };
        assert!(ran.err.contains(wanted), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn nothing_to_run_is_told_in_words() {
    let folder = folder();
    let ran = run_in(&folder, &["test", "nosuch"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["nosuch: cannot read the folder: no such file or directory\n"]);
    folder.write("tests/none.test.yaml", "tests: []\n");
    let ran = run_in(&folder, &["test", "tests/none.test.yaml"]);
    assert_eq!(ran.code, Some(6));
    ran.says(&["no tests in `tests/none.test.yaml`"]);
}
