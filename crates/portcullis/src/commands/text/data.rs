//! Data in the format that is asked for.

use serde_json::Value;

use super::{json, yaml};
use crate::cli::Output;

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
