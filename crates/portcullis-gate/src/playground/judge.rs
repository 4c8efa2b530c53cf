//! Judges: from the question to the verdict, within this process.

use std::sync::Arc;

use portcullis_config::{Loaded, PolicyText};
use portcullis_core::clock::Stopwatch;
use portcullis_core::{Operation, PolicyOutcome, PolicyStep};
use portcullis_document::{Faults, Source};
use portcullis_js::{Host, HostRequest};
use portcullis_kube::manifest::Manifest;
use serde_json::Value;

use super::base;
use super::question::{Door, ManifestText, Posed, Question};
use super::verdict::{Covered, Fault, Line, Verdict};
use crate::offline::{self, Answer, Blueprint, Coverage, FileCoverage, Request};

/// The name of the policy.
const POLICY: &str = "policy";
/// The namespace of objects that name none.
const NAMESPACE: &str = "default";
/// Bytes of objects, patches and texts in a verdict, at most.
pub(super) const MOST: usize = 4 << 20;

/// Makes no host calls.
#[derive(Debug)]
struct Sealed;

impl Host for Sealed {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        let function = request.function;
        Err(format!("{function}: the playground makes no host calls"))
    }
}

/// The verdict of a policy.
pub(super) fn judge(order: &Posed) -> Verdict {
    let question = &order.question;
    let request = request(question);
    let blueprint = blueprint(order);
    let (request, blueprint) = match (request, blueprint) {
        (Ok(request), Ok(blueprint)) => (request, blueprint),
        (request, blueprint) => {
            let mut faults = blueprint.err().unwrap_or_default();
            faults.extend(request.err().unwrap_or_default());
            return Verdict::invalid(faults);
        }
    };
    let watch = Stopwatch::start();
    let answer = blueprint.answer(&request, &blueprint.memory());
    let elapsed = watch.elapsed();
    match answer {
        Err(why) => Verdict::invalid(vec![Fault::whole("object", why)]),
        Ok(answer) => {
            let own = answer.steps.first().and_then(|step| step.duration);
            let duration = own.unwrap_or(elapsed).as_micros();
            Verdict {
                duration_us: u64::try_from(duration).unwrap_or(u64::MAX),
                ..verdict(&blueprint, answer)
            }
        }
    }
}

/// The chain with this policy alone.
fn blueprint(order: &Posed) -> Result<Blueprint, Vec<Fault>> {
    let question = &order.question;
    let read = base::load().and_then(|loaded| {
        let mut surroundings = loaded.policies.without_policies();
        surroundings.globals = Source::text_named("globals", order.globals.as_str());
        let policies = surroundings.with_only(&PolicyText {
            name: POLICY,
            text: &question.policy,
            language: question.language.into(),
            mode: question.mode,
            is_covered: true,
        })?;
        Ok(Loaded {
            policies,
            limits: order.limits.clone(),
            ..loaded
        })
    });
    let blueprint = read.map(|loaded| Blueprint::sealed(loaded, Arc::new(Sealed)));
    let blueprint = blueprint.map_err(|Faults(faults)| Fault::of_policy(&faults))?;
    blueprint
        .check()
        .map_err(|faults| Fault::of_policy(&faults))?;
    Ok(blueprint)
}

/// The request, or everything that is wrong with it.
fn request(question: &Question) -> Result<Request, Vec<Fault>> {
    let mut faults = Vec::new();
    let namespace = question.namespace.clone().filter(|name| !name.is_empty());
    let mut object = |field, given: &ManifestText| {
        let read = read(field, given, namespace.as_deref().unwrap_or(NAMESPACE));
        read.map_err(|fault| faults.push(fault)).ok()
    };
    let new = object("object", &question.object);
    let old = question.old_object.as_ref();
    let old = old.and_then(|old| object("old_object", old));
    if let (Some(door), Some(manifest)) = (question.door, &new) {
        faults.extend(misplaced(door, manifest));
    }
    let operation = match question.operation.as_deref() {
        None | Some("") => None,
        Some(name) => match name.to_ascii_uppercase().parse::<Operation>() {
            Ok(operation) => Some(operation),
            Err(_) => {
                let message = "expected CREATE, UPDATE, DELETE or CONNECT";
                faults.push(Fault::whole("operation", message));
                None
            }
        },
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Request {
        object: new.map(|manifest| manifest.object),
        old_object: old.map(|manifest| manifest.object),
        operation,
        user: question.user.clone().filter(|name| !name.is_empty()),
        groups: question.groups.clone(),
        namespace,
        namespace_labels: question.namespace_labels.clone(),
        objects: None,
        dry_run: false,
    })
}

/// Why an object is not judged at this door.
fn misplaced(door: Door, manifest: &Manifest) -> Option<Fault> {
    let message = match (door, offline::is_job(&manifest.kind)) {
        (Door::Ci, false) => "only objects of `ci.portcullis.dev/v1`, kind `Job`, are judged there",
        (Door::Kubernetes, true) => "CI jobs are judged at the door `ci`",
        _ => return None,
    };
    Some(Fault::whole("door", message))
}

/// The one object of a field.
fn read(field: &'static str, given: &ManifestText, namespace: &str) -> Result<Manifest, Fault> {
    let text = match given {
        ManifestText::Text(text) => text,
        ManifestText::Object(map) => {
            let manifest = Manifest::new(Value::Object(map.clone()), namespace);
            return manifest.map_err(|fault| Fault::of(field, &fault));
        }
    };
    let source = Source::text_named(field, text.as_str());
    let mut items = offline::read_documents(&source, namespace);
    match (items.pop(), items.len()) {
        (None, _) => Err(Fault::whole(field, "there is no object")),
        (Some(item), 0) => item
            .into_manifest()
            .map_err(|fault| Fault::of(field, &fault)),
        (Some(_), more) => {
            // The first that can't be read says more than how many there are.
            let faulty = items
                .into_iter()
                .find_map(|item| item.into_manifest().err());
            let count = format!("expected one object, found {}", more + 1);
            Err(faulty.map_or_else(|| Fault::whole(field, count), |f| Fault::of(field, &f)))
        }
    }
}

fn verdict(blueprint: &Blueprint, answer: Answer) -> Verdict {
    let mut coverage = Coverage::default();
    coverage.add(blueprint.marks(), &answer.covered);
    let mut lines = Covered::default();
    for (line, hits) in coverage.files().flat_map(FileCoverage::lines) {
        match hits {
            0 => lines.missed.push(line),
            _ => lines.covered.push(line),
        }
    }
    let step = answer.steps.first().filter(|step| is_told(step, &answer));
    let outcome = match (step, answer.allowed) {
        (Some(step), _) => step.outcome,
        // A policy that was asked has a step.
        (None, true) => PolicyOutcome::Skip,
        (None, false) => PolicyOutcome::Error,
    };
    let said = step.and_then(|step| step.message.clone());
    let is_own = step.is_some_and(|step| step.source.is_none());
    let console = answer.written.into_iter().map(|line| Line {
        level: line.level.to_owned(),
        line: line.line,
        text: line.text,
    });
    let verdict = Verdict {
        allowed: answer.allowed,
        outcome: outcome.as_str().to_owned(),
        message: said.unwrap_or(answer.message),
        line: step.and_then(|step| step.line).filter(|_| is_own),
        limit: step
            .and_then(|step| step.limit)
            .map(|limit| limit.as_str().to_owned()),
        warnings: answer.warnings,
        patch: match answer.patch {
            Value::Array(steps) => steps,
            _ => Vec::new(),
        },
        object: answer.object,
        console: console.collect(),
        coverage: lines,
        duration_us: 0,
        faults: Vec::new(),
    };
    if serde_json::to_vec(&verdict).is_ok_and(|text| text.len() <= MOST) {
        return verdict;
    }
    Verdict {
        message: format!("the object after the policy is larger than {MOST} bytes, and not shown"),
        outcome: PolicyOutcome::Error.as_str().to_owned(),
        coverage: verdict.coverage,
        ..Verdict::default()
    }
}

/// Whether a step says what became of the request: one that was not asked doesn't deny.
fn is_told(step: &PolicyStep, answer: &Answer) -> bool {
    answer.allowed || step.outcome != PolicyOutcome::Skip
}

#[cfg(test)]
mod tests;
