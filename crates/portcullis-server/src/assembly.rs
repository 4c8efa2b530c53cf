//! Builds a gate and its listeners from a configuration, without touching anything that runs.

use std::path::Path;

use portcullis_config::{self as config, ConfigSource, Listening, LoadOptions, Loaded};
use portcullis_document::{Fault, Faults, Warning};
use portcullis_gate::access::Access;
use portcullis_gate::{Before, Gate};
use portcullis_js::GlobalContext;

use crate::http::setup::{ConnectionLimits, ListenerSetup};
use crate::http::tls;
use crate::managed::ManagedCertificates;

/// What a configuration became.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) gate: Gate,
    /// In the order of the configuration.
    pub(crate) listeners: Vec<ListenerSetup>,
}

/// Everything that is wrong with a configuration, and everything that is odd about it.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong; a configuration without any is valid.
    pub faults: Vec<Fault>,
    /// What is odd but not wrong.
    pub warnings: Vec<Warning>,
}

/// Validates a configuration, and starts nothing.
pub fn examine(options: &LoadOptions<'_>) -> Report {
    let loaded = config::load_noting(&LoadOptions {
        listeners: Listening::Optional,
        ..options.clone()
    });
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err((Faults(faults), warnings)) => return Report { faults, warnings },
    };
    let managed = ManagedCertificates::default();
    let context = GlobalContext::new(0);
    let assembled = assemble(&loaded, None, &context, &managed, Before::default());
    let mut warnings = loaded.warnings;
    match assembled {
        Err(Faults(faults)) => Report { faults, warnings },
        Ok(Assembled { gate, .. }) => {
            warnings.extend(gate.access.warnings);
            // A server would go on without them, but a check must report them.
            let left_out = gate.access.left_out.into_iter();
            let faults = left_out.flat_map(|one| one.faults).collect();
            Report { faults, warnings }
        }
    }
}

/// Says in the log what is odd about a configuration.
pub(crate) fn log_warnings(loaded: &Loaded) {
    for warning in loaded.warnings.iter().chain(&loaded.exposed) {
        tracing::warn!("{warning}");
    }
}

/// Says in the log what is in force, where that is not seen from the file alone.
pub(crate) fn log_policies(loaded: &Loaded) {
    let policies = &loaded.policies;
    let are_asked = loaded.plugins.iter().any(|p| p.name == config::POLICIES);
    if are_asked && !policies.list.is_empty() {
        let names: Vec<&str> = policies.list.iter().map(|p| p.name.as_str()).collect();
        let (count, modules) = (names.len(), policies.modules.len());
        tracing::info!(count, modules, names = ?names, "policies in force");
    }
}

/// Says in the log that the server is up, with what and where; the details at the level `debug`.
pub(crate) fn log_start<'a>(
    options: &LoadOptions<'_>,
    loaded: &Loaded,
    data_dir: &Path,
    listeners: impl Iterator<Item = (&'a str, &'a str)>,
) {
    let configuration = match options.source {
        ConfigSource::File(file) => file.display().to_string(),
        ConfigSource::BuiltIn(_) => "(built-in)".to_owned(),
        ConfigSource::PoliciesOf { file, .. } => file.display().to_string(),
        ConfigSource::Policies(folder) => folder.display().to_string(),
    };
    let listeners: Vec<String> = listeners.map(|(name, at)| format!("{name} {at}")).collect();
    let chain: Vec<&str> = loaded.plugins.iter().map(|p| p.name.as_str()).collect();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        configuration,
        data_dir = %data_dir.display(),
        listeners = ?listeners,
        chain = ?chain,
        pid = std::process::id(),
        "started"
    );
    for plugin in &loaded.plugins {
        tracing::debug!(name = plugin.name, failure = ?plugin.failure, "plug-in");
    }
    for policy in &loaded.policies.list {
        tracing::debug!(name = policy.name, mode = ?policy.mode, file = policy.text.label(), "policy");
    }
    for (name, authorizers) in &loaded.chains {
        tracing::debug!(name, authorizers = ?authorizers, "chain of authorizers");
    }
    for listener in &loaded.listeners {
        tracing::debug!(name = listener.name, serves = ?listener.serves, tls = listener.tls.is_some(), "listener");
    }
    tracing::debug!(limits = ?loaded.limits, "limits");
}

/// Says in the log what is odd about access, and which tenants are not as their file says.
pub(crate) fn log_access(access: &Access) {
    for warning in access.warnings.iter().chain(&access.exposed) {
        tracing::warn!("{warning}");
    }
    for one in &access.left_out {
        tracing::error!("{}", one.text());
    }
}

/// Builds the gate and the setup of every listener, and starts nothing. Without a data directory nothing is written.
pub(crate) fn assemble(
    loaded: &Loaded,
    data_dir: Option<&Path>,
    context: &GlobalContext,
    managed: &ManagedCertificates,
    before: Before<'_>,
) -> Result<Assembled, Faults> {
    let mut faults = Vec::new();
    let listeners = listeners(loaded, data_dir, managed, &mut faults);
    let gate = portcullis_gate::build(loaded, data_dir, context, before, &mut faults);
    match gate.filter(|_| faults.is_empty()) {
        Some(gate) => Ok(Assembled { gate, listeners }),
        None => Err(Faults(faults)),
    }
}

fn listeners(
    loaded: &Loaded,
    data_dir: Option<&Path>,
    managed: &ManagedCertificates,
    faults: &mut Vec<Fault>,
) -> Vec<ListenerSetup> {
    let limits = ConnectionLimits::from(&loaded.limits);
    let mut made = Vec::new();
    for listener in &loaded.listeners {
        let tls = listener.tls.as_ref();
        match tls
            .map(|tls| tls::build(tls, data_dir, managed))
            .transpose()
        {
            Ok(tls) => made.push(ListenerSetup::new(listener.clone(), tls, limits)),
            Err(why) => faults.push(listener.origin.fault("tls", why)),
        }
    }
    made
}

#[cfg(test)]
mod tests;
