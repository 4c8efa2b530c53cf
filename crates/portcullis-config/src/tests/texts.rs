//! Policies that are given as text: alone, or in place of one that is loaded.

use portcullis_core::PolicyMode;
use portcullis_js::PolicyCode;

use super::with_head;
use crate::{Loaded, Matcher, PolicyChange, PolicyText};
use portcullis_script::Language;

const NAMED: &str = "export function named(object) { return object.metadata.name }\n";
const WEB: &str = "import { named } from './lib/names.js';\nexport const policy = {mode: 'warn'};\n\
                   export default function () { if (named(object) === 'web') return 'no' }\n";

fn loaded() -> Loaded {
    let setup = with_head(
        "policies:\n- {name: first, mode: dry-run, match: {kinds: [Pod]}, code: return true}\npolicyDirs: [policies]\n",
    );
    let setup = setup.file("policies/web.js", WEB);
    setup.file("policies/lib/names.js", NAMED).loaded()
}

/// What is wrong with another text for a policy.
#[track_caller]
fn fault(name: &str, text: &str) -> String {
    let faults = loaded().policies.with_text(name, text).unwrap_err();
    let first = faults.iter().next().unwrap();
    let at = first
        .position
        .map(|at| format!("{}:{}: ", at.line, at.column));
    format!("{}{}", at.unwrap_or_default(), first.message)
}

#[test]
fn another_text_of_a_list_keeps_what_the_list_says() {
    let before = loaded().policies;
    let after = before.with_text("first", "return 'no'").unwrap();
    let [first, web] = after.list.as_slice() else {
        panic!("{:?}", after.list)
    };
    assert_eq!(first.code, PolicyCode::Body("return 'no'".to_owned()));
    assert_eq!(
        (first.mode, first.matcher.described()),
        (before.list[0].mode, before.list[0].matcher.described())
    );
    assert_eq!(web.code, before.list[1].code);
    assert_eq!(after.modules.len(), before.modules.len());
}

#[test]
fn another_text_of_a_file_describes_itself_and_imports_what_is_loaded() {
    let before = loaded().policies;
    let text = WEB
        .replace("'warn'", "'enforce', match: {operations: ['DELETE']}")
        .replace("'no'", "'never'");
    let after = before.with_text("web", &text).unwrap();
    let web = &after.list[1];
    assert_eq!(web.mode.as_str(), "enforce");
    assert_eq!(web.matcher.described()["operations"][0], "DELETE");
    let PolicyCode::Module(place) = web.code else {
        panic!("{:?}", web.code)
    };
    // It takes the place of its predecessor, and keeps its name.
    assert_eq!(
        (after.modules.len(), web.code.clone()),
        (before.modules.len(), before.list[1].code.clone())
    );
    assert!(after.modules[place].source.code.contains("'never'"));
    assert_eq!(
        after.modules[place].source.name,
        before.modules[place].source.name
    );
    let plain = before.with_text("web", "return true").unwrap();
    assert_eq!(
        plain.list[1].code,
        PolicyCode::Body("return true".to_owned())
    );
}

#[test]
fn no_file_is_read_for_another_text() {
    let text = "import { x } from './other.js';\nexport default function () { return x }\n";
    assert_eq!(
        fault("web", text),
        "1:19: cannot import `./other.js`: no policy in force imports it"
    );
    let text = WEB
        .replace("{ named }", "{ unknown }")
        .replace("named(", "unknown(");
    assert!(fault("web", &text).contains("does not export `unknown`"));
    assert!(
        fault("web", "import x from 'x';\nexport default x")
            .contains("only files of the policy folder")
    );
    assert!(fault("first", &text).contains("only a policy in a file of its own can import"));
    assert_eq!(fault("web", " \n"), "the text is empty");
}

#[test]
fn a_candidate_set_changes_adds_and_removes_at_once() {
    let before = loaded().policies;
    let mode = |name, mode| PolicyChange {
        name,
        mode: Some(mode),
        ..PolicyChange::default()
    };
    let spec = serde_json::from_value(serde_json::json!({"kinds": ["Service"]})).unwrap();
    let changes = [
        mode("first", PolicyMode::Enforce),
        PolicyChange {
            name: "new",
            text: Some(
                "export const policy: object = {mode: 'warn'};\nexport default function (): string { return 'no' }",
            ),
            language: Language::TypeScript,
            matching: Some(Matcher::new(&spec).unwrap()),
            ..PolicyChange::default()
        },
    ];
    let after = before.with_changes(&changes, &["web"]).unwrap();
    let [first, new] = after.list.as_slice() else {
        panic!("{:?}", after.list)
    };
    assert_eq!(
        (first.name.as_str(), first.mode.as_str(), &first.code),
        ("first", "enforce", &before.list[0].code)
    );
    assert_eq!((new.name.as_str(), new.mode.as_str()), ("new", "warn"));
    assert_eq!(new.matcher.described()["kinds"][0], "Service");
    let PolicyCode::Module(place) = new.code else {
        panic!("{:?}", new.code)
    };
    assert_eq!(after.modules[place].source.name, "policy `new`");
    // Those in force stay as they are.
    assert_eq!(before.list[0].mode.as_str(), "dry-run");
    assert_eq!(before.list.len(), 2);
}

#[test]
fn everything_that_is_wrong_with_a_candidate_set_is_told() {
    let text = |name, text| PolicyChange {
        name,
        text: Some(text),
        ..PolicyChange::default()
    };
    let no_text = PolicyChange {
        name: "other",
        ..PolicyChange::default()
    };
    let changes = [
        text("first", " "),
        text("new", "import x from './x.js';\nexport default x"),
        no_text,
    ];
    let faults = loaded().policies.with_changes(&changes, &[]).unwrap_err();
    let told: Vec<String> = faults
        .iter()
        .map(|one| format!("{}: {}", one.file, one.message))
        .collect();
    assert_eq!(
        told,
        [
            "policy `first`: the text is empty",
            "policy `new`: only a policy in a file of its own can import",
            "policy `other`: the text is empty",
        ]
    );
}

#[test]
fn a_policy_alone_is_for_jobs_too_and_says_which_lines_ran() {
    let given = PolicyText {
        name: "mine",
        text: "export const policy: object = {mode: 'warn'};\nexport default function (): boolean { return true }",
        language: Language::TypeScript,
        mode: None,
        is_covered: true,
    };
    let policies = loaded().policies.with_only(&given).unwrap();
    let [mine] = policies.list.as_slice() else {
        panic!("{:?}", policies.list)
    };
    assert_eq!((mine.name.as_str(), mine.mode.as_str()), ("mine", "warn"));
    assert_eq!(
        mine.matcher.described()["doors"].as_array().unwrap().len(),
        2
    );
    assert!(!policies.marks.is_empty());
    let wrong = PolicyText {
        language: Language::JavaScript,
        ..given
    };
    assert!(loaded().policies.with_only(&wrong).is_err());
}
