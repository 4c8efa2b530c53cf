//! What is kept of calls: everything that changes something, and every denial of a known caller.
//!
//! Reading that is permitted is not recorded, nor are calls of unknown callers: anyone could fill the log.

use std::sync::Arc;
use std::time::Instant;

use hyper::http::request::Parts;
use portcullis_core::sync::Mutex;
use portcullis_core::{DecisionId, Identity, clock};
use portcullis_record::{Action, Material, Miss};
use portcullis_roles::{Answer, Basis, Condition, Parameters, Permission, Scope};
use serde_json::Value;

use super::endpoint::Endpoint;
use crate::http::error::HttpError;
use crate::visitor::Visitor;
use portcullis_gate::Gate;

/// What was decided about one call, once it is.
#[derive(Debug)]
pub(crate) struct Docket {
    received: Instant,
    decided: Mutex<Option<Decided>>,
}

/// What was decided.
#[derive(Debug)]
struct Decided {
    action: Action,
    is_kept: bool,
}

impl Docket {
    pub(super) fn new() -> Self {
        Self {
            received: clock::monotonic(),
            decided: Mutex::new(None),
        }
    }

    /// Notes an answer about somebody.
    pub(super) fn note(
        &self,
        scope: Option<&Scope>,
        who: &Identity,
        (permission, parameters): (Permission, &Parameters<'_>),
        answer: &Answer,
    ) {
        let mut action = Action {
            id: DecisionId::new(clock::wall()),
            permission: permission.name().to_owned(),
            method: String::new(),
            path: String::new(),
            peer: portcullis_core::Peer::default(),
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
        match answer {
            Answer::Allowed(basis) => {
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
            Answer::Refused(refusal) => {
                action.message = super::guard::sentence(refusal);
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
        let decided = Decided {
            action,
            is_kept: false,
        };
        *self.decided.lock() = Some(decided);
    }

    /// Where decisions must be kept, keeps what was allowed before it is done.
    pub(super) async fn keep_before(
        &self,
        visitor: &Visitor,
        gate: &Gate,
        head: &Parts,
    ) -> Result<(), HttpError> {
        let log = &visitor.server.decisions;
        if head.method.is_safe() || !log.is_required() {
            return Ok(());
        }
        let Some(material) = self.material(visitor, gate, head, 200, true) else {
            return Ok(());
        };
        let limit: std::time::Duration = gate.limits.request_deadline.into();
        let kept = log.keep_surely(&material, &gate.masker, self.received + limit);
        kept.await.map_err(|_| {
            HttpError::new(
                hyper::StatusCode::INTERNAL_SERVER_ERROR,
                "not_kept",
                "nothing was done: the decision could not be recorded",
            )
        })
    }

    /// Keeps what was decided, if that is to be kept and isn't yet.
    pub(super) fn keep_after(
        &self,
        visitor: &Visitor,
        gate: &Gate,
        head: &Parts,
        endpoint: &Endpoint,
        status: u16,
    ) {
        let log = &visitor.server.decisions;
        let decided = self.decided.lock();
        let Some(Decided { action, is_kept }) = &*decided else {
            return;
        };
        if !action.allowed {
            tracing::info!(
                decision_id = %action.id,
                endpoint = endpoint.id,
                permission = action.permission,
                user = super::names::short(&action.user),
                "denied",
            );
        }
        let is_worth = !action.allowed || !head.method.is_safe();
        if !log.is_on() || *is_kept || !is_worth {
            return;
        }
        drop(decided);
        if let Some(material) = self.material(visitor, gate, head, status, false) {
            log.keep(material, Arc::clone(&gate.masker));
        }
    }

    fn material(
        &self,
        visitor: &Visitor,
        gate: &Gate,
        head: &Parts,
        status: u16,
        marks: bool,
    ) -> Option<Material> {
        let mut decided = self.decided.lock();
        let decided = decided.as_mut()?;
        decided.is_kept |= marks;
        let mut action = decided.action.clone();
        head.method.as_str().clone_into(&mut action.method);
        head.uri.path().clone_into(&mut action.path);
        action.peer = visitor.peer.clone();
        action.status = status;
        let trace = crate::trace::begin(visitor.server.telemetry.as_ref(), &head.headers);
        let traceparent = trace
            .as_ref()
            .map(portcullis_core::TraceContext::traceparent);
        let gate = Arc::clone(&gate.access.digest);
        Some(Material::of_action(
            action,
            clock::wall(),
            gate,
            traceparent,
        ))
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
