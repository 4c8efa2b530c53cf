//! What is measured: which server is asked what, over which ways, and which answer is right.
//!
//! To add a scenario, add a line to the list of its group (`gate`, `policies`, `decisions`, `peers`).
//! Everything else (cases, rounds, ratios, report) follows.

mod decisions;
mod gate;
mod peers;
mod policies;

use clap::ValueEnum;

use crate::failure::Result;
use crate::fixture::Size;
use crate::http1::{self, Question};
use crate::log::Log;
use crate::peers::Peer;
use crate::policies::Set;
use crate::setup::Setup;
use crate::transport::Transport;

/// The scenario that others of the usual size are compared with.
pub(crate) const CEILING: &str = "ceiling";

/// Scenarios that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// The server and its built-in plug-ins.
    Gate,
    /// Policies in JavaScript.
    Policies,
    /// The same with the decision log on.
    Decisions,
    /// Who asks, and whether they may; measured by itself (`roles`), it has no scenarios.
    Roles,
    /// The relationship graph; measured by itself (`graph`), it has no scenarios.
    Graph,
    /// The admission of CI jobs; measured by itself (`jobs`) if it is named, it has no scenarios.
    Jobs,
    /// Other programs with the same policies.
    Peers,
}

/// A program with its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// `portcullis-bench ceiling`: reads the request, answers the same to all.
    Ceiling,
    /// `portcullis serve`.
    Portcullis(Setup, Log),
    /// Another program with these policies.
    Peer(Peer, Set),
}

/// The ways over which a scenario is measured unless told otherwise, and with how many requests
/// under way on each.
pub(crate) type Ways = &'static [(Transport, &'static [usize])];

/// Requests under way on ways that a scenario does not name.
pub(crate) const UNDER_WAY: &[usize] = &[16];

/// What an answer must hold beside the status 200, and what it must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Expected {
    /// All of these.
    pub(crate) holds: &'static [&'static str],
    /// None of these.
    pub(crate) lacks: &'static [&'static str],
}

/// Which scenarios a scenario is compared with, by name. They are measured wherever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared {
    /// The ceiling for a body of this size.
    pub(crate) ceiling: &'static str,
    /// The same request with nobody to evaluate it.
    pub(crate) baseline: Option<&'static str>,
    /// What Portcullis does with the same policies; for peers.
    pub(crate) own: Option<&'static str>,
    /// The same with the decision log off.
    pub(crate) unlogged: Option<&'static str>,
}

impl Compared {
    /// Compared with the ceiling only.
    pub(crate) const fn with(ceiling: &'static str) -> Self {
        Self {
            ceiling,
            baseline: None,
            own: None,
            unlogged: None,
        }
    }
}

/// What one kind of request is, and what is right to answer.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// The name on the command line and in the report.
    pub(crate) name: &'static str,
    /// What it belongs to.
    pub(crate) group: Group,
    /// Who is asked.
    pub(crate) subject: Subject,
    /// What is asked.
    pub(crate) question: Question,
    /// How much is sent. Each size has servers of its own: they keep memory that large bodies needed.
    pub(crate) size: Size,
    /// What is right.
    pub(crate) expected: Expected,
    /// How the server is reached.
    pub(crate) ways: Ways,
    /// What it is compared with.
    pub(crate) compared: Compared,
}

impl Subject {
    /// The process that answers over this transport.
    pub(crate) fn process(self, transport: Transport) -> String {
        match self {
            Self::Ceiling => CEILING.to_owned(),
            Self::Portcullis(setup, log) => setup.name().to_owned() + log.suffix(),
            Self::Peer(peer, set) => peer.process(set, transport),
        }
    }

    /// Whether it keeps its decisions.
    pub(crate) fn keeps_decisions(self) -> bool {
        matches!(self, Self::Portcullis(_, log) if log.is_on())
    }

    /// Whether it can be reached this way.
    pub(crate) fn listens(self, transport: Transport) -> bool {
        match self {
            Self::Peer(..) => matches!(transport, Transport::Unix | Transport::Tls),
            _ => true,
        }
    }
}

impl Expected {
    /// Whether an answer is right.
    pub(crate) fn is_met(self, status: u16, body: &[u8]) -> bool {
        let is_in = |text: &&str| http1::find(body, text.as_bytes()).is_some();
        status == 200 && self.holds.iter().all(is_in) && !self.lacks.iter().any(is_in)
    }
}

impl Scenario {
    /// Whether an answer is right.
    pub(crate) fn is_right(&self, status: u16, body: &[u8]) -> bool {
        self.expected.is_met(status, body)
    }

    /// Which process answers over this transport: a name for directories and the report.
    pub(crate) fn process(&self, transport: Transport) -> String {
        let size = match self.size {
            Size::Usual => "",
            Size::Large => "-200k",
        };
        self.subject.process(transport) + size
    }

    /// Those it is compared with.
    pub(crate) fn companions(&self) -> impl Iterator<Item = &'static str> {
        let Compared {
            ceiling,
            baseline,
            own,
            unlogged,
        } = self.compared;
        [Some(ceiling), baseline, own, unlogged]
            .into_iter()
            .flatten()
    }
}

/// Every scenario, the ceiling first.
pub(crate) fn all() -> Result<Vec<Scenario>> {
    let mut all = gate::scenarios()?;
    all.extend(policies::scenarios()?);
    all.extend(decisions::scenarios(&all)?);
    all.extend(peers::scenarios()?);
    Ok(all)
}

fn post(path: &'static str, body: Vec<u8>) -> Question {
    Question {
        method: "POST",
        path,
        body,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::fixture;

    #[test]
    fn the_ceiling_comes_first_and_names_are_unique() {
        let all = all().unwrap();
        assert_eq!(all[0].name, CEILING);
        let names: HashSet<_> = all.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn everybody_is_compared_with_somebody_who_is_sent_as_much() {
        let all = all().unwrap();
        for one in &all {
            for name in one.companions() {
                let other = all.iter().find(|s| s.name == name);
                let other = other.unwrap_or_else(|| panic!("{}: no {name}", one.name));
                let (own, others) = (one.question.body.len(), other.question.body.len());
                let is_fair =
                    one.name == "livez" || one.name == "ABAC" || own.abs_diff(others) < 256;
                assert!(is_fair, "{} sends {own}, {name} {others}", one.name);
            }
        }
    }

    #[test]
    fn the_large_pod_has_servers_of_its_own() {
        let all = all().unwrap();
        for one in &all {
            let is_large = one.question.body.len() > 100_000;
            let process = one.process(Transport::Unix);
            assert_eq!(
                process.ends_with("200k"),
                is_large,
                "{}: {process}",
                one.name
            );
        }
    }

    #[test]
    fn only_the_group_of_the_decision_log_keeps_decisions() {
        for one in all().unwrap() {
            let is_kept = one.subject.keeps_decisions();
            assert_eq!(is_kept, one.group == Group::Decisions, "{}", one.name);
            assert_eq!(is_kept, one.compared.unlogged.is_some(), "{}", one.name);
        }
    }

    #[test]
    fn what_is_compared_over_a_way_can_be_reached_over_it() {
        for one in all().unwrap() {
            for (transport, _) in one.ways {
                assert!(one.subject.listens(*transport), "{}", one.name);
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_seen() {
        let all = all().unwrap();
        let named = |name: &str| all.iter().find(|s| s.name == name).unwrap();
        let admitted = fixture::ADMITTED.as_bytes();
        assert!(all[0].is_right(200, admitted));
        assert!(!all[0].is_right(500, admitted));
        assert!(!all[0].is_right(200, b"{\"allowed\":false}"));
        assert!(!named("PodSecurity-refuses").is_right(200, admitted));
        assert!(!named("refusing").is_right(200, admitted));
        assert!(!named("reference").is_right(200, admitted), "no patch");
        let patched = br#"{"allowed":true,"patch":"W10="}"#;
        assert!(!named("reference-idle").is_right(200, patched), "a patch");
        assert!(!named("validating").is_right(200, patched), "a patch");
    }
}
