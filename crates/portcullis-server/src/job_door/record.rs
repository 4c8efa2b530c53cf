//! What is recorded of the admission of jobs.
//!
//! Calls come in by the API. What is decided about a job is decided later, when its last controller has answered;
//! then one record is written, with a step for each controller.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use portcullis_ci::{AdmissionRecord, FinishedAdmission, NotRecorded, Observation, Recorder};
use portcullis_config::Service;
use portcullis_core::patch;
use portcullis_core::text::start;
use portcullis_core::{
    Attributes, Decision, DecisionId, Denial, Phase, PolicyMode, PolicyOutcome, PolicyStep, Step,
    StepOutcome, Verdict, clock,
};
use portcullis_gate::Gate;
use portcullis_gate::policies::job_request;
use portcullis_jobs::{AdmissionDecision, AdmissionState, DecisionVerdict, FailureReason};
use portcullis_record::{Admission, Body, Decided, Material};
use portcullis_store::Location;
use serde_json::json;

use crate::door::{Door, Keeping};
use crate::server::Server;

/// Admission of CI jobs.
#[derive(Debug)]
pub(crate) struct Ci;

/// What was decided about one attempt of a job.
#[derive(Debug)]
pub(crate) struct JobDecision {
    attributes: Attributes,
    verdict: Verdict,
    /// The job as the first controller saw it.
    text: String,
    started: SystemTime,
}

impl Door for Ci {
    const NAME: portcullis_core::Door = portcullis_core::Door::Ci;
    const SERVICES: &'static [Service] = &[Service::Ci, Service::Api];
    type Decision = JobDecision;
    type Answer = ();

    fn report(server: &Server, gate: &Gate, decision: &JobDecision) {
        report(server, gate, &decision.attributes, &decision.verdict);
    }

    /// Who submitted the job was answered long ago.
    fn encode(_: &JobDecision) {}

    fn encode_unrecorded(_: &JobDecision) {}

    fn record(decision: JobDecision, gate: &Gate) -> Material {
        let policy = decision.verdict.policy.as_ref();
        let digest = policy.and_then(|policy| gate.policy_digests.get(policy).cloned());
        Material {
            body: Body(Arc::new(decision.text)),
            index: None,
            received: decision.started,
            gate: Arc::clone(&gate.digest),
            traceparent: None,
            decided: Decided::Admission(Box::new(Admission {
                attributes: decision.attributes,
                verdict: decision.verdict,
                webhook: None,
                digest,
            })),
        }
    }
}

fn report(server: &Server, gate: &Gate, attributes: &Attributes, verdict: &Verdict) {
    if let Some(telemetry) = &server.telemetry {
        telemetry.admission(attributes, verdict, 200);
    }
    if let Some(denial) = verdict.denial() {
        let shown = |text: &str| start(text, 200).to_owned();
        tracing::info!(
            target: "portcullis::decision",
            decision_id = %verdict.id,
            job = shown(&attributes.uid),
            verdict = "deny",
            controller = verdict.plugin.as_deref(),
            project = shown(&attributes.namespace),
            name = shown(&attributes.name),
            user = shown(&attributes.user.username),
            reason = shown(&gate.masker.scrub_for(attributes, &denial.reason)),
            "denied",
        );
    }
}

/// Records decisions about jobs.
#[derive(Debug)]
pub(crate) struct DecisionRecorder {
    server: Weak<Server>,
    /// The store of the jobs.
    location: Location,
}

impl DecisionRecorder {
    pub(super) fn new(server: &Arc<Server>, location: &Location) -> Self {
        Self {
            server: Arc::downgrade(server),
            location: location.clone(),
        }
    }
}

impl Recorder for DecisionRecorder {
    /// Where decisions are stored, the record is stored with the verdict. Otherwise it is kept afterwards, and is never
    /// enough where decisions are required.
    fn record(&self, finished: FinishedAdmission) -> Result<AdmissionRecord, NotRecorded> {
        // Without a server that is running nothing is recorded, and so nothing is decided.
        let server = self.server.upgrade().ok_or(NotRecorded)?;
        let gate = server.gate.load_full();
        let decision = decision(finished);
        let log = &server.decisions;
        let is_stored = log.location().as_ref() == Some(&self.location);
        if !is_stored {
            return match log.is_required() {
                true => Err(NotRecorded),
                false => Ok(recorded_later(server, gate, decision)),
            };
        }
        let material = Ci::record(decision, &gate);
        let entry = log.write(&material, &gate.masker);
        if entry.is_none() && log.is_required() {
            return Err(NotRecorded);
        }
        let line = entry.clone().filter(|_| log.has_lines());
        let is_kept = entry.is_some();
        let stored = move || {
            if let Decided::Admission(admission) = &material.decided {
                report(&server, &gate, &admission.attributes, &admission.verdict);
            }
            if is_kept {
                server.decisions.stored(line);
            }
        };
        Ok(AdmissionRecord {
            entry,
            stored: Box::new(stored),
        })
    }

    fn observe(&self, observation: &Observation) {
        match observation {
            Observation::Trouble { error } => tracing::warn!("CI jobs: {error}"),
            Observation::Durability { risk } => tracing::warn!("CI jobs: {risk}"),
            Observation::Suspended { name, .. } => {
                tracing::warn!(controller = name, "controller suspended: it answered 410");
            }
            Observation::Held { job, held } => {
                let (hold, runner) = (held.hold, held.runner);
                let manager = start(&held.system_id, 64);
                tracing::info!(
                    hold,
                    runner,
                    manager,
                    job,
                    "a failed job: its runner is held"
                );
            }
            Observation::Breaker { name, state, .. } => {
                tracing::info!(controller = name, state = %state, "circuit breaker");
            }
            _ => {}
        }
        if let Some(server) = self.server.upgrade() {
            server.metrics.ci.observe(observation);
        }
    }
}

/// A record that is kept after the verdict was stored.
fn recorded_later(server: Arc<Server>, gate: Arc<Gate>, decision: JobDecision) -> AdmissionRecord {
    let stored = move || {
        Ci::report(&server, &gate, &decision);
        if server.decisions.is_on() {
            let keeping = Keeping {
                server: &server,
                gate: &gate,
                deadline: clock::monotonic(),
            };
            keeping.later::<Ci>(decision);
        }
    };
    AdmissionRecord {
        entry: None,
        stored: Box::new(stored),
    }
}

/// A time as others count it.
fn time(timestamp: portcullis_jobs::Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(timestamp.as_millis())
}

fn decision(finished: FinishedAdmission) -> JobDecision {
    let FinishedAdmission {
        job,
        attempt,
        definition,
        object,
        changed_object,
        decisions,
        state,
        failure_reason,
        reason,
        started_at,
        finished_at,
        ..
    } = finished;
    let started = time(started_at);
    let text = object.to_string();
    let uid = format!("{job}-{attempt}");
    let mut attributes = job_request(object, definition.user.id, uid, None);
    let context = Arc::make_mut(&mut attributes.context);
    context.time = Some(started);
    let is_accepted = matches!(state, AdmissionState::Accepted);
    let mut changes = Vec::new();
    if is_accepted
        && let Some(document) = &mut attributes.object
        && document.replace(changed_object).is_ok()
    {
        changes = document.patch();
    }
    let denied_by = decisions.iter().rev().find(|one| is_refusal(one));
    let policy = denied_by.and_then(|one| policy_of(one).map(|(policy, _)| policy.to_owned()));
    let plugin = denied_by.map(|one| Arc::from(plugin_of(one)));
    let verdict = Verdict {
        id: DecisionId::new(clock::wall()),
        decision: match is_accepted {
            true => Decision::Allow,
            false => Decision::Deny(denial(failure_reason, denied_by, reason)),
        },
        plugin,
        policy,
        warnings: decisions
            .iter()
            .flat_map(|one| one.warnings.clone())
            .collect(),
        annotations: BTreeMap::new(),
        patch: changes,
        trace: steps(&decisions, is_accepted),
        duration: finished_at.since(started_at),
    };
    JobDecision {
        attributes,
        verdict,
        text,
        started,
    }
}

/// Why a job is not admitted: what the one who denied it says, or all reasons.
fn denial(
    failure: Option<FailureReason>,
    by: Option<&AdmissionDecision>,
    reason: Option<String>,
) -> Denial {
    let own = by.and_then(|one| {
        let reason = one.reason.as_deref()?;
        Some(format!("{}: {reason}", one.controller))
    });
    let word = failure.map(|failure| failure.to_string());
    let message = own.or(reason).or_else(|| word.clone());
    Denial {
        reason: word.map_or(Cow::Borrowed("admission_denied"), Cow::Owned),
        ..Denial::forbidden(message.unwrap_or_else(|| "the job was not admitted".to_owned()))
    }
}

/// Whether it is why a job goes no further.
fn is_refusal(decision: &AdmissionDecision) -> bool {
    let is_no = matches!(
        decision.verdict,
        DecisionVerdict::Denied | DecisionVerdict::Timeout | DecisionVerdict::Error
    );
    is_no && !decision.dry_run && decision.exempted_by.is_none()
}

/// What stands for the policies of the door among the controllers.
const POLICIES: &str = "policies";

/// The policy of the door that denied, and what it said.
fn policy_of(decision: &AdmissionDecision) -> Option<(&str, &str)> {
    let reason = decision.reason.as_deref()?;
    let is_denied = decision.verdict == DecisionVerdict::Denied;
    let is_door = decision.controller == POLICIES;
    reason.split_once(": ").filter(|_| is_denied && is_door)
}

/// Who did a step: for the policies of the door, the plug-in that asks them elsewhere.
fn plugin_of(decision: &AdmissionDecision) -> &str {
    match decision.controller.as_str() {
        POLICIES => portcullis_config::POLICIES,
        name => name,
    }
}

/// What each did. Where the patch of the verdict doesn't say who changed what, the steps do.
fn steps(decisions: &[AdmissionDecision], is_accepted: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = decisions.iter().map(step).collect();
    let is_changed = |step: &&Step| step.outcome == StepOutcome::Changed;
    if is_accepted && steps.iter().filter(is_changed).count() < 2 {
        return steps;
    }
    for (step, decision) in steps.iter_mut().zip(decisions) {
        if step.outcome == StepOutcome::Changed {
            let before = json!({"tags": decision.tags_before});
            let after = json!({"tags": decision.tags_after});
            step.patch = patch::diff(&before, &after);
        }
    }
    steps
}

fn step(decision: &AdmissionDecision) -> Step {
    let is_changed = decision.tags_before != decision.tags_after;
    let does_not_count = decision.dry_run || decision.exempted_by.is_some();
    let outcome = match decision.verdict {
        DecisionVerdict::Accepted if is_changed => StepOutcome::Changed,
        DecisionVerdict::Accepted => StepOutcome::Passed,
        DecisionVerdict::Denied if does_not_count => StepOutcome::Passed,
        DecisionVerdict::Denied => StepOutcome::Denied,
        DecisionVerdict::Skipped => StepOutcome::Skipped,
        DecisionVerdict::Timeout => StepOutcome::Timeout,
        DecisionVerdict::Error => StepOutcome::Error,
    };
    let mut detail = decision.reason.clone();
    let aside = match (decision.dry_run, decision.exempted_by) {
        (true, _) => Some(format!("{} in a dry run", decision.verdict)),
        (false, Some(id)) => Some(format!("{}, exempted by {id}", decision.verdict)),
        (false, None) => None,
    };
    if let Some(aside) = aside {
        detail = Some(match detail {
            Some(reason) => format!("{aside}: {reason}"),
            None => aside,
        });
    }
    let denied_by = policy_of(decision).map(|(policy, message)| PolicyStep {
        outcome: PolicyOutcome::Deny,
        message: Some(message.to_owned()),
        ..PolicyStep::skipped(policy, PolicyMode::Enforce)
    });
    Step {
        plugin: Arc::from(plugin_of(decision)),
        phase: Phase::Admit,
        outcome,
        detail: detail.map(Cow::Owned),
        failed_open: false,
        warnings: decision.warnings.len(),
        policies: denied_by.into_iter().collect(),
        host_calls: Vec::new(),
        patch: Vec::new(),
        duration: Duration::from_millis(decision.latency_ms),
    }
}
