//! What is known of plug-ins by their names: whose answers can be reproduced.

use std::collections::BTreeMap;

use portcullis_kube::{DependsOn, Registry};

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

    /// Whether it keeps count between requests.
    pub(super) fn counts(&self, plugin: &str) -> bool {
        self.0.get(plugin) == Some(&DependsOn::Earlier)
    }
}
