//! A SARIF 2.1.0 report: denials, errors and warnings as findings in the manifests.
//!
//! Findings are written as they come; nothing is kept. The rules come after them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use portcullis_config::{About, Severity};
use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_gate::offline::{Judge, JudgeKind};
use serde_json::{Value, json};

use super::access::NO_OPINION;
use super::outcome::{JudgeResult, Judgement, Outcome, Unread};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::annotations::{fingerprint, uri};
use crate::commands::text::json_list::JsonList;

/// The rule of manifests that could not be read.
const UNREAD: &str = "unreadable-manifest";
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The report, as far as it is written.
#[derive(Debug, Default)]
pub(super) struct Sarif {
    list: JsonList,
}

impl Writer for Sarif {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        // What is around the results is known at the end; only what comes after them depends on it.
        let mut push = |found: &Value| self.list.item(found, |list| report(list, &[]), out);
        match outcome {
            Outcome::Judged(judged) => {
                let found = judged.parts.iter().filter_map(|part| finding(judged, part));
                found.for_each(|found| push(&found));
            }
            Outcome::Unread(one) => push(&unreadable(one)),
        }
    }

    fn end(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let mut judges: Vec<Judge> = totals.judges().to_vec();
        if judges.iter().any(|j| j.kind == JudgeKind::Authorizer) {
            judges.push(Judge::new(NO_OPINION, JudgeKind::Authorizer));
        }
        let rest = std::mem::take(&mut self.list).end(|list| report(list, &judges));
        out.write_all(rest.as_bytes())
    }
}

/// All of it, by these rules. The members are in the order of their names: the results come before the tool.
fn report(results: &Value, judges: &[Judge]) -> Value {
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
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
}

/// The id of a rule: a name, or a word for what has none.
fn rule_id(name: &str) -> &str {
    match name {
        NO_OPINION => "no-opinion",
        name => name,
    }
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
    let mut rule = json!({"id": rule_id(id), "shortDescription": {"text": text}});
    if let (Some(judge), Some(map)) = (judge, rule.as_object_mut()) {
        let about = &judge.about;
        if let Some(text) = &about.description {
            map.insert("shortDescription".to_owned(), json!({"text": text}));
        }
        if let Some(link) = &about.link {
            map.insert("helpUri".to_owned(), link.as_str().into());
        }
        if let Some(help) = help(about) {
            map.insert("help".to_owned(), help);
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

/// What code hosts show beside a finding; none if the author says nothing.
fn help(about: &About) -> Option<Value> {
    let severity = about
        .severity
        .map(|one| format!("Severity: {}.", one.as_str()));
    let category = about
        .category
        .as_ref()
        .map(|text| format!("Category: {text}."));
    let facts = [severity, category]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let facts = (!facts.is_empty()).then_some(facts);
    let link = about.link.as_ref();
    let paragraphs = |link: Option<String>| {
        let all = [about.description.clone(), facts.clone(), link];
        all.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    };
    let text = paragraphs(link.map(|link| format!("See {link}")));
    // In angle brackets a link is one, whatever characters it has.
    let markdown = paragraphs(link.map(|link| format!("See <{link}>")));
    (!text.is_empty()).then(|| json!({"text": text, "markdown": markdown}))
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
        "ruleId": rule_id(rule),
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"primaryLocationLineHash": format!("{print:016x}:1")},
    })
}
