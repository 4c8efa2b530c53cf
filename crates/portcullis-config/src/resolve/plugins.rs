//! The effective chain: which plug-ins are configured, and in which order they
//! run.

use std::collections::HashSet;

use portcullis_core::FailureMode;

use super::plugin_files;
use crate::POLICIES;
use crate::{
    model::{PluginEntry, PluginSpec},
    notes::Notes,
};
use portcullis_document::{Document, Duration, Origin};

/// A configured plug-in.
#[derive(Debug)]
pub(crate) struct Configured {
    /// Where its name stands.
    pub(crate) named: Origin,
    pub(crate) entry: PluginEntry,
}

/// What determines the order of plug-ins.
#[derive(Debug)]
pub(crate) enum Order {
    /// A flag or environment variable.
    Named {
        /// How it is called.
        label: &'static str,
        /// The plug-ins.
        names: Vec<String>,
    },
    /// `admission.order` of the file.
    File(Vec<String>),
    /// Nobody: as they are configured, then the policies if there are any.
    AsConfigured {
        /// Whether there are policies.
        has_policies: bool,
    },
}

/// The configured plug-ins of the file itself.
pub(crate) fn of_file(
    document: &Document,
    specs: &[PluginSpec],
    notes: &mut Notes,
) -> Vec<Configured> {
    let configured = |(index, spec): (usize, &PluginSpec)| {
        let at = format!("admission.plugins[{index}]");
        if spec.timeout.is_some_and(Duration::is_zero) {
            notes.fault(document.fault(&format!("{at}.timeout"), "must be more than zero"));
        }
        let origin = match &spec.configuration {
            Some(_) => Origin::of(document, &format!("{at}.configuration")),
            None => Origin::of(document, &at),
        };
        let mut configuration = spec.configuration.as_ref().map(|node| node.to_json());
        if let Some(configuration) = &mut configuration {
            let at = format!("{at}.configuration");
            plugin_files::resolve(document, &at, configuration, notes);
        }
        let (failure, timeout) = (spec.failure, spec.timeout);
        Configured {
            named: Origin::of(document, &format!("{at}.name")),
            entry: PluginEntry {
                name: spec.name.clone(),
                failure,
                timeout,
                configuration,
                origin,
            },
        }
    };
    specs.iter().enumerate().map(configured).collect()
}

/// Checks the configured plug-ins and the order, and gives back what runs.
pub(crate) fn plugins(
    document: &Document,
    configured: Vec<Configured>,
    order: Order,
    known: &[&str],
    notes: &mut Notes,
) -> Vec<PluginEntry> {
    check_configured(&configured, known, notes);
    // An order that is given for this run alone leaves out what it likes.
    let is_for_now = matches!(order, Order::Named { .. });
    let mut entries: Vec<PluginEntry> = configured.into_iter().map(|plugin| plugin.entry).collect();
    let named: Vec<(String, Origin)> = match order {
        Order::AsConfigured { has_policies } => {
            let is_there = entries.iter().any(|entry| entry.name == POLICIES);
            if has_policies && !is_there {
                entries.push(unconfigured(
                    POLICIES.to_owned(),
                    Origin::of(document, "policies"),
                ));
            }
            return entries;
        }
        Order::Named { label, names } => names
            .into_iter()
            .map(|name| (name, Origin::named(label)))
            .collect(),
        Order::File(names) => names
            .into_iter()
            .enumerate()
            .map(|(index, name)| {
                (
                    name,
                    Origin::of(document, &format!("admission.order[{index}]")),
                )
            })
            .collect(),
    };
    check_order(&named, known, notes);
    let chosen = named
        .into_iter()
        .map(
            |(name, origin)| match entries.iter().position(|entry| entry.name == name) {
                Some(index) => entries.swap_remove(index),
                None => unconfigured(name, origin),
            },
        )
        .collect();
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    for unused in entries.into_iter().filter(|_| !is_for_now) {
        let place = unused.origin.place();
        notes.warn(format!(
            "the plug-in `{}` is configured at {place} but not in the order: it does not run",
            unused.name
        ));
    }
    chosen
}

/// A plug-in of which only the name is given.
fn unconfigured(name: String, origin: Origin) -> PluginEntry {
    PluginEntry {
        name,
        failure: FailureMode::Closed,
        timeout: None,
        configuration: None,
        origin,
    }
}

fn check_configured(configured: &[Configured], known: &[&str], notes: &mut Notes) {
    for (index, plugin) in configured.iter().enumerate() {
        let name = &plugin.entry.name;
        check_known(name, &plugin.named, known, notes);
        if let Some(first) = configured
            .iter()
            .take(index)
            .find(|other| other.entry.name == *name)
        {
            let message = format!(
                "the plug-in `{name}` is configured twice, first at {}",
                first.named.place()
            );
            notes.fault(plugin.named.fault("", message));
        }
    }
}

fn check_order(named: &[(String, Origin)], known: &[&str], notes: &mut Notes) {
    let mut seen = HashSet::new();
    for (name, origin) in named {
        if seen.insert(name) {
            check_known(name, origin, known, notes);
        } else {
            notes.fault(origin.fault("", format!("the plug-in `{name}` is in the order twice")));
        }
    }
}

fn check_known(name: &str, origin: &Origin, known: &[&str], notes: &mut Notes) {
    if name.is_empty() {
        notes.fault(origin.fault("", "the name of a plug-in is empty"));
    } else if !known.contains(&name) {
        let fault = origin.fault("", format!("unknown plug-in `{name}`"));
        notes.fault(fault.with_known("known plug-ins", name, known.iter().copied()));
    }
}
