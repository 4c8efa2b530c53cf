//! What comes of questions, within this process.

use portcullis_config::Limits;
use serde_json::json;

use super::*;

fn ask(question: Value) -> Verdict {
    judge(&Posed {
        question: serde_json::from_value(question).unwrap(),
        globals: "const word = 'shop';".to_owned(),
        limits: Limits::default(),
    })
}

fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": []}})
}

#[test]
fn a_denial_names_its_line_and_the_lines_that_ran() {
    let policy = "console.log('seen', word)\nif (object.metadata.name === 'web')\n  deny('no web')\nreturn true";
    let verdict = ask(json!({"policy": policy, "object": pod()}));
    assert!(!verdict.allowed && verdict.faults.is_empty(), "{verdict:?}");
    assert_eq!(verdict.outcome, "deny");
    assert_eq!(
        (verdict.message.as_str(), verdict.line),
        ("no web", Some(3))
    );
    assert_eq!(verdict.coverage.covered, [1, 2, 3]);
    assert_eq!(verdict.coverage.missed, [4]);
    let line = &verdict.console[0];
    assert_eq!((line.text.as_str(), line.line), ("seen shop", Some(1)));
}

#[test]
fn a_module_in_typescript_changes_the_object_and_describes_itself() {
    let policy = "export const policy = {match: {kinds: [\"Pod\"]}};\nexport default function (): void {\n  object.metadata.labels = {a: \"b\"} as any;\n}";
    let yaml = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n";
    let verdict = ask(json!({"policy": policy, "language": "ts", "object": yaml}));
    assert!(verdict.allowed, "{verdict:?}");
    assert_eq!(verdict.patch[0]["path"], "/metadata/labels");
    assert_eq!(verdict.object["metadata"]["labels"], json!({"a": "b"}));
    let other = yaml.replace("Pod", "ConfigMap");
    let verdict = ask(json!({"policy": policy, "language": "ts", "object": other}));
    assert_eq!((verdict.allowed, verdict.outcome.as_str()), (true, "skip"));
}

#[test]
fn what_is_wrong_is_named_with_its_field_and_place() {
    let verdict = ask(json!({
        "policy": "const a = 1\nif (", "object": "kind: Pod\napiVersion: v1\nmetadata: {name: [}", "operation": "PATCH",
    }));
    assert_eq!(verdict.outcome, "invalid");
    let place = |field: &str| {
        let fault = verdict.faults.iter().find(|fault| fault.field == field);
        fault.map(|fault| (fault.line.is_some(), fault.column.is_some()))
    };
    assert_eq!(place("policy"), Some((true, true)), "{verdict:?}");
    assert_eq!(place("object"), Some((true, true)), "{verdict:?}");
    assert_eq!(place("operation"), Some((false, false)));
}

#[test]
fn imports_and_several_objects_are_faults() {
    let policy = "import {a} from './a.js';\nexport default function () { return a }";
    let two = "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n";
    let verdict = ask(json!({"policy": policy, "object": two}));
    let messages: Vec<&str> = verdict.faults.iter().map(|f| f.message.as_str()).collect();
    assert!(messages[0].contains("can import"), "{messages:?}");
    assert_eq!(messages[1], "expected one object, found 2");
}

#[test]
fn jobs_are_judged_at_their_own_door() {
    let job = json!({"apiVersion": "ci.portcullis.dev/v1", "kind": "Job", "project": "shop/web",
        "metadata": {"name": "deploy"}, "tags": [], "ref_protected": false});
    let policy = "if (!object.ref_protected) deny('protected refs only')";
    let verdict = ask(json!({"policy": policy, "object": job, "door": "ci"}));
    assert_eq!(verdict.outcome, "deny", "{verdict:?}");
    let verdict = ask(json!({"policy": policy, "object": pod(), "door": "ci"}));
    assert_eq!(verdict.faults[0].field, "door");
}

#[test]
fn nothing_outside_is_called() {
    let policy = "return forwardToAdmissionController('https://example.org/')";
    let verdict = ask(json!({"policy": policy, "object": pod()}));
    assert_eq!(verdict.outcome, "error");
    assert!(
        verdict.message.contains("makes no host calls"),
        "{verdict:?}"
    );
}

#[test]
fn the_mode_decides_what_a_denial_means() {
    let verdict = ask(json!({"policy": "return 'no'", "object": pod(), "mode": "warn"}));
    assert_eq!((verdict.allowed, verdict.outcome.as_str()), (true, "deny"));
    assert!(verdict.warnings[0].contains("no"), "{verdict:?}");
}
