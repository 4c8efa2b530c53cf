//! How long an answer takes: the whole of it over a small graph, and without the graph. Run it alone:
//! `cargo test --release -p portcullis-graph --lib speed -- --ignored --nocapture`

use std::hint::black_box;
use std::sync::Arc;

use portcullis_core::Authorizer;
use portcullis_core::clock::Stopwatch;

use super::whole::followed;
use crate::access_rules::Paths;
use crate::access_rules::tests::shipped::{asked, group};
use crate::access_rules::tests::support::{Mode, opinion};
use crate::engine::Reach;
use crate::vertex::VertexRef;
use crate::{Compat, GraphAuthorizer, Selectors};

struct NoPath;

impl Paths for NoPath {
    fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> Reach {
        black_box((from, to));
        Reach::No
    }
}

/// The best of many short rounds, in nanoseconds: others may be busy on the same machine.
fn best(rounds: u32, mut one: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..400 {
        let stopwatch = Stopwatch::start();
        for _ in 0..rounds {
            one();
        }
        best = best.min(stopwatch.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
    }
    best
}

#[test]
#[ignore = "a measurement: cargo test --release -p portcullis-graph --lib -- --ignored --nocapture"]
fn speed() {
    let state = followed("gardener");
    let authorizer = GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
    let rules = &state.profile().rules;
    for (what, line, rounds) in [
        ("by path", "U1 get cloudprofiles cp1", 1_000),
        ("no path", "U2 get cloudprofiles cp1", 1_000),
        ("not known", "U1 get secrets default/nobody", 1_000),
        (
            "last of several rules",
            "S1 patch shoots garden-p1/sh1",
            1_000,
        ),
        ("always", "U1 create events default/", 1_000),
        (
            "selector",
            "U1 list shoots l:name.seed.gardener.cloud/s1=true",
            1_000,
        ),
        ("no selector", "U1 list shoots", 1_000),
        ("verb", "U1 list secrets garden/", 1_000),
        ("no rule", "U1 get pods default/x", 1_000),
        ("nobody", "alice get pods default/x", 1_000),
        (
            "computed name",
            "U3 delete secrets kube-system/bootstrap-token-3b7093",
            100,
        ),
    ] {
        let access = asked(line, |resource| group(rules, resource));
        let whole = best(rounds, || {
            black_box(authorizer.authorize(black_box(&access)).unwrap());
        });
        let alone = best(rounds, || {
            black_box(opinion(rules, black_box(&access), Mode::default(), &NoPath));
        });
        println!("{what:>22}: {whole:5.0} ns, without a graph {alone:5.0} ns");
    }
}
