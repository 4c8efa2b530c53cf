//! Readers beside a writer: every answer is one that was right between two changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::{Graph, Reach};
use super::model::{Named, TARGET, by_ref, replace, shape, vertex};

const OBJECTS: usize = 2000;
const ROUNDS: usize = 20;

/// The edges of an object in one of its two states. In both its secret leads to the right target and never
/// to the wrong one; with the edges of both it would.
fn edges(object: usize, swapped: bool) -> (Named, Vec<(Named, Named)>) {
    let space = format!("ns{}", object % 50);
    let owner = vertex(4, &space, &format!("owner{object}"));
    let secret = vertex(1, &space, &format!("secret{object}"));
    let (mut used, mut spare) = (
        vertex(2, &space, &format!("x{object}")),
        vertex(2, &space, &format!("y{object}")),
    );
    if swapped {
        std::mem::swap(&mut used, &mut spare);
    }
    let edges = vec![
        (secret, used.clone()),
        (used, right(object)),
        (spare, wrong(object)),
    ];
    (owner, edges)
}

fn right(object: usize) -> Named {
    vertex(TARGET, "", &format!("right{}", object % 100))
}

fn wrong(object: usize) -> Named {
    vertex(TARGET, "", &format!("wrong{}", object % 100))
}

fn secret_of(object: usize) -> Named {
    let (_, edges) = edges(object, false);
    edges[0].0.clone()
}

fn readers_see_whole_changes(acyclic: bool, rounds: usize) {
    let graph = Graph::new(shape(acyclic));
    for object in 0..OBJECTS {
        let (owner, edges) = edges(object, false);
        replace(&graph, &owner, &edges);
    }
    let counts = graph.counts();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (graph, done) = (&graph, &done);
                scope.spawn(move || {
                    let mut asked = 0_usize;
                    let mut object = reader;
                    while !done.load(Ordering::Relaxed) || asked < 1000 {
                        object = (object + 7) % OBJECTS;
                        let (secret, right, wrong) =
                            (secret_of(object), right(object), wrong(object));
                        let ask = |to: &Named| graph.leads(by_ref(&secret), by_ref(to));
                        assert_eq!(ask(&right), Reach::Yes);
                        assert_eq!(ask(&wrong), Reach::No);
                        if asked.is_multiple_of(16) {
                            let path = graph.path(by_ref(&secret), by_ref(&right));
                            assert!(path.is_none_or(|path| path.len() == 3));
                            let path = graph.path(by_ref(&secret), by_ref(&wrong));
                            assert_eq!(path, None);
                            let (vertices, edges) = graph.counts();
                            assert_eq!((vertices, edges), counts);
                        }
                        asked += 1;
                    }
                })
            })
            .collect();
        for round in 0..rounds {
            for object in 0..OBJECTS {
                // Every other object is only listed again.
                let swapped = round % 2 == 0 && object % 2 == 0;
                let (owner, edges) = edges(object, swapped);
                replace(&graph, &owner, &edges);
            }
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn sets_are_seen_whole() {
    readers_see_whole_changes(true, ROUNDS);
}

#[test]
fn searches_see_whole_changes() {
    readers_see_whole_changes(false, ROUNDS / 4);
}
