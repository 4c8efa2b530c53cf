//! What is exported of a decision: names, codes and times.

use std::borrow::Cow;
use std::time::Instant;

use portcullis_core::{
    Access, AccessVerdict, Attributes, Door, DoorContext, Target, TraceContext, Verdict,
};

use crate::otlp::Attribute::{Bool, Number, Text};
use crate::otlp::{Attribute, attribute};
use crate::spans::{Fault, Span, Spans};
use crate::times::Times;
use crate::wire::Message;

/// A decision of any door.
#[derive(Debug)]
pub(crate) struct Decision<'a> {
    /// Name of its span.
    name: &'static str,
    /// How the request came.
    pub(crate) context: &'a DoorContext,
    id: String,
    door: &'static str,
    verdict: &'static str,
    /// Why no decision could be made, if none could.
    fault: Option<Fault>,
    is_mutated: Option<bool>,
    operation: &'a str,
    kind: Cow<'a, str>,
    namespace: &'a str,
    plugin: Option<&'a str>,
    policy: Option<&'a str>,
    status: u16,
    received: Instant,
    /// When judging began.
    began: Instant,
    times: Times,
    steps: Steps<'a>,
}

/// What the judges did.
#[derive(Debug, Clone, Copy)]
enum Steps<'a> {
    Admission(&'a Verdict),
    Access(&'a AccessVerdict),
}

impl<'a> Decision<'a> {
    pub(crate) fn admission(attributes: &'a Attributes, verdict: &'a Verdict, status: u16) -> Self {
        let failed = verdict.trace.last().filter(|_| verdict.is_undecided());
        let times = Times::now();
        Self {
            name: "admission.review",
            context: &attributes.context,
            id: verdict.id.to_string(),
            door: attributes.door.as_str(),
            verdict: match (failed, verdict.is_allowed()) {
                (Some(_), _) => "error",
                (None, true) => "allow",
                (None, false) => "deny",
            },
            fault: failed.map(|step| Fault::of(step.outcome).unwrap_or(Fault("error"))),
            is_mutated: Some(!verdict.patch.is_empty()),
            operation: attributes.operation.as_str(),
            kind: with_group(&attributes.kind.group, &attributes.kind.kind),
            namespace: &attributes.namespace,
            plugin: verdict.plugin.as_deref(),
            policy: verdict.policy.as_deref(),
            status,
            received: attributes.received,
            began: times.before(verdict.duration),
            times,
            steps: Steps::Admission(verdict),
        }
    }

    pub(crate) fn access(
        access: &'a Access,
        verdict: &'a AccessVerdict,
        received: Instant,
        status: u16,
    ) -> Self {
        let fault = verdict.error.as_ref().map(|_| Fault("error"));
        let (kind, namespace) = match &access.target {
            Target::Resource(target) => (
                with_group(&target.group, &target.resource),
                target.namespace.as_str(),
            ),
            Target::Path(_) => (Cow::Borrowed(""), ""),
        };
        let times = Times::now();
        Self {
            name: "authz.check",
            context: &access.context,
            id: verdict.id.to_string(),
            door: Door::Authorization.as_str(),
            verdict: match fault {
                Some(_) => "error",
                None => verdict.opinion.as_str(),
            },
            fault,
            is_mutated: None,
            operation: &access.verb,
            kind,
            namespace,
            plugin: verdict.authorizer.as_deref(),
            policy: None,
            status,
            received,
            began: times.before(verdict.duration),
            times,
            steps: Steps::Access(verdict),
        }
    }

    /// Everything that its span and its log record say.
    fn attributes(&self) -> impl Iterator<Item = (&'static str, Attribute<'_>)> {
        let text = |text| Some(Text(text)).filter(|_| !str::is_empty(text));
        let path = self.context.uri.split(['?', '#']).next();
        let all = [
            ("portcullis.decision.id", text(&self.id)),
            ("portcullis.door", text(self.door)),
            ("portcullis.verdict", text(self.verdict)),
            ("portcullis.mutated", self.is_mutated.map(Bool)),
            ("portcullis.operation", text(self.operation)),
            ("portcullis.kind", text(&self.kind)),
            ("portcullis.plugin", self.plugin.map(Text)),
            ("portcullis.policy", self.policy.map(Text)),
            ("k8s.namespace.name", text(self.namespace)),
            ("error.type", self.fault.map(|fault| Text(fault.0))),
            ("http.request.method", text(&self.context.method)),
            ("url.path", path.and_then(text)),
            (
                "http.response.status_code",
                Some(Number(self.status.into())),
            ),
        ];
        all.into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }

    /// Its spans: one for the request, and one for everybody who was asked; and how many more
    /// there would be.
    pub(crate) fn spans(&self, trace: &TraceContext) -> (Vec<Vec<u8>>, u64) {
        let mut spans = Spans::new(trace, self.times);
        spans.root(
            &Span {
                name: self.name,
                start: self.received,
                end: self.times.now,
                fault: self.fault,
            },
            self.attributes(),
        );
        match self.steps {
            Steps::Admission(verdict) => spans.admission(self.began, &verdict.trace),
            Steps::Access(verdict) => spans.access(self.began, &verdict.trace),
        }
        spans.into_parts()
    }

    /// Its log record.
    pub(crate) fn log(&self, trace: Option<&TraceContext>) -> Vec<u8> {
        let (severity, name) = match self.verdict {
            "allow" | "no_opinion" => (9, "INFO"),
            "deny" => (13, "WARN"),
            _ => (17, "ERROR"),
        };
        let mut record = Message::with_capacity(768);
        record.fixed64(1, self.times.wall);
        record.number(2, severity);
        record.text(3, name);
        record.message(5, |body| body.text(1, self.name));
        for (key, value) in self.attributes() {
            attribute(&mut record, 6, key, value);
        }
        if let Some(trace) = trace {
            record.fixed32(8, trace.flags.into());
            record.bytes(9, &trace.trace_id);
            record.bytes(10, &trace.span_id);
        }
        record.fixed64(11, self.times.wall);
        record.text(12, "portcullis.decision");
        record.into_bytes()
    }
}

/// `apps/Deployment`, `Pod`: as `match` has it.
fn with_group<'a>(group: &str, name: &'a str) -> Cow<'a, str> {
    if group.is_empty() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{group}/{name}"))
}
