//! What admission rules mean, on a small profile of its own.

use serde_json::json;

use super::world::{Ask, World, wanted};
use crate::admission::Judgement;
use crate::lookups::LookupResult;

type Who = (&'static str, &'static str, &'static str);

const A: Who = ("agent", "Site", "north");
const B: Who = ("other", "Site", "north");

fn profile(admission: &str) -> String {
    format!(
        "
kind: RelationshipGraph
targets: [Site]
vertices:
  Site: {{resource: sites}}
  Thing: {{resource: things, namespaced: true}}
subjects:
  - {{id: agent, user: 'agent:{{name}}', groups: [agents], target: {{kind: Site, name: '{{name}}'}}}}
  - {{id: other, user: 'other:{{name}}', groups: [agents], target: {{kind: Site, name: '{{name}}'}}}}
admission:
{admission}
"
    )
}

fn things(cases: &str) -> World {
    let rules = format!(
        "  rules:\n    - resources: [things]\n      operations: [CREATE]\n      cases:\n{cases}"
    );
    World::new(&profile(&rules))
}

#[test]
fn without_words_for_others_they_pass() {
    let world = things("        - {}\n");
    let thing = |resource| Ask::create(resource, "ns/x", json!({})).by(A);
    world.expect(&thing("things"), "ok");
    world.expect(&thing("things/part"), "none");
    world.expect(&thing("others"), "none");
    world.expect(&Ask::delete("things", "ns/x", json!({})).by(A), "none");
}

#[test]
fn a_rule_is_for_its_subjects_and_the_first_counts() {
    let world = World::new(&profile(
        "
  otherResources: {code: 400, message: 'what is {request.resource}/{request.subresource} of {request.group}?'}
  otherOperations: {code: 405, message: 'no {request.operation} by {subject.id}'}
  rules:
    - {resources: [things], operations: [CREATE], subjects: [agent], cases: [{}]}
    - {resources: [things], operations: [CREATE, DELETE], cases: [], otherwise: {code: 409, message: 'second'}}
    - {resources: [things/a], operations: [CREATE], cases: [{}]}
    - {resources: ['things/*'], operations: [CREATE], cases: [], otherwise: {message: 'part {request.subresource}'}}
    - {resources: [sites.example.org], operations: [CREATE], subjects: [other], cases: [{}]}
",
    ));
    let create = |resource| Ask::create(resource, "ns/x", json!({}));
    world.expect(&create("things").by(A), "ok");
    world.expect(&create("things").by(B), "409");
    world.expect(&Ask::delete("things", "ns/x", json!({})).by(A), "409");
    let change = Ask::update("things", "ns/x", json!({}), json!({}));
    assert_eq!(world.message(&change.by(A)), "no UPDATE by agent");
    world.expect(&create("things/a").by(A), "ok");
    assert_eq!(world.message(&create("things/b").by(A)), "part b");
    world.expect(&create("sites.example.org").by(B), "ok");
    let other = create("sites.example.org/status").by(A);
    assert_eq!(
        world.message(&other),
        "what is sites/status of example.org?"
    );
    world.expect(&create("sites.example.org").by(A), "400");
}

#[test]
fn the_first_case_that_holds_decides_and_requirements_go_in_order() {
    let world = things(
        "
        - when: object.kind == 'first'
          require:
            - {that: object.a, message: 'a of {name}'}
            - {that: object.b == 1, code: 422, message: b}
        - when: object.kind == 'second'
      otherwise: {code: 404, message: neither}
",
    );
    let create = |object| Ask::create("things", "ns/x", object).by(A);
    world.expect(&create(json!({"kind": "second"})), "ok");
    world.expect(&create(json!({"kind": "third"})), "404");
    world.expect(&create(json!({})), "404");
    world.expect(&create(json!({"kind": "first", "a": true, "b": 1})), "ok");
    world.expect(&create(json!({"kind": "first", "a": true, "b": 2})), "422");
    // What is missing is not true; what is neither true nor false can't be judged.
    assert_eq!(
        world.message(&create(json!({"kind": "first", "b": 2}))),
        "a of north"
    );
    world.expect(&create(json!({"kind": "first", "a": 1})), "400");
    let Judgement::Refuse { rule, .. } = world.judge(&create(json!({"kind": "first", "a": true})))
    else {
        panic!("not refused");
    };
    assert_eq!(rule, "admission.rules[0].cases[0].require[1]");
}

#[test]
fn values_are_computed_when_they_are_needed() {
    let world = things(
        "
        - let:
            - {name: thing, value: \"lookup('Thing', request.namespace, object.of)\"}
            - {name: site, value: thing.site}
          require:
            - {that: request.name != 'none', message: early}
            - {that: site == subject.name, message: \"site {site} of {thing}\"}
",
    );
    let create = |name: &str, of: &str| {
        Ask::create("things", &format!("ns/{name}"), json!({"of": of})).by(A)
    };
    let world = world
        .with("Thing", "ns/here", json!({"site": "north"}))
        .with("Thing", "ns/there", json!({"site": "south"}))
        .with_found("Thing", "ns/unread", LookupResult::Unread)
        .with_found(
            "Thing",
            "ns/broken",
            LookupResult::Failed("no answer".into()),
        );
    world.expect(&create("x", "here"), "ok");
    assert!(
        world
            .message(&create("x", "there"))
            .starts_with("site south of {\\\"metadata")
    );
    assert_eq!(world.message(&create("x", "gone")), "site  of ");
    assert_eq!(
        world.judge(&create("x", "unread")),
        Judgement::Needs(vec![wanted("Thing", "ns/unread")])
    );
    assert_eq!(
        world.judge(&create("x", "broken")),
        Judgement::Failed("no answer".into())
    );
    assert_eq!(world.message(&create("none", "unread")), "early");
}

#[test]
fn expressions_see_who_asks_for_what() {
    let world = things(
        "
        - require:
            - {that: request.operation == 'CREATE' && request.resource == 'things' && request.group == '', message: a}
            - {that: request.subresource == '' && request.namespace == 'ns' && request.name == 'x', message: b}
            - {that: request.user == 'somebody' && size(request.groups) == 0 && request.options == null, message: c}
            - {that: subject.id == 'agent' && subject.kind == 'Site' && subject.name == 'north', message: d}
            - {that: oldObject == null && object.metadata.name == 'x', message: e}
",
    );
    world.expect(&Ask::create("things", "ns/x", json!({})).by(A), "ok");
}
