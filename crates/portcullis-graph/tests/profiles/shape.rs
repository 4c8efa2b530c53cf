//! What holds for every profile without any object.

use portcullis_graph::{VertexKind, built_in};

use super::edges::{compiled, shipped};

#[test]
fn every_profile_compiles_and_is_acyclic_but_through_its_targets() {
    for (name, text) in built_in::ALL {
        let profile = compiled(text);
        assert!(profile.description.is_some(), "{name}");
        for target in &profile.targets {
            let cycle = profile.sources.cycle(*target);
            let cycle = cycle.map(|kinds| {
                kinds
                    .iter()
                    .map(|k| profile.kinds.name(*k).to_owned())
                    .collect::<Vec<_>>()
            });
            assert_eq!(cycle, None, "{name}");
        }
    }
}

#[test]
fn targets_and_sources_are_those_of_the_tables() {
    for (name, targets, vertices, sources) in [
        (
            "gardener",
            "Seed Shoot",
            26,
            "BackupBucket BackupEntry Bastion CertificateSigningRequest ControllerDeployment ControllerInstallation \
             CredentialsBinding Gardenlet ManagedSeed Namespace Project SecretBinding Seed ServiceAccount Shoot",
        ),
        (
            "gardener-2021",
            "Seed",
            15,
            "BackupBucket BackupEntry ControllerInstallation ManagedSeed Project SecretBinding Seed Shoot",
        ),
        (
            "node",
            "Node",
            11,
            "Node PersistentVolume Pod PodCertificateRequest ResourceSlice VolumeAttachment",
        ),
    ] {
        let profile = shipped(name);
        let names: Vec<&str> = profile
            .targets
            .iter()
            .map(|t| profile.kinds.name(*t))
            .collect();
        assert_eq!(names.join(" "), targets, "{name}");
        assert_eq!(profile.kinds.len(), vertices, "{name}");
        let mut names: Vec<&str> = profile
            .sources
            .iter()
            .map(|(_, kind)| profile.kinds.name(kind))
            .collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), sources, "{name}");
    }
}

/// Cluster-scoped kinds of Gardener's graph; all others are in namespaces.
#[test]
fn cluster_scoped_kinds_are_as_upstream_has_them() {
    let cluster = |kind: &&VertexKind| !kind.namespaced;
    let profile = shipped("gardener");
    let mut names: Vec<String> = profile
        .kinds
        .iter()
        .map(|(_, kind)| kind)
        .filter(cluster)
        .map(|kind| kind.name.clone())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "BackupBucket",
            "CertificateSigningRequest",
            "CloudProfile",
            "ClusterRoleBinding",
            "ControllerDeployment",
            "ControllerInstallation",
            "ControllerRegistration",
            "ExposureClass",
            "Namespace",
            "Project",
            "Seed",
        ]
    );
    let profile = shipped("node");
    let cluster = profile.kinds.iter().map(|(_, kind)| kind).filter(cluster);
    let names: Vec<&str> = cluster.map(|kind| kind.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Node",
            "PersistentVolume",
            "ResourceSlice",
            "VolumeAttachment"
        ]
    );
}
