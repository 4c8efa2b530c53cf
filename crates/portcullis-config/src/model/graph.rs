//! The `graph` key: what is written, and the profiles in force.

use std::{path::PathBuf, sync::Arc};

use portcullis_graph::{Compat, Profile, Selectors};
use portcullis_watch::Access;
use schemars::JsonSchema;
use serde::Deserialize;

use portcullis_document::{Origin, Source};

/// Agents that are scoped by what they are responsible for.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Graph")]
pub(crate) struct GraphSpec {
    /// Profiles. Each is an authorizer for `authorization.chains`, and judged by the plug-in
    /// `ScopedAccess`.
    pub(crate) profiles: Vec<GraphProfileSpec>,
}

/// A profile, and where its objects come from. Without a source it takes the directory of `serve
/// --objects`, or the cluster that the server runs in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GraphProfile")]
pub(crate) struct GraphProfileSpec {
    /// The name that chains use.
    pub(crate) name: String,
    /// A built-in profile (`gardener`, `gardener-2021`, `node`) or a file.
    pub(crate) profile: String,
    /// A directory of manifests, watched for changes.
    pub(crate) objects: Option<PathBuf>,
    /// The kubeconfig of a cluster, whose objects are watched.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The objects of the cluster that the server runs in are watched.
    #[serde(default)]
    pub(crate) in_cluster: bool,
    /// Which answer is used where the safe one and upstream's differ.
    #[serde(default)]
    pub(crate) compat: CompatSpec,
    /// Whether the API server forwards selectors.
    #[serde(default)]
    pub(crate) selectors: SelectorsSpec,
}

/// Which answers are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Compat")]
pub(crate) enum CompatSpec {
    /// The safe ones.
    #[default]
    Strict,
    /// Upstream's.
    Upstream,
}

/// Whether selectors are forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Selectors")]
pub(crate) enum SelectorsSpec {
    /// Forwarded: lists need them.
    #[default]
    Forwarded,
    /// Not forwarded: lists that would need one are allowed.
    NotForwarded,
}

impl From<CompatSpec> for Compat {
    fn from(spec: CompatSpec) -> Self {
        match spec {
            CompatSpec::Strict => Self::Strict,
            CompatSpec::Upstream => Self::Upstream,
        }
    }
}

impl From<SelectorsSpec> for Selectors {
    fn from(spec: SelectorsSpec) -> Self {
        match spec {
            SelectorsSpec::Forwarded => Self::Forwarded,
            SelectorsSpec::NotForwarded => Self::NotForwarded,
        }
    }
}

/// A profile of the graph, and where its objects come from.
#[derive(Debug, Clone)]
pub struct GraphProfile {
    /// The name, once only.
    pub name: String,
    /// The profile.
    pub profile: Arc<Profile>,
    /// The text it was made from.
    pub text: Arc<Source>,
    /// Where its objects come from.
    pub source: GraphSource,
    /// Which answer is used where the safe one and upstream's differ.
    pub compat: Compat,
    /// Whether the API server forwards selectors.
    pub selectors: Selectors,
    /// Where it is declared.
    pub origin: Origin,
}

/// Where objects come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphSource {
    /// A directory of manifests.
    Directory(PathBuf),
    /// A cluster.
    Cluster(Access),
    /// Not said; only where nothing is served.
    Nowhere,
}
