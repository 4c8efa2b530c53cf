//! The `admission` key: what is written, and the plug-ins that run.

use std::path::PathBuf;

use portcullis_core::FailureMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use portcullis_document::{Duration, Node, Origin};

/// The chain of admission plug-ins.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Admission")]
pub(crate) struct AdmissionSpec {
    /// The plug-ins in the order they run. Without it: the configured ones as
    /// listed, first `plugins`, then those of `configFile`. The flag
    /// `--admission-control` and the environment variable
    /// `PORTCULLIS_ADMISSION_CONTROL` win.
    pub(crate) order: Option<Vec<String>>,
    /// A file in the Kubernetes `AdmissionConfiguration` format. The flag
    /// `--admission-control-config-file` wins.
    pub(crate) config_file: Option<PathBuf>,
    /// Configured plug-ins, each once.
    pub(crate) plugins: Vec<PluginSpec>,
    /// What the validating path does when the chain would still change the object.
    pub(crate) pending_mutation: PendingMutation,
}

/// A plug-in and its configuration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Plugin")]
pub(crate) struct PluginSpec {
    /// The name of the plug-in, as `portcullis plugins` lists it.
    pub(crate) name: String,
    /// What happens when the plug-in fails.
    #[serde(default)]
    pub(crate) failure: FailureMode,
    /// How long the plug-in may take; longer counts as a failure.
    pub(crate) timeout: Option<Duration>,
    /// The plug-in's own configuration, as `portcullis plugins` describes it.
    pub(crate) configuration: Option<Node>,
}

/// What the validating path does when the chain would still change the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PendingMutation {
    /// The change is ignored.
    #[default]
    Ignore,
    /// The request is denied.
    Refuse,
}

/// A plug-in of the chain.
#[derive(Debug, Clone)]
pub struct PluginEntry {
    /// The name under which it is registered.
    pub name: String,
    /// What follows when it fails.
    pub failure: FailureMode,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Its own configuration.
    pub configuration: Option<serde_json::Value>,
    /// Where its configuration stands, or else where it is named.
    pub origin: Origin,
}
