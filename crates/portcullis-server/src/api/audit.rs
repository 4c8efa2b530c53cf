//! The door of the API: what is recorded of calls.
//!
//! That is everything that changes something, and every denial of an identified caller. Allowed reads are
//! not recorded, nor are denials of anonymous callers: anyone could fill the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::http::request::Parts;
use portcullis_config::Service;
use portcullis_core::sync::Mutex;
use portcullis_core::{DecisionId, Identity, TraceContext, clock};
use portcullis_gate::Gate;
use portcullis_record::{Action, Material, Miss};
use portcullis_roles::{AccessDecision, Basis, Condition, Parameters, Permission, Scope};
use serde_json::Value;

use super::names::short;
use super::refusal::{forbidden, sentence};
use crate::door::{Door, Keeping};
use crate::http::error::HttpError;
use crate::server::Server;
use crate::trace;
use crate::visitor::Visitor;

/// Calls of the API.
#[derive(Debug)]
pub(crate) struct Api;

/// What was decided about a call.
#[derive(Debug, Clone)]
pub(crate) struct CallDecision {
    endpoint: &'static str,
    answer: AccessDecision,
    action: Action,
    traceparent: Option<String>,
}

impl Door for Api {
    const NAME: portcullis_core::Door = portcullis_core::Door::Api;
    const SERVICES: &'static [Service] = &[Service::Api, Service::Ci, Service::Web];
    type Decision = CallDecision;
    type Answer = Result<(), HttpError>;

    /// Calls are counted by their endpoints, whether something was decided or not.
    fn report(_: &Server, _: &Gate, decision: &CallDecision) {
        let action = &decision.action;
        if !action.allowed {
            tracing::info!(
                target: "portcullis::decision",
                decision_id = %action.id,
                endpoint = decision.endpoint,
                permission = action.permission,
                user = short(&action.user),
                "denied",
            );
        }
    }

    fn encode(decision: &CallDecision) -> Result<(), HttpError> {
        match &decision.answer {
            AccessDecision::Allowed(_) => Ok(()),
            AccessDecision::Refused(refusal) => Err(forbidden(refusal)),
        }
    }

    fn encode_unrecorded(_: &CallDecision) -> Result<(), HttpError> {
        Err(HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "not_kept",
            "nothing was done: the decision could not be recorded",
        ))
    }

    fn record(decision: CallDecision, gate: &Gate) -> Material {
        let gate = Arc::clone(&gate.access.digest);
        let received = clock::wall();
        Material::of_action(decision.action, received, gate, decision.traceparent)
    }
}

/// What is to be recorded of one call.
#[derive(Debug)]
pub(crate) struct Audit<'a> {
    visitor: &'a Visitor,
    gate: &'a Gate,
    head: &'a Parts,
    endpoint: &'static str,
    received: Instant,
    decided: Mutex<Option<Noted>>,
}

/// What was decided.
#[derive(Debug)]
struct Noted {
    decision: CallDecision,
    is_kept: bool,
}

impl<'a> Audit<'a> {
    pub(super) fn begin(
        visitor: &'a Visitor,
        gate: &'a Gate,
        head: &'a Parts,
        endpoint: &'static str,
    ) -> Self {
        Self {
            visitor,
            gate,
            head,
            endpoint,
            received: clock::monotonic(),
            decided: Mutex::new(None),
        }
    }

    /// The name of the call.
    pub(super) fn endpoint(&self) -> &'static str {
        self.endpoint
    }

    /// Records what was decided about a caller, and returns the answer.
    pub(super) fn note(
        &self,
        scope: Option<&Scope>,
        who: &Identity,
        (permission, parameters): (Permission, &Parameters<'_>),
        answer: AccessDecision,
    ) -> Result<(), HttpError> {
        let mut action = Action {
            id: DecisionId::new(clock::wall()),
            permission: permission.name().to_owned(),
            method: self.head.method.as_str().to_owned(),
            path: self.head.uri.path().to_owned(),
            peer: self.visitor.peer.clone(),
            tenant: scope.and_then(Scope::tenant).map(str::to_owned),
            parameters: named(parameters),
            user: who.uid.clone(),
            issuer: who
                .claims
                .get("iss")
                .and_then(Value::as_str)
                .map(str::to_owned),
            allowed: false,
            message: String::new(),
            rule: None,
            role: None,
            misses: Vec::new(),
            rules: Vec::new(),
            roles: Vec::new(),
            status: 0,
            duration: clock::monotonic().saturating_duration_since(self.received),
        };
        match &answer {
            AccessDecision::Allowed(basis) => {
                action.allowed = true;
                match basis {
                    Basis::Grant { rule, role } => {
                        action.rule = Some(rule.to_string());
                        action.role = Some(role.to_string());
                    }
                    Basis::Override => action.message = "the caller is admin here".to_owned(),
                    Basis::Anonymous => action.message = "anyone may read here".to_owned(),
                }
            }
            AccessDecision::Refused(refusal) => {
                action.message = sentence(refusal);
                action.rules.clone_from(&refusal.rules);
                action.roles.clone_from(&refusal.roles);
                let misses = refusal.misses.iter().map(|miss| Miss {
                    rule: miss.rule.clone(),
                    role: miss.role.clone(),
                    name: miss.condition.name().to_owned(),
                    wanted: miss.wanted.clone(),
                    got: miss.got.clone(),
                });
                action.misses = misses.collect();
            }
        }
        let decision = CallDecision {
            endpoint: self.endpoint,
            answer,
            action,
            traceparent: None,
        };
        let answer = Api::encode(&decision);
        let is_kept = false;
        *self.decided.lock() = Some(Noted { decision, is_kept });
        answer
    }

    /// Where decisions must be recorded, records what was allowed before it is done.
    pub(super) async fn keep_before(&self) -> Result<(), HttpError> {
        let is_required = self.visitor.server.decisions.is_required();
        if self.head.method.is_safe() || !is_required {
            return Ok(());
        }
        let decision = match &mut *self.decided.lock() {
            None => return Ok(()),
            Some(noted) => {
                noted.is_kept = true;
                self.answered(&noted.decision, 200)
            }
        };
        self.keeping().answer::<Api>(decision).await
    }

    /// Reports and records what was decided, if that is to be recorded and isn't yet.
    pub(super) fn keep_after(&self, status: u16) {
        let server = &self.visitor.server;
        let decided = self.decided.lock();
        let Some(Noted { decision, is_kept }) = &*decided else {
            return;
        };
        Api::report(server, self.gate, decision);
        let is_worth = !decision.action.allowed || !self.head.method.is_safe();
        if server.decisions.is_on() && is_worth && !is_kept {
            self.keeping().later::<Api>(self.answered(decision, status));
        }
    }

    /// A decision that was answered so.
    fn answered(&self, decision: &CallDecision, status: u16) -> CallDecision {
        let mut decision = decision.clone();
        let telemetry = self.visitor.server.telemetry.as_ref();
        let trace = trace::begin(telemetry, &self.head.headers);
        decision.traceparent = trace.as_ref().map(TraceContext::traceparent);
        decision.action.status = status;
        decision
    }

    fn keeping(&self) -> Keeping<'_> {
        let limit: Duration = self.gate.limits.request_deadline.into();
        Keeping {
            server: &self.visitor.server,
            gate: self.gate,
            deadline: self.received + limit,
        }
    }
}

/// Parameters by name.
fn named(parameters: &Parameters<'_>) -> Vec<(String, String)> {
    let value = |condition: &Condition| {
        let value = parameters.get(*condition)?;
        Some((condition.name().to_owned(), value.to_owned()))
    };
    Condition::ALL.iter().filter_map(value).collect()
}
