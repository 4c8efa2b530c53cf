//! What one object contributes.

use super::*;

/// The edges and words of one Show.
fn look(edge: &str, rest: &Value) -> (Vec<String>, Vec<String>) {
    let following = following(&theatre(&format!("- {{kind: Show, edges: [{edge}]}}")));
    let applied = following.state.apply(&object("Show", "a", "s", rest));
    let mut edges = following.edges("Hall");
    assert_eq!(edges.remove(0), "Show:a/s");
    match applied {
        Applied::Followed(malformed) => {
            assert_eq!(*following.told.malformed.lock().unwrap(), malformed);
            let edges = edges.iter().map(|edge| edge.replace("Show:a/s: ", ""));
            (edges.collect(), malformed)
        }
        other => panic!("{other:?}"),
    }
}

fn fine(edge: &str, rest: &Value, edges: &[&str]) {
    assert_eq!(
        look(edge, rest),
        (edges.iter().map(|&e| e.to_owned()).collect(), vec![]),
        "{edge} {rest}"
    );
}

fn odd(edge: &str, rest: &Value, edges: &[&str], words: &str) {
    let (found, malformed) = look(edge, rest);
    assert_eq!(
        (
            found
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .as_slice(),
            malformed.as_slice()
        ),
        (edges, [words.to_owned()].as_slice()),
        "{edge} {rest}"
    );
}

#[test]
fn names_and_references() {
    let to_hall = "{to: Hall, names: self.hall}";
    fine(to_hall, &json!({"hall": "h"}), &["Show:a/s -> Hall:h"]);
    for nothing in [
        json!({}),
        json!({"hall": null}),
        json!({"hall": ""}),
        json!({"hall": []}),
        json!({"hall": {}}),
        json!({"hall": {"name": ""}}),
        json!({"hall": [null, ""]}),
    ] {
        fine(to_hall, &nothing, &[]);
    }
    fine(
        to_hall,
        &json!({"hall": {"name": "h", "namespace": "ignored"}}),
        &["Show:a/s -> Hall:h"],
    );
    fine(
        to_hall,
        &json!({"hall": {"kind": "Hall", "name": "h"}}),
        &["Show:a/s -> Hall:h"],
    );
    fine(
        to_hall,
        &json!({"hall": {"kind": "Seat", "name": "h"}}),
        &[],
    );
    fine(
        to_hall,
        &json!({"hall": ["h", {"name": "i"}, "h"]}),
        &["Show:a/s -> Hall:h", "Show:a/s -> Hall:i"],
    );
    fine(
        "{from: Seat, names: [self.x.y, self.seat]}",
        &json!({"seat": "1"}),
        &["Seat:a/1 -> Show:a/s"],
    );
    let wrong = "edges[0].names: it is neither a name nor a reference";
    odd(to_hall, &json!({"hall": 3}), &[], wrong);
    odd(
        to_hall,
        &json!({"hall": ["h", 3, true, ["i"]]}),
        &["Show:a/s -> Hall:h"],
        wrong,
    );
    odd(
        to_hall,
        &json!({"hall": {"nome": "h"}}),
        &[],
        "edges[0].names: a reference has no name",
    );
    odd(
        to_hall,
        &json!({"hall": {"name": null}}),
        &[],
        "edges[0].names: a reference has no name",
    );
    odd(
        to_hall,
        &json!({"hall": {"name": 1}}),
        &[],
        "edges[0].names: the `name` of a reference is not text",
    );
    odd(
        to_hall,
        &json!({"hall": {"name": "h", "kind": 1}}),
        &[],
        "edges[0].names: the `kind` of a reference is not text",
    );
    odd(
        "{to: Hall, names: [self.a.b, self.hall]}",
        &json!({"a": "text", "hall": "h"}),
        &["Show:a/s -> Hall:h"],
        "edges[0].names[0]: a string has no member `b`",
    );
}

#[test]
fn several_kinds() {
    let edge = "{from: [Seat, Company], names: self.refs}";
    fine(
        edge,
        &json!({"refs": [{"kind": "Seat", "name": "1"}, {"kind": "Company", "name": "c"}, {"kind": "Ticket", "name": "t"}]}),
        &["Company:c -> Show:a/s", "Seat:a/1 -> Show:a/s"],
    );
    fine(edge, &json!({"refs": [{"kind": "", "name": ""}]}), &[]);
    odd(
        edge,
        &json!({"refs": "1"}),
        &[],
        "edges[0].names: a name alone does not have a kind",
    );
    odd(
        edge,
        &json!({"refs": {"name": "1"}}),
        &[],
        "edges[0].names: a reference has no kind",
    );
}

#[test]
fn exact_references() {
    let edge = "{to: Hall, exact: true, names: self.ref}";
    let reference =
        |version: &str| json!({"ref": {"apiVersion": version, "kind": "Hall", "name": "h"}});
    fine(
        edge,
        &reference("theatre.example/v2"),
        &["Show:a/s -> Hall:h"],
    );
    fine(edge, &reference("theatre.example/v1"), &[]);
    fine(edge, &json!({"ref": {"kind": "Hall", "name": "h"}}), &[]);
    let core = "{from: Seat, exact: true, names: self.ref}";
    fine(
        core,
        &json!({"ref": {"apiVersion": "v1", "name": "1"}}),
        &["Seat:a/1 -> Show:a/s"],
    );
    fine(
        "{to: Hall, names: self.ref}",
        &reference("other/v9"),
        &["Show:a/s -> Hall:h"],
    );
}

#[test]
fn namespaces() {
    let edge = "{from: Seat, namespace: self.ns, names: self.ref}";
    fine(
        edge,
        &json!({"ns": "b", "ref": "1"}),
        &["Seat:b/1 -> Show:a/s"],
    );
    fine(
        edge,
        &json!({"ns": "b", "ref": {"namespace": "c", "name": "1"}}),
        &["Seat:c/1 -> Show:a/s"],
    );
    fine(
        edge,
        &json!({"ns": "b", "ref": {"namespace": "", "name": "1"}}),
        &["Seat:b/1 -> Show:a/s"],
    );
    odd(
        edge,
        &json!({"ref": "1"}),
        &[],
        "edges[0].names: the namespace is missing",
    );
    odd(
        edge,
        &json!({"ns": 1, "ref": "1"}),
        &[],
        "edges[0].namespace: expected text",
    );
    // Where it is not needed it is not evaluated.
    fine(
        "{to: Hall, namespace: self.ns.x, names: self.ref}",
        &json!({"ns": 1, "ref": "h"}),
        &["Show:a/s -> Hall:h"],
    );
    let company = following(&theatre(
        "- {kind: Company, edges: [{from: Seat, names: self.seat}]}",
    ));
    assert_eq!(
        company
            .state
            .apply(&object("Company", "ignored", "c", &json!({"seat": "1"}))),
        Applied::Followed(vec!["edges[0].names: the namespace is missing".to_owned()])
    );
    assert_eq!(company.edges("Hall"), ["Company:c"]);
}

#[test]
fn conditions_and_other_ends() {
    let when = "{to: Hall, when: self.open, names: self.hall}";
    fine(
        when,
        &json!({"open": true, "hall": "h"}),
        &["Show:a/s -> Hall:h"],
    );
    fine(when, &json!({"open": false, "hall": "h"}), &[]);
    fine(when, &json!({"hall": "h"}), &[]);
    odd(
        when,
        &json!({"open": 1, "hall": "h"}),
        &[],
        "edges[0].when: it is an integer, not true or false",
    );
    let of = "{to: Hall, names: self.hall, of: {kind: Seat, name: self.seat, namespace: self.ns}}";
    fine(
        of,
        &json!({"hall": "h", "seat": "1", "ns": "b"}),
        &["Seat:b/1 -> Hall:h"],
    );
    fine(of, &json!({"hall": "h", "ns": "b"}), &[]);
    odd(
        of,
        &json!({"hall": "h", "seat": "1"}),
        &[],
        "edges[0].of.name: the namespace is missing",
    );
    odd(
        of,
        &json!({"hall": "h", "seat": {}, "ns": "b"}),
        &[],
        "edges[0].of.name: expected text",
    );
    fine(
        "{from: Seat, names: self.seat, of: {kind: Company, name: self.c}}",
        &json!({"seat": "1", "c": "c"}),
        &["Seat:a/1 -> Company:c"],
    );
}

#[test]
fn odd_names_are_left_out() {
    let edge = "{to: Hall, names: self.hall}";
    let letters = "edges[0].names: invalid name: `/`, `%` and control characters are not allowed";
    for name in ["a/b", "a%2fb", "a\nb", "a\0b", "\u{85}", "a\u{202e}b"] {
        odd(
            edge,
            &json!({"hall": [name, "h"]}),
            &["Show:a/s -> Hall:h"],
            letters,
        );
    }
    fine(
        edge,
        &json!({"hall": "system:a:b"}),
        &["Show:a/s -> Hall:system:a:b"],
    );
    odd(
        edge,
        &json!({"hall": "x".repeat(254)}),
        &[],
        "edges[0].names: the name is longer than 253 bytes",
    );
    odd(
        edge,
        &json!({"hall": ".."}),
        &[],
        "edges[0].names: invalid name: `.` and `..` are not allowed",
    );
    let seat = "{from: Seat, names: self.seat}";
    for namespace in ["a/b", "a:b", "a\0", "x\t"] {
        odd(
            seat,
            &json!({"seat": {"name": "1", "namespace": namespace}}),
            &[],
            "edges[0].names: invalid namespace: `/`, `%`, `:` and control characters are not allowed",
        );
    }
    odd(
        seat,
        &json!({"seat": {"name": "1", "namespace": "n".repeat(64)}}),
        &[],
        "edges[0].names: the namespace is longer than 63 bytes",
    );
}

#[test]
fn graphs_by_target() {
    let following = following(&theatre(
        "
- kind: Show
  edges:
    - {to: Hall, names: self.hall, targets: [Hall]}
    - {from: Seat, names: self.seat}
- {kind: Ticket, targets: [Show], edges: [{to: Show, names: self.show}]}
",
    ));
    following.state.apply(&object(
        "Show",
        "a",
        "s",
        &json!({"hall": "h", "seat": "1"}),
    ));
    following
        .state
        .apply(&object("Ticket", "a", "t", &json!({"show": "s"})));
    assert_eq!(
        following.edges("Hall"),
        [
            "Show:a/s",
            "Show:a/s: Seat:a/1 -> Show:a/s",
            "Show:a/s: Show:a/s -> Hall:h"
        ]
    );
    assert_eq!(
        following.edges("Show"),
        [
            "Show:a/s",
            "Show:a/s: Seat:a/1 -> Show:a/s",
            "Ticket:a/t",
            "Ticket:a/t: Ticket:a/t -> Show:a/s"
        ]
    );
}

#[test]
fn malformed_as_the_profile_says() {
    let following = following(&theatre(
        "- {kind: Show, malformed: [{when: '!has(self.hall)', says: no hall}, {when: self.x.y, says: never}], edges: [{from: Seat, names: self.seat}]}",
    ));
    let applied = following
        .state
        .apply(&object("Show", "a", "s", &json!({"seat": "1"})));
    assert_eq!(applied, Applied::Followed(vec!["no hall".to_owned()]));
    assert_eq!(following.edges("Hall").len(), 2);
}

#[test]
fn objects_that_cannot_be_used() {
    let following = following(&theatre(
        "- {kind: Show, edges: [{to: Hall, names: self.hall}]}\n- {kind: Hall}",
    ));
    let unusable = |object: Value| match following.state.apply(&object) {
        Applied::Unusable(words) => words,
        other => panic!("{other:?}"),
    };
    assert_eq!(unusable(json!(null)), "it has no `apiVersion` and `kind`");
    assert_eq!(
        unusable(json!({"apiVersion": 1, "kind": "Show"})),
        "it has no `apiVersion` and `kind`"
    );
    assert_eq!(
        unusable(json!({"apiVersion": "theatre.example/v1", "kind": "Show"})),
        "metadata.name: the name is empty"
    );
    assert_eq!(
        unusable(json!({"apiVersion": "theatre.example/v1", "kind": "Show", "metadata": [1]})),
        "metadata.name: the name is empty"
    );
    assert_eq!(
        unusable(object("Show", "", "s", &json!({}))),
        "metadata.namespace: the namespace is missing"
    );
    assert_eq!(
        unusable(object("Show", "a\0b", "s", &json!({}))),
        "metadata.namespace: invalid namespace: `/`, `%`, `:` and control characters are not allowed"
    );
    assert_eq!(
        unusable(object("Show", "a", "s/x", &json!({}))),
        "metadata.name: invalid name: `/`, `%` and control characters are not allowed"
    );
    assert_eq!(following.edges("Hall"), Vec::<String>::new());
    assert_eq!(following.state.apply(&json!({"apiVersion": "v1", "kind": "Show", "metadata": {"name": "x", "namespace": "a"}})), Applied::Ignored);
    assert_eq!(
        following.state.apply(&object("Seat", "a", "1", &json!({}))),
        Applied::Ignored
    );
    // One that becomes too large is as one that is gone.
    following
        .state
        .apply(&object("Show", "a", "s", &json!({"hall": "h"})));
    assert_eq!(following.edges("Hall").len(), 2);
    let large = object(
        "Show",
        "a",
        "s",
        &json!({"hall": "h", "list": vec![1; 10_001]}),
    );
    assert_eq!(unusable(large), "a list of it has more than 10000 entries");
    assert_eq!(following.edges("Hall"), Vec::<String>::new());
    // Another kind than the source's.
    let hall = following.source("Hall");
    let applied = following
        .state
        .apply_to(hall, &object("Show", "a", "s", &json!({})));
    assert_eq!(applied, Applied::Unusable("not a Hall".to_owned()));
    let plain = json!({"metadata": {"name": "h"}});
    assert_eq!(
        following.state.apply_to(hall, &plain),
        Applied::Followed(vec![])
    );
}

#[test]
fn too_many_edges_are_left_out() {
    let following = following(&theatre(
        "- {kind: Show, edges: [{from: Seat, names: [self.a, self.b]}]}",
    ));
    let names = |first: usize| {
        (first..first + 6_000)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
    };
    let show = object("Show", "a", "s", &json!({"a": names(0), "b": names(6_000)}));
    let applied = following.state.apply(&show);
    assert_eq!(
        applied,
        Applied::Followed(vec!["edges: there are more than 10000".to_owned()])
    );
    let graph = &following.state.graphs()[0];
    assert_eq!(graph.counts().1, 10_000);
}
