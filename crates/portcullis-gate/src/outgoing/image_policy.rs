//! `ImagePolicyWebhook`: a backend says whether the images of a pod may run.
//!
//! The pod is judged when it is finished. That there was no answer is kept for a while, for the other webhooks that the
//! same request is sent to.

mod cache;
mod configuration;

use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{Context, SHA256};
use portcullis_core::clock::{self, Stopwatch};
use portcullis_core::{
    Attributes, Finished, HostCallStep, HostFunction, Notes, Operation, Operations, Outcome,
    Pending, Phase, Phases, Plugin, PluginError, Runs,
};
use portcullis_host::ImageReviewStatus;
use portcullis_kube::{DependsOn, Descriptor, image_policy};
use serde_json::{Value, json};

use self::cache::{Cache, Known, Question};
use self::configuration::{Configuration, ImagePolicy};
use super::calls::{Outgoing, ended};
use super::settings::schema;
use crate::observer::OutgoingCall;

/// The name it is configured by.
const NAME: &str = "ImagePolicyWebhook";

/// What stands before the keys of the backend's audit annotations; Kubernetes' own prefix has a slash, which API
/// servers don't take from webhooks.
const PREFIX: &str = "imagepolicywebhook";

/// How long the backend may take in all, unless the chain says something else.
const DEFAULT_TIME: Duration = Duration::from_secs(30);

/// How long it counts for the same request that there was no answer.
const FAILURE: Duration = Duration::from_secs(60);

struct ImagePolicyWebhook {
    shared: Arc<Shared>,
}

struct Shared {
    policy: ImagePolicy,
    cache: Cache,
    outgoing: Arc<Outgoing>,
}

pub(super) fn descriptor(outgoing: &Arc<Outgoing>) -> Descriptor {
    let outgoing = Arc::clone(outgoing);
    Descriptor {
        name: NAME,
        summary: "Asks a backend whether the images of pods may run.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: DependsOn::Request,
        reads: Vec::new(),
        schema: Some(schema::<Configuration>()),
        factory: Box::new(move |configuration| {
            Ok(Arc::new(ImagePolicyWebhook {
                shared: Arc::new(Shared {
                    policy: configuration::image_policy(configuration)?,
                    cache: Cache::default(),
                    outgoing: Arc::clone(&outgoing),
                }),
            }))
        }),
    }
}

impl Plugin for ImagePolicyWebhook {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods"), ("", "pods/ephemeralcontainers")])
    }

    fn begin(&self, phase: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let spec = match image_policy::spec(request) {
            Ok(spec) => spec,
            Err(outcome) => return ended(Ok(outcome)),
        };
        let deadline = deadline.unwrap_or_else(|| clock::monotonic() + DEFAULT_TIME);
        let (shared, request) = (Arc::clone(&self.shared), request.clone());
        let work = async move { shared.decide(phase, &request, spec, deadline).await };
        self.shared.outgoing.begin(work)
    }
}

impl Shared {
    async fn decide(
        &self,
        phase: Phase,
        request: &Attributes,
        spec: Value,
        deadline: Instant,
    ) -> Finished {
        let stopwatch = Stopwatch::start();
        let known = self.ask(phase, request, &spec, deadline).await;
        let mut notes = Notes::default();
        notes.host_calls(vec![HostCallStep {
            policy: NAME.to_owned(),
            function: HostFunction::ImageReview,
            arguments: vec![spec],
            result: known.as_ref().ok().map(to_record),
            error: known.as_ref().err().cloned(),
            started: Some(stopwatch.started()),
            duration: stopwatch.elapsed(),
        }]);
        let outcome = match known {
            Ok(status) => {
                for (key, value) in &status.audit_annotations {
                    notes.annotate(format!("{PREFIX}.{key}"), value.as_str());
                }
                match status.allowed {
                    true => Outcome::Pass,
                    false => image_policy::denied(request, &status.reason),
                }
            }
            Err(_) if self.policy.default_allow => {
                notes.annotate(format!("{PREFIX}.failed-open"), "true");
                Outcome::Pass
            }
            Err(why) => image_policy::unanswered(request, &why),
        };
        Finished {
            outcome: Ok::<_, PluginError>(outcome),
            notes,
            object: None,
        }
    }

    async fn ask(
        &self,
        phase: Phase,
        request: &Attributes,
        spec: &Value,
        deadline: Instant,
    ) -> Known {
        let call = OutgoingCall {
            plugin: NAME,
            phase,
            name: NAME,
            function: HostFunction::ImageReview,
            arguments: std::slice::from_ref(spec),
            object: &Value::Null,
        };
        if let Some(recorded) = self.outgoing.recorded(&call) {
            return recorded.and_then(|record| from_record(&record));
        }
        let text = spec.to_string();
        let (question, of_request) = (digest(&[&text]), digest(&[&text, &request.uid]));
        let now = clock::monotonic();
        let known = self.cache.get(&question, now);
        if let Some(known) = known.or_else(|| self.cache.get(&of_request, now)) {
            return known;
        }
        let policy = &self.policy;
        let answer = policy
            .endpoint
            .image_review(spec, policy.retry_backoff, deadline)
            .await;
        let now = clock::monotonic();
        match &answer {
            Ok(status) => {
                let ttl = match status.allowed {
                    true => policy.allow_ttl,
                    false => policy.deny_ttl,
                };
                self.cache.put(question, &answer, ttl, now);
            }
            Err(_) => self.cache.put(of_request, &answer, FAILURE, now),
        }
        answer
    }
}

/// The digest of texts, each apart from the next.
fn digest(texts: &[&str]) -> Question {
    let mut context = Context::new(&SHA256);
    for text in texts {
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text.as_bytes());
    }
    let mut question = [0; 32];
    for (byte, from) in question.iter_mut().zip(context.finish().as_ref()) {
        *byte = *from;
    }
    question
}

/// An answer as it is recorded.
fn to_record(status: &ImageReviewStatus) -> Value {
    json!({
        "allowed": status.allowed,
        "reason": status.reason,
        "auditAnnotations": status.audit_annotations,
    })
}

/// An answer from a record.
fn from_record(record: &Value) -> Known {
    serde_json::from_value(record.clone())
        .map_err(|_| "the record of the backend's answer can't be read".to_owned())
}

#[cfg(test)]
mod tests;
