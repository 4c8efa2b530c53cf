//! The machine-readable results, in JSON and in YAML.
//!
//! Results are written as they come; nothing is kept. The summary comes after them.

use std::io::{self, Write};

use portcullis_gate::offline::Judge;
use serde_json::{Value, json};

use super::outcome::{JudgeResult, Judgement, Outcome, Unread};
use super::totals::{Summary, Totals};
use super::writer::Writer;
use crate::commands::text::json_list::JsonList;
use crate::commands::text::yaml;

/// The results as JSON.
pub(super) struct Json {
    judges: Vec<Judge>,
    explain: bool,
    list: JsonList,
}

impl Json {
    /// Nothing yet.
    pub(super) fn new(judges: Vec<Judge>, explain: bool) -> Self {
        Self {
            judges,
            explain,
            list: JsonList::default(),
        }
    }
}

impl Writer for Json {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        if let Some(value) = of(outcome, &self.judges, self.explain) {
            let around = |list: &Value| report(list, Summary::default());
            self.list.item(&value, around, out);
        }
    }

    fn end(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let list = std::mem::take(&mut self.list);
        let rest = list.end(|list| report(list, totals.summary()));
        out.write_all(rest.as_bytes())
    }
}

/// The results as YAML.
pub(super) struct Yaml {
    judges: Vec<Judge>,
    explain: bool,
    is_begun: bool,
}

impl Yaml {
    /// Nothing yet.
    pub(super) fn new(judges: Vec<Judge>, explain: bool) -> Self {
        Self {
            judges,
            explain,
            is_begun: false,
        }
    }
}

impl Writer for Yaml {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        if let Some(value) = of(outcome, &self.judges, self.explain) {
            if !std::mem::replace(&mut self.is_begun, true) {
                out.push_str("results:\n");
            }
            for line in yaml::write(&json!([value])).lines() {
                out.push_str("  ");
                out.push_str(line);
                out.push('\n');
            }
        }
    }

    fn end(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let mut whole = report(&json!([]), totals.summary());
        if let (true, Some(map)) = (self.is_begun, whole.as_object_mut()) {
            map.remove("results");
        }
        out.write_all(yaml::write(&whole).as_bytes())
    }
}

/// All of it. The members are in the order of their names: the summary comes after the results.
fn report(results: &Value, summary: Summary) -> Value {
    json!({
        "results": results,
        "summary": {
            "allowed": summary.allowed,
            "denied": summary.denied,
            "errors": summary.errors,
            "skipped": summary.skipped,
        },
    })
}

/// One result; none of what counts as no object.
fn of(outcome: &Outcome, judges: &[Judge], explain: bool) -> Option<Value> {
    match outcome {
        Outcome::Judged(judged) => Some(judgement(judged, judges, explain)),
        Outcome::Unread(unread) if unread.is_apart() => None,
        Outcome::Unread(unread) => Some(unreadable(unread)),
    }
}

fn judgement(judged: &Judgement, judges: &[Judge], explain: bool) -> Value {
    let (spot, ruling) = (&judged.spot, &judged.ruling);
    let parts = judged.parts.iter().filter(|p| p.is_listed);
    let policies: Vec<Value> = parts.map(|p| part(p, judges, explain)).collect();
    let mut value = json!({
        "file": &*spot.file,
        "index": spot.index,
        "kind": judged.kind,
        "namespace": judged.namespace,
        "name": judged.name,
        "allowed": ruling.is_allowed,
        "message": ruling.message,
        "policy": ruling.by,
        "warnings": ruling.warnings,
        "patch": ruling.patch,
        "object": judged.object,
        "policies": policies,
    });
    if explain {
        extend(&mut value, "annotations", json!(ruling.annotations));
        let took = u64::try_from(ruling.duration.as_micros()).unwrap_or(u64::MAX);
        extend(&mut value, "duration_us", took.into());
    }
    value
}

fn part(part: &JudgeResult, judges: &[Judge], explain: bool) -> Value {
    let mut value = json!({
        "name": part.name,
        "mode": part.mode.as_str(),
        "outcome": part.said.as_str(),
        "message": part.message,
        "line": part.place.as_ref().map(|place| place.line),
    });
    // What its author says of a policy, where anything is said.
    if let Some(judge) = judges.iter().find(|judge| judge.name == part.name) {
        let about = &judge.about;
        for (key, said) in [
            ("description", json!(about.description)),
            ("severity", json!(about.severity)),
            ("category", json!(about.category)),
            ("link", json!(about.link)),
        ] {
            if !said.is_null() {
                extend(&mut value, key, said);
            }
        }
    }
    if explain {
        let steps = part.steps.iter().map(|step| {
            json!({
                "phase": step.phase,
                "outcome": step.outcome,
                "detail": step.detail,
                "duration_us": u64::try_from(step.duration.as_micros()).unwrap_or(u64::MAX),
            })
        });
        extend(&mut value, "steps", steps.collect());
        extend(&mut value, "host_calls", json!(part.host_calls));
    }
    value
}

fn unreadable(unread: &Unread) -> Value {
    json!({
        "file": &*unread.spot.file,
        "index": unread.spot.index,
        "kind": "",
        "namespace": "",
        "name": "",
        "allowed": false,
        "message": unread.fault.to_string(),
        "policy": null,
        "warnings": [],
        "patch": [],
        "object": null,
        "policies": [],
    })
}

fn extend(value: &mut Value, key: &str, with: Value) {
    if let Some(map) = value.as_object_mut() {
        map.insert(key.to_owned(), with);
    }
}
