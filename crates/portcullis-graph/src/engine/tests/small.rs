//! Single cases: lifetimes of vertices, owners, large sets, limits.

use super::super::{Graph, Reach};
use super::model::{Named, TARGET, by_ref, replace, shape, vertex};
use crate::vertex::VertexRef;

fn seed(name: &str) -> Named {
    vertex(TARGET, "", name)
}

fn shoot(name: &str) -> Named {
    vertex(2, "garden", name)
}

fn secret(name: &str) -> Named {
    vertex(1, "garden", name)
}

fn leads(graph: &Graph, from: &Named, to: &Named) -> Reach {
    graph.leads(by_ref(from), by_ref(to))
}

#[test]
fn a_vertex_lives_while_something_names_it() {
    let graph = Graph::new(shape(true));
    replace(&graph, &shoot("a"), &[(shoot("a"), seed("s"))]);
    assert_eq!(leads(&graph, &seed("s"), &seed("s")), Reach::Yes);
    replace(&graph, &seed("s"), &[(secret("x"), seed("s"))]);
    assert!(graph.remove(by_ref(&seed("s"))));
    assert!(!graph.contains(by_ref(&secret("x"))));
    assert!(graph.contains(by_ref(&seed("s"))));
    assert!(graph.remove(by_ref(&shoot("a"))));
    assert!(!graph.remove(by_ref(&shoot("a"))));
    assert_eq!(graph.counts(), (0, 0));
}

#[test]
fn an_edge_of_two_owners_stays_with_the_other() {
    let graph = Graph::new(shape(true));
    let edge = [(secret("x"), shoot("a")), (shoot("a"), seed("s"))];
    replace(&graph, &shoot("a"), &edge);
    replace(&graph, &shoot("b"), &edge);
    assert_eq!(graph.counts(), (4, 4));
    graph.remove(by_ref(&shoot("a")));
    assert_eq!(leads(&graph, &secret("x"), &seed("s")), Reach::Yes);
    assert!(replace(&graph, &shoot("b"), &edge[..1]));
    assert_eq!(leads(&graph, &secret("x"), &seed("s")), Reach::No);
    assert!(!replace(&graph, &shoot("b"), &edge[..1]));
}

#[test]
fn a_recreated_object_keeps_edges_of_others() {
    let graph = Graph::new(shape(true));
    replace(
        &graph,
        &shoot("a"),
        &[(secret("x"), shoot("a")), (shoot("a"), seed("s"))],
    );
    replace(&graph, &secret("x"), &[]);
    graph.remove(by_ref(&secret("x")));
    replace(&graph, &secret("x"), &[]);
    assert_eq!(leads(&graph, &secret("x"), &seed("s")), Reach::Yes);
}

#[test]
fn large_sets_answer_through_chains_of_targets() {
    let graph = Graph::new(shape(true));
    let profile = secret("profile");
    // Even seeds are themselves on one of two roots; all shoots use one profile but the last.
    for number in 0..300 {
        let (name, root) = (format!("s{number}"), format!("root{}", number % 4 / 2));
        let mut edges = vec![(shoot(&name), seed(&name))];
        if number % 2 == 0 {
            edges.push((seed(&name), seed(&root)));
        }
        if number % 4 == 0 {
            edges.push((profile.clone(), shoot(&name)));
        }
        replace(&graph, &shoot(&name), &edges);
    }
    replace(&graph, &seed("root1"), &[]);
    assert_eq!(leads(&graph, &profile, &seed("root0")), Reach::Yes);
    assert_eq!(leads(&graph, &profile, &seed("root1")), Reach::No);
    assert_eq!(leads(&graph, &profile, &seed("s296")), Reach::Yes);
    assert_eq!(leads(&graph, &profile, &seed("s298")), Reach::No);
    assert_eq!(graph.targets(by_ref(&profile), 1000).len(), 76);
    assert_eq!(graph.targets(by_ref(&profile), 10).len(), 10);
    let path = graph.path(by_ref(&profile), by_ref(&seed("root0")));
    assert_eq!(path.map(|path| path.len()), Some(4));
    for number in 0..300 {
        graph.remove(by_ref(&shoot(&format!("s{number}"))));
    }
    assert_eq!(graph.counts(), (1, 0));
}

#[test]
fn lists_give_the_first_ones_that_pass() {
    let graph = Graph::new(shape(true));
    for number in (0..10_000).rev() {
        let namespace = format!("ns{}", number % 3);
        let object = vertex(1 + number % 2, &namespace, &format!("o{number:05}"));
        replace(&graph, &object, &[]);
    }
    let found = graph.list(None, None, None, 3);
    let names: Vec<&str> = found.iter().map(|(_, _, name)| name.as_str()).collect();
    assert_eq!(names, ["o00000", "o00006", "o00012"]);
    let kind = crate::vertex::KindId(2);
    let found = graph.list(Some(kind), Some("ns1"), None, usize::MAX);
    assert_eq!(found.len(), 1667);
    assert!(found.is_sorted());
    assert_eq!(graph.list(None, None, Some("o09999"), 5).len(), 1);
    let one = graph.list(Some(kind), Some("ns0"), Some("o09999"), 5);
    assert_eq!(one.len(), 1);
    assert!(graph.list(None, Some("none"), None, 5).is_empty());
    assert!(graph.list(None, None, None, 0).is_empty());
}

#[test]
fn a_search_gives_the_lowest_ranks_and_says_whether_there_are_more() {
    let graph = Graph::new(shape(true));
    for number in 0..10_000 {
        let object = vertex(1, "ns", &format!("o{number:05}"));
        replace(&graph, &object, &[]);
    }
    let rank = |of: VertexRef<'_>| match of.name {
        "o07777" => Some(0),
        name => name.contains("77").then_some(1),
    };
    let names = |limit| -> Vec<String> {
        let found = graph.find(limit, rank, || true);
        assert!(found.is_cut);
        found.vertices.into_iter().map(|one| one.2).collect()
    };
    assert_eq!(names(3), ["o07777", "o00077", "o00177"]);
    assert!(names(0).is_empty());
    let all = graph.find(1000, rank, || true);
    assert!(!all.is_cut);
    assert!(all.vertices.len() > 200, "{}", all.vertices.len());
    let mut looks = 0;
    let ended = graph.find(1000, rank, || {
        looks += 1;
        looks < 2
    });
    assert!(ended.is_cut && ended.vertices.len() < all.vertices.len());
    assert!(!ended.vertices.is_empty());
}

#[test]
fn views_are_cut_at_the_limit() {
    let graph = Graph::new(shape(true));
    let hub = secret("hub");
    for number in 0..1000 {
        let name = format!("s{number}");
        replace(&graph, &shoot(&name), &[(hub.clone(), shoot(&name))]);
    }
    for (limit, shown) in [(0, 0), (1, 1), (700, 700), (5000, 1000)] {
        let view = graph.view(by_ref(&hub), limit).unwrap();
        assert_eq!((view.incoming.len(), view.outgoing.len()), (0, shown));
        assert!(view.outgoing.is_sorted() && !view.is_object);
    }
}

#[test]
fn a_spot_is_good_until_the_graph_changes() {
    let graph = Graph::new(shape(true));
    replace(&graph, &shoot("a"), &[(shoot("a"), seed("s"))]);
    let spot = |vertex: &Named| graph.handle(by_ref(vertex)).unwrap();
    let (from, to) = (spot(&shoot("a")), spot(&seed("s")));
    assert_eq!(graph.leads_from(from, to), Some(true));
    assert!(!replace(&graph, &shoot("a"), &[(shoot("a"), seed("s"))]));
    assert_eq!(graph.leads_from(from, to), Some(true));
    replace(&graph, &shoot("b"), &[]);
    assert_eq!(graph.leads_from(from, to), None);
    assert_eq!(graph.leads_from(to, from), None);
}
