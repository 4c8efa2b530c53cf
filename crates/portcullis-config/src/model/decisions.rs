//! The `store` and `decisions` keys: what is written, and what a decision log keeps.

use std::{path::PathBuf, sync::Arc};

use portcullis_record::Masker;
use portcullis_store::{Location, Retention};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use portcullis_document::{Duration, Size};

/// Where the server stores persistent data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct StoreSpec {
    /// `sqlite:FILE` or `postgres://user@host/database`; by default `portcullis.db` in the data directory.
    pub(crate) url: Option<String>,
    /// The file with that address, for one with a password in it; can't be combined with `url`.
    pub(crate) url_file: Option<PathBuf>,
}

/// What is recorded of decisions, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct DecisionsSpec {
    /// Whether decisions are kept in the store.
    pub(crate) store: bool,
    /// How long decisions are kept.
    pub(crate) retention: Duration,
    /// The maximum size in the store; the oldest are deleted first, denials last.
    pub(crate) max_size: Size,
    /// The largest review that is recorded whole, masked: the objects of a larger one are left out, and
    /// it can't be replayed. A denial may be four times as large.
    pub(crate) max_input: Size,
    /// What is masked besides Secrets, environment values and tokens: `JSONPath` from the object.
    pub(crate) mask: Vec<String>,
    /// Whether a request is denied if its decision can't be recorded: answers wait for that.
    pub(crate) required: bool,
    /// A file that gets one line of JSON for each decision; `-` is standard output.
    pub(crate) json_lines: Option<String>,
}

impl Default for DecisionsSpec {
    fn default() -> Self {
        Self {
            store: true,
            retention: Duration::from_secs(7 * 86_400),
            max_size: Size::from_bytes(1 << 30),
            max_input: Size::from_bytes(128 << 10),
            mask: Vec::new(),
            required: false,
            json_lines: None,
        }
    }
}

/// What is kept of decisions.
#[derive(Debug, Clone)]
pub struct Decisions {
    /// Whether decisions are kept in the store.
    pub is_stored: bool,
    /// The store; if none is given, the one in the data directory.
    pub location: Option<Location>,
    /// How long they are kept, and how many bytes they may take in the store.
    pub retention: Retention,
    /// What is masked in them.
    pub masker: Arc<Masker>,
    /// Whether a request is denied whose decision can't be recorded.
    pub required: bool,
    /// Where else they go.
    pub json_lines: Option<JsonLines>,
}

/// Where lines of JSON go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonLines {
    /// To standard output.
    StandardOutput,
    /// To the end of a file.
    File(PathBuf),
}
