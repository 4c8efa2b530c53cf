//! What is known of plug-ins by their names: whose answers can be reproduced.

use std::collections::BTreeMap;

use portcullis_kube::{DependsOn, Registry};

/// What answers depend on that is not in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The plug-in keeps count between requests.
    EarlierRequests,
    /// The plug-in looks up objects of a cluster.
    Cluster,
}

/// What the answers of each plug-in depend on.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts(BTreeMap<&'static str, DependsOn>);

impl Facts {
    /// Of these plug-ins.
    pub(super) fn of(registry: &Registry) -> Self {
        let all = registry.iter();
        Self(all.map(|plugin| (plugin.name, plugin.depends_on)).collect())
    }

    /// Whether it looks at nothing.
    pub(super) fn is_blind(&self, plugin: &str) -> bool {
        self.0.get(plugin) == Some(&DependsOn::Nothing)
    }

    /// What its answers depend on that is not in the record, if they do.
    pub(super) fn beyond(&self, plugin: &str) -> Option<Beyond> {
        let depends_on = self.0.get(plugin)?;
        if depends_on.looks_at_cluster() {
            return Some(Beyond::Cluster);
        }
        depends_on.counts().then_some(Beyond::EarlierRequests)
    }
}
