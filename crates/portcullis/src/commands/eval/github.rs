//! Workflow commands of GitHub Actions: each denial, error and warning is an annotation of a file.

use std::io::{self, Write};

use portcullis_core::{PolicyMode, PolicyOutcome};

use super::outcome::{JudgeResult, Outcome};
use super::totals::Totals;
use super::writer::Writer;
use crate::commands::text::annotations::workflow_command;

/// One command a line. Nothing is kept.
#[derive(Debug)]
pub(super) struct Github;

impl Writer for Github {
    fn add(&mut self, outcome: &Outcome, out: &mut String) {
        match outcome {
            Outcome::Judged(judged) => {
                let (file, line) = (&judged.spot.file, judged.spot.line);
                for part in &judged.parts {
                    if let Some(level) = level(part) {
                        let message = format!("{}: {}", judged.title, part.message);
                        out.push_str(&workflow_command(
                            level,
                            file,
                            (line, None),
                            &part.name,
                            &message,
                        ));
                    }
                }
            }
            Outcome::Unread(unread) => {
                let line = unread.fault.position.map_or(unread.spot.line, |at| at.line);
                let (file, message) = (&unread.spot.file, unread.fault.to_string());
                let title = "manifests";
                out.push_str(&workflow_command(
                    "error",
                    file,
                    (line, None),
                    title,
                    &message,
                ));
            }
        }
    }

    fn end(&mut self, _: &Totals, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn level(part: &JudgeResult) -> Option<&'static str> {
    match (part.said, part.mode) {
        (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::Enforce) => Some("error"),
        (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::DryRun) => Some("notice"),
        (PolicyOutcome::Deny | PolicyOutcome::Error, PolicyMode::Warn)
        | (PolicyOutcome::Warn, _) => Some("warning"),
        (PolicyOutcome::Allow | PolicyOutcome::Pass | PolicyOutcome::Skip, _) => None,
    }
}
