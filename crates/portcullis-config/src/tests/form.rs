//! Faults of form: all at once, each at its place.

use super::with_head;

#[test]
fn every_fault_of_form_is_told_at_once() {
    let text = "limits: {deadline: soon, body: [1]}\nlog: {format: xml}\nzzz: 1\nnamespaces: 3\n";
    let faults = with_head(text).faults();
    let starts = [
        "portcullis.yaml:3:20: limits.deadline: ",
        "portcullis.yaml:3:32: limits.body: ",
        "portcullis.yaml:4:15: log.format: unknown value `xml`",
        "portcullis.yaml:5:1: zzz: unknown key",
        "portcullis.yaml:6:13: namespaces: expected a list",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{faults:#?}");
    }
}

#[test]
fn a_key_that_is_wrong_is_not_called_missing_too() {
    let text = "authenticators:\n- {name: [a], driver: HS256}\ntenants: {file: {}}\n";
    let faults = with_head(text).faults();
    assert_eq!(faults.len(), 2, "{faults:#?}");
    assert!(
        faults[0].contains("authenticators[0].name: expected text"),
        "{faults:#?}"
    );
    assert!(
        faults[1].contains("tenants.file: expected text"),
        "{faults:#?}"
    );
}

#[test]
fn there_is_an_end_to_what_is_told() {
    let text: String = (0..1000).map(|n| format!("zzz{n}: 1\n")).collect();
    assert_eq!(with_head(&text).faults().len(), 64);
}

#[test]
fn the_caret_is_on_the_key_that_a_policy_file_does_not_know() {
    let text = "export const policy = {\n  match: { kinds: ['Pod'], namespace: ['a'] },\n  mode: 'loud',\n}\n\
                export default () => true\n";
    let faults = with_head("policyDirs: [policies]\n")
        .file("policies/a.js", text)
        .faults();
    assert_eq!(faults.len(), 2, "{faults:#?}");
    assert!(
        faults[0].starts_with(
            "policies/a.js:2:28: match.namespace: unknown key, did you mean `namespaces`?"
        ),
        "{faults:#?}"
    );
    assert!(
        faults[1].starts_with("policies/a.js:3:9: mode: unknown value `loud`"),
        "{faults:#?}"
    );
    let odd = text
        .replace("namespace:", "operations:")
        .replace("loud", "warn");
    let fault = with_head("policyDirs: [policies]\n")
        .file("policies/a.js", &odd)
        .fault();
    assert!(
        fault.starts_with("policies/a.js:2:41: match.operations[0]: "),
        "{fault}"
    );
}
