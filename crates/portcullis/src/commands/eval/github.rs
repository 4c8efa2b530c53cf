//! Workflow commands of GitHub Actions: each denial, error and warning is an annotation of a file.

use portcullis_core::{PolicyMode, PolicyOutcome};

use super::outcome::{Evaluation, JudgeResult, Outcome};

/// One command a line.
pub(super) fn write(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    for outcome in &evaluation.outcomes {
        match outcome {
            Outcome::Judged(judged) => {
                let (file, line) = (&judged.spot.file, judged.spot.line);
                for part in &judged.parts {
                    if let Some(level) = level(part) {
                        let message = format!("{}: {}", judged.title, part.message);
                        text.push_str(&command(level, file, line, &part.name, &message));
                    }
                }
            }
            Outcome::Unread(unread) => {
                let line = unread.fault.position.map_or(unread.spot.line, |at| at.line);
                let message = unread.fault.to_string();
                text.push_str(&command(
                    "error",
                    &unread.spot.file,
                    line,
                    "manifests",
                    &message,
                ));
            }
        }
    }
    text
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

fn command(level: &str, file: &str, line: u64, title: &str, message: &str) -> String {
    let (file, title, message) = (property(file), property(title), data(message));
    format!("::{level} file={file},line={line},title={title}::{message}\n")
}

/// The text of a command, which ends with its line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command, which also ends with a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_begins_another_command() {
        assert_eq!(
            command("error", "a,b:c.yaml", 3, "x", "50%\n::warning::forged"),
            "::error file=a%2Cb%3Ac.yaml,line=3,title=x::50%25%0A::warning::forged\n"
        );
    }
}
