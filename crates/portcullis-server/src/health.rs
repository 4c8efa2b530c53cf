//! Liveness and readiness of the server.
//!
//! `/livez` answers 200 as long as the server runs. `/readyz` answers 200 when every listener is bound, the
//! store was opened (for CI jobs too, where they are served), clients trust managed certificates, every graph knows its objects, policies can be evaluated, and the server isn't about to
//! end. A store that stops answering later is shown, and makes it unready only where decisions must be
//! recorded. A failed reload is shown, and does not make it unready: the last good configuration decides.

mod states;

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_core::sync::Mutex;

use crate::decisions::DecisionLog;
use crate::managed::ManagedHealth;
use portcullis_gate::cluster::ClusterInForce;
use portcullis_gate::graphs::Graphs;
use portcullis_gate::policies::Engine;
use portcullis_js::Guard;
use portcullis_roles::LeftOut;

pub(crate) use states::CheckState;

/// What readiness depends on.
#[derive(Debug, Default)]
pub(crate) struct Health {
    bound: AtomicBool,
    ending: AtomicBool,
    failed_reload: Mutex<Option<String>>,
    left_out: Mutex<Vec<String>>,
}

/// How the store is.
#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// Why it doesn't answer, if it doesn't.
    pub(crate) fault: Option<String>,
    /// Whether nothing can be decided without it.
    pub(crate) is_needed: bool,
}

impl StoreHealth {
    pub(crate) fn of(log: &DecisionLog) -> Self {
        let state = log.store_state();
        Self {
            is_needed: log.is_required() || !state.was_open,
            fault: state.fault,
        }
    }
}

/// How the evaluation of policies is.
#[derive(Debug, Default)]
pub(crate) struct PoliciesHealth {
    /// Why policies can't be evaluated, if they can't.
    fault: Option<&'static str>,
    /// What is unusual.
    remark: Option<String>,
}

impl PoliciesHealth {
    pub(crate) fn of(guard: &Guard, engine: &Engine) -> Self {
        let status = guard.status();
        let is_unavailable = status.is_on() && status.fault.is_some();
        let unavailable = is_unavailable.then_some("worker processes can't be started");
        let mut remarks = Vec::new();
        if status.is_everything {
            remarks.push("all policies are evaluated in worker processes".to_owned());
        } else if status.is_on() {
            let policies = status.suspects.join(", ");
            remarks.push(format!("evaluated in worker processes: {policies}"));
        }
        if status.lost_threads > 0 {
            remarks.push(format!("abandoned threads: {}", status.lost_threads));
        }
        remarks.extend(status.fault.filter(|_| is_unavailable));
        Self {
            fault: unavailable.or_else(|| engine.fault()),
            remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
        }
    }
}

/// How everything is that readiness depends on.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) store: &'a StoreHealth,
    /// Whether the store of CI jobs is open, or why not; nothing where none are served.
    pub(crate) jobs: Option<Result<(), String>>,
    pub(crate) graphs: &'a Graphs,
    pub(crate) cluster: &'a ClusterInForce,
    pub(crate) policies: PoliciesHealth,
    /// The certificates that the server makes itself; nothing if there are none.
    pub(crate) certificates: Option<ManagedHealth>,
}

/// One line of the verbose answer.
struct Check {
    name: &'static str,
    fault: Option<&'static str>,
    remark: Option<String>,
    /// What is wrong without making the server unready.
    trouble: Option<String>,
}

impl Health {
    /// Every listener is bound.
    pub(crate) fn set_bound(&self) {
        self.bound.store(true, Ordering::SeqCst);
    }

    /// The server is about to end.
    pub(crate) fn set_ending(&self) {
        self.ending.store(true, Ordering::SeqCst);
    }

    /// How the last reload went.
    pub(crate) fn set_reload(&self, failure: Option<String>) {
        let mut failed = self.failed_reload.lock();
        *failed = failure;
    }

    /// Tenants that are not as their file says.
    pub(crate) fn set_tenants(&self, left_out: &[LeftOut]) {
        let mut texts = self.left_out.lock();
        *texts = left_out.iter().map(LeftOut::text).collect();
    }

    fn checks(&self, parts: Parts<'_>) -> Vec<Check> {
        let Parts {
            store,
            jobs,
            graphs,
            cluster,
            policies,
            certificates,
        } = parts;
        let bound = self.bound.load(Ordering::SeqCst);
        let ending = self.ending.load(Ordering::SeqCst);
        let failed = self.failed_reload.lock();
        let remark = failed
            .as_ref()
            .map(|why| format!("last reload failed: {why}"));
        let is_behind = graphs.behind().next().is_some();
        let troubles = graphs.troubles();
        let tenants = self.left_out.lock();
        let tenants = (!tenants.is_empty()).then(|| tenants.join("; "));
        let jobs = jobs.map(|open| Check {
            name: "ci",
            fault: open.is_err().then_some("the store of CI jobs is not open"),
            remark: open.err(),
            trouble: None,
        });
        let certificates = certificates.map(|health| Check {
            name: "certificates",
            fault: health.fault,
            remark: health.trouble.clone(),
            trouble: health.trouble,
        });
        let mut checks = vec![
            Check {
                name: "ping",
                fault: None,
                remark: None,
                trouble: None,
            },
            Check {
                name: "configuration",
                fault: None,
                remark,
                trouble: None,
            },
            Check {
                name: "tenants",
                fault: None,
                remark: tenants,
                trouble: None,
            },
            Check {
                name: "listeners",
                fault: (!bound).then_some("not all are bound"),
                remark: None,
                trouble: None,
            },
            Check {
                name: "store",
                fault: (store.fault.is_some() && store.is_needed)
                    .then_some("decisions can't be kept"),
                remark: store.fault.clone(),
                trouble: store.fault.clone().filter(|_| !store.is_needed),
            },
            Check {
                name: "graph",
                fault: is_behind.then_some("not all graphs have caught up with their objects"),
                remark: (!troubles.is_empty()).then(|| troubles.join("; ")),
                trouble: None,
            },
            Check {
                name: "policies",
                fault: policies.fault,
                remark: policies.remark,
                trouble: None,
            },
            Check {
                name: "shutdown",
                fault: ending.then_some("the server is shutting down"),
                remark: None,
                trouble: None,
            },
        ];
        if cluster.is_configured() {
            let troubles = cluster.troubles();
            checks.push(Check {
                name: "kube",
                fault: (!cluster.is_synced())
                    .then_some("not all objects of the cluster are synced yet"),
                remark: (!troubles.is_empty()).then(|| troubles.join("; ")),
                trouble: None,
            });
        }
        // Beside the other store.
        let place = checks.iter().position(|check| check.name == "graph");
        if let (Some(jobs), Some(place)) = (jobs, place) {
            checks.insert(place, jobs);
        }
        // Beside the listeners that show them.
        let place = checks.iter().position(|check| check.name == "store");
        if let (Some(certificates), Some(place)) = (certificates, place) {
            checks.insert(place, certificates);
        }
        checks
    }

    /// Whether requests should come here, and why, a line for each check.
    pub(crate) fn readiness(&self, excluded: &[&str], parts: Parts<'_>) -> (bool, String) {
        let mut text = String::new();
        let mut is_ready = true;
        for check in self.checks(parts) {
            let remark = check.remark.map(|r| format!(" ({r})")).unwrap_or_default();
            let _ = match check.fault {
                _ if excluded.contains(&check.name) => {
                    writeln!(text, "[+]{} excluded: ok", check.name)
                }
                None => match check.trouble {
                    Some(trouble) => {
                        writeln!(text, "[-]{} failed, still ready: {trouble}", check.name)
                    }
                    None => writeln!(text, "[+]{} ok{remark}", check.name),
                },
                Some(fault) => {
                    is_ready = false;
                    writeln!(text, "[-]{} failed: {fault}{remark}", check.name)
                }
            };
        }
        let _ = writeln!(
            text,
            "readyz check {}",
            if is_ready { "passed" } else { "failed" }
        );
        (is_ready, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(health: &Health, excluded: &[&str]) -> (bool, String) {
        let store = StoreHealth::default();
        with(health, excluded, &store, PoliciesHealth::default(), None)
    }

    fn with(
        health: &Health,
        excluded: &[&str],
        store: &StoreHealth,
        policies: PoliciesHealth,
        jobs: Option<Result<(), String>>,
    ) -> (bool, String) {
        let parts = Parts {
            store,
            jobs,
            graphs: &Graphs::default(),
            cluster: &ClusterInForce::default(),
            policies,
            certificates: None,
        };
        health.readiness(excluded, parts)
    }

    #[test]
    fn ready_means_that_the_store_of_jobs_is_open_where_they_are_served() {
        let health = Health::default();
        health.set_bound();
        let asked = |jobs| {
            let policies = PoliciesHealth::default();
            with(&health, &[], &StoreHealth::default(), policies, jobs)
        };
        let (is_ready, text) = asked(None);
        assert!(is_ready && !text.contains("]ci "), "{text}");
        let (is_ready, text) = asked(Some(Ok(())));
        assert!(is_ready && text.contains("[+]ci ok"), "{text}");
        let (is_ready, text) = asked(Some(Err("connection refused".to_owned())));
        let said = "[-]ci failed: the store of CI jobs is not open (connection refused)";
        assert!(!is_ready && text.contains(said), "{text}");
    }

    #[test]
    fn a_managed_certificate_must_be_there_and_trouble_with_it_is_shown() {
        let health = Health::default();
        health.set_bound();
        let asked = |fault, trouble: Option<&str>| {
            let parts = Parts {
                store: &StoreHealth::default(),
                jobs: None,
                graphs: &Graphs::default(),
                cluster: &ClusterInForce::default(),
                policies: PoliciesHealth::default(),
                certificates: Some(ManagedHealth {
                    fault,
                    trouble: trouble.map(str::to_owned),
                }),
            };
            health.readiness(&[], parts)
        };
        let (is_ready, text) = asked(None, None);
        assert!(is_ready && text.contains("[+]certificates ok\n"), "{text}");
        let (is_ready, text) = asked(None, Some("connection refused"));
        let said = "[-]certificates failed, still ready: connection refused\n";
        assert!(is_ready && text.contains(said), "{text}");
        let (is_ready, text) = asked(Some("there is no certificate yet"), Some("forbidden"));
        let said = "[-]certificates failed: there is no certificate yet (forbidden)\n";
        assert!(!is_ready && text.contains(said), "{text}");
    }

    #[test]
    fn policies_that_can_not_be_evaluated_make_it_unready() {
        let health = Health::default();
        health.set_bound();
        let store = StoreHealth::default();
        let policies = |fault| PoliciesHealth {
            fault,
            remark: Some("abandoned threads: 3".into()),
        };
        let (is_ready, text) = with(&health, &[], &store, policies(None), None);
        assert!(is_ready && text.contains("[+]policies ok (abandoned threads: 3)"));
        let fault = policies(Some("worker processes can't be started"));
        let (is_ready, text) = with(&health, &[], &store, fault, None);
        assert!(
            !is_ready && text.contains("[-]policies failed: worker processes can't be started")
        );
    }

    #[test]
    fn ready_means_bound_and_not_ending() {
        let health = Health::default();
        assert!(!ready(&health, &[]).0);
        assert!(ready(&health, &["listeners"]).0);
        health.set_bound();
        assert!(ready(&health, &[]).0);
        health.set_ending();
        let (is_ready, text) = ready(&health, &[]);
        assert!(!is_ready && text.contains("[-]shutdown failed: the server is shutting down"));
    }

    #[test]
    fn a_failed_reload_is_shown_and_stays_ready() {
        let health = Health::default();
        health.set_bound();
        health.set_reload(Some("a.yaml:1:1: bad".into()));
        let (is_ready, text) = ready(&health, &[]);
        assert!(
            is_ready && text.contains("[+]configuration ok (last reload failed: a.yaml:1:1: bad)")
        );
        health.set_reload(None);
        assert!(!ready(&health, &[]).1.contains("failed"));
    }

    #[test]
    fn a_store_that_fails_is_never_called_ok() {
        let health = Health::default();
        health.set_bound();
        let readiness = |is_needed| {
            let store = StoreHealth {
                fault: Some("database or disk is full".to_owned()),
                is_needed,
            };
            with(&health, &[], &store, PoliciesHealth::default(), None)
        };
        let (is_ready, text) = readiness(false);
        assert!(is_ready, "{text}");
        let said = "[-]store failed, still ready: database or disk is full";
        assert!(text.contains(said), "{text}");
        let (is_ready, text) = readiness(true);
        assert!(!is_ready, "{text}");
        let said = "[-]store failed: decisions can't be kept (database or disk is full)";
        assert!(text.contains(said), "{text}");
    }
}
