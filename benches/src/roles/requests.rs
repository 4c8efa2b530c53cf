//! What whole requests cost, next to one that needs nobody to be known.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::asker::{self, Questions};
use super::document::{MANY, TENANT};
use super::gate::{Gate, Issuer};
use crate::asker::request;
use crate::cli::RoleEffort;
use crate::failure::{Context, Result};
use crate::load::Sample;
use crate::output;
use crate::statistics::{Summary, median, of_cost, of_rate};
use crate::transport::Transport;

/// The call that others are compared with.
const CEILING: &str = "info";
/// Over these ways, with so many connections.
const WAYS: [Transport; 2] = [Transport::Tcp, Transport::Unix];
const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// Tokens that are used in turns; the server remembers them all.
const IN_TURNS: usize = 10_000;
/// Tokens never seen before, in one measurement.
const UNSEEN: usize = 4_000;

/// What one kind of request costs over one way.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Cost {
    pub(crate) transport: Transport,
    pub(crate) connections: usize,
    pub(crate) name: &'static str,
    pub(crate) per_second: Summary,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time for a request; with its record, where one is kept.
    pub(crate) cpu_us: Summary,
    /// Parts of the rate, and multiples of the processor time, of the call that needs nobody.
    pub(crate) rate_ratio: f64,
    pub(crate) cpu_ratio: f64,
    /// Processors others kept busy.
    pub(crate) others: f64,
    /// The part of the decisions that were kept, where they are.
    pub(crate) kept: Option<f64>,
    pub(crate) rounds: Vec<Sample>,
}

/// Kinds of requests, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Info,
    SameToken,
    TokensInTurns,
    Unseen(Issuer),
    Refused,
    State,
}

const KINDS: [Kind; 7] = [
    Kind::Info,
    Kind::SameToken,
    Kind::TokensInTurns,
    Kind::Unseen(Issuer::Shared),
    Kind::Unseen(Issuer::Curve),
    Kind::Refused,
    Kind::State,
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Info => CEILING,
            Self::SameToken => "read, same token",
            Self::TokensInTurns => "read, 10,000 tokens",
            Self::Unseen(Issuer::Shared) => "read, new HS256",
            Self::Unseen(Issuer::Curve) => "read, new ES256",
            Self::Unseen(Issuer::Rsa) => "read, new RS256",
            Self::Refused => "refused, recorded",
            Self::State => "state, stored",
        }
    }
}

/// Measures every kind over every way, in turns.
pub(super) fn run(portcullis: &Path, dir: &Path, effort: &RoleEffort) -> Result<Vec<Cost>> {
    let gate = Gate::start(portcullis, dir, 256)?;
    let prepared = Prepared::new(&gate)?;
    let rounds = usize::from(effort.role_rounds).max(1);
    let mut found: Vec<(Transport, usize, Kind, Vec<Sample>)> = Vec::new();
    for transport in WAYS {
        for connections in CONNECTIONS {
            found.extend(KINDS.map(|kind| (transport, connections, kind, Vec::new())));
        }
    }
    for round in 1..=rounds {
        output::tell(&format!("  round {round} of {rounds}"));
        for (transport, connections, kind, samples) in &mut found {
            let questions = prepared.questions(*kind)?;
            if *kind == Kind::TokensInTurns {
                // New tokens took the place of some.
                asker::pass(&gate, &questions)?;
            }
            let way = (*transport, *connections);
            let sample = asker::measure(&gate, &questions, way, effort.role_seconds);
            samples.push(sample.context(kind.name())?);
        }
    }
    let costs = found
        .iter()
        .filter_map(|(transport, connections, kind, samples)| {
            let ceiling = found
                .iter()
                .find(|(t, c, k, _)| t == transport && c == connections && *k == Kind::Info)?;
            Some(cost(
                (*transport, *connections),
                kind.name(),
                samples,
                &ceiling.3,
            ))
        });
    let costs = costs.collect();
    drop(prepared);
    gate.server.stop()?;
    Ok(costs)
}

/// Processor time for one request, until nothing was left to do for it.
fn cpu(sample: &Sample) -> f64 {
    match sample.kept {
        Some(_) => sample.whole_cpu_us,
        None => sample.cpu_us,
    }
}

fn cost(
    (transport, connections): (Transport, usize),
    name: &'static str,
    rounds: &[Sample],
    ceiling: &[Sample],
) -> Cost {
    let all = |value: fn(&Sample) -> f64| rounds.iter().map(value).collect::<Vec<_>>();
    let ratio = |value: fn(&Sample) -> f64| {
        let pairs = rounds.iter().zip(ceiling);
        median(&pairs.map(|(r, c)| value(r) / value(c)).collect::<Vec<_>>())
    };
    let counts = rounds
        .iter()
        .filter_map(|round| round.kept)
        .map(|k| k.counts);
    let (written, dropped) = counts.fold((0, 0), |(w, d), c| (w + c.written, d + c.dropped));
    let decided = written + dropped;
    Cost {
        transport,
        connections,
        name,
        per_second: of_rate(&all(|s| s.per_second)),
        p50_us: median(&all(|s| s.p50_us)),
        p99_us: median(&all(|s| s.p99_us)),
        cpu_us: of_cost(&all(cpu)),
        rate_ratio: ratio(|s| s.per_second),
        cpu_ratio: ratio(cpu),
        others: median(&all(|s| s.others)),
        kept: (decided > 0).then(|| written as f64 / decided as f64),
        rounds: rounds.to_vec(),
    }
}

/// Questions that are the same in every round.
struct Prepared<'a> {
    gate: &'a Gate,
    info: Arc<Questions>,
    same: Arc<Questions>,
    in_turns: Arc<Questions>,
    refused: Arc<Questions>,
    state: Arc<Questions>,
}

fn read(header: &str) -> Vec<u8> {
    request("GET", &format!("/api/tenant/{TENANT}/projects"), header, "")
}

impl<'a> Prepared<'a> {
    fn new(gate: &'a Gate) -> Result<Self> {
        let last = gate.bearer(Issuer::Shared, MANY - 1)?;
        let in_turns: Result<Vec<_>> = (0..IN_TURNS)
            .map(|number| Ok(read(&gate.bearer(Issuer::Shared, number)?)))
            .collect();
        let recorded = |request, status| Questions {
            is_recorded: true,
            ..Questions::one(request, status)
        };
        // The project of another role.
        let refused = request(
            "POST",
            &format!("/api/tenant/{TENANT}/project/p0/enqueue"),
            &last,
            r#"{"pipeline":"post","ref":"refs/heads/main"}"#,
        );
        let state = request(
            "POST",
            &format!("/api/tenant/{TENANT}/state"),
            &gate.admin()?,
            r#"{"trigger_queue_paused":true,"reason":"a benchmark"}"#,
        );
        Ok(Self {
            gate,
            info: Arc::new(Questions::one(request("GET", "/api/info", "", ""), 200)),
            same: Arc::new(Questions::one(read(&last), 200)),
            in_turns: Arc::new(Questions::several(in_turns?, 200)),
            refused: Arc::new(recorded(refused, 403)),
            state: Arc::new(recorded(state, 200)),
        })
    }

    fn questions(&self, kind: Kind) -> Result<Arc<Questions>> {
        Ok(Arc::clone(match kind {
            Kind::Info => &self.info,
            Kind::SameToken => &self.same,
            Kind::TokensInTurns => &self.in_turns,
            Kind::Refused => &self.refused,
            Kind::State => &self.state,
            Kind::Unseen(issuer) => {
                let requests: Result<Vec<_>> = (0..UNSEEN)
                    .map(|number| Ok(read(&self.gate.bearer(issuer, number)?)))
                    .collect();
                return Ok(Arc::new(Questions {
                    is_once: true,
                    ..Questions::several(requests?, 200)
                }));
            }
        }))
    }
}
