//! Keeps the state of a profile's objects current: by polling a directory, or by watching a cluster.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use portcullis_core::clock;
use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_graph::{State, VertexKind};
use portcullis_kube::scoped_access::{LiveReader, Reading};
use portcullis_watch::{Access, Cluster, Follower, KindStatus, ObjectsDirectory, Report, Watches};

use crate::watched::{WatchState, WatchedKind};
use portcullis_config::GraphSource;

/// Keeps a state current.
#[derive(Debug)]
pub(super) struct Feed {
    source: GraphSource,
    state: Arc<State>,
    seen: Arc<Mutex<DirectoryStatus>>,
    running: Mutex<Option<Running>>,
    cluster: Arc<OnceLock<Cluster>>,
}

/// What the last look at a directory was like.
#[derive(Debug)]
struct DirectoryStatus {
    at: Instant,
    /// When something was read or removed.
    changed_at: Option<SystemTime>,
    troubles: Vec<String>,
}

/// What ends with its holder.
#[derive(Debug)]
enum Running {
    Directory(#[expect(dead_code, reason = "held to go on")] Follower),
    Cluster(Watches),
}

impl Feed {
    pub(super) fn new(source: GraphSource, state: Arc<State>) -> Self {
        let seen = DirectoryStatus {
            at: clock::monotonic(),
            changed_at: None,
            troubles: Vec::new(),
        };
        Self {
            source,
            state,
            seen: Arc::new(Mutex::new(seen)),
            running: Mutex::default(),
            cluster: Arc::default(),
        }
    }

    /// Starts, unless it has started. Only one caller starts it at a time.
    pub(super) async fn start(&self, name: &str) -> Result<(), String> {
        if self.running().is_some() {
            return Ok(());
        }
        let started = match &self.source {
            GraphSource::Nowhere => return Ok(()),
            GraphSource::Directory(path) => Running::Directory(self.follow(path)?),
            GraphSource::Cluster(access) => self.watch(name, access).await?,
        };
        *self.running() = Some(started);
        Ok(())
    }

    fn follow(&self, path: &Path) -> Result<Follower, String> {
        let directory = open(path)?;
        let seen = Arc::clone(&self.seen);
        Follower::start(directory, Arc::clone(&self.state), move |report| {
            for trouble in &report.news {
                tracing::warn!("{trouble}");
            }
            note(&seen, &report);
        })
        .map_err(|error| format!("cannot start a thread to watch its objects: {error}"))
    }

    async fn watch(&self, name: &str, access: &Access) -> Result<Running, String> {
        let cluster = Cluster::connect(access).await;
        let cluster = cluster.map_err(|error| error.to_string())?;
        let watches = cluster
            .watch(name, Arc::clone(&self.state))
            .map_err(|error| format!("cannot start a thread to watch its objects: {error}"))?;
        let _ = self.cluster.set(cluster);
        Ok(Running::Cluster(watches))
    }

    /// Looks at a directory once, without following it.
    pub(super) fn look_once(&self) -> Result<(), String> {
        if let GraphSource::Directory(path) = &self.source {
            let report = open(path)?.sync(&*self.state);
            note(&self.seen, &report);
        }
        Ok(())
    }

    /// The reader of single objects, if there is a cluster.
    pub(super) fn reader(&self) -> Option<Arc<dyn LiveReader>> {
        match &self.source {
            GraphSource::Cluster(_) => Some(Arc::new(ClusterReader(Arc::clone(&self.cluster)))),
            GraphSource::Directory(_) | GraphSource::Nowhere => None,
        }
    }

    /// For how long the objects have not been known to be current.
    pub(super) fn lag(&self) -> Duration {
        match &*self.running() {
            Some(Running::Cluster(watches)) => watches.lag(),
            _ => {
                let at = self.seen.lock().at;
                clock::monotonic().saturating_duration_since(at)
            }
        }
    }

    /// Every kind that is followed, in the order of the profile.
    pub(super) fn watches(&self) -> Vec<WatchedKind> {
        let profile = self.state.profile();
        let sources = profile.sources.iter();
        let kinds = sources.map(|(source, kind)| {
            let name = profile.kinds.name(kind).to_owned();
            (name, self.state.objects(source))
        });
        match &*self.running() {
            None => kinds.map(|(kind, _)| WatchedKind::pending(kind)).collect(),
            Some(Running::Cluster(watches)) => {
                let status = watches.status().into_iter();
                kinds
                    .zip(status)
                    .map(|((kind, objects), status)| WatchedKind::of_cluster(kind, status, objects))
                    .collect()
            }
            Some(Running::Directory(_)) => {
                let is_synced = self.state.is_caught_up();
                let last_event = self.seen.lock().changed_at;
                kinds
                    .map(|(kind, objects)| WatchedKind {
                        state: match is_synced {
                            true => WatchState::Watching,
                            false => WatchState::Listing,
                        },
                        is_synced,
                        objects,
                        last_event,
                        ..WatchedKind::pending(kind)
                    })
                    .collect()
            }
        }
    }

    /// What is wrong now.
    pub(super) fn troubles(&self) -> Vec<String> {
        match &*self.running() {
            Some(Running::Cluster(watches)) => {
                watches.status().iter().filter_map(trouble).collect()
            }
            _ => {
                let seen = self.seen.lock();
                seen.troubles.clone()
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock()
    }
}

fn open(path: &Path) -> Result<ObjectsDirectory, String> {
    ObjectsDirectory::open(path).map_err(|error| error.to_string())
}

fn note(seen: &Mutex<DirectoryStatus>, report: &Report) {
    let mut seen = seen.lock();
    seen.at = clock::monotonic();
    if report.changed {
        seen.changed_at = Some(clock::wall());
    }
    seen.troubles = report.malformed.iter().map(ToString::to_string).collect();
}

/// What is wrong with the watch of a kind.
fn trouble(kind: &KindStatus) -> Option<String> {
    let why = kind.error.as_ref()?;
    Some(format!("{}: {why}", kind.resource))
}

/// Reads from a cluster as soon as the way to it is known.
struct ClusterReader(Arc<OnceLock<Cluster>>);

impl LiveReader for ClusterReader {
    fn read(&self, kind: &VertexKind, namespace: &str, name: &str, deadline: Instant) -> Reading {
        match self.0.get() {
            Some(cluster) => cluster.read(kind, namespace, name, deadline),
            None => Box::pin(std::future::ready(Err(
                "not connected to the API server yet".to_owned(),
            ))),
        }
    }
}
