//! The outcome for a document, and for every plug-in or policy that was asked about it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::patch::PatchOperation;
use portcullis_core::{HostCallStep, PolicyMode, PolicyOutcome, Step, Verdict};
use portcullis_document::Fault;
use portcullis_gate::offline::ConsoleLine;
use serde_json::Value;

/// What came out for one document.
#[derive(Debug)]
pub(super) enum Outcome {
    Judged(Box<Judgement>),
    Unread(Box<Unread>),
}

/// Where a document stands.
#[derive(Debug, Clone)]
pub(super) struct DocumentPosition {
    pub(super) file: Arc<str>,
    /// Its number among the documents of the file, from 0.
    pub(super) index: usize,
    pub(super) line: u64,
}

/// A document that could not be read.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) spot: DocumentPosition,
    pub(super) part: UnreadPart,
    pub(super) fault: Box<Fault>,
}

/// What of the input could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnreadPart {
    /// A document, which counts as an object.
    Document,
    /// A whole file, of which it is not known what would be in it. It counts as no object.
    File,
    /// A request for access, for which there are no authorizers. It counts as no object, and is said once for all.
    Access,
}

impl Unread {
    /// Whether it is said on standard error, and counts as no object.
    pub(super) fn is_apart(&self) -> bool {
        self.part != UnreadPart::Document
    }
}

/// Something that was judged: an object, or a request for access.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) spot: DocumentPosition,
    /// What it is called in tables and reports.
    pub(super) title: String,
    /// What is asked, and who asks: `CREATE by alice`.
    pub(super) action: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) ruling: Ruling,
    /// The object after patching; as it was after a refusal; none when it is deleted.
    pub(super) object: Option<Value>,
    /// The object before patching.
    pub(super) original: Option<Value>,
    /// One for each who judges.
    pub(super) parts: Vec<JudgeResult>,
    /// What policies wrote.
    pub(super) written: Vec<ConsoleLine>,
    /// What the plug-in that asks policies did.
    pub(super) asked: Option<Step>,
}

/// What was decided.
#[derive(Debug, Default)]
pub(super) struct Ruling {
    pub(super) is_allowed: bool,
    /// Refused only because no decision could be made.
    pub(super) is_undecided: bool,
    /// Anybody had something to say.
    pub(super) is_judged: bool,
    /// Why not.
    pub(super) message: String,
    /// Who refused first.
    pub(super) by: Option<String>,
    pub(super) warnings: Vec<String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) patch: Vec<PatchOperation>,
    pub(super) duration: Duration,
}

impl Ruling {
    pub(super) fn of(verdict: Verdict) -> Self {
        let by = verdict.policy.as_deref().or(verdict.plugin.as_deref());
        Self {
            is_allowed: verdict.is_allowed(),
            is_undecided: verdict.is_undecided(),
            is_judged: verdict.anything_applied(),
            message: verdict
                .denial()
                .map_or("", |d| d.message.as_str())
                .to_owned(),
            by: by.map(str::to_owned),
            warnings: verdict.warnings,
            annotations: verdict.annotations,
            patch: verdict.patch,
            duration: verdict.duration,
        }
    }
}

/// What one plug-in or policy said.
#[derive(Debug)]
pub(super) struct JudgeResult {
    pub(super) name: String,
    /// Whether it is listed for programs.
    pub(super) is_listed: bool,
    pub(super) mode: PolicyMode,
    pub(super) said: PolicyOutcome,
    /// Why, where there is more to say.
    pub(super) message: String,
    /// Where in the author's text it spoke.
    pub(super) place: Option<SourcePosition>,
    /// How long it took.
    pub(super) duration: Duration,
    /// Each half that was asked.
    pub(super) steps: Vec<Step>,
    /// What it asked of the world outside.
    pub(super) host_calls: Vec<HostCallStep>,
}

impl JudgeResult {
    /// One that has said nothing yet.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_listed: true,
            mode: PolicyMode::Enforce,
            said: PolicyOutcome::Pass,
            message: String::new(),
            place: None,
            duration: Duration::ZERO,
            steps: Vec::new(),
            host_calls: Vec::new(),
        }
    }

    /// Whether its denial counts.
    pub(super) fn counts(&self) -> bool {
        self.mode == PolicyMode::Enforce
    }
}

/// A place in a policy.
#[derive(Debug)]
pub(super) struct SourcePosition {
    /// The name of the policy, or the file.
    pub(super) label: String,
    /// The file, if the text is one.
    pub(super) file: Option<String>,
    pub(super) line: u32,
    pub(super) column: Option<u32>,
    /// The line with a caret.
    pub(super) frame: Option<String>,
}

impl SourcePosition {
    /// `no-latest:1:5`.
    pub(super) fn written(&self) -> String {
        let column = self.column.map_or(String::new(), |c| format!(":{c}"));
        format!("{}:{}{column}", self.label, self.line)
    }
}
