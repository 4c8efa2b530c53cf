//! Alarms for operators about policies that can't be stopped: log lines
//! and metrics. Policies are named; nothing of a request is.

use std::sync::Arc;

use portcullis_js::{Guard, GuardEvent, GuardListener, GuardOptions, GuardStatus, WorkerCommand};

use crate::metrics::GuardMetrics;

/// A guard that starts such processes, and logs what it notices. Without a command it starts none.
pub(crate) fn guard(command: Option<WorkerCommand>, metrics: GuardMetrics) -> Guard {
    match command {
        Some(command) => {
            let alarm = Arc::new(Alarm { metrics });
            Guard::new(GuardOptions::new(command), Some(alarm))
        }
        None => Guard::none(),
    }
}

#[derive(Debug)]
struct Alarm {
    metrics: GuardMetrics,
}

impl GuardListener for Alarm {
    fn noticed(&self, event: GuardEvent<'_>, status: &GuardStatus) {
        self.metrics.show(status);
        let lost = status.lost_threads;
        match event {
            GuardEvent::Stuck(policy) => tracing::warn!(
                policy,
                "an evaluation is inside a function that can't be interrupted"
            ),
            GuardEvent::GivenUp(policy) => {
                self.metrics.given_up(policy);
                tracing::warn!(
                    policy,
                    lost,
                    "an evaluation thread did not stop at the deadline and was abandoned"
                );
            }
            GuardEvent::CameBack => tracing::info!(lost, "an abandoned evaluation thread ended"),
            GuardEvent::Killed(policy) => {
                self.metrics.killed(policy);
                tracing::warn!(
                    policy,
                    "an evaluation did not stop at the deadline and was killed"
                );
            }
            GuardEvent::Suspect(policy) => {
                tracing::warn!(
                    policy,
                    "this policy is evaluated in worker processes from now on"
                );
            }
            GuardEvent::Everything => tracing::warn!(
                lost,
                "all policies are evaluated in worker processes from now on"
            ),
            GuardEvent::NoProcess(why) => tracing::error!(
                "worker processes can't be started, so policies can't be evaluated: {why}"
            ),
            GuardEvent::ProcessAgain => tracing::info!("worker processes can be started again"),
            GuardEvent::Ended => {
                tracing::info!("policies are evaluated in threads again");
            }
        }
    }
}
