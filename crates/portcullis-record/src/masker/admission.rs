//! The record of a decision on admission.

use std::borrow::Cow;

use portcullis_core::json::Index;
use portcullis_core::patch::PatchOperation;
use portcullis_core::{Attributes, HostFunction, PolicyOutcome, Step, StepOutcome, Verdict};

use super::http::Http;
use super::line::Line;
use super::patches::{Patched, mask_host_call};
use super::{Masker, Unmaskable, Written, shown, times, truncate, unmaskable};
use crate::mask::review::{self, Subject};
use crate::mask::text::{self, Members};
use crate::mask::{self, Header, Secret};
use crate::material::{Admission, Material};
use crate::scrub::Scrubber;
use crate::scrub::known::Known;
use crate::shape::MaskShape;
use crate::summary::{Answer, Summary};

impl Masker {
    pub(super) fn admission(
        &self,
        material: &Material,
        shape: &'static MaskShape,
        (text, index): (&str, &Index),
        decided: &Admission,
    ) -> Result<Written, Unmaskable> {
        let Admission {
            attributes,
            verdict,
            ..
        } = decided;
        let places = self
            .paths
            .in_body(shape, attributes)
            .map_err(|()| unmaskable("an object can't be read"))?;
        let subject = Subject {
            text,
            index: Some(index),
            shape,
            header: Header::of_kind(&attributes.kind),
            configured: places.as_ref(),
        };
        let mut found =
            review::find(subject, "/review").ok_or(unmaskable("the review can't be read"))?;
        let mut found_in_http = mask::http::find(&attributes.context);
        let mut secrets = std::mem::take(&mut found.secrets);
        secrets.append(&mut found_in_http.secrets);

        let mut patch = Cow::Borrowed(verdict.patch.as_slice());
        let mut trace: Vec<Cow<'_, Step>> = verdict.trace.iter().map(Cow::Borrowed).collect();
        self.mask_trees(attributes, &mut patch, &mut trace, &mut secrets);

        let public = public_of(attributes);
        let known = Known::new(&secrets, &public);
        found
            .mask_known(subject, "/review", &known)
            .ok_or(unmaskable("the review can't be read"))?;
        found_in_http.mask_known(&attributes.context, &known);
        let is_preferred = !verdict.is_allowed() && !attributes.dry_run;
        let limit = self.limit(is_preferred);
        let truncated = truncate::apply(&mut found, (text, index), shape, limit);
        let http = Http::masked(&attributes.context, &mut found_in_http, &mut found.pointers);
        let name = name(attributes, shape, (text, index));
        let mut summary = summary(material, decided, &name);
        if has_texts(verdict) {
            scrub(&mut summary, &mut patch, &mut trace, &secrets, verdict);
        }
        let line = Line {
            summary: &summary,
            patch: &patch,
            trace: &trace,
            text,
            found: &found,
            http,
            received: times::to_nanoseconds(material.received),
            truncated: &truncated,
            webhook: decided.webhook.as_ref(),
            chain: None,
        };
        let line = line.write()?;
        Ok(Written {
            summary,
            line,
            is_truncated: !truncated.is_empty(),
        })
    }

    /// Masks patches and host calls, and collects their secrets.
    fn mask_trees(
        &self,
        attributes: &Attributes,
        patch: &mut Cow<'_, [PatchOperation]>,
        trace: &mut [Cow<'_, Step>],
        secrets: &mut Vec<Secret<'_>>,
    ) {
        let has_patches = |step: &Cow<'_, Step>| {
            let mut calls = step.host_calls.iter();
            !step.patch.is_empty() || calls.any(|call| call.function == HostFunction::Webhook)
        };
        if !patch.is_empty() || trace.iter().any(has_patches) {
            let patched = Patched::new(&self.paths, attributes);
            if !patch.is_empty() {
                patched.mask(patch.to_mut(), secrets);
            }
            for step in trace.iter_mut().filter(|step| has_patches(step)) {
                let step = step.to_mut();
                patched.mask(&mut step.patch, secrets);
                for call in &mut step.host_calls {
                    patched.mask_result(call, secrets);
                }
            }
        }
        for step in trace.iter_mut().filter(|step| !step.host_calls.is_empty()) {
            for call in &mut step.to_mut().host_calls {
                mask_host_call(call, secrets);
            }
        }
    }
}

/// What a request is about: shown in lists, so not secret.
fn public_of(request: &Attributes) -> [&str; 9] {
    [
        &request.namespace,
        &request.name,
        &request.kind.group,
        &request.kind.version,
        &request.kind.kind,
        &request.resource.resource,
        &request.user.username,
        &request.uid,
        request.operation.as_str(),
    ]
}

/// Whether there is anything a secret could be repeated in.
fn has_texts(verdict: &Verdict) -> bool {
    let in_step = |step: &Step| {
        matches!(step.detail, Some(Cow::Owned(_)))
            || step.policies.iter().any(|policy| policy.message.is_some())
            || !step.host_calls.is_empty()
            || !step.patch.is_empty()
    };
    !verdict.is_allowed()
        || !verdict.warnings.is_empty()
        || !verdict.patch.is_empty()
        || verdict.trace.iter().any(in_step)
}

fn scrub(
    summary: &mut Summary,
    patch: &mut Cow<'_, [PatchOperation]>,
    trace: &mut [Cow<'_, Step>],
    secrets: &[Secret<'_>],
    verdict: &Verdict,
) {
    let mut public = vec![
        summary.namespace.as_str(),
        &summary.name,
        &summary.kind,
        &summary.user,
        &summary.operation,
    ];
    for step in &verdict.trace {
        public.push(&step.plugin);
        public.extend(step.policies.iter().map(|policy| policy.name.as_str()));
    }
    let scrubber = Scrubber::new(secrets, &public);
    scrubber.scrub_in_place(&mut summary.message);
    for warning in &mut summary.warnings {
        scrubber.scrub_in_place(warning);
    }
    if !patch.is_empty() {
        scrub_patch(&scrubber, patch.to_mut());
    }
    for step in trace {
        scrub_step(&scrubber, step);
    }
}

fn scrub_patch(scrubber: &Scrubber<'_>, patch: &mut [PatchOperation]) {
    for operation in patch {
        match operation {
            PatchOperation::Add { path, value } | PatchOperation::Replace { path, value } => {
                scrubber.scrub_in_place(path);
                scrubber.scrub_value(value);
            }
            PatchOperation::Remove { path } => scrubber.scrub_in_place(path),
        }
    }
}

fn scrub_step(scrubber: &Scrubber<'_>, step: &mut Cow<'_, Step>) {
    // A text that is part of the program repeats no secret.
    if let Some(Cow::Owned(detail)) = &step.detail
        && let Some(scrubbed) = changed(scrubber, detail)
    {
        step.to_mut().detail = Some(Cow::Owned(scrubbed));
    }
    let messages = step.policies.iter().map(|policy| policy.message.as_deref());
    let scrubbed: Vec<(usize, String)> = messages
        .enumerate()
        .filter_map(|(place, message)| Some((place, changed(scrubber, message?)?)))
        .collect();
    for (place, message) in scrubbed {
        if let Some(policy) = step.to_mut().policies.get_mut(place) {
            policy.message = Some(message);
        }
    }
    if !step.patch.is_empty() {
        scrub_patch(scrubber, &mut step.to_mut().patch);
    }
    if step.host_calls.is_empty() {
        return;
    }
    for call in &mut step.to_mut().host_calls {
        for value in call.arguments.iter_mut().chain(call.result.as_mut()) {
            scrubber.scrub_value(value);
        }
        if let Some(error) = &mut call.error {
            scrubber.scrub_in_place(error);
        }
    }
}

/// The scrubbed text, if it is another one.
fn changed(scrubber: &Scrubber<'_>, text: &str) -> Option<String> {
    let scrubbed = scrubber.scrub(text);
    (scrubbed != text).then(|| scrubbed.into_owned())
}

fn summary(material: &Material, decided: &Admission, name: &str) -> Summary {
    let Admission {
        attributes,
        verdict,
        webhook,
        digest,
    } = decided;
    let is_allowed = verdict.is_allowed();
    let may_patch = webhook.as_ref().is_none_or(|webhook| webhook.may_patch);
    let message = verdict.denial().map(|denial| denial.message.clone());
    Summary {
        id: verdict.id.to_string(),
        time: times::to_microseconds(verdict.id.time()),
        door: material.decided.door(),
        operation: attributes.operation.as_str().to_owned(),
        kind: shown(&attributes.kind.kind),
        namespace: shown(&attributes.namespace),
        name: shown(name),
        user: shown(&attributes.user.username),
        verdict: if is_allowed {
            Answer::Allow
        } else {
            Answer::Deny
        },
        mutated: is_allowed && may_patch && !verdict.patch.is_empty(),
        message: message.unwrap_or_default(),
        plugin: verdict.plugin.as_deref().map(str::to_owned),
        policy: verdict.policy.clone(),
        digest: digest.as_deref().map(str::to_owned),
        gate: Some(material.gate.to_string()),
        duration_us: u64::try_from(verdict.duration.as_micros()).unwrap_or(u64::MAX),
        warnings: verdict.warnings.clone(),
        concerned: concerned(&verdict.trace),
        traceparent: material.traceparent.clone(),
    }
}

/// What denied, changed, warned or failed, each once.
fn concerned(trace: &[Step]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for step in trace {
        let acted = matches!(step.outcome, StepOutcome::Changed | StepOutcome::Denied);
        if acted || step.outcome.is_failure() || step.warnings > 0 {
            add(&step.plugin);
        }
        for policy in &step.policies {
            let spoke = matches!(
                policy.outcome,
                PolicyOutcome::Deny | PolicyOutcome::Warn | PolicyOutcome::Error
            );
            if spoke || policy.changed {
                add(&policy.name);
            }
        }
    }
    names
}

/// The name a person looks for: as asked for, or the object's own, or what the server will make one of
/// (`web-` becomes `web-*`).
fn name<'a>(
    attributes: &'a Attributes,
    shape: &MaskShape,
    (text, index): (&'a str, &Index),
) -> Cow<'a, str> {
    if !attributes.name.is_empty() {
        return Cow::Borrowed(&attributes.name);
    }
    let mut start = Some(text::blanks(text.as_bytes(), 0));
    for name in shape.path_to_object().chain(["metadata"]) {
        start = start.and_then(|start| text::member(text, index, start, name));
    }
    let Some(start) = start else {
        return Cow::Borrowed("");
    };
    let (mut name, mut generated) = (None, None);
    for (key, start, end) in Members::new(text, Some(index), start) {
        match key.as_ref() {
            "name" => name = text::string_at(text, start, end),
            "generateName" => generated = text::string_at(text, start, end),
            _ => {}
        }
    }
    match (name.filter(|name| !name.is_empty()), generated) {
        (Some(name), _) => name,
        (None, Some(prefix)) if !prefix.is_empty() => Cow::Owned(format!("{prefix}*")),
        (None, _) => Cow::Borrowed(""),
    }
}
