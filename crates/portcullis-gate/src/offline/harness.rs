//! What tests in JavaScript talk to: answers their reviews, and takes their reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_core::{HostFunction, Operation};
use portcullis_js::{Host, HostRequest};
use portcullis_kube::cluster_objects::StaticObjects;
use serde::Deserialize;
use serde_json::Value;

use super::answer::Request;
use super::blueprint::{Blueprint, Memory};
use super::observed::ConsoleLine;

/// What a test said so far.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// The tests of the file.
    pub(super) tests: Option<Value>,
    /// Why the file has no tests.
    pub(super) broken: Option<Value>,
    /// Whether the test that ran has passed.
    pub(super) passed: bool,
    /// Why it failed.
    pub(super) failure: Option<Value>,
    /// What policies wrote in its reviews.
    pub(super) written: Vec<ConsoleLine>,
    /// The marks of coverage that its reviews passed.
    pub(super) covered: Vec<u32>,
}

/// The other end of `$harness`.
#[derive(Debug)]
pub(super) struct Harness {
    blueprint: Arc<Blueprint>,
    state: Mutex<(Memory, Reported)>,
}

/// The second argument of `review`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    operation: Option<String>,
    old_object: Option<Value>,
    user: Option<String>,
    groups: Vec<String>,
    namespace: Option<String>,
    namespace_labels: BTreeMap<String, String>,
    kube: Option<Vec<Value>>,
    dry_run: bool,
}

impl Harness {
    pub(super) fn new(blueprint: Arc<Blueprint>) -> Self {
        let memory = blueprint.memory();
        Self {
            blueprint,
            state: Mutex::new((memory, Reported::default())),
        }
    }

    /// What was said since the last time. The next test finds nothing of it, nor of what policies
    /// kept.
    pub(super) fn take(&self) -> Reported {
        let mut state = self.lock();
        state.0 = self.blueprint.memory();
        std::mem::take(&mut state.1)
    }

    fn lock(&self) -> MutexGuard<'_, (Memory, Reported)> {
        self.state.lock()
    }

    fn review(&self, object: Option<&Value>, options: Option<&Value>) -> Result<Value, String> {
        let options = match options {
            None | Some(Value::Null) => Options::default(),
            Some(options) => Options::deserialize(options).map_err(|e| format!("review: {e}"))?,
        };
        let operation = options.operation.map(|name| {
            let known = name.to_ascii_uppercase().parse::<Operation>().ok();
            known.ok_or_else(|| format!("review: unknown operation `{name}`"))
        });
        let objects = options.kube.map(|list| {
            let mut objects = StaticObjects::default();
            for (index, object) in list.into_iter().enumerate() {
                let added = objects.add(object);
                added.map_err(|why| format!("review: kube[{index}]: {why}"))?;
            }
            Ok::<_, String>(objects)
        });
        let request = Request {
            object: object.filter(|object| !object.is_null()).cloned(),
            old_object: options.old_object.filter(|object| !object.is_null()),
            operation: operation.transpose()?,
            user: options.user,
            groups: options.groups,
            namespace: options.namespace,
            namespace_labels: options.namespace_labels,
            objects: objects.transpose()?,
            dry_run: options.dry_run,
        };
        let memory = self.lock().0.clone();
        let answer = self.blueprint.answer(&request, &memory);
        let answer = answer.map_err(|why| format!("review: {why}"))?;
        let value = answer.to_json();
        let mut state = self.lock();
        state.1.written.extend(answer.written);
        state.1.covered.extend(answer.covered);
        Ok(value)
    }
}

impl Host for Harness {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        let (word, rest) = match (request.function, request.arguments.split_first()) {
            (HostFunction::Harness, Some((Value::String(word), rest))) => (word.as_str(), rest),
            (HostFunction::Harness, _) => return Err("$harness: nothing is asked".to_owned()),
            (other, _) => return Err(format!("{other} is not available in tests")),
        };
        if word == "review" {
            return self.review(rest.first(), rest.get(1));
        }
        let reported = &mut self.lock().1;
        match word {
            "tests" => reported.tests = rest.first().cloned(),
            "broken" => reported.broken = rest.first().cloned(),
            "passed" => reported.passed = true,
            "failed" => reported.failure = rest.first().cloned(),
            other => return Err(format!("$harness: unknown word `{other}`")),
        }
        Ok(Value::Null)
    }

    fn functions(&self) -> &'static [HostFunction] {
        const WITH_HARNESS: [HostFunction; 7] = [
            HostFunction::CosignVerify,
            HostFunction::SlsaVerify,
            HostFunction::SlsaEnsureComingFrom,
            HostFunction::ForwardToAdmissionController,
            HostFunction::KubeGet,
            HostFunction::KubeList,
            HostFunction::Harness,
        ];
        &WITH_HARNESS
    }
}
