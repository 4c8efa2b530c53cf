//! What `/readyz`, the status and the service manager say: the checks of health, on the server as it is now.

use crate::health::{CheckState, Parts, PoliciesHealth, StoreHealth};
use crate::server::Server;

/// Whether requests should come here, and why, a line for each check.
pub(crate) fn readiness(server: &Server, excluded: &[&str]) -> (bool, String) {
    with_parts(server, |parts| server.health.readiness(excluded, parts))
}

/// Every check.
pub(crate) fn states(server: &Server) -> Vec<CheckState> {
    with_parts(server, |parts| server.health.states(parts))
}

/// The checks that keep the server from being ready, in one line; empty if it is ready.
pub(crate) fn failures(server: &Server) -> String {
    let states = states(server);
    let failed = states.iter().filter(|state| state.is_failed());
    let each = failed.map(|state| match &state.message {
        Some(message) => format!("{}: {message}", state.name),
        None => state.name.clone(),
    });
    each.collect::<Vec<_>>().join("; ")
}

fn with_parts<T>(server: &Server, run: impl FnOnce(Parts<'_>) -> T) -> T {
    let gate = server.gate.load();
    run(Parts {
        store: &StoreHealth::of(&server.decisions),
        jobs: server.ci.readiness(),
        graphs: &gate.graphs,
        cluster: &gate.cluster,
        policies: PoliciesHealth::of(&server.guard, &gate.engine),
        certificates: server.managed.health(),
    })
}
