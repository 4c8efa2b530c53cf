//! What the change of one object takes.

use portcullis_graph::{Edge, Graph};
use serde::Serialize;

use super::data::{Data, Number, Object};
use super::random::Random;
use crate::clock;

/// One kind of change; times in microseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Update {
    pub(crate) what: &'static str,
    pub(crate) changes: usize,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// Objects of which one end changes: an edge from or to one of `others` is put to another of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Movable<'a> {
    pub(super) what: &'static str,
    /// Places of objects in the data.
    pub(super) objects: &'a [usize],
    /// What one end of them can be.
    pub(super) others: &'a [Number],
}

/// Moves objects to and fro.
#[derive(Debug)]
pub(super) struct Mover<'a> {
    data: &'a Data,
    graph: &'a Graph,
    movable: Movable<'a>,
    random: Random,
    /// What was moved and has to go back.
    moved: Option<Object>,
}

impl<'a> Mover<'a> {
    pub(super) fn new(data: &'a Data, graph: &'a Graph, movable: Movable<'a>) -> Self {
        Self {
            data,
            graph,
            movable,
            random: Random::new(5),
            moved: None,
        }
    }

    /// Moves an object, or moves it back. The time it took, in microseconds.
    pub(super) fn step(&mut self) -> f64 {
        if let Some(object) = self.moved.take() {
            let edges = self.data.edges_of(&object).to_vec();
            return self.replace(&object, &edges);
        }
        let place = self.random.one_of(self.movable.objects);
        let object = place.and_then(|place| self.data.objects().get(place).copied());
        let (Some(object), Some(other)) = (object, self.random.one_of(self.movable.others)) else {
            return f64::NAN;
        };
        let mut edges = self.data.edges_of(&object).to_vec();
        let others = self.movable.others;
        for (from, to) in &mut edges {
            for end in [from, to] {
                if *end != object.owner && others.binary_search(end).is_ok() {
                    *end = other;
                }
            }
        }
        self.moved = Some(object);
        self.replace(&object, &edges)
    }

    /// Puts the last one back.
    pub(super) fn finish(&mut self) {
        if self.moved.is_some() {
            self.step();
        }
    }

    fn replace(&self, object: &Object, edges: &[(Number, Number)]) -> f64 {
        let edges = edges.iter().map(|ends| self.data.edge(*ends));
        let edges: Vec<Edge<'_>> = edges.collect();
        let owner = self.data.named(object.owner);
        let began = clock::now();
        self.graph.replace(owner, &edges);
        let took = clock::now().saturating_duration_since(began);
        took.as_secs_f64() * 1e6
    }
}

/// So many changes of one kind.
pub(super) fn moves(data: &Data, graph: &Graph, movable: Movable<'_>, many: usize) -> Update {
    let mut mover = Mover::new(data, graph, movable);
    let times = (0..many).map(|_| mover.step()).collect();
    mover.finish();
    summed_up(movable.what, times)
}

/// Objects that are listed again without a change.
pub(super) fn unchanged(
    data: &Data,
    graph: &Graph,
    what: &'static str,
    objects: &[usize],
    many: usize,
) -> Update {
    let mut random = Random::new(9);
    let one = Movable {
        what,
        objects,
        others: &[],
    };
    let mover = Mover::new(data, graph, one);
    let times = (0..many).filter_map(|_| {
        let place = random.one_of(objects)?;
        let object = data.objects().get(place)?;
        Some(mover.replace(object, data.edges_of(object)))
    });
    summed_up(what, times.collect())
}

/// Objects that go and come back.
pub(super) fn recreated(
    data: &Data,
    graph: &Graph,
    what: (&'static str, &'static str),
    objects: &[usize],
    many: usize,
) -> [Update; 2] {
    let mut random = Random::new(9);
    let one = Movable {
        what: what.0,
        objects,
        others: &[],
    };
    let mover = Mover::new(data, graph, one);
    let (mut gone, mut back) = (Vec::new(), Vec::new());
    for _ in 0..many {
        let place = random.one_of(objects);
        let Some(object) = place.and_then(|place| data.objects().get(place)) else {
            break;
        };
        let began = clock::now();
        graph.remove(data.named(object.owner));
        let took = clock::now().saturating_duration_since(began);
        gone.push(took.as_secs_f64() * 1e6);
        back.push(mover.replace(object, data.edges_of(object)));
    }
    [summed_up(what.0, gone), summed_up(what.1, back)]
}

fn summed_up(what: &'static str, mut times: Vec<f64>) -> Update {
    times.sort_by(f64::total_cmp);
    let part = |part: usize| {
        let at = times.len().saturating_sub(1) * part / 100;
        times.get(at).copied().unwrap_or(f64::NAN)
    };
    Update {
        what,
        changes: times.len(),
        p50_us: part(50),
        p99_us: part(99),
        max_us: part(100),
    }
}
