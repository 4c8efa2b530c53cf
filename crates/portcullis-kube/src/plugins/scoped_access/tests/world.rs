//! A plug-in over some objects, and requests to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::registry::Registry;
use portcullis_core::{
    Attributes, Denial, Document, Finished, Operation, Outcome, Pending, Phase, Plugin, UserInfo,
};
use portcullis_graph::{Profile, ProfileSpec, State, VertexKind, built_in};
use serde_json::{Value, json};

use super::super::super::testing::create;
use super::super::{LiveReader, NAME, Reading, ScopedProfile, register};

/// The profile of this text, with these objects known.
pub(super) fn state(text: &str, objects: &[Value]) -> Arc<State> {
    let spec: ProfileSpec = serde_saphyr::from_str(text).expect("a profile");
    let profile = Profile::compile(&spec).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let state = State::new(Arc::new(profile), None);
    for object in objects {
        state.apply(object);
    }
    Arc::new(state)
}

/// A profile that has caught up and reads nothing.
pub(super) fn profile(name: &str, text: &str, objects: &[Value]) -> ScopedProfile {
    let state = state(text, objects);
    state.set_caught_up();
    ScopedProfile {
        name: Arc::from(name),
        state,
        reader: None,
    }
}

/// A profile that ships.
pub(super) fn shipped(name: &str, objects: &[Value]) -> ScopedProfile {
    profile(name, built_in::find(name).expect("a profile"), objects)
}

/// The plug-in with these profiles.
pub(super) fn plugin(profiles: Vec<ScopedProfile>) -> Arc<dyn Plugin> {
    let mut registry = Registry::default();
    register(&mut registry, &Arc::from(profiles));
    let descriptor = registry.get(NAME).expect("the plug-in");
    (descriptor.factory)(None).expect("no configuration")
}

/// A user in these groups.
pub(super) fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo {
        username: name.to_owned(),
        groups: groups.iter().map(|&group| group.to_owned()).collect(),
        ..UserInfo::default()
    }
}

pub(super) fn gardenlet(seed: &str) -> UserInfo {
    let name = format!("gardener.cloud:system:seed:{seed}");
    user(
        &name,
        &["gardener.cloud:system:seeds", "system:authenticated"],
    )
}

/// A request of this user. The object says its name itself.
pub(super) fn request(
    user: UserInfo,
    operation: Operation,
    resource: &str,
    object: Value,
) -> Attributes {
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let text = |key: &str| {
        object["metadata"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (name, namespace) = (text("name"), text("namespace"));
    let mut request = create("", resource, Value::Null);
    request.resource.group = group.to_owned();
    (request.operation, request.user) = (operation, user);
    (request.name, request.namespace) = (name, namespace);
    request.object = None;
    let document = Some(Document::from_value(object));
    match operation {
        Operation::Delete => request.old_object = document,
        _ => request.object = document,
    }
    request
}

/// An object of this key and content.
pub(super) fn object(api_version: &str, kind: &str, key: &str, content: Value) -> Value {
    let (namespace, name) = key.rsplit_once('/').unwrap_or(("", key));
    let mut object = content;
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    object["metadata"]["name"] = json!(name);
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}

/// What comes of the first look.
pub(super) fn poll(pending: &mut Pending) -> Poll<Finished> {
    pending
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

/// What the plug-in says at once.
#[track_caller]
pub(super) fn finished(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Finished {
    finished_by(plugin, request, None)
}

/// What the plug-in says at once, with that deadline.
#[track_caller]
pub(super) fn finished_by(
    plugin: &Arc<dyn Plugin>,
    request: &Attributes,
    deadline: Option<Instant>,
) -> Finished {
    match poll(&mut plugin.begin(Phase::Validate, request, deadline)) {
        Poll::Ready(finished) => finished,
        Poll::Pending => panic!("it waits"),
    }
}

#[track_caller]
pub(super) fn outcome(plugin: &Arc<dyn Plugin>, request: &Attributes) -> Outcome {
    finished(plugin, request).outcome.expect("an outcome")
}

/// `ok`, `none`, or the code of the denial, with a `?` where nothing could be decided.
#[track_caller]
pub(super) fn short(plugin: &Arc<dyn Plugin>, request: &Attributes) -> String {
    match outcome(plugin, request) {
        Outcome::Pass => "ok".to_owned(),
        Outcome::NotApplicable(_) => "none".to_owned(),
        Outcome::Deny(denial) => denial.code.to_string(),
        Outcome::Undecided(denial) => format!("{}?", denial.code),
    }
}

/// The denial, decided or not.
#[track_caller]
pub(super) fn refusal(outcome: Outcome) -> Denial {
    match outcome {
        Outcome::Deny(denial) | Outcome::Undecided(denial) => denial,
        other => panic!("not refused: {other:?}"),
    }
}

/// What an API server has, and what was read of it.
#[derive(Default)]
pub(super) struct Server {
    pub(super) objects: HashMap<String, Value>,
    /// Everything fails like this.
    pub(super) broken: Option<String>,
    /// Reading never ends.
    pub(super) is_stuck: bool,
    pub(super) reads: Mutex<Vec<String>>,
}

impl Server {
    /// What was read since the last time.
    pub(super) fn take_reads(&self) -> Vec<String> {
        std::mem::take(&mut *self.reads.lock().expect("the reads"))
    }
}

impl LiveReader for Server {
    fn read(&self, kind: &VertexKind, namespace: &str, name: &str, _: Instant) -> Reading {
        let key = format!("{} {namespace}/{name}", kind.resource);
        self.reads.lock().expect("the reads").push(key.clone());
        if self.is_stuck {
            return Box::pin(std::future::pending());
        }
        let found = match &self.broken {
            Some(why) => Err(why.clone()),
            None => Ok(self.objects.get(&key).cloned()),
        };
        Box::pin(std::future::ready(found))
    }
}
