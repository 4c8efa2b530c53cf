//! The policies of the gate, as the service asks them about jobs.

use std::sync::{Arc, Weak};

use portcullis_ci::{Judging, PolicyChoice, PolicyJudge, PolicyQuestion, PolicyVerdict};
use portcullis_core::clock;
use portcullis_document::Faults;
use portcullis_gate::Gate;
use portcullis_gate::policies::{JobOutcome, JobPolicy, job_request};

use crate::server::Server;

/// Asks the policies that are in force.
#[derive(Debug)]
pub(super) struct GateJudge {
    server: Weak<Server>,
}

/// What is said while the server ends.
const ENDING: &str = "the server is shutting down";

impl GateJudge {
    pub(super) fn new(server: &Arc<Server>) -> Self {
        Self {
            server: Arc::downgrade(server),
        }
    }

    fn gate(&self) -> Option<Arc<Gate>> {
        Some(self.server.upgrade()?.gate.load_full())
    }
}

impl PolicyJudge for GateJudge {
    fn judge(&self, question: PolicyQuestion) -> Judging {
        let gate = self.gate();
        let server = Weak::clone(&self.server);
        Box::pin(async move {
            let gate = gate.ok_or_else(|| ENDING.to_owned())?;
            judged(&gate, &server, question).await
        })
    }

    fn has_policy(&self, name: &str) -> bool {
        self.gate().is_some_and(|gate| gate.job_policies.has(name))
    }

    fn has_ci_policies(&self) -> bool {
        let gate = self.gate();
        gate.is_some_and(|gate| !gate.job_policies.for_door().is_empty())
    }

    fn check_code(&self, code: &str) -> Result<(), String> {
        let gate = self.gate().ok_or_else(|| ENDING.to_owned())?;
        let checked = gate.job_policies.check(code);
        checked.map_err(|faults| Faults(faults).on_one_line())
    }
}

async fn judged(
    gate: &Gate,
    server: &Weak<Server>,
    question: PolicyQuestion,
) -> Result<PolicyVerdict, String> {
    let PolicyQuestion {
        policies,
        object,
        job,
        attempt,
        user,
        within,
    } = question;
    let policy = match &policies {
        PolicyChoice::Named(name) => JobPolicy::Named(name),
        PolicyChoice::Code { code, .. } => JobPolicy::Code(code),
        PolicyChoice::Door => JobPolicy::Door,
    };
    let deadline = clock::monotonic() + within;
    let uid = format!("{job}-{attempt}");
    let request = job_request(object, user.id, uid, Some(deadline));
    let judging = gate.job_policies.judge(policy, request);
    let judgement = tokio::time::timeout(within, judging).await;
    let judgement = judgement.map_err(|_| "the policy did not answer in time".to_owned())?;
    let is_code = matches!(policies, PolicyChoice::Code { .. });
    if !is_code && let Some(server) = server.upgrade() {
        let metrics = &server.metrics;
        metrics.job_policies(&judgement.steps, &judgement.host_calls);
    }
    // A policy of the controller itself has no name of its own.
    let named = |policy: Option<String>| policy.filter(|_| !is_code);
    let (accepted, reason, policy) = match judgement.outcome {
        JobOutcome::NotAsked => (true, None, None),
        JobOutcome::Accepted(reason) => (true, reason, None),
        JobOutcome::Denied(policy, reason) => (false, Some(reason), named(policy)),
        JobOutcome::Failed(policy, reason) => {
            return Err(match named(policy) {
                Some(policy) => format!("{policy}: {reason}"),
                None => reason,
            });
        }
    };
    // Who asks about one policy knows which it is; of several, the reason names the one.
    let reason = match (&policies, &policy, reason) {
        (PolicyChoice::Door, Some(policy), Some(reason)) => Some(format!("{policy}: {reason}")),
        (_, _, reason) => reason,
    };
    Ok(PolicyVerdict {
        accepted,
        reason,
        policy,
        object: judgement.object,
    })
}
