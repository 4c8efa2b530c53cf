//! Names that are on this machine: those of a configuration, and decisions of a store.

use portcullis_config::{ConfigSource, Listening, Loaded};
use portcullis_graph::built_in;

use super::words::Words;
use super::{Candidate, MOST};
use crate::arguments::{Admission, Filter, load_options};
use crate::source;

/// The built-in plug-ins.
pub(super) fn plugins() -> Vec<Candidate> {
    let registry = portcullis_gate::registry();
    let plugins = registry.iter();
    plugins
        .map(|plugin| (plugin.name.to_owned(), plugin.summary.to_owned()))
        .collect()
}

/// Policies of the configuration, or of a folder of policies.
pub(super) fn policies(words: &Words) -> Vec<Candidate> {
    let folder = words.policies();
    let loaded = match &folder {
        Some(folder) => load(ConfigSource::Policies(folder)),
        None => configuration(words),
    };
    let policies = loaded.into_iter().flat_map(|loaded| loaded.policies.list);
    policies
        .map(|policy| (policy.name.to_string(), "policy".to_owned()))
        .collect()
}

/// What takes part in decisions: policies, plug-ins and authorizers.
pub(super) fn deciders(words: &Words) -> Vec<Candidate> {
    let mut all = policies(words);
    all.extend(plugins());
    all.extend(authorizers(words));
    all
}

/// Graph profiles of the configuration, then the built-in ones.
pub(super) fn profiles(words: &Words) -> Vec<Candidate> {
    let of_config = configuration(words)
        .into_iter()
        .flat_map(|loaded| loaded.graphs);
    let of_config =
        of_config.map(|profile| (profile.name, "profile of the configuration".to_owned()));
    of_config.chain(built_in_profiles()).collect()
}

/// The built-in graph profiles.
pub(super) fn built_in_profiles() -> Vec<Candidate> {
    let built_in = built_in::ALL.iter();
    built_in
        .map(|(name, _)| ((*name).to_owned(), "built-in profile".to_owned()))
        .collect()
}

/// Authorizers of the configuration.
pub(super) fn authorizers(words: &Words) -> Vec<Candidate> {
    let all = configuration(words)
        .into_iter()
        .flat_map(|loaded| loaded.authorizers);
    all.map(|one| (one.name, "authorizer".to_owned())).collect()
}

/// Chains of authorizers of the configuration.
pub(super) fn chains(words: &Words) -> Vec<Candidate> {
    let all = configuration(words)
        .into_iter()
        .flat_map(|loaded| loaded.chains);
    all.map(|(name, authorizers)| (name, authorizers.join(", ")))
        .collect()
}

/// Contexts, with their servers.
pub(super) fn contexts() -> Vec<Candidate> {
    let all = crate::contexts::read()
        .unwrap_or_default()
        .contexts
        .into_iter();
    all.map(|one| (one.name, one.server)).collect()
}

/// Tenants and authenticators of the configuration.
pub(super) fn access(words: &Words) -> (Vec<Candidate>, Vec<Candidate>) {
    let file = words.configuration().file();
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let admission = Admission::default();
    let options = load_options(ConfigSource::File(&file), &admission, &known);
    let Ok(access) = portcullis_gate::access::load(&options) else {
        return (Vec::new(), Vec::new());
    };
    let tenants = access.roles.tenants();
    let tenants = tenants.map(|tenant| (tenant.name().to_owned(), "tenant".to_owned()));
    let signers = access.authenticators.signers(false).into_iter();
    let signers = signers.map(|name| (name.to_owned(), "authenticator".to_owned()));
    (tenants.collect(), signers.collect())
}

/// The newest decisions that begin with what is typed, in a store or on a server.
pub(super) fn decisions(words: &Words) -> Vec<Candidate> {
    let Ok(mut source) = source::open(&words.store()) else {
        return Vec::new();
    };
    let listed = source.list(&Filter::default(), None, MOST);
    let items = listed.map(|listed| listed.items).unwrap_or_default();
    let about = |one: &portcullis_record::Summary| {
        let name = match one.namespace.is_empty() {
            true => one.name.clone(),
            false => format!("{}/{}", one.namespace, one.name),
        };
        format!(
            "{} {} {} {name}",
            one.verdict.as_str(),
            one.operation,
            one.kind
        )
    };
    items
        .iter()
        .map(|one| (one.id.clone(), about(one)))
        .collect()
}

fn configuration(words: &Words) -> Option<Loaded> {
    load(ConfigSource::File(&words.configuration().file()))
}

fn load(source: ConfigSource<'_>) -> Option<Loaded> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let admission = Admission::default();
    let mut options = load_options(source, &admission, &known);
    options.listeners = Listening::Ignored;
    portcullis_config::load(&options).ok()
}
