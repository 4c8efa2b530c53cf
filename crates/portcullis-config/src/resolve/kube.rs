//! Checks of `kube`.

use portcullis_document::{Document, Origin};
use portcullis_kube::cluster_objects::ObjectKind;
use portcullis_watch::Access;

use crate::{
    model::{Kube, KubeSpec},
    notes::Notes,
    options::{Listening, LoadOptions},
};

use super::graph::{CLUSTER_VARIABLE, kubeconfig};

/// Objects take more than this, whatever they are.
const LEAST_MEMORY: u64 = 64 << 10;

/// Checks and resolves the cluster that is read.
pub(crate) fn kube(
    document: &Document,
    spec: &KubeSpec,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Kube {
    let access = match &spec.kubeconfig {
        Some(file) => kubeconfig(document, "kube.kubeconfig", file, options, notes),
        None => {
            let is_pod = options.variable(CLUSTER_VARIABLE).is_some();
            if !is_pod && options.listeners == Listening::Needed {
                let message = format!(
                    "`kubeconfig` is missing, and this is not a pod: {CLUSTER_VARIABLE} is not set"
                );
                notes.fault(document.fault("kube", message));
            }
            Access::InCluster
        }
    };
    if spec.memory.bytes() < LEAST_MEMORY {
        notes.fault(document.fault("kube.memory", "must be at least 64Ki"));
    }
    Kube {
        access,
        kinds: kinds(document, spec, notes),
        memory: spec.memory.as_usize(),
        origin: Origin::of(document, "kube"),
    }
}

fn kinds(document: &Document, spec: &KubeSpec, notes: &mut Notes) -> Vec<ObjectKind> {
    let mut kinds: Vec<ObjectKind> = Vec::new();
    for (index, text) in spec.kinds.iter().enumerate() {
        let at = format!("kube.kinds[{index}]");
        match text.parse::<ObjectKind>() {
            Err(why) => notes.fault(document.fault(&at, format!("`{text}`: {why}"))),
            Ok(kind) if kinds.contains(&kind) => {
                notes.fault(document.fault(&at, format!("the kind `{kind}` is given twice")));
            }
            Ok(kind) => kinds.push(kind),
        }
    }
    kinds
}
