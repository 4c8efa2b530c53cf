//! The authorizers of a configuration, and their chains.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_config::{self as config, AuthorizerDriver, Loaded};
use portcullis_core::{Authorizer, AuthorizerChain};
use portcullis_document::Fault;
use portcullis_kube::abac::{self, AbacPolicies};
use portcullis_kube::{AlwaysAllow, AlwaysDeny};

use crate::graphs::Graphs;

/// Every authorizer by its name, in the order of the configuration.
pub(crate) fn single(
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
pub(crate) fn by_chain(
    loaded: &Loaded,
    graphs: &Graphs,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, AuthorizerChain> {
    chains(loaded, &single(loaded, graphs, faults))
}

pub(crate) fn chains(
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
    let source = portcullis_config::read_source(file)
        .map_err(|reason| vec![at(format!("cannot read `{}`: {reason}", file.display()))])?;
    // The place is where the configuration names the file; the message says where in it.
    let policies = abac::parse(&source).map_err(|wrong| {
        wrong
            .iter()
            .map(|fault| at(fault.to_string()))
            .collect::<Vec<_>>()
    })?;
    if policies.is_empty() {
        let message = format!(
            "`{}` has no policies: at least one is required",
            file.display()
        );
        return Err(vec![at(message)]);
    }
    Ok(policies)
}
