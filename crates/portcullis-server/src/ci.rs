//! CI jobs: the service that has them, and the settings it is opened with.
//!
//! A reload changes its settings; another store is opened beside it, and takes its place. Who judges and records for
//! it is the matter of `job_door`, which opens it.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use portcullis_ci::{Gate, OpenError, PolicyJudge, Recorder, Service as Jobs, Settings};
use portcullis_config::{Loaded, Service};
use portcullis_core::sync::Mutex;
use portcullis_store::Location;
use tokio::sync::watch;

use crate::causes::with_causes;

/// How long the deliveries of a store that is given up may take to end.
const MOVE_WITHIN: Duration = Duration::from_secs(5);

/// Whether a listener is there for CI jobs.
pub(crate) fn is_served(loaded: &Loaded) -> bool {
    let mut listeners = loaded.listeners.iter();
    listeners.any(|listener| listener.serves(Service::Ci))
}

/// What the service asks and tells.
pub(crate) struct Collaborators {
    /// Judges jobs by policies.
    pub(crate) judge: Arc<dyn PolicyJudge>,
    /// Records what was decided.
    pub(crate) recorder: Arc<dyn Recorder>,
    /// Holds back pipelines.
    pub(crate) gate: Arc<dyn Gate>,
}

/// The service, and what it is opened with.
#[derive(Debug)]
pub(crate) struct CiJobs {
    wanted: Mutex<Wanted>,
    /// Where it is kept, if it is open.
    open: tokio::sync::Mutex<Option<(Location, Jobs)>>,
    opening: Mutex<Opening>,
    /// How often it was opened.
    openings: watch::Sender<u64>,
}

/// How opening went.
#[derive(Debug, Default)]
struct Opening {
    /// What is open.
    location: Option<Location>,
    /// Why the last attempt failed.
    fault: Option<String>,
}

#[derive(Debug, Clone)]
struct Wanted {
    location: Location,
    /// As configured.
    settings: Settings,
    /// Where artifacts are unless the settings say so.
    artifacts: PathBuf,
    /// Where this server can be reached.
    listener: Option<String>,
    /// Whether a listener is there for it.
    is_served: bool,
}

impl Wanted {
    fn new(location: Location, loaded: &Loaded, data_dir: &Path, listener: Option<String>) -> Self {
        let mut settings = loaded.ci.clone();
        // A path is relative to the file that has it.
        let folder = loaded.file.as_deref().and_then(Path::parent);
        if let (Some(path), Some(folder)) = (&mut settings.artifacts.path, folder) {
            *path = folder.join(&*path);
        }
        Self {
            location,
            settings,
            artifacts: data_dir.join("artifacts"),
            listener,
            is_served: is_served(loaded),
        }
    }

    /// The settings with a URL that controllers can call back, and a directory for artifacts.
    fn settings(&self) -> Settings {
        let own = || self.listener.clone();
        let public_url = self.settings.public_url.clone().or_else(own);
        let mut settings = Settings {
            public_url: Some(public_url.unwrap_or_else(|| "http://localhost".to_owned())),
            ..self.settings.clone()
        };
        let path = &mut settings.artifacts.path;
        path.get_or_insert_with(|| self.artifacts.clone());
        settings
    }
}

impl CiJobs {
    pub(crate) fn new(location: Location, loaded: &Loaded, data_dir: &Path) -> Self {
        Self {
            wanted: Mutex::new(Wanted::new(location, loaded, data_dir, None)),
            open: tokio::sync::Mutex::new(None),
            opening: Mutex::new(Opening::default()),
            openings: watch::Sender::new(0),
        }
    }

    /// Is told whenever it is opened.
    pub(crate) fn watch_openings(&self) -> watch::Receiver<u64> {
        self.openings.subscribe()
    }

    /// Whether anyone is told whenever it is opened.
    pub(crate) fn is_watched(&self) -> bool {
        self.openings.receiver_count() > 0
    }

    /// Whether a listener is there for CI jobs.
    pub(crate) fn is_served(&self) -> bool {
        self.wanted.lock().is_served
    }

    /// The service, if it is open.
    pub(crate) async fn opened(&self) -> Option<Jobs> {
        let open = self.open.lock().await;
        open.as_ref().map(|(_, jobs)| jobs.clone())
    }

    /// Whether jobs can be served, or why not; nothing where no listener is there for them.
    pub(crate) fn readiness(&self) -> Option<Result<(), String>> {
        let wanted = self.wanted.lock();
        if !wanted.is_served {
            return None;
        }
        let opening = self.opening.lock();
        if opening.location.as_ref() == Some(&wanted.location) {
            return Some(Ok(()));
        }
        let not_yet = || "it is being opened".to_owned();
        Some(Err(opening.fault.clone().unwrap_or_else(not_yet)))
    }

    /// The store that is wanted.
    pub(crate) fn location(&self) -> Location {
        self.wanted.lock().location.clone()
    }

    /// Where this server is reached by controllers, unless the configuration says so.
    pub(crate) fn set_listener(&self, place: Option<&str>) {
        self.wanted.lock().listener = place.map(reachable);
    }

    /// The service; opened now if it isn't open.
    ///
    /// # Errors
    ///
    /// When the store can't be opened.
    pub(crate) async fn service(
        &self,
        collaborators: impl Future<Output = Collaborators>,
    ) -> Result<Jobs, OpenError> {
        let mut open = self.open.lock().await;
        let wanted = self.wanted.lock().clone();
        if let Some((location, jobs)) = &*open
            && *location == wanted.location
        {
            return Ok(jobs.clone());
        }
        let Collaborators {
            judge,
            recorder,
            gate,
        } = collaborators.await;
        let settings = wanted.settings();
        let opening = Jobs::open_behind(gate, &wanted.location, settings, judge, recorder);
        let opened = opening.await.inspect_err(|error| {
            self.opening.lock().fault = Some(with_causes(error));
        })?;
        *self.opening.lock() = Opening {
            location: Some(wanted.location.clone()),
            fault: None,
        };
        let before = open.replace((wanted.location, opened.clone()));
        self.openings.send_modify(|count| *count += 1);
        if let Some((_, before)) = before {
            before.shut_down(MOVE_WITHIN).await;
        }
        Ok(opened)
    }

    /// Takes over another configuration. What is open goes on with it; see [`Self::follow`].
    pub(crate) fn change(
        &self,
        location: Location,
        loaded: &Loaded,
        data_dir: &Path,
        place: Option<&str>,
    ) {
        let mut wanted = self.wanted.lock();
        let listener = place.map(reachable).or(wanted.listener.take());
        *wanted = Wanted::new(location, loaded, data_dir, listener);
    }

    /// Gives what is open the settings that are wanted. Whether something is open.
    pub(crate) async fn follow(&self) -> bool {
        let open = self.open.lock().await;
        if let Some((_, jobs)) = &*open {
            jobs.change(self.wanted.lock().settings());
        }
        open.is_some()
    }

    /// Answers requests of runners and controllers that are held: the server is about to end.
    pub(crate) async fn stop_holding(&self) {
        if let Some(jobs) = self.opened().await {
            jobs.stop_holding();
        }
    }

    /// Ends what is under way, as far as there is time.
    pub(crate) async fn shut_down(&self, within: Duration) {
        let open = self.open.lock().await.take();
        if let Some((_, jobs)) = open {
            jobs.shut_down(within).await;
        }
    }
}

/// A URL by which a listener can be reached from here: one at every address is at the loopback address too.
fn reachable(place: &str) -> String {
    let Some((scheme, address)) = place.split_once("://") else {
        return place.to_owned();
    };
    match address.parse::<SocketAddr>() {
        Ok(at) if at.ip().is_unspecified() => {
            let host = match at.ip() {
                IpAddr::V4(_) => "127.0.0.1",
                IpAddr::V6(_) => "[::1]",
            };
            format!("{scheme}://{host}:{}", at.port())
        }
        _ => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_at_every_address_is_reached_at_the_loopback_address() {
        for (place, wanted) in [
            ("http://127.0.0.1:80", "http://127.0.0.1:80"),
            ("https://0.0.0.0:8443", "https://127.0.0.1:8443"),
            ("http://[::]:1", "http://[::1]:1"),
            ("unix:/x", "unix:/x"),
        ] {
            assert_eq!(reachable(place), wanted);
        }
    }
}
