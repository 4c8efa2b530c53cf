//! The checks of readiness one by one, for those who look at the server.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Check, Health, Parts};

/// How one check went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CheckState {
    /// What was checked, as in `/readyz?verbose`.
    pub(crate) name: String,
    /// How it is.
    pub(crate) state: State,
    /// What is wrong or unusual.
    pub(crate) message: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// Something is wrong, and the server is ready all the same.
    Warning,
    /// The server is not ready because of it.
    Failed,
}

impl Health {
    /// Every check.
    pub(crate) fn states(&self, parts: Parts<'_>) -> Vec<CheckState> {
        self.checks(parts).into_iter().map(CheckState::of).collect()
    }
}

impl CheckState {
    /// Whether the server is not ready because of it.
    pub(crate) fn is_failed(&self) -> bool {
        self.state == State::Failed
    }

    fn of(check: Check) -> Self {
        let state = match (check.fault, &check.trouble, &check.remark) {
            (Some(_), ..) => State::Failed,
            (None, None, None) => State::Ok,
            _ => State::Warning,
        };
        let remark = check.trouble.or(check.remark);
        let message = match (check.fault, remark) {
            (Some(fault), Some(remark)) => Some(format!("{fault}: {remark}")),
            (Some(fault), None) => Some(fault.to_owned()),
            (None, remark) => remark,
        };
        Self {
            name: check.name.to_owned(),
            state,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PoliciesHealth, StoreHealth};
    use super::*;
    use portcullis_gate::cluster::ClusterInForce;
    use portcullis_gate::graphs::Graphs;

    #[test]
    fn what_fails_and_what_is_only_odd_are_told_apart() {
        let health = Health::default();
        health.set_reload(Some("a.yaml:1:1: bad".to_owned()));
        let store = StoreHealth {
            fault: Some("the disk is full".to_owned()),
            is_needed: true,
        };
        let states = health.states(Parts {
            store: &store,
            jobs: None,
            graphs: &Graphs::default(),
            cluster: &ClusterInForce::default(),
            policies: PoliciesHealth::default(),
            certificates: None,
        });
        let of = |name: &str| states.iter().find(|one| one.name == name).unwrap();
        assert_eq!(of("ping").state, State::Ok);
        assert_eq!(of("configuration").state, State::Warning);
        assert_eq!(of("listeners").state, State::Failed);
        assert_eq!(of("store").state, State::Failed);
        let message = of("store").message.as_deref();
        assert_eq!(message, Some("decisions can't be kept: the disk is full"));
    }
}
