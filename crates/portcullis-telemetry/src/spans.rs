//! The spans of a decision.
//!
//! ```text
//! admission.review ─┬─ plugin.evaluate             a plug-in without policies, once for each half
//!                   └─ policy.evaluate ── host.call
//! authz.check ──────── authorizer.evaluate
//! ```

use std::time::{Duration, Instant};

use portcullis_core::TraceContext;
use portcullis_core::authorizer::AccessStep;
use portcullis_core::{HostCallStep, PolicyLimit, PolicyOutcome, PolicyStep, Step, StepOutcome};

use crate::otlp::Attribute::{self, Text};
use crate::otlp::attribute;
use crate::times::Times;
use crate::wire::Message;

/// The most spans of one decision.
const MOST: usize = 256;

/// Kinds of spans: `INTERNAL`, `SERVER`, `CLIENT`.
const INTERNAL: u64 = 1;
const SERVER: u64 = 2;
const CLIENT: u64 = 3;

/// That a span says whether its parent is elsewhere, and that it is.
const SAYS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// The kind of failure, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) &'static str);

impl Fault {
    /// How a plug-in failed, if it did.
    pub(crate) fn of(outcome: StepOutcome) -> Option<Self> {
        outcome.is_failure().then_some(Self(outcome.as_str()))
    }
}

/// What every span has.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) fault: Option<Fault>,
}

/// The spans of one decision, as far as they are written.
#[derive(Debug)]
pub(crate) struct Spans<'a> {
    trace: &'a TraceContext,
    times: Times,
    written: Vec<Vec<u8>>,
    omitted: u64,
}

/// Where a span is in the trace.
struct SpanIds {
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    kind: u64,
    flags: u32,
}

impl<'a> Spans<'a> {
    pub(crate) fn new(trace: &'a TraceContext, times: Times) -> Self {
        Self {
            trace,
            times,
            written: Vec::new(),
            omitted: 0,
        }
    }

    /// What is written, and how much is not.
    pub(crate) fn into_parts(self) -> (Vec<Vec<u8>>, u64) {
        (self.written, self.omitted)
    }

    /// The span of the request.
    pub(crate) fn root<'b>(
        &mut self,
        span: &Span,
        attributes: impl Iterator<Item = (&'static str, Attribute<'b>)>,
    ) {
        let remote = match self.trace.parent_id {
            Some(_) => IS_REMOTE,
            None => 0,
        };
        let place = SpanIds {
            id: self.trace.span_id,
            parent: self.trace.parent_id,
            kind: SERVER,
            flags: SAYS_REMOTE | remote,
        };
        self.write(span, &place, attributes);
    }

    /// The spans of plug-ins and policies. Steps follow each other without a pause.
    pub(crate) fn admission(&mut self, began: Instant, steps: &[Step]) {
        let mut start = earliest(began, steps.iter().map(policies_and_duration));
        for step in steps {
            let end = after(start, step.duration);
            let ran = |policy: &&PolicyStep| policy.outcome != PolicyOutcome::Skip;
            if step.policies.iter().any(|policy| ran(&policy)) {
                for policy in step.policies.iter().filter(ran) {
                    self.policy(step, policy, start, end);
                }
            } else if step.outcome != StepOutcome::Skipped {
                self.plugin(step, start, end);
            }
            start = end;
        }
    }

    fn plugin(&mut self, step: &Step, start: Instant, end: Instant) {
        let span = Span {
            name: "plugin.evaluate",
            start,
            end,
            fault: Fault::of(step.outcome),
        };
        let attributes = [
            ("portcullis.plugin", Text(&step.plugin)),
            ("portcullis.phase", Text(step.phase.as_str())),
            ("portcullis.outcome", Text(step.outcome.as_str())),
        ];
        self.child(self.trace.span_id, INTERNAL, &span, attributes.into_iter());
    }

    fn policy(&mut self, step: &Step, policy: &PolicyStep, start: Instant, end: Instant) {
        // Of one that was given up nothing is known but that it was running.
        let (start, end) = match (policy.started, policy.duration) {
            (Some(started), Some(duration)) => (started, after(started, duration)),
            _ => (start, end),
        };
        let is_failed = policy.outcome == PolicyOutcome::Error;
        let span = Span {
            name: "policy.evaluate",
            start,
            end,
            fault: is_failed.then(|| Fault(policy.limit.map_or("error", PolicyLimit::as_str))),
        };
        let attributes = [
            ("portcullis.plugin", Text(&step.plugin)),
            ("portcullis.policy", Text(&policy.name)),
            ("portcullis.policy.mode", Text(policy.mode.as_str())),
            ("portcullis.outcome", Text(policy.outcome.as_str())),
        ];
        let id = self.child(self.trace.span_id, INTERNAL, &span, attributes.into_iter());
        let calls = step.host_calls.iter();
        let mut at = start;
        for call in calls.filter(|call| call.policy == policy.name) {
            let started = call.started.unwrap_or(at);
            at = after(started, call.duration);
            self.host_call(id, call, started, at);
        }
    }

    fn host_call(&mut self, parent: [u8; 8], call: &HostCallStep, start: Instant, end: Instant) {
        let span = Span {
            name: "host.call",
            start,
            end,
            fault: call.error.as_ref().map(|_| Fault("error")),
        };
        let attributes = [
            ("portcullis.policy", Text(&call.policy)),
            ("portcullis.function", Text(call.function.as_str())),
        ];
        self.child(parent, CLIENT, &span, attributes.into_iter());
    }

    /// The spans of authorizers.
    pub(crate) fn access(&mut self, began: Instant, steps: &[AccessStep]) {
        let mut start = began;
        for step in steps {
            let end = after(start, step.duration);
            let span = Span {
                name: "authorizer.evaluate",
                start,
                end,
                fault: step.said.as_ref().err().map(|_| Fault("error")),
            };
            let said = step.said.as_ref().map_or("error", |said| said.as_str());
            let attributes = [
                ("portcullis.plugin", Text(&step.authorizer)),
                ("portcullis.outcome", Text(said)),
            ];
            self.child(self.trace.span_id, INTERNAL, &span, attributes.into_iter());
            start = end;
        }
    }

    fn child<'b>(
        &mut self,
        parent: [u8; 8],
        kind: u64,
        span: &Span,
        attributes: impl Iterator<Item = (&'static str, Attribute<'b>)>,
    ) -> [u8; 8] {
        let id = rand::random::<u64>().max(1).to_be_bytes();
        let place = SpanIds {
            id,
            parent: Some(parent),
            kind,
            flags: SAYS_REMOTE,
        };
        self.write(span, &place, attributes);
        id
    }

    fn write<'b>(
        &mut self,
        span: &Span,
        place: &SpanIds,
        attributes: impl Iterator<Item = (&'static str, Attribute<'b>)>,
    ) {
        if self.written.len() >= MOST {
            self.omitted += 1;
            return;
        }
        let mut message = Message::with_capacity(512);
        message.bytes(1, &self.trace.trace_id);
        message.bytes(2, &place.id);
        if let Some(state) = &self.trace.state {
            message.text(3, state);
        }
        if let Some(parent) = place.parent {
            message.bytes(4, &parent);
        }
        message.text(5, span.name);
        message.number(6, place.kind);
        let start = self.times.of(span.start);
        message.fixed64(7, start);
        message.fixed64(8, self.times.of(span.end).max(start));
        for (key, value) in attributes {
            attribute(&mut message, 9, key, value);
        }
        if let Some(fault) = span.fault {
            if place.kind != SERVER {
                attribute(&mut message, 9, "error.type", Text(fault.0));
            }
            message.message(15, |status| status.number(3, 2));
        }
        message.fixed32(16, u32::from(self.trace.flags) | place.flags);
        self.written.push(message.into_bytes());
    }
}

/// When judging began: `began`, or earlier if that was measured too late. Policies know when they began, and the steps
/// before them had ended by then. Each step has when its first policy began, and its duration.
fn earliest(began: Instant, steps: impl Iterator<Item = (Option<Instant>, Duration)>) -> Instant {
    let mut earliest = began;
    let mut before = Duration::ZERO;
    for (first, duration) in steps {
        let latest = first.and_then(|first| first.checked_sub(before));
        earliest = latest.map_or(earliest, |latest| earliest.min(latest));
        before = before.saturating_add(duration);
    }
    earliest
}

/// When the first policy of a step began, and how long the step took.
fn policies_and_duration(step: &Step) -> (Option<Instant>, Duration) {
    let started = step.policies.iter().filter_map(|policy| policy.started);
    (started.min(), step.duration)
}

fn after(start: Instant, duration: Duration) -> Instant {
    start.checked_add(duration).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;

    use super::*;

    #[test]
    fn a_step_ends_before_the_policies_after_it_begin() {
        let policy = clock::monotonic();
        let long = Duration::from_micros(10);
        let steps = || [(None, long), (Some(policy), long), (None, long)].into_iter();
        let measured_late = policy + Duration::from_micros(30);
        assert_eq!(earliest(measured_late, steps()), policy - long);
        let measured_in_time = policy - Duration::from_micros(30);
        assert_eq!(earliest(measured_in_time, steps()), measured_in_time);
        assert_eq!(earliest(policy, [(None, long)].into_iter()), policy);
    }
}
