//! Which lines of policies ran.

use serde_json::{Value, json};

use super::{cases, folder, pod, test};
use crate::harness::run_in;

/// File, percent and missed lines of each file.
fn files(value: &Value) -> Vec<(&str, f64, Value)> {
    let files = value["coverage"]["files"].as_array().unwrap().iter();
    files
        .map(|f| {
            let (name, percent) = (f["file"].as_str().unwrap(), f["percent"].as_f64().unwrap());
            (name, percent, f["missed"].clone())
        })
        .collect()
}

#[test]
fn lines_that_did_not_run_are_listed() {
    let folder = folder();
    let good = json!([{"name": "good", "object": pod("a", "a:1"), "expect": {"allowed": true}}]);
    cases(&folder, "tests/a.test.yaml", &good);
    let done = test(&folder, &["--coverage"]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
    assert_eq!(
        files(&done.value),
        [
            ("policies/lib/images.ts", 50.0, json!([2])),
            ("policies/no-latest.ts", 50.0, json!([4])),
            ("policies/owner.js", 100.0, json!([])),
        ]
    );
    let table = run_in(&folder, &["test", "--coverage"]).out;
    assert!(
        table.contains("   50.0 %  policies/no-latest.ts   not run: 4\n"),
        "{table}"
    );
    assert!(table.contains("coverage: 71.4 % of 7 lines\n"), "{table}");
    assert!(!run_in(&folder, &["test"]).out.contains("coverage"));
    assert!(test(&folder, &[]).value.get("coverage").is_none());
}

#[test]
fn helpers_that_only_a_script_calls_count_and_failures_too() {
    let folder = folder();
    folder.write(
        "tests/a.test.ts",
        "import { isPinned } from \"../policies/lib/images.ts\";\n\
         test(\"x\", () => { isPinned(\"a@b\"); isPinned(\"a\"); });\n\
         test(\"y\", () => { review({apiVersion: \"v1\", kind: \"Pod\", metadata: {}, spec: {containers: [{image: \"a:latest\"}]}}); expect(1).toBe(2); });\n",
    );
    let done = test(&folder, &["--coverage", "--report", "lcov=out.info"]);
    assert_eq!(done.code, Some(1));
    let all = files(&done.value);
    assert_eq!(all[0], ("policies/lib/images.ts", 100.0, json!([])));
    assert_eq!(all[1].1, 100.0, "{all:?}");
    assert_eq!(all[2], ("policies/owner.js", 0.0, json!([1, 2, 3])));
    assert_eq!(all.len(), 3, "tests are not counted");
    let lcov = std::fs::read_to_string(folder.path("out.info")).unwrap();
    assert!(
        lcov.contains("SF:policies/owner.js\nDA:1,0\nDA:2,0\nDA:3,0\nLF:3\nLH:0\nend_of_record\n"),
        "{lcov}"
    );
}

#[test]
fn counting_changes_no_verdict_and_no_line() {
    let folder = folder();
    folder.write(
        "policies/broken.ts",
        "\n\nif (object.kind === \"Secret\")\n  throw new Error(\"boom\")\n",
    );
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let all = json!([{"name": "boom", "object": secret, "expect": {"allowed": true}}]);
    cases(&folder, "a.test.yaml", &all);
    for flags in [&[][..], &["--coverage"]] {
        let ran = run_in(&folder, &[&["test"], flags].concat());
        assert_eq!(ran.code, Some(1));
        assert!(
            ran.out.contains("4 |   throw new Error(\"boom\")\n"),
            "{}",
            ran.out
        );
    }
}
