//! What is measured in a run: scenarios, each over some ways, with some requests under way.

use std::sync::Arc;

use crate::failure::{Failure, Result};
use crate::scenario::{Group, Scenario, UNDER_WAY};
use crate::transport::Transport;

/// What to measure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Scenarios by name; none means all of the groups.
    pub(crate) scenarios: Vec<String>,
    /// Groups to measure.
    pub(crate) groups: Vec<Group>,
    /// Ways to the servers; none means those of each scenario.
    pub(crate) transports: Vec<Transport>,
    /// Requests under way; none means those of each scenario.
    pub(crate) connections: Vec<usize>,
}

/// One line of the report.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// What is asked.
    pub(crate) scenario: Arc<Scenario>,
    /// The way.
    pub(crate) transport: Transport,
    /// Requests under way at once.
    pub(crate) connections: usize,
}

impl Case {
    /// The process that is asked.
    pub(crate) fn process(&self) -> String {
        self.scenario.process(self.transport)
    }

    fn is_at(&self, name: &str, transport: Transport, connections: usize) -> bool {
        self.scenario.name == name && self.transport == transport && self.connections == connections
    }
}

/// The cases of a selection, in the order of the report, those they are compared with included:
/// what is compared is measured side by side.
pub(crate) fn selected(all: Vec<Scenario>, selection: &Selection) -> Result<Vec<Case>> {
    let all: Vec<Arc<Scenario>> = all.into_iter().map(Arc::new).collect();
    let mut cases: Vec<Case> = Vec::new();
    for scenario in wanted(&all, selection)? {
        for (transport, connections) in ways(scenario, selection) {
            for name in [scenario.name]
                .into_iter()
                .chain(companions(&all, scenario))
            {
                let is_new = !cases.iter().any(|c| c.is_at(name, transport, connections));
                if let Some(scenario) = all.iter().find(|s| s.name == name && is_new) {
                    cases.push(Case {
                        scenario: Arc::clone(scenario),
                        transport,
                        connections,
                    });
                }
            }
        }
    }
    let place = |name: &str| all.iter().position(|s| s.name == name);
    cases.sort_by_key(|case| {
        (
            case.transport,
            place(case.scenario.compared.ceiling),
            case.connections,
            place(
                case.scenario
                    .compared
                    .unlogged
                    .unwrap_or(case.scenario.name),
            ),
            place(case.scenario.name),
        )
    });
    Ok(cases)
}

/// Those it is compared with, and those they are compared with.
fn companions(all: &[Arc<Scenario>], scenario: &Scenario) -> Vec<&'static str> {
    let first: Vec<&str> = scenario.companions().collect();
    let others = all.iter().filter(|s| first.contains(&s.name));
    let second = others.flat_map(|s| s.companions()).collect::<Vec<_>>();
    [first, second].concat()
}

fn wanted<'a>(all: &'a [Arc<Scenario>], selection: &Selection) -> Result<Vec<&'a Arc<Scenario>>> {
    let names = &selection.scenarios;
    let is_known = |name: &&String| all.iter().any(|s| s.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = all.iter().map(|s| s.name).collect();
        let known = known.join(", ");
        return Err(Failure::new(format!(
            "there is no scenario `{unknown}`; there are {known}"
        )));
    }
    let is_wanted = |s: &&Arc<Scenario>| match names.as_slice() {
        [] => selection.groups.contains(&s.group),
        names => names.iter().any(|name| name == s.name),
    };
    Ok(all.iter().filter(is_wanted).collect())
}

/// Transports and requests under way of a scenario.
fn ways(scenario: &Scenario, selection: &Selection) -> Vec<(Transport, usize)> {
    let own = scenario.ways.iter().map(|(transport, _)| *transport);
    let transports: Vec<Transport> = match selection.transports.as_slice() {
        [] => own.collect(),
        given => given.to_vec(),
    };
    let transports = transports.into_iter();
    let reachable = transports.filter(|t| scenario.subject.listens(*t));
    let of = |transport: Transport| {
        let own = scenario.ways.iter().find(|(own, _)| *own == transport);
        let own = own.map_or(UNDER_WAY, |(_, connections)| connections);
        let connections = match selection.connections.as_slice() {
            [] => own,
            given => given,
        };
        connections
            .iter()
            .map(move |n| (transport, *n))
            .collect::<Vec<_>>()
    };
    reachable.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    fn lines(selection: &Selection) -> Vec<String> {
        let cases = selected(scenario::all().unwrap(), selection).unwrap();
        let line = |c: &Case| {
            format!(
                "{} {} {}",
                c.transport.name(),
                c.scenario.name,
                c.connections
            )
        };
        cases.iter().map(line).collect()
    }

    fn names(names: &[&str]) -> Selection {
        Selection {
            scenarios: names.iter().map(ToString::to_string).collect(),
            ..Selection::default()
        }
    }

    #[test]
    fn what_is_compared_is_measured_side_by_side() {
        let found = lines(&names(&["validating"]));
        let expected = [
            "unix ceiling 8",
            "unix AlwaysAdmit 8",
            "unix validating 8",
            "unix ceiling 16",
            "unix AlwaysAdmit 16",
            "unix validating 16",
            "unix ceiling 64",
            "unix AlwaysAdmit 64",
            "unix validating 64",
            "tls ceiling 16",
            "tls AlwaysAdmit 16",
            "tls validating 16",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_peer_brings_portcullis_and_what_that_is_compared_with() {
        let found = lines(&Selection {
            transports: vec![Transport::Tls],
            connections: vec![64],
            ..names(&["opa-200k"])
        });
        let expected = [
            "tls ceiling-200k 64",
            "tls AlwaysAdmit-200k 64",
            "tls validating-200k 64",
            "tls opa-200k 64",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_keeps_decisions_is_measured_next_to_what_does_not() {
        let found = lines(&Selection {
            groups: vec![Group::Decisions],
            connections: vec![16],
            transports: vec![Transport::Unix],
            ..Selection::default()
        });
        let expected = [
            "unix ceiling 16",
            "unix AlwaysAdmit 16",
            "unix AlwaysAdmit-kept 16",
            "unix PodSecurity 16",
            "unix PodSecurity-kept 16",
            "unix validating 16",
            "unix validating-kept 16",
            "unix validating-required 16",
            "unix reference 16",
            "unix reference-kept 16",
            "unix reference-required 16",
        ];
        assert_eq!(found, expected);
        let group = Selection {
            groups: vec![Group::Decisions],
            ..Selection::default()
        };
        let ways = lines(&group)
            .into_iter()
            .filter(|line| line.contains("validating-kept"));
        let expected = [
            "unix validating-kept 16",
            "unix validating-kept 64",
            "tls validating-kept 16",
        ];
        assert_eq!(ways.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_peer_is_not_asked_where_it_does_not_listen() {
        let tcp = Selection {
            transports: vec![Transport::Tcp],
            ..names(&["opa"])
        };
        assert!(lines(&tcp).is_empty());
    }

    #[test]
    fn peers_are_measured_only_when_asked_for() {
        let usual = Selection {
            groups: vec![Group::Gate, Group::Policies],
            ..Selection::default()
        };
        let found = lines(&usual);
        assert!(found.contains(&"tls-h2 ABAC 16".to_owned()), "{found:?}");
        assert!(!found.iter().any(|line| line.contains("opa")), "{found:?}");
        let unique: std::collections::HashSet<_> = found.iter().collect();
        assert_eq!(unique.len(), found.len());
    }

    #[test]
    fn an_unknown_scenario_is_refused_with_the_known_ones() {
        let refusal = selected(scenario::all().unwrap(), &names(&["Nope"]));
        let refusal = refusal.unwrap_err().to_string();
        assert!(
            refusal.contains("`Nope`") && refusal.contains("AlwaysAdmit"),
            "{refusal}"
        );
    }
}
