//! Tests in JavaScript and TypeScript.

use serde_json::json;

use super::{folder, test};
use crate::harness::run_in;

const POD: &str = "const pod = (image: string) => ({ apiVersion: \"v1\", kind: \"Pod\", metadata: { name: \"p\" },\n  \
    spec: { containers: [{ name: \"c\", image }] } });\n";

#[test]
fn helpers_and_the_whole_chain_can_be_tested() {
    let folder = folder();
    let text = format!(
        "import {{ isPinned }} from \"../policies/lib/images.ts\";\n{POD}\
         test(\"helper\", () => {{ expect(isPinned(\"a:latest\")).toBe(false); expect(isPinned(\"a@b\")).toBe(true); }});\n\
         describe(\"chain\", () => {{\n  \
         test(\"refuses\", () => {{\n    expect(review(pod(\"a:latest\"))).toEqual({{\n      allowed: false, \
         message: \"no-latest: pin a version\", policy: \"no-latest\", undecided: false, warnings: [], patch: [],\n      \
         object: {{ ...pod(\"a:latest\"), metadata: {{ name: \"p\", namespace: \"default\" }} }} }});\n  }});\n  \
         test(\"changes\", async () => {{\n    await null;\n    \
         const answer = review(pod(\"a:1\"), {{ user: \"ann\", namespace: \"shop\", groups: [\"g\"] }});\n    \
         expect(answer.object.metadata).toEqual({{ name: \"p\", namespace: \"shop\", labels: {{ owner: \"ann\" }} }});\n    \
         expect(answer.patch).toHaveLength(1);\n    expect(answer.warnings).toContain(\"owner: owned by ann\");\n  }});\n  \
         test(\"updates\", () => {{ expect(review(pod(\"a:1\"), {{ operation: \"UPDATE\", oldObject: pod(\"a:0\") }}).patch).toEqual([]); }});\n\
         }});\n"
    );
    folder.write("tests/chain.test.ts", text);
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
    let names: Vec<&str> = done.outcomes().iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "helper",
            "chain > refuses",
            "chain > changes",
            "chain > updates"
        ]
    );
}

#[test]
fn a_failed_expectation_names_file_and_line() {
    let folder = folder();
    folder.write(
        "tests/a.test.js",
        "function same(a, b) {\n  expect(a).toBe(b)\n}\n\ntest('direct', () => {\n\n  expect([1, 2]).toEqual([1, 3])\n})\n\
         test('by a helper', () => {\n  same(1, 2)\n})\ntest('thrown', async () => {\n  await null\n  null.x\n})\ntest('fine', () => {})\n",
    );
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(1));
    let places: Vec<(&str, u64, u64)> = done.value["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["outcome"] == "failed")
        .map(|r| {
            let line = r["failures"][0]["line"].as_u64().unwrap();
            (
                r["name"].as_str().unwrap(),
                r["line"].as_u64().unwrap(),
                line,
            )
        })
        .collect();
    assert_eq!(
        places,
        [("direct", 5, 7), ("by a helper", 9, 2), ("thrown", 12, 14)]
    );
    assert_eq!(done.failures("by a helper"), ["expected 1 to be 2"]);
    assert_eq!(
        done.failures("thrown"),
        ["TypeError: cannot read property 'x' of null"]
    );
    let table = run_in(&folder, &["test"]).out;
    for line in [
        "  FAIL   direct   tests/a.test.js:5\n",
        "         tests/a.test.js:7: expected another value\n",
        "           > expect([1, 2]).toEqual([1, 3])\n",
        "             ~ /1: 3 -> 2\n",
        "  pass   fine\n",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
}

#[test]
fn every_matcher_can_hold_and_fail() {
    let folder = folder();
    let holds = [
        ("1", "toBe(1)", "toBe(2)"),
        (
            "{a: [1, {b: null}]}",
            "toEqual({a: [1, {b: null}], c: undefined})",
            "toEqual({a: [1, {b: 0}]})",
        ),
        (
            "{a: 1, b: {c: 2, d: 3}}",
            "toMatchObject({b: {c: 2}})",
            "toMatchObject({b: {c: 3}})",
        ),
        ("'abc'", "toMatch(/b./)", "toMatch(/^b/)"),
        ("'a.c'", "toMatch('.')", "toMatch('x')"),
        ("[1, 2]", "toContain(2)", "toContain(3)"),
        ("'abc'", "toContain('bc')", "toContain('cb')"),
        (
            "[{a: 1}]",
            "toContainEqual({a: 1})",
            "toContainEqual({a: 2})",
        ),
        ("[1]", "toHaveLength(1)", "toHaveLength(0)"),
        ("{a: 1}", "toHaveProperty('a')", "toHaveProperty('b')"),
        ("0", "toBeFalsy()", "toBeTruthy()"),
        ("null", "toBeNull()", "toBeUndefined()"),
        ("undefined", "toBeUndefined()", "toBeDefined()"),
        ("3", "toBeGreaterThan(2)", "toBeLessThan(3)"),
        (
            "() => { throw new Error('boom') }",
            "toThrow(/oom/)",
            "toThrow('other')",
        ),
        ("() => deny('no')", "toThrow()", "not.toThrow()"),
    ];
    let mut text = String::new();
    for (number, (value, good, bad)) in holds.iter().enumerate() {
        text += &format!("test('good {number}', () => {{ expect({value}).{good} }})\n");
        text += &format!("test('bad {number}', () => {{ expect({value}).{bad} }})\n");
        if !bad.starts_with("not") {
            text += &format!("test('good not {number}', () => {{ expect({value}).not.{bad} }})\n");
            text += &format!("test('bad not {number}', () => {{ expect({value}).not.{good} }})\n");
        }
    }
    folder.write("m.test.js", text);
    let done = test(&folder, &[]);
    for (name, outcome) in done.outcomes() {
        let wanted = if name.starts_with("good") {
            "passed"
        } else {
            "failed"
        };
        assert_eq!(outcome, wanted, "{name}: {:?}", done.failures(name));
    }
}

#[test]
fn no_test_sees_what_another_left() {
    let folder = folder();
    folder.write(
        "policies/count.js",
        "ac.GlobalContext.n = (ac.GlobalContext.n ?? 0) + 1\nif (ac.GlobalContext.n > 2) return 'too often'\n",
    );
    let body = "{ seen++; made = true; expect(seen).toBe(1); expect(review(o).allowed).toBe(true); expect(review(o).allowed).toBe(true); \
                expect(review(o).message).toBe('count: too often') }";
    folder.write(
        "a.test.js",
        format!(
            "const o = {{apiVersion: 'v1', kind: 'ConfigMap', metadata: {{name: 'c'}}}}\nlet seen = 0, made = false\n\
             beforeEach(() => expect(made).toBe(false))\ntest('one', () => {body})\ntest('two', () => {body})\n"
        ),
    );
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
}

#[test]
fn a_test_is_as_sandboxed_as_a_policy() {
    let folder = folder();
    folder.write(
        "a.test.js",
        "test('no way out', () => {\n  for (const name of ['process', 'require', 'fetch', 'Deno', 'std', 'os'])\n    \
         expect(typeof globalThis[name]).toBe('undefined')\n})\n\
         test('no host calls', () => { expect(() => cosignVerify('k')).toThrow('not available in tests') })\n\
         test('options are checked', () => { expect(() => review({}, {usr: 'x'})).toThrow('usr') })\n\
         test('objects are checked', () => { expect(() => review({kind: 'Pod'})).toThrow('apiVersion is missing') })\n",
    );
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0), "{:#}", done.value);
    // Nor do policies find what tests find.
    folder.write(
        "policies/spy.js",
        "if (typeof $harness !== 'undefined' || typeof review !== 'undefined') return 'found'",
    );
    folder.write(
        "b.test.js",
        "test('spy', () => { expect(review({apiVersion: 'v1', kind: 'Secret', metadata: {}}).allowed).toBe(true) })",
    );
    assert_eq!(
        test(&folder, &["--filter", "spy"]).outcomes(),
        [("spy", "passed")]
    );
}

#[test]
fn skipped_tests_and_filters() {
    let folder = folder();
    folder.write(
        "a.test.js",
        "test('one', () => {})\ntest.skip('two', () => { throw 1 })\ndescribe.skip('off', () => { it('three', () => { throw 1 }) })\n",
    );
    let done = test(&folder, &[]);
    assert_eq!(done.code, Some(0));
    assert_eq!(
        done.outcomes(),
        [
            ("one", "passed"),
            ("two", "skipped"),
            ("off > three", "skipped")
        ]
    );
    assert_eq!(
        done.value["summary"],
        json!({"passed": 1, "failed": 0, "skipped": 2, "errors": 0})
    );
    assert_eq!(
        test(&folder, &["--filter", "on"]).outcomes(),
        [("one", "passed")]
    );
}

#[test]
fn what_a_failed_test_wrote_is_told() {
    let folder = folder();
    folder.write("policies/talk.js", "console.log('judging', object.kind)");
    folder.write(
        "a.test.js",
        "test('loud', () => { console.warn('here'); review({apiVersion: 'v1', kind: 'Secret', metadata: {}}); expect(1).toBe(2) })\n\
         test('quiet', () => { console.log('unheard') })\n",
    );
    let ran = run_in(&folder, &["test"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("a.test.js: warn: here\n"), "{}", ran.err);
    assert!(
        ran.err.contains("talk:1: log: judging Secret\n"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("unheard"), "{}", ran.err);
}

#[test]
fn a_test_that_does_not_end_fails_at_its_deadline_and_the_others_run() {
    let folder = folder();
    folder.write(
        "tests/endless.test.ts",
        "test('loops', () => { while (true) {} });\n\
         test('waits', async () => { for (;;) await null; });\n\
         test('ends', () => { expect(1).toBe(1); });\n",
    );
    let done = test(&folder, &["--timeout", "1s"]);
    assert_eq!(done.code, Some(1), "{:#}{}", done.value, done.err);
    let results = done.value["results"].as_array().unwrap();
    let outcomes: Vec<_> = results
        .iter()
        .map(|result| (&result["name"], &result["outcome"]))
        .collect();
    assert_eq!(
        outcomes,
        [
            (&json!("loops"), &json!("failed")),
            (&json!("waits"), &json!("failed")),
            (&json!("ends"), &json!("passed")),
        ]
    );
    for late in &results[..2] {
        assert_eq!(
            late["failures"][0]["message"],
            "the test exceeded its deadline of 1s"
        );
    }
    folder.write("tests/endless.test.ts", "for (;;) {}");
    let ran = run_in(&folder, &["test", "--timeout", "1s"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    ran.says(&["endless.test.ts", "deadline"]);
}
