//! Which volumes are allowed.
//!
//! Baseline bars the node's own file system. Restricted allows a list of
//! sources and bars all others, the node's file system among them.

use super::{
    super::text::{Values, plural, quoted},
    Finding,
};
use crate::pod::{PodObject, Volume, VolumeSource};

pub(in super::super) fn host_path(pod: &PodObject<'_>) -> Option<Finding> {
    let bad: Vec<&str> = pod
        .spec
        .volumes
        .iter()
        .filter(|volume| volume.sources.contains(VolumeSource::HostPath))
        .map(|volume| &*volume.name)
        .collect();
    (!bad.is_empty()).then(|| {
        let noun = plural(bad.len(), "volume", "volumes");
        Finding::new("hostPath volumes", format!("{noun} {}", quoted(&bad)))
    })
}

pub(in super::super) fn restricted(pod: &PodObject<'_>) -> Option<Finding> {
    let mut volumes: Vec<&str> = Vec::new();
    let mut sources = Values::new();
    for volume in &pod.spec.volumes {
        if let Some(source) = bad_source(volume) {
            volumes.push(&volume.name);
            sources.insert(source);
        }
    }
    (!volumes.is_empty()).then(|| {
        let noun = plural(volumes.len(), "volume", "volumes");
        let uses = plural(volumes.len(), "uses", "use");
        let kind = plural(
            sources.len(),
            "restricted volume type",
            "restricted volume types",
        );
        Finding::new(
            "restricted volume types",
            format!(
                "{noun} {} {uses} {kind} {}",
                quoted(&volumes),
                quoted(&sources)
            ),
        )
    })
}

/// The source to name as forbidden. A volume with any allowed source passes,
/// as upstream: the API server admits no more than one.
fn bad_source(volume: &Volume<'_>) -> Option<&'static str> {
    if volume.sources.iter().any(is_allowed) {
        return None;
    }
    let first = volume.sources.iter().next();
    Some(first.map_or("unknown", VolumeSource::key))
}

fn is_allowed(source: VolumeSource) -> bool {
    matches!(
        source,
        VolumeSource::ConfigMap
            | VolumeSource::Csi
            | VolumeSource::DownwardApi
            | VolumeSource::EmptyDir
            | VolumeSource::Ephemeral
            | VolumeSource::Image
            | VolumeSource::PersistentVolumeClaim
            | VolumeSource::Projected
            | VolumeSource::Secret
    )
}
