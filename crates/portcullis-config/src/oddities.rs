//! Warnings about a whole configuration: parts that have no effect, or not the expected one.

use std::collections::BTreeMap;

use portcullis_kube::scoped_access;

use super::{
    model::{GraphProfile, Listener, PluginEntry, Service, Style},
    notes::Notes,
};
use portcullis_document::Document;

/// Warns of profiles that nothing uses, and of a plug-in without profiles.
pub(super) fn warn_of_unasked_graphs(
    plugins: &[PluginEntry],
    graphs: &[GraphProfile],
    chains: &BTreeMap<String, Vec<String>>,
    notes: &mut Notes,
) {
    let is_scoped = plugins.iter().any(|p| p.name == scoped_access::NAME);
    if is_scoped && graphs.is_empty() {
        let name = scoped_access::NAME;
        notes.warn(format!(
            "`{name}` is in the order, but `graph.profiles` is empty: it lets everything pass"
        ));
    }
    for profile in graphs {
        let is_in_chain = chains.values().any(|chain| chain.contains(&profile.name));
        if !is_in_chain && !is_scoped {
            let name = &profile.name;
            notes.warn(format!(
                "the profile `{name}` is in no chain and there is no `ScopedAccess`: it is never asked"
            ));
        }
    }
}

/// A webhook that judges nothing.
pub(super) fn warn_of_empty_chain(
    plugins: &[PluginEntry],
    listeners: &[Listener],
    notes: &mut Notes,
) {
    if plugins.is_empty()
        && listeners
            .iter()
            .any(|listener| listener.serves(Service::Kubernetes))
    {
        notes.warn("no plug-in is configured: every admission request is allowed");
    }
}

/// Plug-ins that add what an object lacks. Policies may do so too, but which of them do is not known.
const REPAIRING: [&str; 6] = [
    "AlwaysPullImages",
    "DefaultTolerationSeconds",
    "ExtendedResourceToleration",
    "LimitRanger",
    "PodNodeSelector",
    "PodTolerationRestriction",
];

/// `/validate` judges an object as these would change it, and hands the changes to no one.
pub(super) fn warn_of_pending_changes(
    document: &Document,
    plugins: &[PluginEntry],
    listeners: &[Listener],
    notes: &mut Notes,
) {
    const KEY: &str = "admission.pendingMutation";
    let is_served = |listener: &Listener| {
        listener.serves(Service::Kubernetes) && listener.style == Style::Doors
    };
    let repairing: Vec<&str> = plugins
        .iter()
        .map(|plugin| plugin.name.as_str())
        .filter(|name| REPAIRING.contains(name))
        .collect();
    let is_said = document.root.at_path(KEY).is_some();
    if !repairing.is_empty() && !is_said && listeners.iter().any(is_served) {
        notes.warn(format!(
            "{} can change objects, and `/validate` allows an object that would still be changed: register \
             `/mutate` too, and set `{KEY}` to `refuse` (or to `ignore` if this is what you want)",
            repairing.join(", ")
        ));
    }
}
