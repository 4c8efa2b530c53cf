//! Data in the requested format.

use clap::ValueEnum;
use serde_json::Value;

use super::{json, yaml};

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::commands) enum Output {
    /// Human-readable.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// The value, or the table where that is asked for.
pub(in crate::commands) fn write(
    value: &Value,
    output: Output,
    table: impl FnOnce() -> String,
) -> String {
    match output {
        Output::Table => table(),
        Output::Json => json::pretty(value),
        Output::Yaml => yaml::write(value),
    }
}
