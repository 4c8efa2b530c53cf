//! The cluster that plug-ins and policies look up: what is known of its objects, and what keeps that current.
//!
//! The kinds that are watched are those of `kube.kinds`, which policies may see, those that plug-ins in the order
//! need, and namespaces if policies are chosen by their labels. A configuration that changes nothing of that takes over what is known.

mod access;
mod lookups;

use std::sync::Arc;
use std::time::Duration;

use portcullis_config::{Kube, Loaded};
use portcullis_core::sync::Mutex;
use portcullis_kube::cluster_objects::ObjectKind;
use portcullis_watch::{Access, CachedKind, Cluster, ObjectCache, Watches};

use crate::digest;
use crate::registry;
use crate::watched::WatchedKind;

pub use access::{ClusterAccess, cluster_access};
pub(crate) use lookups::Lookups;

/// Larger files are not kubeconfigs.
const LARGEST_KUBECONFIG: u64 = 16 << 20;
/// Why nothing is known of a kind.
const TOO_LARGE: &str = "its objects exceed the memory limit, raise `kube.memory`";
/// How often a wait for the first lists looks again.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The cluster in force; nothing where none is configured.
#[derive(Debug, Clone, Default)]
pub struct ClusterInForce(Option<Arc<Watched>>);

#[derive(Debug)]
struct Watched {
    settings: Settings,
    cache: Arc<ObjectCache>,
    watches: Mutex<Option<Watches>>,
}

/// What it was made of: the same settings make the same.
#[derive(Debug, PartialEq, Eq)]
struct Settings {
    access: Access,
    /// Of the kubeconfig: with other credentials it is another way to the cluster.
    credentials: Option<Arc<str>>,
    kinds: Vec<ObjectKind>,
    memory: usize,
}

/// The kinds of a cluster's objects that a configuration needs, sorted.
fn kinds(loaded: &Loaded, kube: &Kube) -> Vec<ObjectKind> {
    let registry = registry::connected();
    let plugins = loaded.plugins.iter();
    let of_plugins = plugins.filter_map(|plugin| registry.get(&plugin.name));
    let of_plugins = of_plugins.flat_map(|descriptor| &descriptor.reads);
    let mut kinds: Vec<ObjectKind> = of_plugins.chain(&kube.kinds).cloned().collect();
    let mut policies = loaded.policies.list.iter();
    if policies.any(|policy| policy.matcher.looks_at_namespaces()) {
        kinds.push(ObjectKind::NAMESPACE);
    }
    kinds.sort();
    kinds.dedup();
    kinds
}

impl ClusterInForce {
    /// What a configuration names; what `previous` has unchanged is taken over. Nothing is watched yet.
    pub(crate) fn build(loaded: &Loaded, previous: Option<&Self>) -> Self {
        let Some(kube) = &loaded.kube else {
            return Self::default();
        };
        let settings = Settings {
            access: kube.access.clone(),
            credentials: credentials(&kube.access),
            kinds: kinds(loaded, kube),
            memory: kube.memory,
        };
        let known = previous.and_then(|previous| previous.0.as_ref());
        if let Some(known) = known.filter(|known| known.settings == settings) {
            return Self(Some(Arc::clone(known)));
        }
        let cache = ObjectCache::new(settings.kinds.iter().cloned(), settings.memory);
        Self(Some(Arc::new(Watched {
            settings,
            cache: Arc::new(cache),
            watches: Mutex::default(),
        })))
    }

    /// What plug-ins and policies of this configuration may look up there.
    pub(crate) fn lookups(&self, loaded: &Loaded) -> Lookups {
        match (&self.0, &loaded.kube) {
            (Some(watched), Some(kube)) => {
                Lookups::limited(Arc::clone(&watched.cache) as _, kube.kinds.clone())
            }
            _ => Lookups::default(),
        }
    }

    /// Begins to watch, unless it is watched. Needs a runtime.
    ///
    /// # Errors
    ///
    /// When the way to the cluster can't be used at all, or a thread can't be started.
    pub async fn start(&self) -> Result<(), String> {
        let Some(watched) = &self.0 else {
            return Ok(());
        };
        if watched.watches.lock().is_some() {
            return Ok(());
        }
        let wrong = |why: String| format!("kube: {why}");
        let cluster = Cluster::connect(&watched.settings.access).await;
        let cluster = cluster.map_err(|error| wrong(error.to_string()))?;
        let watches = cluster.watch_objects(&watched.cache);
        let watches = watches
            .map_err(|error| wrong(format!("cannot start a thread to watch objects: {error}")))?;
        *watched.watches.lock() = Some(watches);
        Ok(())
    }

    /// Waits until every kind was listed.
    ///
    /// # Errors
    ///
    /// When that takes longer; says why.
    pub async fn synced(&self, within: Duration) -> Result<(), String> {
        let wait = async {
            while !self.is_synced() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(within, wait).await.is_ok() {
            return Ok(());
        }
        let troubles = self.troubles();
        let why = troubles.first().map(|why| format!(": {why}"));
        Err(format!(
            "the objects of the cluster are not synced yet{}",
            why.unwrap_or_default()
        ))
    }

    /// Whether a cluster is configured.
    pub fn is_configured(&self) -> bool {
        self.0.is_some()
    }

    /// Whether every kind was listed at least once, or is not served.
    pub fn is_synced(&self) -> bool {
        let Some(watched) = &self.0 else {
            return true;
        };
        let watches = watched.watches.lock();
        watches
            .as_ref()
            .is_some_and(|watches| watches.status().iter().all(|kind| kind.listed))
    }

    /// For how long the kind that is worst off has not been known to be up to date.
    pub fn lag(&self) -> Duration {
        let watched = self.0.as_ref();
        let lag = watched.and_then(|watched| Some(watched.watches.lock().as_ref()?.lag()));
        lag.unwrap_or_default()
    }

    /// What is known of each kind.
    pub fn kinds(&self) -> Vec<CachedKind> {
        let watched = self.0.iter();
        watched.flat_map(|watched| watched.cache.kinds()).collect()
    }

    /// Every kind that is followed.
    pub fn watches(&self) -> Vec<WatchedKind> {
        let Some(watched) = &self.0 else {
            return Vec::new();
        };
        let kinds = watched.cache.kinds().into_iter();
        let watches = watched.watches.lock();
        let Some(watches) = watches.as_ref() else {
            return kinds
                .map(|kind| WatchedKind::pending(kind.kind.to_string()))
                .collect();
        };
        let all = kinds.zip(watches.status()).map(|(kind, status)| {
            let too_large = kind.is_too_large.then(|| TOO_LARGE.to_owned());
            let one = WatchedKind::of_cluster(kind.kind.to_string(), status, kind.objects);
            WatchedKind {
                is_synced: kind.is_known,
                error: one.error.or(too_large),
                ..one
            }
        });
        all.collect()
    }

    /// What is wrong with watching, a line each.
    pub fn troubles(&self) -> Vec<String> {
        let Some(watched) = &self.0 else {
            return Vec::new();
        };
        let too_large = watched.cache.kinds().into_iter();
        let too_large = too_large.filter(|kind| kind.is_too_large);
        let too_large = too_large.map(|kind| {
            let kind = kind.kind;
            format!("{kind}: {TOO_LARGE}")
        });
        let watches = watched.watches.lock();
        let status = watches.iter().flat_map(Watches::status);
        let failing = status.filter_map(|kind| Some(format!("{}: {}", kind.resource, kind.error?)));
        failing.chain(too_large).collect()
    }
}

fn credentials(access: &Access) -> Option<Arc<str>> {
    let Access::Kubeconfig(path) = access else {
        return None;
    };
    let text = portcullis_files::read(path, LARGEST_KUBECONFIG).ok()?;
    Some(digest::bytes(&text))
}
