//! Findings in the formats of code hosts.

use portcullis_gate::linting::LintFinding;
use portcullis_lint::Rule;
use serde_json::{Value, json};

use crate::commands::text::annotations::{fingerprint, relative, uri, workflow_command};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A SARIF 2.1.0 report.
pub(super) fn sarif(findings: &[LintFinding]) -> Value {
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule,
            "shortDescription": {"text": rule.summary()},
        })
    });
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "portcullis lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &LintFinding) -> Value {
    let region = json!({
        "startLine": finding.position.line.max(1),
        "startColumn": finding.position.column.max(1),
    });
    json!({
        "ruleId": finding.rule,
        "level": "warning",
        "message": {"text": message(finding)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(finding.file.label())},
            "region": region,
        }}],
        "partialFingerprints": {"primaryLocationLineHash": format!("{}:1", print(finding))},
    })
}

/// The same finding stays the same when lines move.
fn print(finding: &LintFinding) -> String {
    let policy = finding.policy.as_deref().unwrap_or_default();
    let file = relative(finding.file.label());
    let print = fingerprint(&[finding.rule.as_str(), &file, policy, &finding.message]);
    format!("{print:016x}")
}

fn message(finding: &LintFinding) -> String {
    match finding.fix.as_str() {
        "" => finding.message.clone(),
        fix => format!("{}: {fix}", finding.message),
    }
}

/// Annotations of GitHub Actions, one a line.
pub(super) fn github(findings: &[LintFinding]) -> String {
    let each = findings.iter().map(|finding| {
        let place = (finding.position.line, Some(finding.position.column));
        let (file, title) = (finding.file.label(), finding.rule.as_str());
        workflow_command("warning", file, place, title, &message(finding))
    });
    each.collect()
}

/// A code quality report of GitLab, in which every fingerprint is unique.
pub(super) fn gitlab(findings: &[LintFinding]) -> Value {
    let mut seen = std::collections::HashMap::new();
    let each = findings.iter().map(|finding| {
        let print = print(finding);
        let count = seen
            .entry(print.clone())
            .and_modify(|n| *n += 1)
            .or_insert(1);
        json!({
            "description": message(finding),
            "check_name": finding.rule,
            "fingerprint": format!("{print}:{count}"),
            "severity": "minor",
            "location": {
                "path": relative(finding.file.label()),
                "lines": {"begin": finding.position.line.max(1)},
            },
        })
    });
    each.collect()
}
