//! What comes of a question.

use portcullis_core::PolicyLimit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The field that has the policy.
const POLICY: &str = "policy";

/// What a policy makes of a request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlaygroundVerdict")]
pub struct Verdict {
    /// Whether the request would be allowed.
    pub allowed: bool,
    /// What the policy itself said, whatever its mode makes of it: `allow`, `deny`, `pass`, `skip`, `warn` or `error`;
    /// `invalid` where it was not asked because of the faults.
    pub outcome: String,
    /// Why, in its words; empty where there is nothing to say.
    pub message: String,
    /// The line of the policy that the message is about.
    pub line: Option<u32>,
    /// The limit that was hit: `deadline`, `memory` or `stack`.
    pub limit: Option<String>,
    /// Remarks for the person who asked.
    pub warnings: Vec<String>,
    /// What it changes, as a JSON patch.
    pub patch: Vec<Value>,
    /// The object after that; as it was sent after a denial.
    pub object: Value,
    /// What it wrote to its console.
    pub console: Vec<Line>,
    /// Which of its lines ran.
    pub coverage: Covered,
    /// How long the evaluation took.
    pub duration_us: u64,
    /// What is wrong with the policy or the request.
    pub faults: Vec<Fault>,
}

/// A line on the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlaygroundLine")]
pub struct Line {
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    /// The line of the policy that wrote it, where that is known.
    pub line: Option<u32>,
    /// The text.
    pub text: String,
}

/// Lines of a policy with statements.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlaygroundCoverage")]
pub struct Covered {
    /// All statements ran.
    pub covered: Vec<u32>,
    /// A statement did not run.
    pub missed: Vec<u32>,
}

/// What a candidate would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Replayed {
    /// The report, as `portcullis replay` prints it.
    Report(Value),
    /// The candidate can't be compiled.
    Invalid(Vec<Fault>),
    /// It did not come to an end; why.
    Unended(String),
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlaygroundFault")]
pub struct Fault {
    /// The field of the question, or `globals` for what the configuration runs before policies.
    pub field: String,
    /// Where there are several policies, the policy or file it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Where, from 1.
    pub line: Option<u64>,
    /// Where in that line, from 1.
    pub column: Option<u64>,
}

impl Verdict {
    /// The policy was not asked.
    pub(super) fn invalid(faults: Vec<Fault>) -> Self {
        Self {
            outcome: "invalid".to_owned(),
            faults,
            ..Self::default()
        }
    }

    /// The policy did not come to an end.
    pub fn undecided(message: String, limit: Option<PolicyLimit>) -> Self {
        Self {
            outcome: "error".to_owned(),
            message,
            limit: limit.map(|limit| limit.as_str().to_owned()),
            ..Self::default()
        }
    }
}

impl Fault {
    /// What is wrong with a field, at a place of it.
    pub(super) fn of(field: &str, fault: &portcullis_document::Fault) -> Self {
        let mut message = fault.message.clone();
        if let Some(suggestion) = &fault.suggestion {
            message.push_str(&format!(", did you mean `{suggestion}`?"));
        }
        if let Some(help) = &fault.help {
            message.push_str(&format!(" ({help})"));
        }
        Self {
            field: field.to_owned(),
            source: None,
            message,
            line: fault.position.map(|at| at.line),
            column: fault.position.map(|at| at.column),
        }
    }

    /// What is wrong with the policy, or with what is run before it.
    pub fn of_policy(faults: &[portcullis_document::Fault]) -> Vec<Self> {
        let field = |fault: &portcullis_document::Fault| match fault.file.as_str() {
            "globals" => "globals",
            _ => POLICY,
        };
        let faults = faults.iter();
        faults.map(|fault| Self::of(field(fault), fault)).collect()
    }

    /// The same for one of several policies.
    pub fn of_policies(faults: &[portcullis_document::Fault]) -> Vec<Self> {
        let told = Self::of_policy(faults).into_iter().zip(faults);
        told.map(|(told, fault)| {
            let name = fault.file.strip_prefix("policy `");
            let name = name.and_then(|name| name.strip_suffix('`'));
            let source = name.unwrap_or(&fault.file).to_owned();
            let is_policy = told.field == POLICY && !source.is_empty();
            Self {
                source: is_policy.then_some(source),
                ..told
            }
        })
        .collect()
    }

    /// What is wrong with a field as a whole.
    pub(super) fn whole(field: &str, message: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            source: None,
            message: message.into(),
            line: None,
            column: None,
        }
    }
}
