//! What all outcomes come to: the summary, the exit code, the closing line. The outcomes themselves are not kept.

use portcullis_gate::offline::{Judge, JudgeKind};

use super::outcome::{Outcome, UnreadPart};
use crate::commands::text::plain::{counted, printable};
use crate::exit::Exit;

/// How many objects ended how; each counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) allowed: usize,
    pub(super) denied: usize,
    pub(super) errors: usize,
    pub(super) skipped: usize,
}

/// What came out so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// What was to be read, as it is named on the command line.
    inputs: Vec<String>,
    /// Who judges, in order; authorizers only if there was access to judge.
    judges: Vec<Judge>,
    /// Documents, and files that can't be read.
    outcomes: usize,
    has_unread: bool,
    /// Requests for access without authorizers, and what is wrong with the first of them.
    not_evaluated: usize,
    first_not_evaluated: Option<String>,
    /// Files of folders that are something other than manifests.
    passed_over: usize,
    summary: Summary,
}

impl Totals {
    /// Nothing yet.
    pub(super) fn new(inputs: Vec<String>, judges: Vec<Judge>) -> Self {
        Self {
            inputs,
            judges,
            ..Self::default()
        }
    }

    /// Counts an outcome.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.outcomes += 1;
        let summary = &mut self.summary;
        let count = match outcome {
            Outcome::Unread(unread) => {
                self.has_unread = true;
                if unread.part == UnreadPart::Access {
                    self.not_evaluated += 1;
                    self.first_not_evaluated
                        .get_or_insert_with(|| unread.fault.to_string());
                }
                if unread.is_apart() {
                    return;
                }
                &mut summary.errors
            }
            Outcome::Judged(judged) => match &judged.ruling {
                ruling if ruling.is_undecided => &mut summary.errors,
                ruling if !ruling.is_allowed => &mut summary.denied,
                ruling if !ruling.is_judged => &mut summary.skipped,
                _ => &mut summary.allowed,
            },
        };
        *count += 1;
    }

    /// Adds those who judged besides.
    pub(super) fn add_judges(&mut self, judges: Vec<Judge>) {
        self.judges.extend(judges);
    }

    /// Counts files that were not read as manifests.
    pub(super) fn pass_over(&mut self, files: usize) {
        self.passed_over += files;
    }

    pub(super) fn judges(&self) -> &[Judge] {
        &self.judges
    }

    pub(super) fn outcomes(&self) -> usize {
        self.outcomes
    }

    pub(super) fn summary(&self) -> Summary {
        self.summary
    }

    /// The exit code's meaning, the same whatever is printed.
    pub(super) fn exit(&self) -> Exit {
        if self.has_unread {
            Exit::Invalid
        } else if self.summary.denied > 0 {
            Exit::No
        } else if self.summary.errors > 0 {
            Exit::Failed
        } else if self.summary.allowed > 0 {
            Exit::Yes
        } else {
            Exit::Nothing
        }
    }

    /// Why requests for access were not evaluated, if there were any.
    pub(super) fn not_evaluated(&self) -> Option<String> {
        let first = self.first_not_evaluated.as_ref()?;
        Some(match self.not_evaluated {
            1 => first.clone(),
            count => format!("{first}; the same holds for {} more", count - 1),
        })
    }

    /// The last line a person sees; none if what is wrong says it all.
    pub(super) fn closing_line(&self) -> Option<String> {
        let Summary {
            allowed,
            denied,
            errors,
            skipped,
        } = self.summary;
        let count = allowed + denied + errors + skipped;
        if count == 0 && self.has_unread {
            return None;
        }
        if self.outcomes == 0 {
            let inputs: Vec<String> = self.inputs.iter().map(|i| format!("`{i}`")).collect();
            let line = format!(
                "no manifests found in {}{}",
                inputs.join(", "),
                self.others()
            );
            return Some(printable(&line).into_owned());
        }
        let mut line = format!(
            "{}, {}: {allowed} allowed, {denied} denied, {}, {skipped} skipped{}",
            counted(count, "object", "objects"),
            self.counted_judges(),
            counted(errors, "error", "errors"),
            self.others(),
        );
        if self.exit() == Exit::Nothing {
            let who = match self.policies() {
                0 => "plug-in",
                _ => "policy or plug-in",
            };
            line.push_str(&format!(
                "\nnothing was judged: no {who} applied to any object"
            ));
        }
        Some(line)
    }

    /// `; 3 files skipped: not Kubernetes objects`.
    fn others(&self) -> String {
        match self.passed_over {
            0 => String::new(),
            count => format!(
                "; {} skipped: not Kubernetes objects",
                counted(count, "file", "files")
            ),
        }
    }

    fn policies(&self) -> usize {
        let is_policy = |judge: &&Judge| matches!(judge.kind, JudgeKind::Policy(_));
        self.judges.iter().filter(is_policy).count()
    }

    /// `2 plug-ins, 1 policy`.
    fn counted_judges(&self) -> String {
        let count = |wanted: fn(JudgeKind) -> bool| {
            let judges = self.judges.iter();
            judges.filter(|judge| wanted(judge.kind)).count()
        };
        let all = [
            (count(|k| k == JudgeKind::Plugin), "plug-in", "plug-ins"),
            (self.policies(), "policy", "policies"),
            (
                count(|k| k == JudgeKind::Authorizer),
                "authorizer",
                "authorizers",
            ),
        ];
        let named = all.iter().filter(|(count, ..)| *count > 0);
        let named: Vec<String> = named.map(|(n, one, many)| counted(*n, one, many)).collect();
        match named.is_empty() {
            true => counted(0, "plug-in", "plug-ins"),
            false => named.join(", "),
        }
    }
}
