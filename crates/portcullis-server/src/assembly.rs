//! Builds everything a configuration asks for, aside: nothing that runs is touched.
//!
//! What only a plug-in, a certificate parser or an attribute file's reader can find wrong is found
//! here, and told with the place in the configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_core::{
    Authorizer, AuthorizerChain, Chain, ChainEntry, FailureMode, Plugin, Registry,
};
use portcullis_js::{GlobalContext, Guard};
use portcullis_kube::authorizers::abac::{self, AbacPolicies, LineFault};
use portcullis_kube::authorizers::{AlwaysAllow, AlwaysDeny};
use portcullis_kube::namespaces::{Namespace, Namespaces, StaticNamespaces};

use crate::access::{self, Access};
use crate::config::{
    self, AuthorizerDriver, ConfigSource, Fault, Faults, Listening, LoadOptions, Loaded, Source,
    Warning,
};
use crate::digest;
use crate::graphs::Graphs;
use crate::http::connection::ConnectionLimits;
use crate::http::listener::ListenerSetup;
use crate::http::tls;
use crate::metrics::GraphMetrics;
use crate::policies::{self, Around, Compiled, Engine, Observer};
use crate::registry;
use crate::server::Gate;

/// What a configuration became.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) gate: Gate,
    /// In the order of the configuration.
    pub(crate) listeners: Vec<(config::Listener, ListenerSetup)>,
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
    let assembled = assemble(&loaded, None, &GlobalContext::new(0), Before::default());
    let mut warnings = loaded.warnings;
    match assembled {
        Err(Faults(faults)) => Report { faults, warnings },
        Ok(Assembled { gate, .. }) => {
            warnings.extend(gate.access.warnings);
            // A server would go on without them, but a check must tell.
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
    let are_asked = loaded.plugins.iter().any(|p| p.name == policies::NAME);
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
        ConfigSource::BuiltIn(_) => "(demonstration)".to_owned(),
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

/// What policies may keep between reviews, empty.
pub(crate) fn global_context(loaded: &Loaded) -> GlobalContext {
    GlobalContext::new(global_context_cap(loaded))
}

/// How much that may be.
pub(crate) fn global_context_cap(loaded: &Loaded) -> usize {
    loaded.limits.global_context.as_usize()
}

/// What a configuration is built beside, if anything is in force.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before<'a> {
    /// Tenants that are faulty keep what they have there.
    pub(crate) access: Option<&'a Access>,
    /// Profiles that stay as they are keep what is known there.
    pub(crate) graphs: Option<&'a Graphs>,
    /// Who counts what happens to graphs.
    pub(crate) metrics: Option<&'a GraphMetrics>,
    /// Which policies are evaluated in processes.
    pub(crate) guard: Option<&'a Guard>,
}

/// Builds the gate and the setup of every listener, and starts nothing. Without a data directory nothing is written.
pub(crate) fn assemble(
    loaded: &Loaded,
    data_dir: Option<&Path>,
    context: &GlobalContext,
    before: Before<'_>,
) -> Result<Assembled, Faults> {
    let mut faults = Vec::new();
    let graphs = Graphs::build(&loaded.graphs, before.graphs, |name, profile| {
        before
            .metrics
            .map(|metrics| metrics.observer(name, profile))
    });
    let lasting = (context, before.guard);
    let namespaces = &loaded.namespaces;
    let built = build_entries(loaded, namespaces, &graphs, lasting, None, &mut faults);
    let (entries, engine) = built;
    let chain = Chain::new(entries.into_iter().map(|(_, entry)| entry).collect());
    let single = single_authorizers(loaded, &graphs, &mut faults);
    let authorizers = chains(loaded, &single);
    let all_authorizers = single.into_iter();
    let all_authorizers = all_authorizers.map(|(name, one)| (Arc::from(name), one));
    let all_authorizers = AuthorizerChain::new(all_authorizers.collect());
    let listeners = listeners(loaded, data_dir, &mut faults);
    let access = access::build(&loaded.access, data_dir, before.access);
    let access = access.map_err(|wrong| faults.extend(wrong));
    let Ok(access) = access else {
        return Err(Faults(faults));
    };
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    let policy_digests = digest::policies(loaded);
    let gate = Gate {
        digest: digest::gate(loaded, &policy_digests),
        policy_digests,
        masker: Arc::clone(&loaded.decisions.masker),
        chain,
        engine,
        authorizers,
        pending_mutation: loaded.pending_mutation,
        access,
        graphs,
        all_authorizers,
        limits: loaded.limits.clone(),
    };
    Ok(Assembled { gate, listeners })
}

/// The plug-ins alone, in their order, ready to be asked. They know these namespaces and graphs; what policies
/// keep between reviews is in `context`.
pub(crate) fn entries<'a>(
    loaded: &'a Loaded,
    namespaces: &[config::Namespace],
    graphs: &Graphs,
    context: &GlobalContext,
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> Vec<(&'a str, ChainEntry)> {
    let lasting = (context, None);
    let (entries, engine) = build_entries(loaded, namespaces, graphs, lasting, observer, faults);
    let started = if faults.is_empty() {
        engine.start()
    } else {
        Ok(())
    };
    let plugin = loaded.plugins.iter().find(|p| p.name == policies::NAME);
    if let (Err(why), Some(plugin)) = (started, plugin) {
        faults.push(plugin.origin.fault("", why));
    }
    entries
}

/// Builds the plug-ins, in their order, and what evaluates policies, which is not started.
fn build_entries<'a>(
    loaded: &'a Loaded,
    namespaces: &[config::Namespace],
    graphs: &Graphs,
    lasting: (&GlobalContext, Option<&Guard>),
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> (Vec<(&'a str, ChainEntry)>, Engine) {
    let known = namespaces.iter().map(|n| Namespace {
        name: n.name.clone(),
        labels: n.labels.clone(),
        annotations: n.annotations.clone(),
    });
    let namespaces: Arc<dyn Namespaces> = Arc::new(known.collect::<StaticNamespaces>());
    let (policies, engine) = policies(loaded, lasting, observer, faults).unzip();
    // Policies that could not be made have said why already.
    let is_missing = policies.is_none();
    let registry = registry::with(&namespaces, policies, &graphs.scoped());
    let plugins = loaded.plugins.iter();
    let entries = plugins
        .filter(|plugin| !(is_missing && plugin.name == policies::NAME))
        .filter_map(|plugin| Some((plugin.name.as_str(), entry(&registry, plugin, faults)?)))
        .collect();
    (entries, engine.unwrap_or_default())
}

/// The policies: always compiled, built if they are asked.
fn policies(
    loaded: &Loaded,
    (context, guard): (&GlobalContext, Option<&Guard>),
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> Option<(Arc<dyn Plugin>, Engine)> {
    let compiled = Compiled::new(&loaded.policies)
        .map_err(|wrong| faults.extend(wrong))
        .ok()?;
    let entry = loaded.plugins.iter().find(|p| p.name == policies::NAME)?;
    let around = Around {
        failure: failure_mode(entry.failure),
        context: context.clone(),
        guard: guard.cloned().unwrap_or_default(),
        masker: Arc::clone(&loaded.decisions.masker),
        observer,
    };
    compiled
        .build(&loaded.policies, &loaded.limits, around)
        .map_err(|why| faults.push(entry.origin.fault("", why)))
        .ok()
}

fn failure_mode(mode: config::FailureMode) -> FailureMode {
    match mode {
        config::FailureMode::Closed => FailureMode::Closed,
        config::FailureMode::Open => FailureMode::Open,
    }
}

fn entry(
    registry: &Registry,
    plugin: &config::PluginEntry,
    faults: &mut Vec<Fault>,
) -> Option<ChainEntry> {
    // The loader knows the names, so this one is there.
    let descriptor = registry.get(&plugin.name)?;
    match (descriptor.factory)(plugin.configuration.as_ref()) {
        Ok(made) => {
            let failure = failure_mode(plugin.failure);
            let timeout = plugin.timeout.map(Into::into);
            Some(
                ChainEntry::new(&plugin.name, made)
                    .failure(failure)
                    .timeout(timeout),
            )
        }
        Err(wrong) => {
            faults.extend(wrong.iter().map(|w| {
                plugin
                    .origin
                    .fault(&w.path, format!("{}: {}", plugin.name, w.message))
            }));
            None
        }
    }
}

/// Every authorizer by its name, in the order of the configuration.
pub(crate) fn single_authorizers(
    loaded: &Loaded,
    graphs: &Graphs,
    faults: &mut Vec<Fault>,
) -> Vec<(String, Arc<dyn Authorizer>)> {
    let mut made: Vec<(String, Arc<dyn Authorizer>)> = Vec::new();
    for authorizer in &loaded.authorizers {
        let one: Arc<dyn Authorizer> = match (authorizer.driver, &authorizer.file) {
            (AuthorizerDriver::Graph, _) => match graphs.get(&authorizer.name) {
                Some(profile) => Arc::new(profile.authorizer.clone()),
                None => continue,
            },
            (AuthorizerDriver::AlwaysAllow, _) => Arc::new(AlwaysAllow),
            (AuthorizerDriver::AlwaysDeny, _) => Arc::new(AlwaysDeny),
            (AuthorizerDriver::Abac, Some(file)) => match attribute_file(authorizer, file) {
                Ok(policies) => Arc::new(policies),
                Err(wrong) => {
                    faults.extend(wrong);
                    continue;
                }
            },
            (AuthorizerDriver::Abac, None) => continue,
        };
        made.push((authorizer.name.clone(), one));
    }
    made
}

/// The chains of authorizers by name.
pub(crate) fn authorizers(
    loaded: &Loaded,
    graphs: &Graphs,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, AuthorizerChain> {
    chains(loaded, &single_authorizers(loaded, graphs, faults))
}

fn chains(
    loaded: &Loaded,
    made: &[(String, Arc<dyn Authorizer>)],
) -> BTreeMap<String, AuthorizerChain> {
    let chain = |names: &Vec<String>| {
        let members = names.iter().filter_map(|wanted| {
            let (name, one) = made.iter().find(|(name, _)| name == wanted)?;
            Some((Arc::from(name.as_str()), Arc::clone(one)))
        });
        AuthorizerChain::new(members.collect())
    };
    loaded
        .chains
        .iter()
        .map(|(name, names)| (name.clone(), chain(names)))
        .collect()
}

fn attribute_file(
    authorizer: &config::Authorizer,
    file: &Path,
) -> Result<AbacPolicies, Vec<Fault>> {
    let at = |message: String| authorizer.origin.fault("file", message);
    let source = Source::read(file)
        .map_err(|reason| vec![at(format!("cannot read `{}`: {reason}", file.display()))])?;
    let policies = abac::parse(source.text()).map_err(|wrong| {
        let fault = |w: &LineFault| at(format!("{}:{}: {}", file.display(), w.line, w.message));
        wrong.iter().map(fault).collect::<Vec<_>>()
    })?;
    if policies.is_empty() {
        let message = format!(
            "`{}` holds no policy: name a file with at least one",
            file.display()
        );
        return Err(vec![at(message)]);
    }
    Ok(policies)
}

fn listeners(
    loaded: &Loaded,
    data_dir: Option<&Path>,
    faults: &mut Vec<Fault>,
) -> Vec<(config::Listener, ListenerSetup)> {
    let limits = ConnectionLimits {
        headers: usize::try_from(loaded.limits.headers.bytes()).unwrap_or(usize::MAX / 4),
        head_time: loaded.limits.header_timeout.into(),
        rest_time: loaded.limits.idle_timeout.into(),
        write_time: loaded.limits.write_timeout.into(),
        age: loaded.limits.max_connection_age.into(),
    };
    let mut made = Vec::new();
    for listener in &loaded.listeners {
        let tls = listener
            .tls
            .as_ref()
            .map(|tls| tls::build(tls, data_dir))
            .transpose();
        match tls {
            Ok(tls) => {
                let (name, serves) = (listener.name.clone(), listener.serves.clone());
                let style = listener.style;
                let is_for_browsers = serves
                    .iter()
                    .any(|d| matches!(d, config::Door::Api | config::Door::Web));
                // A browser would follow it for every port of `localhost`.
                let is_real = tls.as_ref().is_some_and(|tls| !tls.is_development);
                made.push((
                    listener.clone(),
                    ListenerSetup {
                        name,
                        serves,
                        style,
                        tls,
                        limits,
                        connections: listener.connections,
                        is_strict: is_real && is_for_browsers,
                    },
                ));
            }
            Err(why) => faults.push(listener.origin.fault("tls", why)),
        }
    }
    made
}

#[cfg(test)]
mod tests;
