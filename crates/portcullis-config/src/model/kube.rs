//! The `kube` key: what is written, and the cluster that is read.

use std::path::PathBuf;

use portcullis_document::{Origin, Size};
use portcullis_kube::cluster_objects::ObjectKind;
use portcullis_watch::Access;
use schemars::JsonSchema;
use serde::Deserialize;

/// The cluster whose objects plug-ins and policies may look up.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Kube")]
pub(crate) struct KubeSpec {
    /// The kubeconfig of the cluster; by default the service account of the pod that the server runs in.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The kinds that policies may look up with `kube.get` and `kube.list`, like `v1/ConfigMap` or
    /// `apps/v1/Deployment`. What plug-ins need is watched too, but not shown to policies.
    #[serde(default)]
    pub(crate) kinds: Vec<String>,
    /// Memory that the objects may use. If they need more, the kind with the largest objects isn't known.
    #[serde(default = "default_memory")]
    pub(crate) memory: Size,
}

fn default_memory() -> Size {
    Size::from_bytes(64 << 20)
}

/// The cluster whose objects plug-ins and policies may look up.
#[derive(Debug, Clone)]
pub struct Kube {
    /// How to reach it.
    pub access: Access,
    /// The kinds that policies may look up.
    pub kinds: Vec<ObjectKind>,
    /// Memory that the objects may use, in bytes.
    pub memory: usize,
    /// Where it is declared.
    pub origin: Origin,
}
