//! The record of a decision on authorization.

use std::borrow::Cow;

use portcullis_core::authorizer::AccessStep;
use portcullis_core::json::Index;
use portcullis_core::{Access, Opinion, StepOutcome, Target};
use serde::Serialize;

use super::http::Http;
use super::line::Line;
use super::{Masker, Unmaskable, Written, shown, times, truncate, unmaskable};
use crate::mask::review::{self, Subject};
use crate::mask::{self, Header};
use crate::material::{Authorization, Material};
use crate::scrub::Scrubber;
use crate::scrub::known::Known;
use crate::shape::MaskShape;
use crate::summary::{Answer, Summary};
use crate::trace::TraceOutcome;

/// A [`crate::TraceStep`] with borrowed values.
#[derive(Serialize)]
struct Step<'a> {
    plugin: &'a str,
    outcome: TraceOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Cow<'a, str>>,
    duration_us: u64,
}

impl Masker {
    pub(super) fn access(
        &self,
        material: &Material,
        shape: &'static MaskShape,
        (text, index): (&str, &Index),
        decided: &Authorization,
    ) -> Result<Written, Unmaskable> {
        let Authorization {
            access, verdict, ..
        } = decided;
        let subject = Subject {
            text,
            index: Some(index),
            shape,
            header: Header::default(),
            configured: None,
        };
        let mut found =
            review::find(subject, "/review").ok_or(unmaskable("the review can't be read"))?;
        let mut found_in_http = mask::http::find(&access.context);
        let mut secrets = std::mem::take(&mut found.secrets);
        secrets.append(&mut found_in_http.secrets);
        let public = [access.user.username.as_str()];
        let known = Known::new(&secrets, &public);
        found
            .mask_known(subject, "/review", &known)
            .ok_or(unmaskable("the review can't be read"))?;
        found_in_http.mask_known(&access.context, &known);
        let limit = self.limit(!decided.is_allowed());
        let truncated = truncate::apply(&mut found, (text, index), shape, limit);
        let http = Http::masked(&access.context, &mut found_in_http, &mut found.pointers);

        let mut summary = summary(material, decided);
        let mut public = vec![
            summary.namespace.as_str(),
            &summary.name,
            &summary.kind,
            &summary.user,
            &summary.operation,
        ];
        public.extend(verdict.trace.iter().map(|step| step.authorizer.as_ref()));
        let scrubber = Scrubber::new(&secrets, &public);
        scrubber.scrub_in_place(&mut summary.message);
        let trace: Vec<Step<'_>> = verdict
            .trace
            .iter()
            .map(|one| step(one, &scrubber))
            .collect();
        let line = Line {
            summary: &summary,
            patch: &[],
            trace: &trace,
            text,
            found: &found,
            http,
            received: times::to_nanoseconds(material.received),
            truncated: &truncated,
            webhook: None,
            chain: Some(&decided.chain),
        };
        let line = line.write()?;
        Ok(Written {
            summary,
            line,
            is_truncated: !truncated.is_empty(),
        })
    }
}

fn step<'a>(step: &'a AccessStep, scrubber: &Scrubber<'_>) -> Step<'a> {
    let (outcome, detail) = match &step.said {
        Ok(opinion) => (opinion.kind().into(), opinion.reason()),
        Err(error) => (StepOutcome::Error.into(), error.as_str()),
    };
    Step {
        plugin: &step.authorizer,
        outcome,
        detail: (!detail.is_empty()).then(|| scrubber.scrub(detail)),
        duration_us: u64::try_from(step.duration.as_micros()).unwrap_or(u64::MAX),
    }
}

fn summary(material: &Material, decided: &Authorization) -> Summary {
    let Authorization {
        access, verdict, ..
    } = decided;
    let (kind, namespace, name) = target(access);
    let message = match &verdict.error {
        Some(error) => error,
        None => verdict.opinion.reason(),
    };
    let had_objections =
        |step: &&AccessStep| !matches!(step.said, Ok(Opinion::Allow(_) | Opinion::NoOpinion(_)));
    let mut concerned: Vec<String> = Vec::new();
    for step in verdict.trace.iter().filter(had_objections) {
        if !concerned.iter().any(|name| **name == *step.authorizer) {
            concerned.push(step.authorizer.to_string());
        }
    }
    Summary {
        id: verdict.id.to_string(),
        time: times::to_microseconds(verdict.id.time()),
        door: material.decided.door(),
        operation: shown(&access.verb),
        kind: shown(&kind),
        namespace: shown(namespace),
        name: shown(name),
        user: shown(&access.user.username),
        verdict: match verdict.opinion {
            Opinion::Allow(_) => Answer::Allow,
            Opinion::Deny(_) | Opinion::NoOpinion(_) => Answer::Deny,
        },
        mutated: false,
        message: message.to_owned(),
        plugin: verdict.authorizer.as_deref().map(str::to_owned),
        policy: None,
        digest: None,
        gate: Some(material.gate.to_string()),
        duration_us: u64::try_from(verdict.duration.as_micros()).unwrap_or(u64::MAX),
        warnings: Vec::new(),
        concerned,
        traceparent: material.traceparent.clone(),
    }
}

/// Kind, namespace and name.
fn target(access: &Access) -> (Cow<'_, str>, &str, &str) {
    match &access.target {
        Target::Path(path) => (Cow::Borrowed(path), "", ""),
        Target::Resource(target) => {
            let kind = match target.subresource.as_str() {
                "" => Cow::Borrowed(target.resource.as_str()),
                part => Cow::Owned(format!("{}/{part}", target.resource)),
            };
            (kind, &target.namespace, &target.name)
        }
    }
}
