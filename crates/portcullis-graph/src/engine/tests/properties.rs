//! After any sequence of changes: the same graph as one made of the final objects, and every answer the same
//! as a plain search's.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::records::Leading;
use super::super::set::Set;
use super::super::{Graph, Reach};
use super::model::{Model, Named, TARGET, by_ref, replace, shape, vertex};

/// The kinds besides the target, and how many names each kind has.
const KINDS: u16 = 5;
const NAMES: u8 = 4;

#[derive(Debug, Clone)]
enum Change {
    Replace(Named, Vec<(Named, Named)>),
    Remove(Named),
}

#[derive(Debug, Clone, Copy)]
enum Cycles {
    /// Kinds lead to larger kinds, to the target, and from the target anywhere.
    ThroughTargets,
    /// Any kind leads to any.
    Anywhere,
}

fn vertices() -> impl Strategy<Value = Named> {
    (0..KINDS, 0..NAMES).prop_map(|(kind, name)| named(kind, name))
}

fn named(kind: u16, name: u8) -> Named {
    match (kind, name) {
        (TARGET, _) => vertex(kind, "", &format!("t{name}")),
        (3, 3) => vertex(kind, "ns3", &"long-".repeat(80)),
        _ => vertex(kind, &format!("ns{}", name % 3), &format!("n{name}")),
    }
}

fn edges(cycles: Cycles) -> impl Strategy<Value = (Named, Named)> {
    (vertices(), vertices()).prop_map(move |(from, to)| match cycles {
        Cycles::Anywhere => (from, to),
        Cycles::ThroughTargets => {
            let (a, b) = (from.0.0, to.0.0);
            if a == TARGET || b == TARGET || a < b {
                (from, to)
            } else if a > b {
                (to, from)
            } else {
                let target = named(TARGET, u8::try_from(to.2.len() % 4).unwrap());
                (from, target)
            }
        }
    })
}

fn changes(cycles: Cycles) -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        4 => (vertices(), prop::collection::vec(edges(cycles), 0..6))
            .prop_map(|(owner, edges)| Change::Replace(owner, edges)),
        1 => vertices().prop_map(Change::Remove),
    ];
    prop::collection::vec(change, 1..40)
}

fn apply(graph: &Graph, model: &mut Model, change: &Change) {
    match change {
        Change::Replace(owner, edges) => {
            let wanted: BTreeSet<_> = edges.iter().cloned().collect();
            let before = model.objects.insert(owner.clone(), wanted.clone());
            let changed = replace(graph, owner, edges);
            assert_eq!(changed, before != Some(wanted));
        }
        Change::Remove(owner) => {
            let was_there = model.objects.remove(owner).is_some();
            assert_eq!(graph.remove(by_ref(owner)), was_there);
        }
    }
}

fn universe() -> impl Iterator<Item = Named> {
    (0..KINDS).flat_map(|kind| (0..NAMES).map(move |name| named(kind, name)))
}

/// Everything that can be asked is as the model says.
fn assert_like(graph: &Graph, model: &Model) {
    let there = model.vertices();
    assert_eq!(graph.counts(), (there.len(), model.edges().count()));
    for from in universe() {
        let reference = by_ref(&from);
        assert_eq!(graph.contains(reference), there.contains(&from));
        let distances = model.distances(&from);
        let expected = there.contains(&from).then(|| model.view(&from));
        assert_eq!(graph.view(reference, usize::MAX), expected);
        let targets: Vec<Named> = distances
            .keys()
            .filter(|to| to.0.0 == TARGET && there.contains(&from))
            .map(|to| (*to).clone())
            .collect();
        assert_eq!(graph.targets(reference, usize::MAX), targets);
        assert_eq!(graph.targets(reference, 1).len(), targets.len().min(1));
        for to in universe() {
            let distance = distances.get(&to).filter(|_| there.contains(&from));
            let expected = match (there.contains(&from), distance) {
                (false, _) => Reach::Unknown,
                (true, Some(_)) => Reach::Yes,
                (true, None) => Reach::No,
            };
            let reach = graph.leads(reference, by_ref(&to));
            assert_eq!(reach, expected, "{from:?} to {to:?}");
            let path = graph.path(reference, by_ref(&to));
            assert_eq!(path.as_ref().map(Vec::len), distance.map(|d| d + 1));
            for step in path.iter().flat_map(|path| path.windows(2)) {
                let mut edges = model.edges();
                assert!(edges.any(|(from, to, _)| (from, to) == (&step[0], &step[1])));
            }
            let some = graph.some_path(reference, by_ref(&to), 4096);
            assert!(some.is_none() || distance.is_some(), "{from:?} to {to:?}");
            if let Some(some) = some {
                assert_eq!((some.first(), some.last()), (Some(&from), Some(&to)));
                for step in some.windows(2) {
                    let mut edges = model.edges();
                    assert!(edges.any(|(from, to, _)| (from, to) == (&step[0], &step[1])));
                }
            }
            let at_once = graph.some_path(reference, by_ref(&to), 0);
            assert_eq!(at_once.is_some(), from == to && there.contains(&from));
            let spots = (graph.handle(reference), graph.handle(by_ref(&to)));
            if let (Some(a), Some(b)) = spots
                && let Some(leads) = graph.leads_from(a, b)
            {
                assert_eq!(leads, expected == Reach::Yes);
            }
        }
    }
    let all: Vec<Named> = there.into_iter().cloned().collect();
    assert_eq!(graph.list(None, None, None, usize::MAX), all);
}

/// All sets of a graph, with names in place of numbers.
type Sets = (
    BTreeMap<Named, BTreeMap<Named, u32>>,
    BTreeMap<Named, BTreeSet<Named>>,
);

fn sets(graph: &Graph) -> Sets {
    let store = graph.read();
    let (mut reach, mut sources) = (BTreeMap::new(), BTreeMap::new());
    let name = |target| store.vertices.named(store.targets.vertex(target)).unwrap();
    for of in graph.list(None, None, None, usize::MAX) {
        let (hash, reference) = graph.hashed(by_ref(&of));
        let record = store.vertex(store.vertices.find(hash, reference).unwrap());
        let record = record.unwrap();
        if !store.counting {
            continue;
        }
        if record.kind == TARGET {
            let number = record.reach.own_number();
            let set = store.targets.sources(number);
            let set = set.into_iter().flat_map(Set::iter);
            sources.insert(of, set.map(|member| name(member.number)).collect());
            continue;
        }
        let counts = match record.reach.look() {
            Leading::Nowhere => BTreeMap::new(),
            Leading::One(target, count) => BTreeMap::from([(name(target), count)]),
            Leading::Several(set) => {
                let set = store.sets.get(set).unwrap().iter();
                set.map(|member| (name(member.number), member.count))
                    .collect()
            }
        };
        reach.insert(of, counts);
    }
    (reach, sources)
}

/// Nothing is kept of what was once there.
fn assert_empty(graph: &Graph) {
    assert_eq!(graph.counts(), (0, 0));
    let store = graph.read();
    assert_eq!(store.vertices.names.len(), 0);
    assert_eq!(store.vertices.names.pages(), 0);
    assert_eq!(store.vertices.namespaces.len(), 0);
    assert_eq!(store.vertices.index_capacity(), 0);
    assert_eq!(store.sets.len(), 0);
    assert_eq!(store.targets.len(), 0);
    assert!(store.steps.is_empty() && store.work.is_empty());
}

fn run(acyclic: bool, changes: &[Change], every_step: bool) {
    let graph = Graph::new(shape(acyclic));
    let mut model = Model::default();
    for change in changes {
        apply(&graph, &mut model, change);
        if every_step {
            assert_like(&graph, &model);
        }
    }
    assert_like(&graph, &model);
    let counting = graph.read().counting;
    let rebuilt = model.build(acyclic && counting);
    assert_like(&rebuilt, &model);
    assert_eq!(sets(&graph), sets(&rebuilt));
    for owner in model.objects.keys() {
        assert!(graph.remove(by_ref(owner)));
    }
    assert_empty(&graph);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_changes_give_the_graph_of_the_final_objects(changes in changes(Cycles::ThroughTargets)) {
        run(true, &changes, false);
    }

    #[test]
    fn cycles_anywhere_are_searched(changes in changes(Cycles::Anywhere)) {
        run(false, &changes, false);
    }

    #[test]
    fn a_wrong_shape_gives_right_answers(changes in changes(Cycles::Anywhere)) {
        run(true, &changes, false);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_step_on_the_way_is_right(changes in changes(Cycles::ThroughTargets)) {
        run(true, &changes, true);
    }
}
