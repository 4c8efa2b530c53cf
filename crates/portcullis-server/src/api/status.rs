//! How the server is: listeners, reloads, stores, graphs, the decision log.

mod answer;

use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_gate::graphs::ProfileInForce;
use portcullis_gate::{Gate, WatchedKind};
use portcullis_jobs::Timestamp;

use self::answer::{
    AuthenticatorStatus, DecisionLogStatus, GraphStatus, ListenerStatus, ReloadStatus, Status,
    StoreStatus, WatchStatus,
};
use super::access::at_root;
use super::action::Read;
use super::answer::ok;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, get, schema_of};
use super::query::Query;
use crate::health::StoreHealth;
use crate::readiness;
use crate::server::Server;
use crate::standing::{LastReload, ListenerState};

/// Seconds.
const DAY: i64 = 24 * 60 * 60;

/// What may be asked about the server.
pub(super) const ENDPOINTS: &[Endpoint] = &[get(
    ("/api/v1/status", "serverStatus"),
    Tag::Description,
    at_root::<Read>(),
    (
        "Show the status of the server",
        "What `/readyz?verbose` checks, with listeners, stores, graphs, watches and the decision log. Counts begin with the \
         start of the server. Always needs an identity, also where anonymous callers may read.",
    ),
    Success::Json {
        description: "The status.",
        schema: schema_of::<Status>,
    },
    show,
)];

/// `GET /api/v1/status`
fn show(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        // Reading may be open to anyone, but addresses, files and errors are not for strangers.
        call.somebody()?;
        call.authorize(call.gate.access.roles.root(), Read).await?;
        Query::of(call.head).done()?;
        ok(&status(&call.visitor.server, call.gate))
    })
}

fn status(server: &Server, gate: &Gate) -> Status {
    let store = StoreHealth::of(&server.decisions);
    let checks = readiness::states(server);
    let standing = &server.standing;
    Status {
        version: env!("CARGO_PKG_VERSION"),
        started: Timestamp::from(standing.started).to_string(),
        is_demonstration: standing.is_demonstration,
        checks,
        listeners: standing.listeners().into_iter().map(listener).collect(),
        last_reload: standing.last_reload().map(reload),
        stores: stores(server, store),
        graphs: gate.graphs.iter().map(|profile| graph(profile)).collect(),
        watches: watches(gate),
        authenticators: authenticators(gate),
        decision_log: decision_log(server),
    }
}

fn listener(state: ListenerState) -> ListenerStatus {
    let seconds = state.expires_at.and_then(|at| u64::try_from(at).ok());
    let expires = seconds.map(|at| Timestamp::from_millis(at.saturating_mul(1000)));
    ListenerStatus {
        name: state.name,
        address: state.address,
        serves: state.serves,
        tls: state.is_tls,
        is_development: state.is_development,
        certificate_expires: expires.map(|at| at.to_string()),
        certificate_days_left: state.expires_at.map(|at| days_left(at, clock::wall())),
    }
}

/// Whole days until a time in seconds since 1970.
fn days_left(at: i64, now: SystemTime) -> i64 {
    let now = now.duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    });
    at.saturating_sub(now).div_euclid(DAY)
}

fn reload(last: LastReload) -> ReloadStatus {
    let successful = last.outcome.is_ok();
    let (changes, error) = match last.outcome {
        Ok(changes) => (Some(changes), None),
        Err(error) => (None, Some(error)),
    };
    ReloadStatus {
        at: Timestamp::from(last.at).to_string(),
        successful,
        changes,
        error,
    }
}

fn stores(server: &Server, decisions: StoreHealth) -> Vec<StoreStatus> {
    let decisions = server.decisions.location().map(|location| StoreStatus {
        keeps: "decisions",
        location: location.to_string(),
        reachable: decisions.fault.is_none(),
        error: decisions.fault,
    });
    let jobs = server.ci.readiness().map(|open| StoreStatus {
        keeps: "jobs",
        location: server.ci.location().to_string(),
        reachable: open.is_ok(),
        error: open.err(),
    });
    decisions.into_iter().chain(jobs).collect()
}

fn graph(profile: &ProfileInForce) -> GraphStatus {
    let state = profile.state();
    let counts = state.graphs().iter().map(portcullis_graph::Graph::counts);
    let add = |(v, e): (usize, usize), (vertices, edges)| (v + vertices, e + edges);
    let (vertices, edges) = counts.fold((0, 0), add);
    GraphStatus {
        name: profile.name.clone(),
        synced: state.is_caught_up(),
        lag_seconds: profile.lag().as_secs(),
        vertices,
        edges,
        problems: profile.troubles(),
    }
}

fn watches(gate: &Gate) -> Vec<WatchStatus> {
    let of_graphs = gate.graphs.iter().flat_map(|profile| {
        let watches = profile.watches().into_iter();
        watches.map(move |one| watch(Some(profile.name.clone()), one))
    });
    let of_cluster = gate.cluster.watches().into_iter();
    of_graphs
        .chain(of_cluster.map(|one| watch(None, one)))
        .collect()
}

fn watch(profile: Option<String>, one: WatchedKind) -> WatchStatus {
    WatchStatus {
        profile,
        kind: one.kind,
        state: one.state.as_str(),
        synced: one.is_synced,
        objects: one.objects,
        last_event: one.last_event.map(|at| Timestamp::from(at).to_string()),
        malformed: one.malformed,
        error: one.error,
    }
}

fn authenticators(gate: &Gate) -> Vec<AuthenticatorStatus> {
    let access = &gate.access;
    let realms = access.authenticators.realms().into_iter();
    let tokens = realms.map(|realm| AuthenticatorStatus {
        realm: Some(realm.name),
        driver: realm.driver,
        issuer: realm.authority,
        is_default: realm.is_default,
        can_sign_in: realm.can_login,
    });
    let others = [
        ("ClientCertificate", &access.certificates),
        ("UnixSocket", &access.sockets),
    ];
    let others = others.into_iter().filter_map(|(driver, issuer)| {
        Some(AuthenticatorStatus {
            realm: None,
            driver,
            issuer: issuer.clone()?,
            is_default: false,
            can_sign_in: false,
        })
    });
    tokens.chain(others).collect()
}

fn decision_log(server: &Server) -> DecisionLogStatus {
    let counts = &server.metrics.decisions;
    DecisionLogStatus {
        on: server.decisions.is_on(),
        required: server.decisions.is_required(),
        kept: counts.recorded(),
        dropped: counts.lost(),
        waiting: counts.waits(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn days_are_whole_and_negative_once_it_is_over() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(days_left(1000 + DAY, now), 1);
        assert_eq!(days_left(999 + DAY, now), 0);
        assert_eq!(days_left(999, now), -1);
    }
}
