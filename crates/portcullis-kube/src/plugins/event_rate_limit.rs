//! `EventRateLimit`: protects the API server from floods of events.
//!
//! Each configured limit has token buckets: one for all, or one per namespace,
//! user, or source and object of the event. An event takes a token from a
//! bucket of every limit, and is denied with 429 when any of them is empty.
//! Dry runs take none. Only `Event` of the core group counts, as in Kubernetes;
//! buckets are local to this server and gone when it restarts.

use std::borrow::Cow;
use std::sync::Arc;

use crate::registry::{DependsOn, Descriptor};
use portcullis_core::sync::Mutex;
use portcullis_core::text::shortened;
use portcullis_core::{
    Attributes, Denial, Notes, Operation, Operations, Outcome, Phases, Plugin, PluginError,
};

use crate::pod::view::view;

use super::config;
use super::read::{self, OrOutcome, settled};

use buckets::Buckets;
use configuration::{Configuration, LimitType, TYPE};

mod buckets;
mod configuration;

/// Longer keys are cut in messages: they are whatever the caller sends.
const MAX_KEY_IN_TEXT: usize = 256;

#[derive(Debug)]
struct EventRateLimit {
    limits: Vec<Limit>,
}

#[derive(Debug)]
struct Limit {
    kind: LimitType,
    buckets: Mutex<Buckets>,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor {
        name: "EventRateLimit",
        summary: "Limits the rate of events.",
        phases: Phases::VALIDATE,
        operations: Operations::WRITES,
        depends_on: DependsOn::Earlier,
        reads: Vec::new(),
        schema: Some(config::typed_schema::<Configuration>(TYPE)),
        factory: Box::new(|configuration| {
            let limits = configuration::read(configuration)?.into_iter();
            let limits = limits.map(|limit| Limit {
                kind: limit.kind,
                buckets: Mutex::new(Buckets::new(limit.rate, limit.buckets)),
            });
            Ok(Arc::new(EventRateLimit {
                limits: limits.collect(),
            }))
        }),
    }
}

impl Plugin for EventRateLimit {
    fn handles(&self, operation: Operation) -> bool {
        Operations::WRITES.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases::VALIDATE
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "events")])
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        settled(self.charge(request))
    }
}

impl EventRateLimit {
    fn charge(&self, request: &Attributes) -> OrOutcome<Outcome> {
        if !request.kind.is("", "Event") {
            return Err(Outcome::not_applicable("not an event"));
        }
        if request.dry_run {
            return Ok(Outcome::Pass);
        }
        // All keys come first: an event that can't be read takes no token.
        let keys = self.limits.iter().map(|limit| limit.kind.key(request));
        let keys: Vec<Cow<'_, str>> = keys.collect::<OrOutcome<_>>()?;
        let mut reached: Vec<String> = Vec::new();
        for (limit, key) in self.limits.iter().zip(&keys) {
            let mut buckets = limit.buckets.lock();
            if !buckets.take(key, request.received) {
                let (kind, key) = (limit.kind, shortened(key, MAX_KEY_IN_TEXT));
                let text = format!("limit reached on type {kind} for key {key}");
                if !reached.contains(&text) {
                    reached.push(text);
                }
            }
        }
        let text = match reached.as_slice() {
            [] => return Ok(Outcome::Pass),
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let text = format!("Too many requests: {text}");
        Err(Outcome::Deny(Denial::too_many_requests(text)))
    }
}

impl LimitType {
    /// What distinguishes the buckets of this limit.
    fn key(self, request: &Attributes) -> OrOutcome<Cow<'_, str>> {
        Ok(match self {
            Self::Server => "".into(),
            Self::Namespace => request.namespace.as_str().into(),
            Self::User => request.user.username.as_str().into(),
            Self::SourceAndObject if request.object.is_none() => "".into(),
            Self::SourceAndObject => {
                let event: Event<'_> = read::object(request, "Event")?;
                let (source, object) = (event.source, event.involved_object);
                [
                    source.component,
                    source.host,
                    object.kind,
                    object.namespace,
                    object.name,
                    object.uid,
                    object.api_version,
                ]
                .concat()
                .into()
            }
        })
    }
}

view! {
    /// An event, as far as it is looked at.
    struct Event<'a> {
        /// The component that reports the event.
        source: EventSource<'a> = "source",
        /// What it is about.
        involved_object: ObjectReference<'a> = "involvedObject",
    }
}

view! {
    /// The component that reports an event.
    struct EventSource<'a> {
        /// Program.
        component: Cow<'a, str> = "component",
        /// Node.
        host: Cow<'a, str> = "host",
    }
}

view! {
    /// What an event is about.
    struct ObjectReference<'a> {
        /// Kind.
        kind: Cow<'a, str> = "kind",
        /// Namespace.
        namespace: Cow<'a, str> = "namespace",
        /// Name.
        name: Cow<'a, str> = "name",
        /// Identifier of the incarnation.
        uid: Cow<'a, str> = "uid",
        /// API version.
        api_version: Cow<'a, str> = "apiVersion",
    }
}

#[cfg(test)]
mod tests;
