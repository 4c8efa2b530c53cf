//! The cases of the reference table that need no wire and no host calls, by their numbers.

use std::sync::Arc;

use portcullis_core::PolicyOutcome;
use portcullis_js::{CompileFault, PolicySet, PolicySource, PolicyVerdict, SourceName, Sources};
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn case_01_true_allows() {
    let e = p("return true");
    assert_eq!((e.verdict, e.object), (PolicyVerdict::Allow, None));
    assert_eq!(p("return new Boolean(true)").verdict, PolicyVerdict::Allow);
}

#[test]
fn cases_02_to_04_false_and_text_refuse() {
    let e = p("return false");
    assert_eq!(denied(&e).denial.message, "P: request denied by policy");
    assert_eq!(denied(&e).denial.reason, "VIOLATES_POLICY");
    let code = r#"for (const c of object.spec.containers) if (c.name.includes("apple")) return "fruit not allowed""#;
    assert_eq!(message(code), "P: fruit not allowed");
    assert_eq!(message("return ''"), "P: request denied by policy");
    assert_eq!(message("return Symbol('s')"), "P: s");
    let pear = code.replace("apple", "pear");
    assert_eq!(p(&pear).verdict, PolicyVerdict::None);
}

#[test]
fn cases_05_and_06_no_opinion_is_the_callers_default() {
    let e = p("");
    assert_eq!(e.verdict, PolicyVerdict::None);
    assert_eq!(e.steps[0].outcome, PolicyOutcome::Pass);
}

#[test]
fn cases_07_and_08_the_first_word_ends() {
    let e = run(&[("A", "return 'a'"), ("B", "return true")]);
    assert_eq!(denied(&e).denial.message, "A: a");
    assert_eq!(e.steps[1].outcome, PolicyOutcome::Skip);
    let e = run(&[("A", "return true"), ("B", "return 'b'")]);
    assert_eq!(e.verdict, PolicyVerdict::Allow);
}

#[test]
fn cases_09_and_10_anything_else_is_an_error() {
    for code in [
        "return null",
        "return 1",
        "return {}",
        "return []",
        "return () => 1",
        "return new String('x')",
        "return 1n",
        "return new Date(0)",
    ] {
        let e = p(code);
        let d = denied(&e);
        assert!(
            d.denial
                .message
                .starts_with("P: unknown return value from policy ("),
            "{code} {d:?}"
        );
        assert_eq!(d.denial.reason, "INTERNAL_ERROR");
        assert_eq!(e.steps[0].outcome, PolicyOutcome::Error);
    }
}

#[test]
fn case_11_an_exception_refuses_and_says_where() {
    let e = p("\n  throw new Error(\"boom\")");
    let d = denied(&e);
    assert!(
        d.denial
            .message
            .starts_with("P: unable to evaluate policy:Error: boom"),
        "{d:?}"
    );
    assert_eq!(d.denial.reason, "INTERNAL_ERROR");
    assert_eq!(e.steps[0].line, Some(2), "{e:?}");
    assert!(
        d.denial.message.ends_with(" at P:2:18") || e.steps[0].column.is_some(),
        "{d:?}"
    );
    assert!(message("throw 'text'").starts_with("P: unable to evaluate policy:text"));
    assert!(message("object.a.b.c").contains("TypeError"));
    assert!(message("throw { toString() { throw 1 } }").contains("unable to evaluate"));
    let e = pool("function f() {\n  return nothing.here }", &[("P", "f()")]);
    let e = e.evaluate(input(pod())).unwrap();
    assert!(denied(&e).denial.message.contains("globals:2:"), "{e:?}");
}

#[test]
fn cases_12_to_16_changes() {
    let o = changed("object.spec.containers[0].image = 'new'; return true");
    assert_eq!(o["spec"]["containers"][0]["image"], "new");
    let e = p("object.x = 1");
    assert_eq!(e.verdict, PolicyVerdict::None);
    assert_eq!(e.object.unwrap()["x"], 1);
    let e = run(&[
        ("A", "object.x = 1"),
        ("B", "if (object.x === 1) { object.y = 2; return true }"),
    ]);
    let o = e.object.unwrap();
    assert_eq!((&o["x"], &o["y"]), (&json!(1), &json!(2)));
    let e = p("object.x = 1; return 'no'");
    assert_eq!(e.object, None);
    assert_eq!(denied(&e).denial.message, "P: no");
}

#[test]
fn cases_17_to_21_keys_and_lists() {
    let o = changed(r#"object.metadata.labels["x/y~z"] = "q"; return true"#);
    assert_eq!(o["metadata"]["labels"]["x/y~z"], "q");
    let o = changed(
        r#"const c = object.spec.containers[0]; c.command = ["/bin/echo", "hi"]; c.args = []; return true"#,
    );
    assert_eq!(o["spec"]["containers"][0]["args"], json!([]));
    for code in [
        "object.spec.containers = [...object.spec.containers, {name: 'b'}]; return true",
        "object.spec.containers.push({name: 'b'}); return true",
    ] {
        assert_eq!(changed(code)["spec"]["containers"][1], json!({"name": "b"}));
    }
    let o = changed("object.spec.containers[0].args.pop(); return true");
    assert_eq!(o["spec"]["containers"][0]["args"], json!(["a", "b"]));
    let o = changed(
        "for (const k of ['toString', 'constructor', 'hasOwnProperty', 'valueOf']) object.metadata.labels[k] = 'x'; return true",
    );
    assert_eq!(o["metadata"]["labels"].as_object().unwrap().len(), 5);
}

#[test]
fn cases_22_and_23_globals() {
    let e = pool(
        "function add(a, b) { return a + b }",
        &[("P", "return 's=' + add(1, 2)")],
    );
    assert_eq!(
        denied(&e.evaluate(input(pod())).unwrap()).denial.message,
        "P: s=3"
    );
    let e = pool(
        "const K = 3; let deny = 1; class C {}",
        &[
            ("A", "if (K !== 3 || deny !== 1) return 'k'"),
            ("B", "return true"),
        ],
    );
    assert_eq!(
        e.evaluate(input(pod())).unwrap().verdict,
        PolicyVerdict::Allow
    );
}

#[test]
fn case_25_the_request() {
    let code = r#"const r = ac.HTTPRequest; return "H=" + r.Header.Get("x-ctrdac-RequestUri") + " " + r.RequestURI + r.Header.Values("X-TWO").length + r.Header.Get("none") + r.URL.Query().Get("y") + '.'"#;
    assert_eq!(message(code), "P: H=/grpc /a/b?x=1&y=%202 .");
}

#[test]
fn cases_26_and_27_names_compare() {
    assert_eq!(
        message(r#"if (req.Operation == "CREATE" && req.Namespace == "ns1") return "hit""#),
        "P: hit"
    );
    assert_eq!(
        message(r#"if (req.Operation === "CREATE" && req.namespace === "ns1") return "hit""#),
        "P: hit"
    );
}

#[test]
fn case_28_no_object() {
    let mut i = input(Value::Null);
    i.old_object = Arc::new(portcullis_core::Tree::from(&pod()));
    let e = pool("", &[("P", "return object + oldObject.kind")])
        .evaluate(i)
        .unwrap();
    assert_eq!(denied(&e).denial.message, "P: nullPod");
}

#[test]
fn case_32_the_container_spec() {
    let spec = "eyJwcm9jZXNzIjp7ImVudiI6WyJBPTEiXX19";
    let code = r#"runcSpec = JSON.parse(atob(object.container.spec.value));
        runcSpec.process.env.push("EXTRA=1");
        object.container.spec.value = btoa(JSON.stringify(runcSpec))"#;
    let pool = pool(
        "",
        &[
            ("P", code),
            ("Q", "return runcSpec.process.env.length === 2"),
        ],
    );
    let e = pool
        .evaluate(input(json!({"container": {"spec": {"value": spec}}})))
        .unwrap();
    assert_eq!(e.verdict, PolicyVerdict::Allow);
    assert_eq!(
        e.object.unwrap()["container"]["spec"]["value"],
        "eyJwcm9jZXNzIjp7ImVudiI6WyJBPTEiLCJFWFRSQT0xIl19fQ=="
    );
}

#[test]
fn case_33_git_repositories() {
    let code = r#"
        object.spec.volumes.forEach((volume, i) => {
            if (!volume.gitRepo) return;
            const { repository, revision } = volume.gitRepo;
            delete volume.gitRepo;
            volume.emptyDir = {};
            (object.spec.initContainers ??= []).push({ name: `gitrepo-init-${i}`, args: [repository, revision],
                volumeMounts: [{ name: volume.name, mountPath: "/git" }] });
        });
        return true;"#;
    let object = json!({"kind": "Pod", "spec": {"volumes": [{"name": "a", "emptyDir": {}},
        {"name": "g", "gitRepo": {"repository": "r", "revision": "v1"}}]}});
    let o = pool("", &[("P", code)])
        .evaluate(input(object))
        .unwrap()
        .object
        .unwrap();
    assert_eq!(
        o["spec"]["volumes"][1],
        json!({"name": "g", "emptyDir": {}})
    );
    assert_eq!(o["spec"]["initContainers"][0]["name"], "gitrepo-init-1");
}

#[test]
fn case_38_base64() {
    assert_eq!(
        message(r#"return atob("aGVsbG8=") + btoa("é")"#),
        "P: hellow6k="
    );
    assert_eq!(
        message("return btoa() + btoa(null) + btoa(12) + '.'"),
        "P: MTI=."
    );
    assert!(message("atob('a-')").contains("base64"));
}

#[test]
fn case_39_the_user() {
    assert_eq!(
        message(r#"return "u=" + ac.User + " m=" + ac.UserAuthNMethod"#),
        "P: u=null m="
    );
}

#[test]
fn helpers_end_even_if_caught() {
    assert_eq!(
        p("try { allow() } catch {} return 'no'").verdict,
        PolicyVerdict::Allow
    );
    let e = p("\ntry { deny('bad', 'Mine', 422) } finally { return true }");
    let d = denied(&e);
    assert_eq!(
        (
            d.denial.message.as_str(),
            d.denial.reason.as_ref(),
            d.denial.code
        ),
        ("P: bad", "Mine", 422)
    );
    assert_eq!(e.steps[0].line, Some(2));
    let e = p("deny()");
    assert_eq!(denied(&e).denial.message, "P: request denied by policy");
    let e = p("warn('careful'); warn(2)");
    assert_eq!(e.warnings, ["P: careful", "P: 2"]);
    assert_eq!(
        (e.verdict, e.steps[0].outcome),
        (PolicyVerdict::None, PolicyOutcome::Warn)
    );
}

#[test]
fn the_console_is_kept_with_its_place() {
    let e = p("\nconsole.log('a', 1, {b: [1]}, undefined)\nconsole.error(new Error('x'))");
    let lines: Vec<_> = e
        .console
        .iter()
        .map(|l| (l.level, l.text.as_str(), l.line))
        .collect();
    assert_eq!(
        lines,
        [
            ("log", "a 1 {\"b\":[1]} undefined", Some(2)),
            ("error", "Error: x", Some(3))
        ]
    );
    let e = p("for (let i = 0; i < 10000; i++) console.info('0123456789')");
    assert!(e.console.len() < 2000, "{}", e.console.len());
    assert_eq!(e.verdict, PolicyVerdict::None);
}

#[test]
fn promises_are_awaited() {
    assert_eq!(message("await null; return 'late'"), "P: late");
    assert_eq!(
        message("return (async () => { await 1; return 'inner' })()"),
        "P: inner"
    );
    let e = p("await 1;\nthrow new Error('x')");
    assert!(denied(&e).denial.message.contains("Error: x"));
    assert_eq!(e.steps[0].line, Some(2));
    assert!(message("await new Promise(() => {})").contains("settled"));
    assert_eq!(p("await 1; allow()").verdict, PolicyVerdict::Allow);
}

#[test]
fn syntax_errors_are_found_in_the_authors_text() {
    let faults = |globals: &str, codes: &[(&str, &str)]| -> Vec<CompileFault> {
        let sources = Sources {
            globals: globals.to_owned(),
            policies: codes
                .iter()
                .map(|(n, c)| PolicySource::body(*n, *c))
                .collect(),
            ..Sources::default()
        };
        PolicySet::compile(&sources).unwrap_err()
    };
    let policy = |name: &str| SourceName::Policy(name.to_owned());
    let f = faults(
        "",
        &[("A", "return true"), ("B", "let x = 1;\nlet y = = 2;\n")],
    );
    assert_eq!((&f[0].source, f[0].line), (&policy("B"), 2), "{f:?}");
    assert!(
        f[0].column > 1 && f[0].message.contains("SyntaxError"),
        "{f:?}"
    );
    let f = faults("const a = ;", &[("A", "if (")]);
    assert_eq!(
        (&f[0].source, &f[1].source, f[1].line),
        (&SourceName::Globals, &policy("A"), 1),
        "{f:?}"
    );
    let f = faults(
        "",
        &[
            ("A", "}); while (true); (function() {"),
            ("B", "} }); ({ m() {"),
            ("C", "} return true; {"),
        ],
    );
    assert_eq!(f.len(), 3, "{f:?}");
    let f = faults("", &[("A", ""), ("A", "")]);
    assert!(f[0].message.contains("duplicate"), "{f:?}");
    assert_eq!(faults("", &[("A", "1\n\0")])[0].line, 2);
}

#[test]
fn sloppy_mode_and_comments() {
    let e = p("x = 1; with ({y: 2}) { if (x + y === 3) return 'ok' } // the end");
    assert_eq!(denied(&e).denial.message, "P: ok");
    assert_eq!(
        message("return typeof this + typeof object.none + typeof oldObject"),
        "P: objectundefinedobject"
    );
}

#[test]
fn the_request_holds_its_objects_in_both_forms() {
    let e = p(r"
        if (req.object !== object) return 'another object'
        const text = String.fromCharCode(...req.Object.Raw)
        return JSON.parse(text).metadata.name + ' ' + req.OldObject.Raw.length");
    assert_eq!(denied(&e).denial.message, "P: p 0");
}

#[test]
fn what_the_engine_would_refuse_only_when_it_runs_is_found_at_once() {
    let sources = Sources {
        globals: "var a = 1;\nvar b = () => import('./b.js')".to_owned(),
        policies: vec![
            PolicySource::body("Good", "return 'import(x)' // import('x')"),
            PolicySource::body("Plain", "if (object.x)\n  import('./x.js')"),
            PolicySource::body(
                "Async",
                "const m = await import('./x.js')\nreturn m.default()",
            ),
            PolicySource::body("Meta", "return import.meta.url"),
        ],
        ..Sources::default()
    };
    let faults = PolicySet::compile(&sources).unwrap_err();
    let places: Vec<String> = faults
        .iter()
        .map(|f| format!("{}:{}:{}", f.source, f.line, f.column))
        .collect();
    assert_eq!(&places[..3], ["globals:2:15", "Plain:2:3", "Async:1:17"]);
    assert!(places[3].starts_with("Meta:1:"), "{places:?}");
    for fault in &faults[..3] {
        assert!(
            fault.message.contains("`import()` is not supported"),
            "{fault}"
        );
    }
}
