//! A SARIF 2.1.0 report: denials, errors and warnings as findings in the manifests.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use portcullis_config::Severity;
use portcullis_core::percent::encoded_path;
use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_gate::offline::{Judge, JudgeKind};
use serde_json::{Value, json};

use super::access::NO_OPINION;
use super::outcome::{Evaluation, JudgeResult, Judgement, Outcome, Unread};
use crate::commands::text::json::pretty;

/// The rule of manifests that could not be read.
const UNREAD: &str = "unreadable-manifest";
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The report as JSON.
pub(super) fn write(evaluation: &Evaluation) -> String {
    let mut results = Vec::new();
    for outcome in &evaluation.outcomes {
        match outcome {
            Outcome::Judged(judged) => {
                results.extend(judged.parts.iter().filter_map(|part| finding(judged, part)));
            }
            Outcome::Unread(one) => results.push(unreadable(one)),
        }
    }
    let mut judges: Vec<Judge> = evaluation.judges.clone();
    if judges.iter().any(|j| j.kind == JudgeKind::Authorizer) {
        judges.push(Judge::new(NO_OPINION, JudgeKind::Authorizer));
    }
    let named = judges
        .iter()
        .map(|judge| (judge.name.as_str(), Some(judge)));
    let rules: BTreeMap<&str, Option<&Judge>> = named.chain([(UNREAD, None)]).collect();
    let rules: Vec<Value> = rules.iter().map(|(id, judge)| rule(id, *judge)).collect();
    let driver = json!({
        "name": "portcullis",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let run = json!({
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    let report = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    pretty(&report)
}

fn rule(id: &str, judge: Option<&Judge>) -> Value {
    let text = match judge.map(|judge| judge.kind) {
        None => "The manifest could not be read.".to_owned(),
        Some(JudgeKind::Plugin) => {
            format!("The admission plug-in {id} denies the object or warns about it.")
        }
        Some(JudgeKind::Policy(_)) => {
            format!("The policy {id} denies the object or warns about it.")
        }
        Some(JudgeKind::DefaultAction) => "No policy allows the object.".to_owned(),
        Some(JudgeKind::Authorizer) if id == NO_OPINION => {
            "No authorizer allows the access.".to_owned()
        }
        Some(JudgeKind::Authorizer) => format!("The authorizer {id} denies the access."),
    };
    let mut rule = json!({"id": id, "shortDescription": {"text": text}});
    if let (Some(judge), Some(map)) = (judge, rule.as_object_mut()) {
        let about = &judge.about;
        if let Some(text) = &about.description {
            map.insert("shortDescription".to_owned(), json!({"text": text}));
        }
        if let Some(link) = &about.link {
            map.insert("helpUri".to_owned(), link.as_str().into());
        }
        let mut properties = serde_json::Map::new();
        if let Some(category) = &about.category {
            properties.insert("tags".to_owned(), json!([category]));
        }
        if let Some(severity) = about.severity {
            properties.insert("severity".to_owned(), json!(severity));
            properties.insert("security-severity".to_owned(), score(severity).into());
        }
        if !properties.is_empty() {
            map.insert("properties".to_owned(), properties.into());
        }
    }
    rule
}

/// A severity as code hosts sort by it: the middle of its range in CVSS.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "2.0",
        Severity::Medium => "5.5",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}

fn finding(judged: &Judgement, part: &JudgeResult) -> Option<Value> {
    let level = match part.said {
        PolicyOutcome::Deny | PolicyOutcome::Error => match part.mode {
            PolicyMode::Enforce => "error",
            PolicyMode::Warn => "warning",
            PolicyMode::DryRun => "note",
        },
        PolicyOutcome::Warn => "warning",
        PolicyOutcome::Allow | PolicyOutcome::Pass | PolicyOutcome::Skip => return None,
    };
    let subject = &judged.title;
    let place = SarifLocation {
        file: &judged.spot.file,
        line: judged.spot.line,
        column: None,
    };
    let text = format!("{subject}: {}", part.message);
    let mut found = result(&part.name, level, &text, subject, &place);
    if let (Some(related), Some(map)) = (related(part), found.as_object_mut()) {
        map.insert("relatedLocations".to_owned(), related);
    }
    Some(found)
}

/// Where in its own file a policy spoke.
fn related(part: &JudgeResult) -> Option<Value> {
    let place = part.place.as_ref()?;
    let file = place.file.as_ref()?;
    let mut region = json!({"startLine": place.line.max(1)});
    if let (Some(column), Some(map)) = (place.column, region.as_object_mut()) {
        map.insert("startColumn".to_owned(), column.max(1).into());
    }
    let location = json!({"artifactLocation": {"uri": uri(file)}, "region": region});
    let text = format!("the policy {}", part.name);
    Some(json!([{"id": 1, "physicalLocation": location, "message": {"text": text}}]))
}

fn unreadable(unread: &Unread) -> Value {
    let at = unread.fault.position;
    let place = SarifLocation {
        file: &unread.spot.file,
        line: at.map_or(unread.spot.line, |at| at.line),
        column: at.map(|at| at.column),
    };
    let subject = format!("document {}", unread.spot.index);
    result(UNREAD, "error", &unread.fault.to_string(), &subject, &place)
}

/// Where something was found.
struct SarifLocation<'a> {
    file: &'a str,
    line: u64,
    column: Option<u64>,
}

fn result(rule: &str, level: &str, text: &str, subject: &str, place: &SarifLocation<'_>) -> Value {
    let uri = uri(place.file);
    // The same finding stays the same when lines move or the message changes.
    let print = fingerprint(&[rule, &uri, subject]);
    let mut region = json!({"startLine": place.line.max(1)});
    if let (Some(column), Some(map)) = (place.column, region.as_object_mut()) {
        map.insert("startColumn".to_owned(), column.max(1).into());
    }
    let location = json!({"artifactLocation": {"uri": uri}, "region": region});
    json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"primaryLocationLineHash": format!("{print:016x}:1")},
    })
}

/// A file as a relative reference: below the working directory, if it is there.
fn uri(file: &str) -> String {
    if file == "-" {
        return "stdin".to_owned();
    }
    let path = Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    let inner = path.strip_prefix(&here).unwrap_or(path);
    let parts = inner.components().filter(|c| *c != Component::CurDir);
    let text = parts.collect::<std::path::PathBuf>().display().to_string();
    let mut uri = encoded_path(text.as_bytes());
    if uri.starts_with('/') {
        uri.insert_str(0, "file://");
    }
    uri
}

/// FNV-1a of the parts, which is the same in every version of this program.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_relative_references() {
        let here = std::env::current_dir().unwrap();
        let inner = here.join("a/b.yaml");
        assert_eq!(uri(inner.to_str().unwrap()), "a/b.yaml");
        assert_eq!(uri("./a/./b c.yaml"), "a/b%20c.yaml");
        assert_eq!(uri("-"), "stdin");
        assert_eq!(uri("/nowhere/é.yaml"), "file:///nowhere/%C3%A9.yaml");
    }

    #[test]
    fn fingerprints_are_fixed_and_tell_parts_apart() {
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(&["a"]), fingerprint(&["a"]));
        assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["ab"]));
    }
}
