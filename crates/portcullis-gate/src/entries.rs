//! The plug-ins of a chain, in their order, from a configuration; and what its policies keep between reviews.
//!
//! Servers and offline commands build their chains of these.

use std::sync::Arc;

use portcullis_config::{self as config, Loaded, Service};
use portcullis_core::{ChainEntry, FailureMode, Plugin};
use portcullis_document::Fault;
use portcullis_js::{GlobalContext, Guard};
use portcullis_kube::cluster_objects::ClusterObjects;
use portcullis_kube::{
    LookedUpNamespaces, Namespaces, PluginEnvironment, Registry, StaticNamespaces,
};

use crate::cluster::Lookups;
use crate::graphs::Graphs;
use crate::observer::Observer;
use crate::policies::{self, Compiled, Engine, JobPolicies, PolicyEnvironment};
use crate::registry;

/// What policies may keep between reviews, empty.
pub fn global_context(loaded: &Loaded) -> GlobalContext {
    GlobalContext::new(global_context_cap(loaded))
}

/// How much that may be.
pub fn global_context_cap(loaded: &Loaded) -> usize {
    loaded.limits.global_context.as_usize()
}

/// What plug-ins and policies know besides a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// Namespaces that are written down.
    pub(crate) namespaces: &'a StaticNamespaces,
    /// Agents.
    pub(crate) graphs: &'a Graphs,
    /// Objects of the cluster.
    pub(crate) lookups: &'a Lookups,
}

/// The plug-ins alone, in their order, ready to be asked. What policies keep between reviews is in `context`.
pub(crate) fn entries<'a>(
    loaded: &'a Loaded,
    surroundings: Surroundings<'_>,
    context: &GlobalContext,
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> Vec<(&'a str, ChainEntry)> {
    let lasting = (context, None);
    let (entries, engine, _) = build_entries(loaded, surroundings, lasting, observer, faults);
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
pub(crate) fn build_entries<'a>(
    loaded: &'a Loaded,
    surroundings: Surroundings<'_>,
    lasting: (&GlobalContext, Option<&Guard>),
    observer: Option<Arc<dyn Observer>>,
    faults: &mut Vec<Fault>,
) -> (Vec<(&'a str, ChainEntry)>, Engine, Option<JobPolicies>) {
    let Surroundings {
        namespaces,
        graphs,
        lookups,
    } = surroundings;
    let namespaces = namespaces.clone();
    let objects = Arc::clone(&lookups.plugins);
    let environment = PluginEnvironment {
        namespaces: Arc::new(LookedUpNamespaces::new(namespaces, Arc::clone(&objects))),
        objects,
    };
    let known = (&environment.namespaces, &lookups.policies);
    let observed = observer.clone();
    let (policies, engine, jobs) = match policies(loaded, known, lasting, observed, faults) {
        Some((policies, engine, jobs)) => (policies, engine, Some(jobs)),
        None => (None, Engine::default(), None),
    };
    // Policies that could not be made have said why already.
    let is_missing = policies.is_none();
    let registry = registry::with(&environment, policies, &graphs.scoped(), observer);
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
    (namespaces, objects): (&Arc<dyn Namespaces>, &Arc<dyn ClusterObjects>),
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
        namespaces: Arc::clone(namespaces),
        objects: Arc::clone(objects),
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
