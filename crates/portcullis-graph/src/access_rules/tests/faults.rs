//! What is rejected at load, and at which position.

use super::support::compile;

const HEAD: &str = r#"
kind: RelationshipGraph
targets: [Site]
vertices:
  Site: {group: x.io, resource: sites}
  Unit: {group: x.io, resource: units, namespaced: true}
"#;
const SUBJECTS: &str = r#"
subjects:
  - {id: a, user: "a:{name}", groups: [g], target: {kind: Site, name: "{name}"}}
  - {id: b, user: "b:{x}:{name}", groups: [g], target: {kind: Site, name: "{name}"}}
"#;

fn faults(body: &str) -> Vec<(String, String)> {
    let faults = compile(&format!("{HEAD}{body}")).err().unwrap_or_default();
    faults.into_iter().map(|f| (f.path, f.message)).collect()
}

#[test]
fn subjects() {
    let target = "target: {kind: Site, name: '{name}'}";
    for (subject, path, message) in [
        (
            format!("{{id: '', user: 'a:{{name}}', groups: [], {target}}}"),
            "subjects[0].id",
            "empty",
        ),
        (
            format!("{{id: a, user: 'a:{{name', groups: [], {target}}}"),
            "subjects[0].user",
            "not closed",
        ),
        (
            format!("{{id: a, user: '*', groups: [], {target}}}"),
            "subjects[0].user",
            "neither text nor a name",
        ),
        (
            format!("{{id: a, user: 'a:{{name}}', groups: ['g-{{y}}'], {target}}}"),
            "subjects[0].groups[0]",
            "no subject captures `{y}`",
        ),
        (
            format!("{{id: a, user: 'a:{{name}}', groups: ['']  , {target}}}"),
            "subjects[0].groups[0]",
            "empty",
        ),
        (
            format!(
                "{{id: a, user: 'a:{{name}}', groups: [], withoutGroups: ['{{namespace}}'], {target}}}"
            ),
            "subjects[0].withoutGroups[0]",
            "`{namespace}` is not in the pattern",
        ),
        (
            "{id: a, user: 'a:{x}', groups: [], target: {kind: Site, name: '{name}'}}".into(),
            "subjects[0].target.name",
            "`{name}` is not in the pattern",
        ),
        (
            "{id: a, user: 'a:{x}', groups: [], target: {kind: Site, name: ''}}".into(),
            "subjects[0].target.name",
            "empty",
        ),
        (
            "{id: a, user: 'a:{x}', groups: [], target: {kind: Nope, name: x}}".into(),
            "subjects[0].target.kind",
            "unknown kind `Nope`",
        ),
        (
            "{id: a, user: 'a:{x}', groups: [], target: {kind: Unit, namespace: n, name: x}}"
                .into(),
            "subjects[0].target.kind",
            "`Unit` is not one of `targets`",
        ),
        (
            "{id: a, user: 'a:{x}', groups: [], target: {kind: Site, namespace: n, name: x}}"
                .into(),
            "subjects[0].target.namespace",
            "not namespaced",
        ),
    ] {
        let found = faults(&format!("subjects:\n  - {subject}\n"));
        let here = found.iter().any(|(p, m)| p == path && m.contains(message));
        assert!(here && found.len() == 1, "{subject}: {found:?}");
    }
    let twice = format!(
        "subjects:\n  - {{id: a, user: 'a', groups: [], target: {{kind: Site, name: x}}}}\n  - {{id: a, user: 'b:{{name}}', groups: [], {target}}}\n"
    );
    assert_eq!(
        faults(&twice),
        [(
            "subjects[1].id".to_owned(),
            "the id `a` is already used by subjects[0]".to_owned()
        )]
    );
    assert_eq!(
        faults("subjects: []"),
        [(
            "subjects".to_owned(),
            "name at least one subject".to_owned()
        )]
    );
}

#[test]
fn rules() {
    for (rule, path, message) in [
        (
            "resources: []\n    always: [get]",
            "rules[0].resources",
            "at least one",
        ),
        (
            "resources: [a/b/c]\n    always: [get]",
            "rules[0].resources[0]",
            "invalid resource",
        ),
        (
            "resources: ['']\n    always: [get]",
            "rules[0].resources[0]",
            "invalid resource",
        ),
        (
            "resources: [.x.io]\n    always: [get]",
            "rules[0].resources[0]",
            "invalid resource",
        ),
        (
            "resources: [pods.]\n    always: [get]",
            "rules[0].resources[0]",
            "invalid resource",
        ),
        (
            "resources: [pods, pods]\n    always: [get]",
            "rules[0].resources[1]",
            "twice",
        ),
        (
            "resources: [pods]\n    path: [get]",
            "rules[0].resources[0]",
            "no kind in `vertices` has the resource `pods`",
        ),
        (
            "resources: [sites]\n    path: [get]",
            "rules[0].resources[0]",
            "no kind in `vertices` has the resource `sites`",
        ),
        ("resources: [pods]", "rules[0]", "allows nothing"),
        (
            "resources: [pods]\n    always: ['']",
            "rules[0].always[0]",
            "invalid verb",
        ),
        (
            "resources: [pods]\n    always: ['*']",
            "rules[0].always[0]",
            "name the verbs",
        ),
        (
            "resources: [sites.x.io]\n    always: [get]\n    path: [list, get]",
            "rules[0].path[1]",
            "already in `always`",
        ),
        (
            "resources: [pods]\n    named: [{verbs: [], name: x}]",
            "rules[0].named[0].verbs",
            "at least one verb",
        ),
        (
            "resources: [pods]\n    named: [{verbs: [get], name: ''}]",
            "rules[0].named[0].name",
            "empty",
        ),
        (
            "resources: [pods]\n    named: [{verbs: [get], name: '{z}'}]",
            "rules[0].named[0].name",
            "no subject captures `{z}`",
        ),
        (
            "resources: [pods]\n    named: [{verbs: [get], name: '{x}'}]",
            "rules[0].named[0].name",
            "subject `a` has no `{x}`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    namespaces: ['{namespace}']",
            "rules[0].namespaces[0]",
            "subject `a` has no `{namespace}`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    namespaces: []",
            "rules[0].namespaces",
            "omit `namespaces`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    namespaceReason: x",
            "rules[0].namespaceReason",
            "no `namespaces`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    subjects: []",
            "rules[0].subjects",
            "omit `subjects`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    subjects: [a, c]",
            "rules[0].subjects[1]",
            "unknown subject `c`",
        ),
        (
            "resources: [pods]\n    always: [get]\n    subresources: ['']",
            "rules[0].subresources[0]",
            "invalid subresource",
        ),
        (
            "resources: [pods/log]\n    always: [get]\n    subresources: [x]",
            "rules[0].subresources",
            "covers only subresources",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: []}]",
            "rules[0].shortcuts[0].verbs",
            "at least one verb",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: [get], name: x, namePrefix: y}]",
            "rules[0].shortcuts[0]",
            "can't be combined",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: [get], nameExpression: 'subject.name +'}]",
            "rules[0].shortcuts[0].nameExpression",
            "",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: [get], nameExpression: 'request.name'}]",
            "rules[0].shortcuts[0].nameExpression",
            "request",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: [get], nameExpression: \"lookup('Site', '', 'x').a\"}]",
            "rules[0].shortcuts[0].nameExpression",
            "only on `subject`",
        ),
        (
            "resources: [pods]\n    shortcuts: [{verbs: [get], namePrefix: ''}]",
            "rules[0].shortcuts[0].namePrefix",
            "empty",
        ),
        (
            "resources: [pods]\n    always: [list]\n    selectors: [{field: f, equals: x}]",
            "rules[0].selectors",
            "in `path`",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{field: f}]",
            "rules[0].selectors[0]",
            "`equals` is missing",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{equals: f}]",
            "rules[0].selectors[0]",
            "`label` or `field` is missing",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{label: l, field: f, equals: f}]",
            "rules[0].selectors[0]",
            "can't be combined",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{label: l, equals: '{y}'}]",
            "rules[0].selectors[0].equals",
            "no subject captures `{y}`",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{label: l, all: [{field: f, equals: x}]}]",
            "rules[0].selectors[0]",
            "can't be combined",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{all: [{all: [{field: f, equals: x}]}]}]",
            "rules[0].selectors[0].all[0]",
            "nested",
        ),
        (
            "resources: [sites.x.io]\n    path: [list]\n    selectors: [{all: [{field: '', equals: x}]}]",
            "rules[0].selectors[0].all[0].field",
            "empty",
        ),
        (
            "resources: [sites.x.io]\n    path: [get]\n    deleteUnknown: true",
            "rules[0].deleteUnknown",
            "`delete` is not in `path`",
        ),
    ] {
        let found = faults(&format!("{SUBJECTS}rules:\n  - {rule}\n"));
        let here = found.iter().any(|(p, m)| p == path && m.contains(message));
        assert!(here && found.len() == 1, "{rule}: {found:?}");
    }
}

#[test]
fn static_rules() {
    for (rule, path, message) in [
        ("{verbs: [get]}", "static[0]", "neither"),
        (
            "{verbs: [], resources: [pods]}",
            "static[0].verbs",
            "at least one verb",
        ),
        (
            "{verbs: [get], paths: [healthz]}",
            "static[0].paths[0]",
            "begin with `/`",
        ),
        (
            "{verbs: [get], paths: ['/a*b']}",
            "static[0].paths[0]",
            "at the end",
        ),
        (
            "{verbs: [get], resources: [pods], subjects: [z]}",
            "static[0].subjects[0]",
            "unknown subject",
        ),
        (
            "{verbs: [get], resources: [pods], namespaces: ['{x}']}",
            "static[0].namespaces[0]",
            "subject `a` has no `{x}`",
        ),
    ] {
        let found = faults(&format!("{SUBJECTS}static:\n  - {rule}\n"));
        let here = found.iter().any(|(p, m)| p == path && m.contains(message));
        assert!(here && found.len() == 1, "{rule}: {found:?}");
    }
}
