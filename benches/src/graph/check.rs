//! What one check takes on one thread: the path alone, the whole by names, and the plain search.
//!
//! Some questions again and again find everything in the processor's caches; questions spread over the whole
//! graph find nothing there.

use std::hint::black_box;
use std::time::Duration;

use portcullis_graph::{Graph, KindId, Reach, VertexHandle, VertexRef};
use serde::Serialize;

use super::data::{Data, Number};
use super::naive::Naive;
use super::questions::Questions;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::statistics::{Summary, median, of_cost};

/// How many checks there are in one go at least.
const CHECKS: usize = 4096;
/// How many questions are asked again and again.
const FEW: usize = 128;
/// How long the plain search is let search in one go, unless it is faster.
const PATIENCE: Duration = Duration::from_millis(20);

/// One kind of question; times in nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    pub(crate) what: &'static str,
    pub(crate) is_allowed: bool,
    /// How many different questions there are.
    pub(crate) questions: usize,
    /// Both vertices found before; a few questions again and again.
    pub(crate) path: Summary,
    /// Both vertices by name; a few questions again and again.
    pub(crate) whole: Summary,
    /// The same, all questions.
    pub(crate) path_spread: Summary,
    pub(crate) whole_spread: Summary,
    /// All questions.
    pub(crate) naive: Summary,
    /// How many times longer the plain search takes, in the same go.
    pub(crate) times: f64,
}

/// Measures one kind, so many goes of everything in turns.
pub(super) fn run(
    data: &Data,
    graph: &Graph,
    naive: &Naive,
    questions: &Questions,
    goes: usize,
) -> Result<Check> {
    let texts = Texts::new(data, &questions.pairs);
    let named = texts.named();
    let spots: Option<Vec<(VertexHandle, VertexHandle)>> = named
        .iter()
        .map(|(from, to)| graph.handle(*from).zip(graph.handle(*to)))
        .collect();
    let spots = spots.context(format!("{}: no such vertex", questions.what))?;
    let expected = if questions.is_allowed {
        Reach::Yes
    } else {
        Reach::No
    };
    let wrong = named.iter().find(|(from, to)| {
        graph.leads(*from, *to) != expected || naive.leads(*from, *to) != questions.is_allowed
    });
    if let Some((from, to)) = wrong {
        let what = questions.what;
        return Err(Failure::new(format!(
            "{what}: {from:?} to {to:?} is answered wrongly"
        )));
    }
    let few = FEW.min(named.len());
    let (few_spots, few_named) = (spots.get(..few), named.get(..few));
    let few_spots = few_spots.unwrap_or_default();
    let few_named = few_named.unwrap_or_default();
    let by_spot = |(from, to): &(VertexHandle, VertexHandle)| graph.leads_from(*from, *to);
    let by_name = |(from, to): &(VertexRef<'_>, VertexRef<'_>)| graph.leads(*from, *to);
    let (mut path, mut whole, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let (mut path_spread, mut whole_spread) = (Vec::new(), Vec::new());
    for _ in 0..goes {
        path_spread.push(each(&spots, by_spot));
        path.push(each(few_spots, by_spot));
        whole_spread.push(each(&named, by_name));
        whole.push(each(few_named, by_name));
        plain.push(patiently(&named, |(from, to)| naive.leads(*from, *to)));
    }
    let times: Vec<f64> = whole_spread
        .iter()
        .zip(&plain)
        .map(|(w, p)| p / w)
        .collect();
    Ok(Check {
        what: questions.what,
        is_allowed: questions.is_allowed,
        questions: named.len(),
        path: of_cost(&path),
        whole: of_cost(&whole),
        path_spread: of_cost(&path_spread),
        whole_spread: of_cost(&whole_spread),
        naive: of_cost(&plain),
        times: median(&times),
    })
}

/// The names of questions, one after the other as requests would bring them.
pub(super) struct Texts {
    text: String,
    parts: Vec<[Part; 2]>,
}

/// A vertex: kind, and where namespace and name end in the text.
#[derive(Debug, Clone, Copy)]
struct Part {
    kind: KindId,
    start: usize,
    middle: usize,
    end: usize,
}

impl Texts {
    pub(super) fn new(data: &Data, pairs: &[(Number, Number)]) -> Self {
        let mut text = String::new();
        let mut part = |number| {
            let vertex = data.named(number);
            let start = text.len();
            text.push_str(vertex.namespace);
            let middle = text.len();
            text.push_str(vertex.name);
            Part {
                kind: vertex.kind,
                start,
                middle,
                end: text.len(),
            }
        };
        let pairs = pairs.iter();
        let parts = pairs.map(|(from, to)| [part(*from), part(*to)]).collect();
        Self { text, parts }
    }

    /// The questions.
    pub(super) fn named(&self) -> Vec<(VertexRef<'_>, VertexRef<'_>)> {
        let text = |start, end| self.text.get(start..end).unwrap_or_default();
        let vertex = |part: Part| VertexRef {
            kind: part.kind,
            namespace: text(part.start, part.middle),
            name: text(part.middle, part.end),
        };
        let pairs = self.parts.iter();
        pairs
            .map(|[from, to]| (vertex(*from), vertex(*to)))
            .collect()
    }
}

/// Nanoseconds for one question.
fn each<Q, A>(questions: &[Q], ask: impl Fn(&Q) -> A) -> f64 {
    let passes = CHECKS.div_ceil(questions.len().max(1));
    let began = clock::now();
    for _ in 0..passes {
        for question in questions {
            black_box(ask(black_box(question)));
        }
    }
    let took = clock::now().saturating_duration_since(began);
    took.as_nanos() as f64 / (passes * questions.len()) as f64
}

/// The same, each at most once and no more than there is patience for.
fn patiently<Q, A>(questions: &[Q], ask: impl Fn(&Q) -> A) -> f64 {
    let began = clock::now();
    let mut asked = 0_usize;
    for some in questions.chunks(16) {
        for question in some {
            black_box(ask(black_box(question)));
        }
        asked += some.len();
        if clock::now().saturating_duration_since(began) > PATIENCE {
            break;
        }
    }
    let took = clock::now().saturating_duration_since(began);
    took.as_nanos() as f64 / asked as f64
}
