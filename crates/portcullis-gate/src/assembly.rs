//! Builds everything a configuration asks for, without touching anything that runs.
//!
//! What only a plug-in or the reader of an attribute file can find wrong is found here, and reported with
//! the place in the configuration.

use std::path::Path;
use std::sync::Arc;

use portcullis_config::Loaded;
use portcullis_core::{AuthorizerChain, Chain};
use portcullis_document::Fault;
use portcullis_graph::{Observer as GraphObserver, Profile};
use portcullis_js::{GlobalContext, Guard};

use crate::access::{self, Access};
use crate::authorizers;
use crate::cluster::ClusterInForce;
use crate::digest;
use crate::entries::{Surroundings, build_entries};
use crate::gate::Gate;
use crate::graphs::Graphs;
use crate::policies;
use crate::replay::InForce;

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
    /// What is known of the cluster, if nothing about it changes.
    pub cluster: Option<&'a ClusterInForce>,
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
    let cluster = ClusterInForce::build(loaded, before.cluster);
    let surroundings = Surroundings {
        namespaces: &loaded.namespaces.iter().cloned().collect(),
        graphs: &graphs,
        lookups: &cluster.lookups(loaded),
    };
    let built = build_entries(loaded, surroundings, lasting, None, faults);
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
        replays: InForce::new(loaded, &graphs),
        graphs,
        cluster,
        all_authorizers,
        limits: loaded.limits.clone(),
        web: loaded.web,
    })
}

#[cfg(test)]
mod tests;
