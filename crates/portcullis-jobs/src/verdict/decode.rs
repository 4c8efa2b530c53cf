//! Reads a verdict from the body of an answer or callback, in any spelling of the original proposal.
//!
//! Canonical are `denied`, `tags: {add, remove}` and `runners: {accepted_ids, rejected_ids}`. Unknown keys are
//! ignored, so that controllers may be newer than the server.

use portcullis_core::json;
use serde_json::{Map, Value};

use super::check::{VerdictRules, check_mutation};
use super::fault::{VerdictFault, kind, wrong_type};
use super::model::{AdmissionWord, Verdict, clean_reason};
use crate::runners::{RunnerId, RunnerLists, read_id};
use crate::tags::{TagChange, without_repetitions};

/// The most bytes of an answer.
pub const MOST_BODY_BYTES: usize = 64 << 10;
/// The most runners in one list.
const MOST_RUNNERS: usize = 4096;

/// Where additions may stand: the map (empty for the verdict itself) and the key.
const ADDITIONS: &[[&str; 2]] = &[
    ["tags", "add"],
    ["tags", "additions"],
    ["mutations", "add"],
    ["mutations", "additions"],
    ["", "additions"],
];
const REMOVALS: &[[&str; 2]] = &[
    ["tags", "remove"],
    ["tags", "removals"],
    ["mutations", "remove"],
    ["mutations", "removals"],
    ["", "removals"],
];
const ACCEPTED: &[[&str; 2]] = &[
    ["runners", "accepted_ids"],
    ["runners", "accepted"],
    ["", "accepted_runners"],
    ["", "accepted_ids"],
];
const REJECTED: &[[&str; 2]] = &[
    ["runners", "rejected_ids"],
    ["runners", "rejected"],
    ["", "rejected_runners"],
    ["", "rejected_ids"],
];

/// Reads and checks a verdict.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub fn decode_verdict(body: &[u8], rules: &VerdictRules<'_>) -> Result<Verdict, VerdictFault> {
    if body.len() > MOST_BODY_BYTES {
        return Err(VerdictFault::TooLarge {
            bytes: body.len(),
            most: MOST_BODY_BYTES,
        });
    }
    // A key that is given twice could be read as either value.
    json::scan(body).map_err(|fault| VerdictFault::NotJson(fault.to_string()))?;
    let json: Value =
        serde_json::from_slice(body).map_err(|error| VerdictFault::NotJson(error.to_string()))?;
    let entry = match json {
        Value::Array(items) => {
            let count = items.len();
            let mut items = items.into_iter();
            match (items.next(), count) {
                (Some(only), 1) => only,
                _ => return Err(VerdictFault::NotOne(count)),
            }
        }
        other => other,
    };
    let Value::Object(entry) = entry else {
        return Err(VerdictFault::NotAnObject(kind(&entry)));
    };
    let verdict = read(&entry, rules.job)?;
    check_mutation(&verdict, rules)?;
    Ok(verdict)
}

fn read(entry: &Map<String, Value>, job: u64) -> Result<Verdict, VerdictFault> {
    let id = present(entry, "id").ok_or(VerdictFault::Missing("id"))?;
    if read_id(id) != Some(job) {
        return Err(VerdictFault::WrongId {
            found: shown(id),
            expected: job,
        });
    }
    let admission = present(entry, "admission").ok_or(VerdictFault::Missing("admission"))?;
    let admission = match admission.as_str() {
        Some("accepted") => AdmissionWord::Accepted,
        Some("denied" | "rejected") => AdmissionWord::Denied,
        _ => return Err(VerdictFault::UnknownAdmission(shown(admission))),
    };
    let reason = match present(entry, "reason") {
        None => None,
        Some(Value::String(reason)) => clean_reason(reason),
        Some(other) => return Err(wrong_type("reason", "a string", other)),
    };
    let mut verdict = Verdict {
        admission,
        reason,
        ..Verdict::accepted(job)
    };
    // The changes of a denial are ignored, also invalid ones.
    if verdict.is_accepted() {
        verdict.tags = TagChange {
            add: tags(entry, ADDITIONS)?,
            remove: tags(entry, REMOVALS)?,
        };
        verdict.runners = runners(entry)?;
    }
    Ok(verdict)
}

fn tags(entry: &Map<String, Value>, places: &[[&str; 2]]) -> Result<Vec<String>, VerdictFault> {
    let mut found = Vec::new();
    for (path, items) in lists(entry, places)? {
        for (index, item) in items.iter().enumerate() {
            let Value::String(tag) = item else {
                return Err(wrong_type(&format!("{path}[{index}]"), "a string", item));
            };
            found.push(tag.clone());
        }
    }
    Ok(without_repetitions(found))
}

fn runners(entry: &Map<String, Value>) -> Result<Option<RunnerLists>, VerdictFault> {
    let (accepted, rejected) = (lists(entry, ACCEPTED)?, lists(entry, REJECTED)?);
    if accepted.is_empty() && rejected.is_empty() {
        return Ok(None);
    }
    Ok(Some(RunnerLists {
        accepted_ids: ids(accepted)?,
        rejected_ids: ids(rejected)?,
    }))
}

fn ids(lists: Vec<(String, &Vec<Value>)>) -> Result<Vec<RunnerId>, VerdictFault> {
    let mut found = Vec::new();
    for (path, items) in lists {
        if items.len() > MOST_RUNNERS {
            return Err(VerdictFault::TooManyRunners {
                path,
                count: items.len(),
                most: MOST_RUNNERS,
            });
        }
        for (index, item) in items.iter().enumerate() {
            let id = read_id(item).ok_or_else(|| VerdictFault::BadRunnerId {
                path: format!("{path}[{index}]"),
                found: shown(item),
            })?;
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The lists at these places, with their paths.
fn lists<'v>(
    entry: &'v Map<String, Value>,
    places: &[[&str; 2]],
) -> Result<Vec<(String, &'v Vec<Value>)>, VerdictFault> {
    let mut found = Vec::new();
    for [outer, key] in places {
        let (map, path) = match (*outer, present(entry, outer)) {
            ("", _) => (entry, (*key).to_owned()),
            (_, None) => continue,
            (_, Some(Value::Object(map))) => (map, format!("{outer}.{key}")),
            (_, Some(other)) => return Err(wrong_type(outer, "an object", other)),
        };
        match present(map, key) {
            None => {}
            Some(Value::Array(items)) => found.push((path, items)),
            Some(other) => return Err(wrong_type(&path, "a list", other)),
        }
    }
    Ok(found)
}

/// The value of a key; null is absent.
fn present<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    map.get(key).filter(|value| !value.is_null())
}

/// A value for a message: short, and on one line.
fn shown(value: &Value) -> String {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
        scalar => {
            let text = scalar.to_string();
            let short = portcullis_core::text::shortened(&text, 64);
            format!("`{}`", portcullis_core::printable(&short))
        }
    }
}

#[cfg(test)]
mod tests;
