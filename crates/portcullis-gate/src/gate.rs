//! Everything that judges, built from one configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_config::{Limits, PendingMutation, Web};
use portcullis_core::{AuthorizerChain, Chain};
use portcullis_record::Masker;

use crate::access::Access;
use crate::cluster::ClusterInForce;
use crate::graphs::Graphs;
use crate::policies::{Engine, JobPolicies, ListedPolicy};
use crate::replay::InForce;

/// Everything that judges, built from one configuration and swapped whole.
#[derive(Debug)]
pub struct Gate {
    /// The plug-ins.
    pub chain: Chain,
    /// What evaluates the policies among them.
    pub engine: Engine,
    /// Chains of authorizers by name.
    pub authorizers: BTreeMap<String, AuthorizerChain>,
    /// What `/validate` does with an object that would still be changed.
    pub pending_mutation: PendingMutation,
    /// The digest of everything that judges.
    pub digest: Arc<str>,
    /// The policies, in the order they are asked.
    pub policies: Vec<ListedPolicy>,
    /// The digest of each policy, by name.
    pub policy_digests: BTreeMap<String, Arc<str>>,
    /// What is masked in logs.
    pub masker: Arc<Masker>,
    /// Who may do what over the API.
    pub access: Access,
    /// Agents, and what is known of what they are responsible for.
    pub graphs: Graphs,
    /// The cluster that plug-ins and policies look up.
    pub cluster: ClusterInForce,
    /// Every authorizer, in the order of the configuration, whether a chain names it or not.
    pub all_authorizers: AuthorizerChain,
    /// What judges CI jobs.
    pub job_policies: JobPolicies,
    /// Limits on requests.
    pub limits: Limits,
    /// What decides recorded requests again.
    pub replays: InForce,
    /// The web pages.
    pub web: Web,
}
