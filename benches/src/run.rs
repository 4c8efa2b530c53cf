//! Measures every case in turns, so that the noise of a shared machine hits all alike.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::cases::Case;
use crate::certificate::Certificate;
use crate::client::Target;
use crate::failure::{Context, Failure, Result};
use crate::load::{self, Plan, Sample};
use crate::output;
use crate::proc::{self, Memory};
use crate::scenario::{Compared, Group};
use crate::server::{Server, Workshop};
use crate::transport::{Places, Transport};

/// Where the programs are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Programs<'a> {
    /// `portcullis`.
    pub(crate) portcullis: &'a Path,
    /// The directory of those it is compared with.
    pub(crate) peers: &'a Path,
}

/// How long and how often.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Effort {
    /// How long one measurement takes, in seconds.
    pub(crate) seconds: f64,
    /// How often each is made.
    pub(crate) rounds: usize,
}

/// One case, in all rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Series {
    /// The scenario's name.
    pub(crate) scenario: &'static str,
    /// The way.
    pub(crate) transport: Transport,
    /// Requests under way at once.
    pub(crate) connections: usize,
    /// Bytes of a request's body.
    pub(crate) request_bytes: usize,
    /// Bytes of an answer's body.
    pub(crate) answer_bytes: usize,
    /// What it is compared with.
    #[serde(skip)]
    pub(crate) compared: Compared,
    /// One sample a round.
    pub(crate) rounds: Vec<Sample>,
}

/// Everything that was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// In the order of the cases.
    pub(crate) series: Vec<Series>,
    /// Memory of each server after the load.
    pub(crate) memory: BTreeMap<String, Memory>,
}

/// Starts the servers, asks each question once to see that the answers are right, then measures.
pub(crate) fn run(programs: Programs<'_>, cases: &[Case], effort: Effort) -> Result<Measured> {
    let mut stand = Stand::build(programs, cases, effort)?;
    for round in 0..effort.rounds {
        output::tell(&format!("round {} of {}", round + 1, effort.rounds));
        for index in turns(stand.series.len(), round) {
            stand.measure(index, effort)?;
        }
        // A peer that failed in this round is not asked again.
        stand.series.retain(|(_, one)| one.rounds.len() > round);
    }
    stand.into_measured()
}

/// The servers of one program, ready to be asked, and what was measured of them so far.
#[derive(Debug)]
pub(crate) struct Stand<'a> {
    servers: Servers,
    certificate: Certificate,
    /// In the order of the cases.
    pub(crate) series: Vec<(&'a Case, Series)>,
    /// Holds everything the servers write; goes last.
    _dir: tempfile::TempDir,
}

impl<'a> Stand<'a> {
    /// Starts the servers, and asks each question once to see that the answers are right.
    pub(crate) fn build(programs: Programs<'_>, cases: &'a [Case], effort: Effort) -> Result<Self> {
        if cases.is_empty() {
            return Err(Failure::new(
                "there is nothing to measure in that selection",
            ));
        }
        let dir = tempfile::Builder::new()
            .prefix("portcullis-bench-")
            .tempdir();
        let dir = dir.context("no directory for this run")?;
        let certificate = Certificate::make(dir.path())?;
        let workshop = Workshop {
            portcullis: programs.portcullis,
            peers: programs.peers,
            dir: dir.path(),
            certificate: &certificate,
        };
        let mut servers = BTreeMap::new();
        let mut series = Vec::with_capacity(cases.len());
        for case in cases {
            let begun = start(&workshop, case, &mut servers).and_then(|()| {
                let (target, _) = target(&servers, &certificate, case)?;
                load::ask_once(&target)
            });
            if let Some(answer) = needed(case, begun)? {
                series.push((case, new_series(case, answer.len(), effort)));
            }
        }
        Ok(Self {
            servers,
            certificate,
            series,
            _dir: dir,
        })
    }

    /// Measures one case once more.
    pub(crate) fn measure(&mut self, index: usize, effort: Effort) -> Result<()> {
        let (case, one) = self.series.get_mut(index).context("no such case")?;
        let (target, pid) = target(&self.servers, &self.certificate, case)?;
        let plan = Plan {
            seconds: effort.seconds,
            connections: case.connections,
        };
        if let Some(sample) = needed(case, load::measure(&target, pid, plan))? {
            one.rounds.push(sample);
        }
        Ok(())
    }

    /// What was measured, and the memory of the servers after it.
    pub(crate) fn into_measured(self) -> Result<Measured> {
        let mut memory = BTreeMap::new();
        for (process, (server, _)) in &self.servers {
            let of_process = self
                .series
                .iter()
                .filter(|(case, _)| case.process() == *process);
            let samples = of_process.flat_map(|(_, one)| &one.rounds);
            let Some(peak_kib) = samples.map(|s| s.peak_kib).max() else {
                continue;
            };
            let now = proc::memory(server.pid())?;
            let peak_kib = peak_kib.max(now.peak_kib);
            memory.insert(process.clone(), Memory { peak_kib, ..now });
        }
        let series = self.series.into_iter().map(|(_, one)| one).collect();
        Ok(Measured { series, memory })
    }
}

fn new_series(case: &Case, answer_bytes: usize, effort: Effort) -> Series {
    Series {
        scenario: case.scenario.name,
        transport: case.transport,
        connections: case.connections,
        request_bytes: case.scenario.question.body.len(),
        answer_bytes,
        compared: case.scenario.compared,
        rounds: Vec::with_capacity(effort.rounds),
    }
}

fn words(case: &Case) -> String {
    let (name, way) = (case.scenario.name, case.transport.name());
    format!("{name} over {way}, {} under way", case.connections)
}

/// Every other round goes backwards, so that a drift of the machine favours none.
pub(crate) fn turns(cases: usize, round: usize) -> Box<dyn Iterator<Item = usize>> {
    match round % 2 {
        0 => Box::new(0..cases),
        _ => Box::new((0..cases).rev()),
    }
}

type Servers = BTreeMap<String, (Server, Places)>;

/// Starts the server of a case, unless it is there already.
fn start(workshop: &Workshop<'_>, case: &Case, servers: &mut Servers) -> Result<()> {
    if let Entry::Vacant(place) = servers.entry(case.process()) {
        let server = workshop.start(place.key(), case.scenario.subject, case.transport)?;
        place.insert(server);
    }
    Ok(())
}

fn target<'a>(
    servers: &'a Servers,
    certificate: &'a Certificate,
    case: &Case,
) -> Result<(Target<'a>, u32)> {
    let (server, places) = servers.get(&case.process()).context("no server")?;
    let target = Target {
        places,
        transport: case.transport,
        certificate,
        scenario: Arc::clone(&case.scenario),
    };
    Ok((target, server.pid()))
}

/// What a step brought. A failure ends the run, but for peers: they are left out, with a word.
fn needed<T>(case: &Case, step: Result<T>) -> Result<Option<T>> {
    match step.context(words(case)) {
        Err(failure) if case.scenario.group == Group::Peers => {
            output::tell(&format!("left out: {failure}"));
            Ok(None)
        }
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_peer_may_fail() {
        let case = |name: &str| {
            let all = crate::scenario::all().unwrap();
            let scenario = all.into_iter().find(|s| s.name == name).unwrap();
            Case {
                scenario: Arc::new(scenario),
                transport: Transport::Unix,
                connections: 8,
            }
        };
        let failed = || Err::<(), _>(Failure::new("it broke"));
        assert_eq!(needed(&case("opa"), failed()), Ok(None));
        assert_eq!(needed(&case("opa"), Ok(1)), Ok(Some(1)));
        let failure = needed(&case("validating"), failed())
            .unwrap_err()
            .to_string();
        assert_eq!(failure, "validating over unix, 8 under way: it broke");
    }

    #[test]
    fn every_other_round_goes_backwards() {
        let order = |round| turns(3, round).collect::<Vec<_>>();
        assert_eq!(order(0), [0, 1, 2]);
        assert_eq!(order(1), [2, 1, 0]);
    }
}
