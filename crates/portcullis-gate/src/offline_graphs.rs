//! Graphs without a server, for the command line: read once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portcullis_core::Authorizer;
use portcullis_graph::{Compat, Profile, Selectors};
use portcullis_kube::scoped_access;

use crate::authorizers;
use crate::graphs::{Graphs, ProfileInForce};
use portcullis_config::{
    self as config, GraphProfile, GraphSource, Listening, LoadOptions, Loaded,
    profile::{self, ReadProfile},
};
use portcullis_document::{Faults, Origin, Source};

/// The longest that a command waits for a cluster that doesn't answer.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// The longest that it waits for one that has much to list.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a configuration says about agents.
pub struct Offline {
    /// The graphs.
    pub graphs: Graphs,
    /// All authorizers, in the order of the configuration.
    pub authorizers: Vec<(String, Arc<dyn Authorizer>)>,
}

impl std::fmt::Debug for Offline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Offline")
            .field("graphs", &self.graphs)
            .finish_non_exhaustive()
    }
}

/// Why there are no graphs.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// The configuration is faulty.
    #[error("{0}")]
    Invalid(#[from] Faults),
    /// The objects of a cluster can't be listed.
    #[error("{0}")]
    Unreachable(String),
}

impl From<OfflineError> for Faults {
    fn from(error: OfflineError) -> Self {
        match error {
            OfflineError::Invalid(faults) => faults,
            OfflineError::Unreachable(why) => Source::named("graph").fault(None, "", why).into(),
        }
    }
}

/// Reads a profile: a built-in name, or a file.
///
/// # Errors
///
/// What is wrong with it.
pub fn read_profile(name: &str) -> Result<Arc<Profile>, Faults> {
    read(name).map(|read| read.profile)
}

fn read(name: &str) -> Result<ReadProfile, Faults> {
    if let Some(read) = profile::built_in(name) {
        return read;
    }
    profile::of_file(Path::new(name)).unwrap_or_else(|reason| {
        let message = format!("neither a built-in profile nor a readable file: {reason}");
        let fault = Source::named(name).fault(None, "", message);
        Err(fault
            .with_known("built-in profiles", name, profile::names())
            .into())
    })
}

/// The graph of a profile over a directory, looked at once.
///
/// # Errors
///
/// When the profile or the directory can't be used.
pub fn from_directory(name: &str, objects: &Path) -> Result<ProfileInForce, Faults> {
    let read = read(name)?;
    let declared = GraphProfile {
        name: name.to_owned(),
        profile: read.profile,
        text: read.text,
        source: GraphSource::Directory(objects.to_owned()),
        compat: Compat::default(),
        selectors: Selectors::default(),
        origin: Origin::named("--objects"),
    };
    let profile = ProfileInForce::new(&declared, None);
    let looked = profile.look_once();
    looked.map_err(|why| declared.origin.fault("", why))?;
    Ok(profile)
}

/// The graphs and authorizers of a configuration. Directories are read once; clusters are listed.
///
/// # Errors
///
/// When the configuration is faulty, or objects can't be read.
pub fn from_config(options: &LoadOptions<'_>) -> Result<Offline, OfflineError> {
    let loaded = config::load(&LoadOptions {
        listeners: Listening::Ignored,
        ..options.clone()
    })?;
    let graphs = look(&loaded)?;
    let mut faults = Vec::new();
    let authorizers = authorizers::single(&loaded, &graphs, &mut faults);
    match Faults::from_list(faults) {
        Some(faults) => Err(faults.into()),
        None => Ok(Offline {
            graphs,
            authorizers,
        }),
    }
}

/// The graphs that plug-ins of a configuration judge by, looked at once; none are looked at in vain.
pub(crate) fn for_plugins(loaded: &Loaded) -> Result<Graphs, Faults> {
    match loaded.plugins.iter().any(|p| p.name == scoped_access::NAME) {
        true => Ok(look(loaded)?),
        false => Ok(Graphs::default()),
    }
}

/// The graphs that plug-ins or chains of authorizers of a configuration judge by, looked at once.
pub(crate) fn for_everything(loaded: &Loaded) -> Result<Graphs, Faults> {
    let names_profile = |names: &Vec<String>| {
        let mut graphs = loaded.graphs.iter();
        graphs.any(|profile| names.contains(&profile.name))
    };
    match loaded.chains.values().any(names_profile) {
        true => Ok(look(loaded)?),
        false => for_plugins(loaded),
    }
}

/// The graphs of a configuration, looked at once.
fn look(loaded: &Loaded) -> Result<Graphs, OfflineError> {
    let graphs = Graphs::build(&loaded.graphs, None, |_, _| None);
    let mut needs_cluster = false;
    for (profile, declared) in graphs.iter().zip(&loaded.graphs) {
        let fault = |why: String| Faults::from(declared.origin.fault("", why));
        match declared.source {
            GraphSource::Directory(_) => profile.look_once().map_err(fault)?,
            GraphSource::Cluster(_) => needs_cluster = true,
            GraphSource::Nowhere => {
                let why = "it has no source of objects: add one, or use --profile with --objects";
                return Err(fault(why.to_owned()).into());
            }
        }
    }
    if needs_cluster {
        list(&graphs).map_err(OfflineError::Unreachable)?;
    }
    Ok(graphs)
}

/// Lists what clusters have, and watches no longer.
fn list(graphs: &Graphs) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))?;
    let listed = runtime.block_on(async {
        graphs.start().await?;
        match graphs.caught_up(FIRST_PATIENCE).await {
            // It is slow, but no error is known.
            Err(_) if graphs.iter().all(|one| one.troubles().is_empty()) => {
                graphs.caught_up(PATIENCE).await
            }
            outcome => outcome,
        }
    });
    runtime.shutdown_background();
    listed
}
