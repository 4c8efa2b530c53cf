//! Faults of sources, and cycles.

use super::*;

fn faults(sources: &str) -> Vec<(String, String)> {
    match profile(&format!("{VERTICES}\nsources:\n{sources}")) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|f| (f.path, f.message)).collect(),
    }
}

#[test]
fn every_fault_has_its_place() {
    for (sources, at, message) in [
        ("- {kind: Hal}", "sources[0].kind", "unknown kind `Hal`"),
        (
            "- {kind: Hall}\n- {kind: Hall}",
            "sources[1].kind",
            "`Hall` already has a source",
        ),
        (
            "- {kind: Hall, targets: [Hall, Seat]}",
            "sources[0].targets[1]",
            "`Seat` is not one of the targets",
        ),
        (
            "- {kind: Hall, only: self.x ==}",
            "sources[0].only",
            "line 1, column 10: it ends too early",
        ),
        (
            "- {kind: Hall, keep: [spec.x, 'spec..y']}",
            "sources[0].keep[1]",
            "invalid path `spec..y`: a member has no name",
        ),
        (
            "- {kind: Hall, malformed: [{when: 'object.x', says: no}]}",
            "sources[0].malformed[0].when",
            "line 1, column 1: unknown variable `object`",
        ),
        (
            "- {kind: Hall, edges: [{names: self.x}]}",
            "sources[0].edges[0]",
            "give either `from` or `to`",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, to: Seat, names: self.x}]}",
            "sources[0].edges[0]",
            "give either `from` or `to`",
        ),
        (
            "- {kind: Hall, edges: [{from: [Seat, Chair], names: self.x}]}",
            "sources[0].edges[0].from[1]",
            "unknown kind `Chair`",
        ),
        (
            "- {kind: Hall, edges: [{to: [], names: self.x}]}",
            "sources[0].edges[0].to",
            "name at least one kind",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: []}]}",
            "sources[0].edges[0].names",
            "give at least one expression",
        ),
        (
            "- {kind: Hall}\n- {kind: Seat, edges: [{to: Show, names: self.x}, {to: Hall, names: [self.x, slef.y]}]}",
            "sources[1].edges[1].names[1]",
            "line 1, column 1: unknown variable `slef`; did you mean `self`?",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: 'slef.y'}]}",
            "sources[0].edges[0].names",
            "line 1, column 1: unknown variable `slef`; did you mean `self`?",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: self.y, namespace: 'x('}]}",
            "sources[0].edges[0].namespace",
            "line 1, column 3: it ends too early",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: self.y, when: 'nope()'}]}",
            "sources[0].edges[0].when",
            "line 1, column 5: unknown function `nope`",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: self.y, of: {kind: Nope, name: self.x}}]}",
            "sources[0].edges[0].of.kind",
            "unknown kind `Nope`",
        ),
        (
            "- {kind: Hall, edges: [{from: Seat, names: self.y, of: {kind: Show, name: '', namespace: self.x}}]}",
            "sources[0].edges[0].of.name",
            "the expression is empty",
        ),
        (
            "- {kind: Hall, targets: [Hall], edges: [{from: Seat, names: self.y, targets: [Show]}]}",
            "sources[0].edges[0].targets",
            "the source does not contribute to all of these targets",
        ),
        (
            "- {kind: Hall, only: \"exists('Seat', '', 'x')\"}",
            "sources[0].only",
            "`Seat` has no source, so it can't be looked up",
        ),
        (
            "- {kind: Hall, only: \"lookup('Seat', '', 'x').y\"}\n- {kind: Seat}",
            "sources[0].only",
            "the source of `Seat` has no fields to look up",
        ),
        (
            "- {kind: Hall, only: \"!exists('Hall', '', 'x')\"}",
            "sources[0].only",
            "the existence of `Hall` objects would depend on itself",
        ),
        (
            "- {kind: Hall, only: \"exists(self.x, '', 'x')\"}",
            "sources[0].only",
            "the existence of `Hall` objects would depend on itself",
        ),
    ] {
        let wanted = (at.to_owned(), message.to_owned());
        assert_eq!(faults(sources), vec![wanted], "{sources}");
    }
    let mutual = "- {kind: Hall, only: \"!exists('Seat', 'a', 'x')\"}\n- {kind: Seat, only: \"!exists('Hall', '', 'x')\"}";
    assert_eq!(faults(mutual).len(), 2);
}

#[test]
fn cycles_between_kinds_are_found() {
    let profile = theatre(
        "
- {kind: Ticket, edges: [{to: Show, names: self.show}, {from: Visitor, names: self.visitor}]}
- {kind: Show, edges: [{to: Hall, names: self.hall}, {from: Visitor, names: self.guest, of: {kind: Seat, name: self.seat}}]}
- {kind: Hall, edges: [{to: Show, names: self.premiere, targets: [Hall]}]}
- {kind: Visitor, edges: [{to: Visitor, names: self.friend, targets: [Show]}]}
",
    );
    let kind = |name: &str| profile.kinds.id(name).unwrap();
    // Hall -> Show -> Hall goes through the target.
    assert_eq!(profile.sources.cycle(kind("Hall")), None);
    assert_eq!(
        profile.sources.cycle(kind("Show")),
        Some(vec![kind("Visitor")])
    );
    let longer = theatre(
        "
- {kind: Ticket, edges: [{to: Seat, names: self.seat}]}
- {kind: Seat, edges: [{to: Visitor, names: self.visitor}]}
- {kind: Visitor, edges: [{to: Ticket, names: self.ticket}, {to: Hall, names: self.hall}]}
",
    );
    let mut cycle = longer.sources.cycle(kind("Hall")).unwrap();
    cycle.sort();
    assert_eq!(cycle, [kind("Seat"), kind("Ticket"), kind("Visitor")]);
}
