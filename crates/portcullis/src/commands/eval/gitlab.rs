//! GitLab's Code Quality report: denials, errors and warnings as findings in the manifests, which merge requests show.
//!
//! Of each finding its fingerprint is kept, eight bytes: GitLab shows only one of those that have the same.

use std::collections::HashSet;
use std::io::{self, Write};

use portcullis_config::Severity;
use portcullis_core::{PolicyMode, PolicyOutcome};
use portcullis_gate::offline::Judge;
use serde_json::{Value, json};

use super::outcome::{JudgeResult, Outcome};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::annotations::{fingerprint, relative};
use crate::commands::text::json_list::JsonList;

/// The check of manifests that could not be read.
const UNREAD: &str = "unreadable-manifest";

/// The report, as far as it is written.
pub(super) struct Gitlab {
    judges: Vec<Judge>,
    list: JsonList,
    seen: HashSet<u64>,
}

impl Gitlab {
    /// Nothing yet. What their authors say of the judges says how severe a finding is.
    pub(super) fn new(judges: Vec<Judge>) -> Self {
        Self {
            judges,
            list: JsonList::default(),
            seen: HashSet::new(),
        }
    }

    fn push(&mut self, finding: &Finding<'_>, out: &mut String) {
        let path = relative(finding.file);
        let print = self.unique(&[finding.check, &path, finding.subject]);
        let value = json!({
            "description": finding.text,
            "check_name": finding.check,
            "fingerprint": format!("{print:016x}"),
            "severity": finding.severity,
            "location": {"path": path, "lines": {"begin": finding.line.max(1)}},
        });
        self.list.item(&value, Value::clone, out);
    }

    /// What stays the same when lines move or the message changes. Objects of one name in one file differ by which of
    /// them they are.
    fn unique(&mut self, parts: &[&str]) -> u64 {
        let mut print = fingerprint(parts);
        let mut number = 1;
        while !self.seen.insert(print) {
            number += 1;
            print = fingerprint(&[parts, &[&number.to_string()]].concat());
        }
        print
    }

    fn severity(&self, part: &JudgeResult) -> Option<&'static str> {
        let by_mode = match (part.said, part.mode) {
            (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::Enforce) => "major",
            (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::DryRun) => "info",
            (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::Warn)
            | (PolicyOutcome::Warn, _) => "minor",
            (PolicyOutcome::Allow | PolicyOutcome::Pass | PolicyOutcome::Skip, _) => return None,
        };
        let judge = self.judges.iter().find(|judge| judge.name == part.name);
        Some(match judge.and_then(|judge| judge.about.severity) {
            Some(Severity::Low) => "minor",
            Some(Severity::Medium) => "major",
            Some(Severity::High) => "critical",
            Some(Severity::Critical) => "blocker",
            None => by_mode,
        })
    }
}

/// Something that was found.
struct Finding<'a> {
    check: &'a str,
    severity: &'static str,
    subject: &'a str,
    text: &'a str,
    file: &'a str,
    line: u64,
}

impl Writer for Gitlab {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        match outcome {
            Outcome::Judged(judged) => {
                for part in &judged.parts {
                    if let Some(severity) = self.severity(part) {
                        let finding = Finding {
                            check: &part.name,
                            severity,
                            subject: &judged.title,
                            text: &format!("{}: {}", judged.title, part.message),
                            file: &judged.spot.file,
                            line: judged.spot.line,
                        };
                        self.push(&finding, out);
                    }
                }
            }
            Outcome::Unread(unread) => {
                let at = unread.fault.position;
                let finding = Finding {
                    check: UNREAD,
                    severity: "critical",
                    subject: &format!("document {}", unread.spot.index),
                    text: &unread.fault.to_string(),
                    file: &unread.spot.file,
                    line: at.map_or(unread.spot.line, |at| at.line),
                };
                self.push(&finding, out);
            }
        }
    }

    fn end(&mut self, _: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let rest = std::mem::take(&mut self.list).end(Value::clone);
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_unique() {
        let mut report = Gitlab::new(Vec::new());
        let mut of = |parts: &[&str]| report.unique(parts);
        let first = of(&["a", "b"]);
        let others = [of(&["a", "b"]), of(&["a", "b"]), of(&["a", "b", "2"])];
        assert_eq!(first, fingerprint(&["a", "b"]));
        let all: HashSet<u64> = others.into_iter().chain([first]).collect();
        assert_eq!(all.len(), 4);
    }
}
