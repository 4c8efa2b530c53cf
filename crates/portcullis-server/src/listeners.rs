//! The set of bound listeners, changed as a whole by a reload.
//!
//! New ones are bound before anything else changes, so that an address in use leaves everything as
//! it was. Those that stay keep their socket and get their new setup; those that are removed stop accepting,
//! and what they have accepted is finished.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::http::connections::{ConnectionCounts, Connections, RoomId};
use crate::http::listener::{Accepting, Bound, accept_all, bind};
use crate::http::setup::ListenerSetup;
use crate::http::trust::Phase;
use crate::http::unix;
use crate::managed::OnServe;
use crate::server::Server;
use crate::standing::ListenerState;
use portcullis_config::{Bind, Listener, Service};

/// A listener that could not be bound.
#[derive(Debug, thiserror::Error)]
#[error("listener `{name}` can't listen on {place}")]
pub struct BindError {
    name: String,
    place: String,
    #[source]
    source: io::Error,
}

/// A listener at work.
#[derive(Debug)]
struct Working {
    name: String,
    bind: Bind,
    /// The address it really has, for port 0.
    place: String,
    setup: Arc<ArcSwap<ListenerSetup>>,
    room: RoomId,
    phase: watch::Sender<Phase>,
}

/// All listeners at work.
#[derive(Debug)]
pub(crate) struct Listeners {
    server: Arc<Server>,
    connections: Connections,
    working: Vec<Working>,
}

/// Listeners for a configuration that is not yet in force.
#[derive(Debug)]
pub(crate) struct Prepared(Vec<(ListenerSetup, Socket)>);

/// Where a listener's socket comes from.
#[derive(Debug)]
enum Socket {
    /// Bound for it.
    New(Bound),
    /// That of the listener at work which is at this place in the list.
    Kept(usize),
}

impl Listeners {
    pub(crate) fn new(server: Arc<Server>, counts: ConnectionCounts) -> Self {
        let connections = Connections::new(counts);
        Self {
            server,
            connections,
            working: Vec::new(),
        }
    }

    /// Binds what is new. A socket at the same place is kept, also under another name.
    pub(crate) async fn prepare(&self, wanted: Vec<ListenerSetup>) -> Result<Prepared, BindError> {
        let kept = self.kept(&wanted);
        let mut prepared = Vec::with_capacity(wanted.len());
        for (setup, kept) in wanted.into_iter().zip(kept) {
            let socket = match kept {
                Some(index) => Socket::Kept(index),
                None => Socket::New(bind_one(&setup).await?),
            };
            prepared.push((setup, socket));
        }
        Ok(Prepared(prepared))
    }

    /// Where CI jobs are served by what is prepared, as a URL: the listener for CI, or else for the API.
    pub(crate) fn place_for_jobs(&self, prepared: &Prepared) -> Option<String> {
        let of = |service: Service| {
            let mut all = prepared.0.iter();
            let (setup, socket) = all.find(|(setup, socket)| {
                let is_tcp = matches!(setup.bind, Bind::Tcp(_));
                is_tcp && setup.serves(service) && !matches!(socket, Socket::New(Bound::Unix(..)))
            })?;
            match socket {
                Socket::New(bound) => Some(place(bound, &setup.bind, setup.tls.is_some())),
                Socket::Kept(index) => Some(self.working.get(*index)?.place.clone()),
            }
        };
        of(Service::Ci).or_else(|| of(Service::Api))
    }

    /// For each configured listener the running one whose socket it gets: first by name, so that several
    /// with port 0 keep theirs, then by place alone.
    fn kept(&self, wanted: &[ListenerSetup]) -> Vec<Option<usize>> {
        let mut taken = HashSet::new();
        let mut kept = vec![None; wanted.len()];
        for by_name in [true, false] {
            for (listener, slot) in wanted.iter().zip(&mut kept) {
                let fits = |(index, working): &(usize, &Working)| {
                    !taken.contains(index)
                        && is_same_place(&working.bind, &listener.bind)
                        && (working.name == listener.name || !by_name)
                };
                if slot.is_none() {
                    *slot = self
                        .working
                        .iter()
                        .enumerate()
                        .find(fits)
                        .map(|(index, _)| index);
                    taken.extend(*slot);
                }
            }
        }
        kept
    }

    /// Puts the prepared set in force.
    pub(crate) fn apply(&mut self, prepared: Prepared, counts: ConnectionCounts) {
        let mut before: Vec<_> = std::mem::take(&mut self.working)
            .into_iter()
            .map(Some)
            .collect();
        let mut kept = Vec::new();
        for (setup, socket) in prepared.0 {
            if let Some(keeper) = setup.tls.as_ref().and_then(|tls| tls.keeper.clone()) {
                kept.push((keeper, self.on_serve(&setup.name)));
            }
            if let Some(expires_at) = setup.tls.as_ref().and_then(|tls| tls.expires_at) {
                self.server.metrics.certificate(&setup.name, expires_at);
            }
            let working = match socket {
                Socket::New(bound) => self.start(setup, bound),
                Socket::Kept(index) => match before.get_mut(index).and_then(Option::take) {
                    Some(working) => working.change(setup),
                    None => continue,
                },
            };
            self.working.push(working);
        }
        before.into_iter().flatten().for_each(Working::stop);
        let states = self.working.iter().map(Working::state);
        self.server.standing.set_listeners(states.collect());
        self.server.managed.put_in_force(kept);
        let limits = |working: &Working| (working.room, working.setup.load().connections);
        let rooms: Vec<_> = self.working.iter().map(limits).collect();
        self.connections.share_out(counts, &rooms);
    }

    /// What is done when a managed certificate of this listener is served.
    fn on_serve(&self, listener: &str) -> OnServe {
        let (server, listener) = (Arc::downgrade(&self.server), listener.to_owned());
        Box::new(move |expires_at| {
            if let Some(server) = server.upgrade() {
                server.metrics.certificate(&listener, expires_at);
                server.standing.set_expiry(&listener, expires_at);
            }
        })
    }

    fn start(&self, setup: ListenerSetup, bound: Bound) -> Working {
        let place = place(&bound, &setup.bind, setup.tls.is_some());
        let serves: Vec<&str> = setup.serves.iter().map(|one| one.as_str()).collect();
        tracing::info!(
            listener = setup.name,
            address = place,
            serves = serves.join(", "),
            "listening"
        );
        let (phase, wanted) = watch::channel(Phase::Open(setup.trust()));
        let room = self.connections.room();
        let (name, bind) = (setup.name.clone(), setup.bind.clone());
        let setup = Arc::new(ArcSwap::from_pointee(setup));
        let accepting = Accepting {
            handler: Arc::clone(&self.server),
            setup: Arc::clone(&setup),
            connections: self.connections.clone(),
            room,
            phase: wanted,
        };
        tokio::spawn(accept_all(bound, accepting));
        Working {
            name,
            bind,
            place,
            setup,
            room,
            phase,
        }
    }

    /// Where each listener is, as a URL or path.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, &str)> {
        self.working
            .iter()
            .map(|working| (working.name.as_str(), working.place.as_str()))
    }

    /// Stops accepting, and waits until every connection has ended.
    pub(crate) async fn finish(&mut self) {
        self.working.drain(..).for_each(Working::stop);
        self.connections.finish().await;
    }
}

impl Working {
    /// What there is to know of it.
    fn state(&self) -> ListenerState {
        let setup = self.setup.load();
        let tls = setup.tls.as_ref();
        ListenerState {
            name: self.name.clone(),
            address: self.place.clone(),
            serves: setup.serves.iter().map(|one| one.as_str()).collect(),
            is_tls: tls.is_some(),
            is_development: tls.is_some_and(|tls| tls.is_development),
            expires_at: tls.and_then(|tls| tls.expires_at),
        }
    }

    /// The same socket with another setup.
    fn change(mut self, setup: ListenerSetup) -> Self {
        if let (Bind::Unix(socket), true) = (&setup.bind, self.bind != setup.bind)
            && let Err(error) = unix::set_access(socket)
        {
            let path = socket.path.display();
            tracing::error!(listener = setup.name, %path, %error, "the socket keeps its mode and owner");
        }
        self.name.clone_from(&setup.name);
        self.bind.clone_from(&setup.bind);
        // Connections that began with another trust finish what is under way, and end.
        let phase = Phase::Open(setup.trust());
        self.setup.store(Arc::new(setup));
        self.phase.send_if_modified(|now| {
            let is_other = *now != phase;
            *now = phase;
            is_other
        });
        self
    }

    fn stop(self) {
        let _ = self.phase.send(Phase::Ending);
    }
}

/// Whether a socket bound for one serves for the other.
fn is_same_place(a: &Bind, b: &Bind) -> bool {
    match (a, b) {
        (Bind::Tcp(a), Bind::Tcp(b)) => a == b,
        (Bind::Unix(a), Bind::Unix(b)) => a.path == b.path,
        _ => false,
    }
}

async fn bind_one(listener: &Listener) -> Result<Bound, BindError> {
    bind(&listener.bind).await.map_err(|source| BindError {
        name: listener.name.clone(),
        place: match &listener.bind {
            Bind::Tcp(address) => address.to_string(),
            Bind::Unix(socket) => socket.path.display().to_string(),
        },
        source,
    })
}

fn place(bound: &Bound, wanted: &Bind, is_tls: bool) -> String {
    match (bound, wanted) {
        (Bound::Tcp(_, address), _) => {
            format!("{}://{address}", if is_tls { "https" } else { "http" })
        }
        (Bound::Unix(..), Bind::Unix(socket)) => format!("unix:{}", socket.path.display()),
        (Bound::Unix(..), Bind::Tcp(address)) => address.to_string(),
    }
}
