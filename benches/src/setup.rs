//! The configurations of Portcullis that are measured.

use crate::fixture;
use crate::policies::Set;

/// A configuration of Portcullis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    /// A chain that asks nobody.
    AlwaysAdmit,
    /// Pods are held to `restricted`.
    PodSecurity,
    /// Every pod is changed.
    AlwaysPullImages,
    /// An attribute file says who may do what.
    Abac,
    /// A graph of objects says what agents may touch.
    Graph,
    /// Policies in JavaScript.
    Policies(Set),
    /// Pods are held to `baseline`, and three policies look at them.
    Everything,
}

impl Setup {
    /// A name for directories and the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AlwaysAdmit => "AlwaysAdmit",
            Self::PodSecurity => "PodSecurity",
            Self::AlwaysPullImages => "AlwaysPullImages",
            Self::Abac => "ABAC",
            Self::Graph => "graph",
            Self::Policies(set) => set.name(),
            Self::Everything => "PodSecurity, 3 policies",
        }
    }

    /// The configuration file without its listeners.
    pub(crate) fn configuration(self) -> String {
        match self {
            Self::AlwaysAdmit => "admission: {plugins: [{name: AlwaysAdmit}]}\n".to_owned(),
            Self::PodSecurity => pod_security("restricted"),
            Self::AlwaysPullImages => {
                "admission: {plugins: [{name: AlwaysPullImages}]}\n".to_owned()
            }
            Self::Abac => "authorization:\n\
                 \x20 authorizers: [{name: local, driver: ABAC, file: abac.jsonl}]\n\
                 \x20 chains: {default: [local]}\n"
                .to_owned(),
            Self::Graph => {
                "graph: {profiles: [{name: gardener, profile: gardener, objects: objects}]}\n\
                 authorization: {chains: {default: [gardener]}}\n"
                    .to_owned()
            }
            Self::Policies(set) => set.yaml(),
            Self::Everything => pod_security("baseline") + &Set::Reference.yaml(),
        }
    }

    /// Files that lie beside the configuration: name and text.
    pub(crate) fn files(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Abac => vec![("abac.jsonl", fixture::abac())],
            Self::Graph => vec![("objects/garden.json", fixture::garden::objects())],
            _ => Vec::new(),
        }
    }
}

fn pod_security(level: &str) -> String {
    format!(
        "admission:\n\
         \x20 plugins:\n\
         \x20 - name: PodSecurity\n\
         \x20   configuration:\n\
         \x20     apiVersion: pod-security.admission.config.k8s.io/v1\n\
         \x20     kind: PodSecurityConfiguration\n\
         \x20     defaults: {{enforce: {level}}}\n"
    )
}
