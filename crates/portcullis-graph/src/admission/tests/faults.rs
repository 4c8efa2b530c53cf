//! Faults in admission rules, and their positions.

use super::world::compile;

fn faults(admission: &str) -> Vec<(String, String)> {
    let text = format!(
        "
kind: RelationshipGraph
targets: [Site]
vertices: {{Site: {{resource: sites}}, Thing: {{resource: things}}}}
sources: [{{kind: Thing}}]
subjects: [{{id: agent, user: 'agent:{{name}}', groups: [agents], target: {{kind: Site, name: '{{name}}'}}}}]
admission:
{admission}
"
    );
    let faults = compile(&text).expect_err("faults");
    faults.into_iter().map(|f| (f.path, f.message)).collect()
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place() {
    let found = faults(
        "
  otherResources: {code: 200, message: 'hm {what}'}
  otherOperations: {message: ' '}
  rules:
    - resources: [Sites, '', 'a/', 'a.']
      operations: [PATCH]
      subjects: [agents]
      cases:
        - when: object.
          let:
            - {name: 1x, value: 'true'}
            - {name: object, value: 'true'}
            - {name: a, value: later}
            - {name: b, value: 'true'}
            - {name: b, value: 'true'}
          require:
            - {that: \"lookup('Nope', '', '') == null\", code: 600, message: '{b} {a} {'}
            - {that: nosuch(1), message: 'fine {b} {request.name}'}
            - {that: \"lookup('Thing', '', '').x\", message: nothing is kept}
            - {that: \"exists('Thing', '', '')\", message: fine}
    - {resources: [], operations: [], cases: []}
",
    );
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    for expected in [
        "admission.otherResources.code",
        "admission.otherResources.message",
        "admission.otherOperations.message",
        "admission.rules[0].resources[0]",
        "admission.rules[0].resources[1]",
        "admission.rules[0].resources[2]",
        "admission.rules[0].resources[3]",
        "admission.rules[0].operations[0]",
        "admission.rules[0].subjects[0]",
        "admission.rules[0].cases[0].when",
        "admission.rules[0].cases[0].let[0].name",
        "admission.rules[0].cases[0].let[1].name",
        "admission.rules[0].cases[0].let[2].value",
        "admission.rules[0].cases[0].let[4].name",
        "admission.rules[0].cases[0].require[0].that",
        "admission.rules[0].cases[0].require[0].code",
        "admission.rules[0].cases[0].require[0].message",
        "admission.rules[0].cases[0].require[1].that",
        "admission.rules[0].cases[0].require[2].that",
        "admission.rules[1].resources",
        "admission.rules[1].operations",
        "admission.rules[1].cases",
    ] {
        assert!(paths.contains(&expected), "{expected} in {found:#?}");
    }
    assert_eq!(paths.len(), 22, "{found:#?}");
}
