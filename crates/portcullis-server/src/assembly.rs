//! Builds everything a configuration asks for, aside: nothing that runs is touched.
//!
//! What only a plug-in, a certificate parser or an attribute file's reader can find wrong is found
//! here, and told with the place in the configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_core::{Authorizer, AuthorizerChain, Chain, ChainEntry, FailureMode, Registry};
use portcullis_kube::authorizers::abac::{self, AbacPolicies, LineFault};
use portcullis_kube::authorizers::{AlwaysAllow, AlwaysDeny};
use portcullis_kube::namespaces::{Namespace, Namespaces, StaticNamespaces};

use crate::config::{self, AuthorizerDriver, Fault, Faults, LoadOptions, Loaded};
use crate::http::connection::ConnectionLimits;
use crate::http::listener::ListenerSetup;
use crate::http::tls;
use crate::registry;
use crate::server::Gate;

/// What a configuration became.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) gate: Gate,
    /// In the order of the configuration.
    pub(crate) listeners: Vec<(config::Listener, ListenerSetup)>,
}

/// Validates a configuration whole, and starts nothing. Returns what is odd but not wrong.
///
/// # Errors
///
/// When anything in it is wrong.
pub fn check(options: &LoadOptions<'_>) -> Result<Vec<String>, Faults> {
    let loaded = config::load(options)?;
    assemble(&loaded, None)?;
    Ok(loaded.warnings)
}

/// Builds the gate and the setup of every listener. Without a data directory nothing is written.
pub(crate) fn assemble(loaded: &Loaded, data_dir: Option<&Path>) -> Result<Assembled, Faults> {
    let mut faults = Vec::new();
    let chain = chain(loaded, &mut faults);
    let authorizers = authorizers(loaded, &mut faults);
    let listeners = listeners(loaded, data_dir, &mut faults);
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    let gate = Gate {
        chain,
        authorizers,
        pending_mutation: loaded.pending_mutation,
        limits: loaded.limits.clone(),
    };
    Ok(Assembled { gate, listeners })
}

/// Builds the chain alone.
pub(crate) fn chain(loaded: &Loaded, faults: &mut Vec<Fault>) -> Chain {
    let known = loaded.namespaces.iter().map(|n| Namespace {
        name: n.name.clone(),
        labels: n.labels.clone(),
        annotations: n.annotations.clone(),
    });
    let namespaces: Arc<dyn Namespaces> = Arc::new(known.collect::<StaticNamespaces>());
    let registry = registry::with_namespaces(&namespaces);
    let entries = loaded
        .plugins
        .iter()
        .filter_map(|plugin| entry(&registry, plugin, faults));
    Chain::new(entries.collect())
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
            let failure = match plugin.failure {
                config::FailureMode::Closed => FailureMode::Closed,
                config::FailureMode::Open => FailureMode::Open,
            };
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

fn authorizers(loaded: &Loaded, faults: &mut Vec<Fault>) -> BTreeMap<String, AuthorizerChain> {
    let mut made: BTreeMap<&str, Arc<dyn Authorizer>> = BTreeMap::new();
    for authorizer in &loaded.authorizers {
        let one: Arc<dyn Authorizer> = match (authorizer.driver, &authorizer.file) {
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
        made.insert(&authorizer.name, one);
    }
    let chain = |names: &Vec<String>| {
        let members = names.iter().filter_map(|name| {
            made.get(name.as_str())
                .map(|one| (Arc::from(name.as_str()), Arc::clone(one)))
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
    let text = std::fs::read_to_string(file).map_err(|e| {
        vec![
            authorizer
                .origin
                .fault("file", format!("{}: {e}", file.display())),
        ]
    })?;
    abac::parse(&text).map_err(|wrong| {
        let fault = |w: &LineFault| {
            let message = format!("{}:{}: {}", file.display(), w.line, w.message);
            authorizer.origin.fault("file", message)
        };
        wrong.iter().map(fault).collect()
    })
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
                made.push((
                    listener.clone(),
                    ListenerSetup {
                        name,
                        serves,
                        tls,
                        limits,
                    },
                ));
            }
            Err(why) => faults.push(listener.origin.fault("tls", why)),
        }
    }
    made
}
