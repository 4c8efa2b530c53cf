//! Measures every scenario over every transport, in turns, so that the noise of a shared machine
//! hits all alike.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::client::Target;
use crate::failure::{Context, Failure, Result};
use crate::load::{self, Plan, Sample};
use crate::output;
use crate::proc::{self, Memory};
use crate::scenario::{self, CEILING, Scenario};
use crate::server::{Server, Workshop};
use crate::transport::{Places, Transport};

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// Scenarios by name; none means all. The ceiling is always measured.
    pub(crate) scenarios: Vec<String>,
    /// Ways to the servers; none means all.
    pub(crate) transports: Vec<Transport>,
    /// How often each is measured.
    pub(crate) rounds: usize,
}

/// One scenario over one transport, in all rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Series {
    /// The scenario's name.
    pub(crate) scenario: &'static str,
    /// The way.
    pub(crate) transport: Transport,
    /// Bytes of a request's body.
    pub(crate) request_bytes: usize,
    /// Bytes of an answer's body.
    pub(crate) answer_bytes: usize,
    /// One sample a round.
    pub(crate) rounds: Vec<Sample>,
}

/// Everything that was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// By transport, then scenario, in the order of the report.
    pub(crate) series: Vec<Series>,
    /// Memory of each server after the load.
    pub(crate) memory: BTreeMap<&'static str, Memory>,
}

/// Starts the servers, asks each question once to see that the answers are right, then measures.
pub(crate) fn run(portcullis: &Path, selection: &Selection, plan: Plan) -> Result<Measured> {
    let scenarios = selected(&selection.scenarios)?;
    let transports = match selection.transports.as_slice() {
        [] => Transport::ALL.to_vec(),
        some => some.to_vec(),
    };
    let dir = tempfile::Builder::new()
        .prefix("portcullis-bench-")
        .tempdir();
    let dir = dir.context("no directory for this run")?;
    let certificate = Certificate::make(dir.path())?;
    let workshop = Workshop {
        portcullis,
        dir: dir.path(),
        certificate: &certificate,
    };
    let servers = start(&workshop, &scenarios)?;
    let target = |scenario: &Arc<Scenario>, transport| -> Result<(Target<'_>, u32)> {
        let (server, places) = servers.get(scenario.subject.name()).context("no server")?;
        let scenario = Arc::clone(scenario);
        Ok((
            Target {
                places,
                transport,
                certificate: &certificate,
                scenario,
            },
            server.pid(),
        ))
    };

    let mut series = Vec::with_capacity(transports.len() * scenarios.len());
    for transport in &transports {
        for scenario in &scenarios {
            let answer = load::ask_once(&target(scenario, *transport)?.0);
            series.push(Series {
                scenario: scenario.name,
                transport: *transport,
                request_bytes: scenario.question.body.len(),
                answer_bytes: answer.context(transport.name())?.len(),
                rounds: Vec::with_capacity(selection.rounds),
            });
        }
    }
    for round in 0..selection.rounds {
        output::tell(&format!("round {} of {}", round + 1, selection.rounds));
        for one in turns(&mut series, round) {
            let scenario = scenarios.iter().find(|s| s.name == one.scenario);
            let (target, pid) = target(scenario.context("no scenario")?, one.transport)?;
            let sample = load::measure(&target, pid, plan);
            one.rounds.push(sample.context(format!(
                "{} over {}",
                one.scenario,
                one.transport.name()
            ))?);
        }
    }
    let memory = servers
        .iter()
        .map(|(name, (server, _))| Ok((*name, proc::memory(server.pid())?)));
    Ok(Measured {
        series,
        memory: memory.collect::<Result<_>>()?,
    })
}

/// Every other round goes backwards, so that a drift of the machine favours nobody.
fn turns(series: &mut [Series], round: usize) -> Box<dyn Iterator<Item = &mut Series> + '_> {
    match round % 2 {
        0 => Box::new(series.iter_mut()),
        _ => Box::new(series.iter_mut().rev()),
    }
}

fn start(
    workshop: &Workshop<'_>,
    scenarios: &[Arc<Scenario>],
) -> Result<BTreeMap<&'static str, (Server, Places)>> {
    let mut servers = BTreeMap::new();
    for subject in scenarios.iter().map(|s| s.subject) {
        if !servers.contains_key(subject.name()) {
            servers.insert(
                subject.name(),
                workshop.start(subject).context(subject.name())?,
            );
        }
    }
    Ok(servers)
}

/// The scenarios of these names, the ceiling always.
fn selected(names: &[String]) -> Result<Vec<Arc<Scenario>>> {
    let all = scenario::all()?;
    if let Some(unknown) = names
        .iter()
        .find(|name| !all.iter().any(|s| s.name == **name))
    {
        let known: Vec<&str> = all.iter().map(|s| s.name).collect();
        let known = known.join(", ");
        return Err(Failure::new(format!(
            "there is no scenario `{unknown}`; there are {known}"
        )));
    }
    let is_wanted = |s: &Scenario| {
        names.is_empty() || s.name == CEILING || names.iter().any(|name| name == s.name)
    };
    Ok(all.into_iter().filter(is_wanted).map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_is_always_measured() {
        let names = |wanted: &[&str]| -> Vec<&str> {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            selected(&wanted).unwrap().iter().map(|s| s.name).collect()
        };
        assert_eq!(names(&["AlwaysAdmit"]), [CEILING, "AlwaysAdmit"]);
        assert_eq!(names(&[]).len(), scenario::all().unwrap().len());
    }

    #[test]
    fn an_unknown_scenario_is_refused_with_the_known_ones() {
        let refusal = selected(&["Nope".to_owned()]).unwrap_err().to_string();
        assert!(
            refusal.contains("`Nope`") && refusal.contains("AlwaysAdmit"),
            "{refusal}"
        );
    }
}
