//! `Webhook`: other admission webhooks, as a step of the chain.
//!
//! Each gets the request with the object as it is by then, once. Its answer counts as an API server would take it:
//! warnings and audit annotations are passed on, a denial ends the chain, a patch is applied. A webhook that can't
//! be asked doesn't keep the others from denying the request.

mod configuration;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::{
    Attributes, Denial, FailureMode, Finished, HostCallStep, HostFunction, Notes, Operation,
    Operations, Outcome, Pending, Phase, Phases, Plugin, PluginError, Runs, TraceContext, patch,
};
use portcullis_host::WebhookOpinion;
use portcullis_kube::{DependsOn, Descriptor, review};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::configuration::{Configuration, Webhook};
use super::calls::{Outgoing, ended};
use super::settings::schema;
use crate::observer::OutgoingCall;

/// The name it is configured by.
const NAME: &str = "Webhook";

struct WebhookPlugin {
    webhooks: Arc<[Webhook]>,
    phases: Phases,
    outgoing: Arc<Outgoing>,
}

pub(super) fn descriptor(outgoing: &Arc<Outgoing>) -> Descriptor {
    let outgoing = Arc::clone(outgoing);
    Descriptor {
        name: NAME,
        summary: "Asks other admission webhooks.",
        phases: Phases::BOTH,
        operations: Operations::ALL,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: Some(schema::<Configuration>()),
        factory: Box::new(move |configuration| {
            let webhooks = configuration::webhooks(configuration)?;
            Ok(Arc::new(WebhookPlugin {
                phases: configuration::phases(&webhooks),
                webhooks: webhooks.into(),
                outgoing: Arc::clone(&outgoing),
            }))
        }),
    }
}

impl Plugin for WebhookPlugin {
    fn handles(&self, operation: Operation) -> bool {
        Operations::ALL.contains(operation)
    }

    fn phases(&self) -> Phases {
        self.phases
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn begin(&self, phase: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let is_asked = |webhook: &Webhook| webhook.is_for(phase) && webhook.matches(request);
        // Which others apply may depend on what the first of them changes.
        if !self.webhooks.iter().any(is_asked) {
            let why = "no webhook applies to this request";
            return ended(Ok(Outcome::not_applicable(why)));
        }
        let asking = Asking {
            webhooks: Arc::clone(&self.webhooks),
            outgoing: Arc::clone(&self.outgoing),
            phase,
            request: request.clone(),
            deadline,
            is_changed: false,
            notes: Notes::default(),
            calls: Vec::new(),
            passed_over: Vec::new(),
        };
        self.outgoing.begin(asking.run())
    }
}

/// The webhooks being asked about one request.
struct Asking {
    webhooks: Arc<[Webhook]>,
    outgoing: Arc<Outgoing>,
    phase: Phase,
    /// With the object as it is by now.
    request: Attributes,
    deadline: Option<Instant>,
    is_changed: bool,
    notes: Notes,
    calls: Vec<HostCallStep>,
    passed_over: Vec<String>,
}

impl Asking {
    async fn run(mut self) -> Finished {
        let outcome = self.ask_all().await;
        self.notes.host_calls(self.calls);
        self.notes.passed_over(self.passed_over);
        let object = match (&outcome, self.is_changed) {
            (Ok(Outcome::Pass), true) => {
                let object = self.request.object.as_ref();
                object.and_then(|object| object.value().ok()).cloned()
            }
            _ => None,
        };
        Finished {
            outcome,
            notes: self.notes,
            object,
        }
    }

    async fn ask_all(&mut self) -> Result<Outcome, PluginError> {
        let (webhooks, phase) = (Arc::clone(&self.webhooks), self.phase);
        let mut failure = None;
        for webhook in webhooks.iter().filter(|one| one.is_for(phase)) {
            if !webhook.matches(&self.request) {
                continue;
            }
            if self.request.dry_run && webhook.side_effects {
                let name = &webhook.name;
                let message = format!("admission webhook {name:?} does not support dry run");
                self.notes.decided_by(name.as_str());
                return Ok(Outcome::Deny(Denial::bad_request(message)));
            }
            match self.ask(webhook).await {
                Ok(opinion) => {
                    if let Some(denial) = self.take(webhook, opinion) {
                        self.notes.decided_by(webhook.name.as_str());
                        return Ok(Outcome::Deny(denial));
                    }
                }
                Err(_) if webhook.failure == FailureMode::Open => {
                    self.passed_over.push(webhook.name.clone());
                }
                Err(why) => {
                    failure.get_or_insert(format!("webhook {:?}: {why}", webhook.name));
                }
            }
        }
        match failure {
            None => Ok(Outcome::Pass),
            Some(why) => Err(PluginError::Failed(why)),
        }
    }

    /// Asks one webhook, and applies its patch.
    async fn ask(&mut self, webhook: &Webhook) -> Result<WebhookOpinion, String> {
        let stopwatch = Stopwatch::start();
        let arguments = vec![Value::from(webhook.endpoint.place())];
        let object = match &self.request.object {
            Some(object) => object.value().map_err(|error| error.to_string())?.clone(),
            None => Value::Null,
        };
        let call = OutgoingCall {
            plugin: NAME,
            phase: self.phase,
            name: &webhook.name,
            function: HostFunction::Webhook,
            arguments: &arguments,
            object: &object,
        };
        let answer = match self.outgoing.recorded(&call) {
            Some(recorded) => recorded.and_then(|recorded| from_record(&recorded)),
            None => self.send(webhook, &object).await.and_then(|opinion| {
                let changed = patched(&object, opinion.patch.as_deref())?;
                Ok((opinion, changed))
            }),
        };
        // What the patch makes of the object, not how it says it, is recorded and masked.
        let answer = answer.map(|(opinion, changed)| match changed {
            Changed::Object(value) => {
                let effect = patch::diff(&object, &value);
                (opinion, effect, Some(value))
            }
            Changed::By(effect) => {
                let mut value = object.clone();
                let fits = patch::apply(&mut value, &effect).is_ok();
                (opinion, effect, fits.then_some(value))
            }
            Changed::Not => (opinion, Vec::new(), None),
        });
        let (result, error) = match &answer {
            Ok((opinion, effect, _)) => (Some(to_record(opinion, effect)), None),
            Err(error) => (None, Some(error.clone())),
        };
        self.calls.push(HostCallStep {
            policy: webhook.name.clone(),
            function: HostFunction::Webhook,
            arguments,
            result,
            error,
            started: Some(stopwatch.started()),
            duration: stopwatch.elapsed(),
        });
        let (opinion, _, changed) = answer?;
        if let (Some(value), Some(document)) = (changed, &mut self.request.object) {
            if *document.value().map_err(|error| error.to_string())? != value {
                self.is_changed = true;
            }
            document.replace(value).map_err(|error| error.to_string())?;
        }
        Ok(opinion)
    }

    async fn send(&self, webhook: &Webhook, object: &Value) -> Result<WebhookOpinion, String> {
        let own = clock::monotonic().checked_add(webhook.timeout);
        let deadline = match (own, self.deadline) {
            (Some(own), Some(deadline)) => own.min(deadline),
            (Some(deadline), None) | (None, Some(deadline)) => deadline,
            (None, None) => clock::monotonic(),
        };
        let review = review::review_of(&self.request, object);
        let trace = self.request.context.trace.as_ref();
        let headers = trace.map(TraceContext::headers).unwrap_or_default();
        let may_patch = self.phase == Phase::Admit;
        let asked = webhook
            .endpoint
            .review(&review, may_patch, headers, deadline);
        asked.await
    }

    /// Passes on what a webhook says, and gives its denial, if it is one.
    fn take(&mut self, webhook: &Webhook, opinion: WebhookOpinion) -> Option<Denial> {
        let name = &webhook.name;
        for warning in opinion.warnings {
            self.notes.warn(warning);
        }
        for (key, value) in opinion.annotations {
            self.notes.annotate(format!("{name}.{key}"), value);
        }
        if opinion.allowed {
            return None;
        }
        let by = format!("admission webhook {name:?} denied the request");
        let message = match (opinion.message, &opinion.reason) {
            (Some(message), _) => format!("{by}: {message}"),
            (None, Some(reason)) => format!("{by}: {reason}"),
            (None, None) => format!("{by} without explanation"),
        };
        let code = opinion.code.filter(|code| (400..600).contains(code));
        let denial = match code.unwrap_or(400) {
            400 => Denial::bad_request(message),
            403 => Denial::forbidden(message),
            code => Denial::new(code, "", message),
        };
        Some(match opinion.reason {
            Some(reason) => Denial {
                reason: reason.into(),
                ..denial
            },
            None => denial,
        })
    }
}

/// What an answer makes of the object.
enum Changed {
    Not,
    Object(Value),
    By(Vec<patch::PatchOperation>),
}

/// The object with the patch applied.
fn patched(object: &Value, patch: Option<&[u8]>) -> Result<Changed, String> {
    let Some(patch) = patch else {
        return Ok(Changed::Not);
    };
    if object.is_null() {
        let message = "it tries to change the object, which is not supported for this operation";
        return Err(message.to_owned());
    }
    let mut value = object.clone();
    patch::apply_foreign(&mut value, patch).map_err(|error| error.to_string())?;
    match value.is_object() {
        true => Ok(Changed::Object(value)),
        false => Err("its patch leaves something that is not an object".to_owned()),
    }
}

/// An opinion as it is recorded.
fn to_record(opinion: &WebhookOpinion, effect: &[patch::PatchOperation]) -> Value {
    let mut record = Map::new();
    record.insert("allowed".to_owned(), opinion.allowed.into());
    let mut put = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(list) => list.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !is_empty {
            record.insert(key.to_owned(), value);
        }
    };
    put("code", json!(opinion.code));
    put("reason", json!(opinion.reason));
    put("message", json!(opinion.message));
    put("warnings", json!(opinion.warnings));
    put("auditAnnotations", json!(opinion.annotations));
    put("patch", json!(effect));
    record.into()
}

/// An opinion from a record.
fn from_record(record: &Value) -> Result<(WebhookOpinion, Changed), String> {
    let recorded: RecordedOpinion = serde_json::from_value(record.clone())
        .map_err(|_| "the record of its answer can't be read".to_owned())?;
    let opinion = WebhookOpinion {
        allowed: recorded.allowed,
        message: recorded.message,
        reason: recorded.reason,
        code: recorded.code,
        patch: None,
        warnings: recorded.warnings,
        annotations: recorded.audit_annotations,
    };
    Ok((opinion, recorded.patch.map_or(Changed::Not, Changed::By)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedOpinion {
    allowed: bool,
    message: Option<String>,
    reason: Option<String>,
    code: Option<u16>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    audit_annotations: BTreeMap<String, String>,
    patch: Option<Vec<patch::PatchOperation>>,
}

#[cfg(test)]
mod tests;
