//! Builds everything a configuration asks for, without touching anything that runs.
//!
//! What only a plug-in or the reader of an attribute file can find wrong is found here, and reported with
//! the place in the configuration.

use std::path::Path;
use std::sync::Arc;

use portcullis_config::{self as config, Loaded, Service};
use portcullis_core::{AuthorizerChain, Chain, ChainEntry, FailureMode, Plugin};
use portcullis_document::Fault;
use portcullis_graph::{Observer as GraphObserver, Profile};
use portcullis_js::{GlobalContext, Guard};
use portcullis_kube::Registry;
use portcullis_kube::{Namespace, Namespaces, StaticNamespaces};

use crate::access::{self, Access};
use crate::authorizers;
use crate::digest;
use crate::gate::Gate;
use crate::graphs::Graphs;
use crate::policies::{self, Compiled, Engine, JobPolicies, Observer, PolicyEnvironment};
use crate::registry;

/// What policies may keep between reviews, empty.
pub fn global_context(loaded: &Loaded) -> GlobalContext {
    GlobalContext::new(global_context_cap(loaded))
}

/// How much that may be.
pub fn global_context_cap(loaded: &Loaded) -> usize {
    loaded.limits.global_context.as_usize()
}

/// Counts what happens to graphs.
pub trait GraphWatcher: std::fmt::Debug {
    /// The observer for the graph of this profile, which has this name in the configuration.
    fn observer(&self, name: &str, profile: &Profile) -> Arc<dyn GraphObserver>;
}

/// What a configuration is built beside, if anything is in force.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before<'a> {
    /// Tenants that are faulty keep what they have there.
    pub access: Option<&'a Access>,
    /// Profiles that stay as they are keep what is known there.
    pub graphs: Option<&'a Graphs>,
    /// Counts what happens to graphs.
    pub watcher: Option<&'a dyn GraphWatcher>,
    /// Which policies are evaluated in processes.
    pub guard: Option<&'a Guard>,
}

/// Builds the gate, and starts nothing. Without a data directory nothing is written. What is wrong is
/// added to `faults`; without a fault there is a gate.
pub fn build(
    loaded: &Loaded,
    data_dir: Option<&Path>,
    context: &GlobalContext,
    before: Before<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Gate> {
    let graphs = Graphs::build(&loaded.graphs, before.graphs, |name, profile| {
        let watcher = before.watcher?;
        Some(watcher.observer(name, profile))
    });
    let lasting = (context, before.guard);
    let namespaces = &loaded.namespaces;
    let built = build_entries(loaded, namespaces, &graphs, lasting, None, faults);
    let (entries, engine, job_policies) = built;
    let chain = Chain::new(entries.into_iter().map(|(_, entry)| entry).collect());
    let single = authorizers::single(loaded, &graphs, faults);
    let authorizers = authorizers::chains(loaded, &single);
    let all_authorizers = single.into_iter();
    let all_authorizers = all_authorizers.map(|(name, one)| (Arc::from(name), one));
    let all_authorizers = AuthorizerChain::new(all_authorizers.collect());
    let access = access::build(&loaded.access, data_dir, before.access);
    let access = access.map_err(|wrong| faults.extend(wrong)).ok()?;
    if !faults.is_empty() {
        return None;
    }
    let policy_digests = digest::policies(loaded);
    Some(Gate {
        digest: digest::gate(loaded, &policy_digests),
        policies: policies::listed(&loaded.policies, &policy_digests),
        policy_digests,
        masker: Arc::clone(&loaded.decisions.masker),
        chain,
        engine,
        job_policies: job_policies?,
        authorizers,
        pending_mutation: loaded.pending_mutation,
        access,
        graphs,
        all_authorizers,
        limits: loaded.limits.clone(),
    })
}

/// The plug-ins alone, in their order, ready to be asked. They know these namespaces and graphs; what policies
/// keep between reviews is in `context`.
pub(crate) fn entries<'a>(
    loaded: &'a Loaded,
    namespaces: &[Namespace],
    graphs: &Graphs,
    context: &GlobalContext,
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> Vec<(&'a str, ChainEntry)> {
    let lasting = (context, None);
    let (entries, engine, _) = build_entries(loaded, namespaces, graphs, lasting, observer, faults);
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
    namespaces: &[Namespace],
    graphs: &Graphs,
    lasting: (&GlobalContext, Option<&Guard>),
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> (Vec<(&'a str, ChainEntry)>, Engine, Option<JobPolicies>) {
    let namespaces = namespaces.iter().cloned().collect::<StaticNamespaces>();
    let namespaces: Arc<dyn Namespaces> = Arc::new(namespaces);
    let (policies, engine, jobs) = match policies(loaded, lasting, observer, faults) {
        Some((policies, engine, jobs)) => (policies, engine, Some(jobs)),
        None => (None, Engine::default(), None),
    };
    // Policies that could not be made have said why already.
    let is_missing = policies.is_none();
    let registry = registry::with(&namespaces, policies, &graphs.scoped());
    let plugins = loaded.plugins.iter();
    let entries = plugins
        .filter(|plugin| !(is_missing && plugin.name == policies::NAME))
        .filter_map(|plugin| Some((plugin.name.as_str(), entry(&registry, plugin, faults)?)))
        .collect();
    (entries, engine, jobs)
}

/// Policies that were built: the plug-in if a chain or jobs need it, what evaluates them, what judges jobs.
type BuiltPolicies = (Option<Arc<dyn Plugin>>, Engine, JobPolicies);

/// The policies: always compiled, built if they are asked, by the chain or about CI jobs.
fn policies(
    loaded: &Loaded,
    (context, guard): (&GlobalContext, Option<&Guard>),
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> Option<BuiltPolicies> {
    let compiled = Compiled::new(&loaded.policies)
        .map_err(|wrong| faults.extend(wrong))
        .ok()?;
    let entry = loaded.plugins.iter().find(|p| p.name == policies::NAME);
    let serves_jobs = |listener: &config::Listener| listener.serves.contains(&Service::Ci);
    let are_for_jobs = !loaded.policies.list.is_empty() && loaded.listeners.iter().any(serves_jobs);
    let around = PolicyEnvironment {
        failure: entry.map_or(FailureMode::Closed, |entry| entry.failure),
        context: context.clone(),
        guard: guard.cloned().unwrap_or_default(),
        masker: Arc::clone(&loaded.decisions.masker),
        observer,
        threads: None,
    };
    let jobs = |plugin| JobPolicies::new(plugin, &loaded.policies, &loaded.limits, around.clone());
    if entry.is_none() && !are_for_jobs {
        return Some((None, Engine::default(), jobs(None)));
    }
    let built = compiled.build(&loaded.policies, &loaded.limits, around.clone());
    let built = built.map_err(|why| {
        faults.push(match entry {
            Some(entry) => entry.origin.fault("", why),
            None => Fault::at("policies", why),
        });
    });
    let (plugin, engine) = built.ok()?;
    let jobs = jobs(Some(Arc::clone(&plugin)));
    Some((Some(plugin), engine, jobs))
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
            let timeout = plugin.timeout.map(Into::into);
            Some(
                ChainEntry::new(&plugin.name, made)
                    .failure(plugin.failure)
                    .timeout(timeout),
            )
        }
        Err(wrong) => {
            faults.extend(wrong.into_iter().map(|fault| {
                let message = format!("{}: {}", plugin.name, fault.message);
                plugin.origin.locate(Fault { message, ..fault })
            }));
            None
        }
    }
}

#[cfg(test)]
mod tests;
