//! Keeps the state of a profile's objects current: by polling a directory, or by watching a cluster.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use portcullis_core::clock;
use portcullis_core::sync::{Mutex, MutexGuard};
use portcullis_graph::{State, VertexKind};
use portcullis_kube::scoped_access::{LiveReader, Reading};
use portcullis_watch::{Access, Cluster, Follower, KindStatus, ObjectsDirectory, Report, Watches};

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
