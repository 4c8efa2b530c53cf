//! What one policy inside a plug-in did with a request, and what it asked of the world outside.

use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

use crate::verdict::as_microseconds;

/// What a policy's refusal means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyMode {
    /// A refusal is a refusal.
    #[default]
    Enforce,
    /// A refusal is a warning.
    Warn,
    /// A refusal is a record only.
    DryRun,
}

impl PolicyMode {
    /// Its name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Warn => "warn",
            Self::DryRun => "dry-run",
        }
    }
}

/// What a policy said itself, whatever its mode makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyOutcome {
    /// Yes.
    Allow,
    /// No.
    Deny,
    /// No opinion.
    Pass,
    /// It was not asked.
    Skip,
    /// No opinion, but a remark.
    Warn,
    /// It could not decide.
    Error,
}

impl PolicyOutcome {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// What one policy did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyStep {
    /// Its name.
    pub name: String,
    /// Its mode.
    pub mode: PolicyMode,
    /// What it said itself.
    pub outcome: PolicyOutcome,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The text that the line is in, where it is not the policy's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where in that text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The limit it hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'static str>,
    /// When it was asked, where it ran.
    #[serde(skip)]
    pub started: Option<Instant>,
    /// How long it took, where it ran.
    #[serde(
        rename = "duration_us",
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_some_microseconds"
    )]
    pub duration: Option<Duration>,
}

fn as_some_microseconds<S: serde::Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    as_microseconds(&duration.unwrap_or_default(), serializer)
}

/// What a policy asked of the world outside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostCallStep {
    /// Name of the policy.
    pub policy: String,
    /// The function.
    pub function: &'static str,
    /// With what it was called.
    pub arguments: Vec<Value>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was asked.
    #[serde(skip)]
    pub started: Option<Instant>,
    /// How long it took.
    #[serde(rename = "duration_us", serialize_with = "as_microseconds")]
    pub duration: Duration,
}
