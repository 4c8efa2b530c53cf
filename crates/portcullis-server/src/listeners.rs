//! The set of bound listeners, changed as a whole by a reload.
//!
//! New ones are bound before anything else changes, so that an address in use leaves everything as
//! it was. Those that stay keep their socket and get their new setup; those that go stop accepting,
//! and what they have accepted is finished.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Semaphore, watch};

use crate::config::{self, Bind};
use crate::http::listener::{Accepting, Bound, ListenerSetup, accept_all, bind};
use crate::server::Server;

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
    bind: Bind,
    /// The address it really has, for port 0.
    place: String,
    setup: Arc<ArcSwap<ListenerSetup>>,
    end: watch::Sender<bool>,
}

/// All listeners at work.
#[derive(Debug)]
pub(crate) struct Listeners {
    server: Arc<Server>,
    connections: Arc<Semaphore>,
    permits: usize,
    working: HashMap<String, Working>,
}

/// Sockets bound for a configuration that is not yet in force.
#[derive(Debug)]
pub(crate) struct Prepared {
    listeners: Vec<(config::Listener, ListenerSetup, Option<Bound>)>,
}

impl Listeners {
    pub(crate) fn new(server: Arc<Server>, connections: u32) -> Self {
        let permits = connections as usize;
        let connections = Arc::new(Semaphore::new(permits));
        Self {
            server,
            connections,
            permits,
            working: HashMap::new(),
        }
    }

    /// Binds what is new.
    pub(crate) async fn prepare(
        &self,
        wanted: Vec<(config::Listener, ListenerSetup)>,
    ) -> Result<Prepared, BindError> {
        let mut listeners = Vec::with_capacity(wanted.len());
        for (listener, setup) in wanted {
            let stays = self
                .working
                .get(&listener.name)
                .is_some_and(|w| w.bind == listener.bind);
            let bound = if stays {
                None
            } else {
                Some(bind_one(&listener).await?)
            };
            listeners.push((listener, setup, bound));
        }
        Ok(Prepared { listeners })
    }

    /// Puts the prepared set in force.
    pub(crate) fn apply(&mut self, prepared: Prepared, connections: u32) {
        self.set_connections(connections as usize);
        let mut before = std::mem::take(&mut self.working);
        for (listener, setup, bound) in prepared.listeners {
            if let Some(expires_at) = setup.tls.as_ref().and_then(|tls| tls.expires_at) {
                self.server.metrics.certificate(&listener.name, expires_at);
            }
            let working = match (bound, before.remove(&listener.name)) {
                (None, Some(working)) => {
                    working.setup.store(Arc::new(setup));
                    working
                }
                (Some(bound), replaced) => {
                    replaced.into_iter().for_each(Working::stop);
                    self.start(&listener, setup, bound)
                }
                (None, None) => continue,
            };
            self.working.insert(listener.name, working);
        }
        before.into_values().for_each(Working::stop);
    }

    fn start(&self, listener: &config::Listener, setup: ListenerSetup, bound: Bound) -> Working {
        let place = place(&bound, &listener.bind, setup.tls.is_some());
        let serves: Vec<&str> = listener.serves.iter().map(|door| door.name()).collect();
        tracing::info!(
            listener = listener.name,
            address = place,
            serves = serves.join(", "),
            "listening"
        );
        let (end, ending) = watch::channel(false);
        let setup = Arc::new(ArcSwap::from_pointee(setup));
        let accepting = Accepting {
            server: Arc::clone(&self.server),
            setup: Arc::clone(&setup),
            connections: Arc::clone(&self.connections),
            ending,
        };
        tokio::spawn(accept_all(bound, accepting));
        Working {
            bind: listener.bind.clone(),
            place,
            setup,
            end,
        }
    }

    /// Where each listener is, as a URL or path.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, &str)> {
        self.working
            .iter()
            .map(|(name, working)| (name.as_str(), working.place.as_str()))
    }

    /// Stops accepting, and waits until every connection has ended.
    pub(crate) async fn finish(&mut self) {
        self.working.drain().for_each(|(_, working)| working.stop());
        let all = u32::try_from(self.permits).unwrap_or(u32::MAX);
        let _ = self.connections.acquire_many(all).await;
    }

    fn set_connections(&mut self, wanted: usize) {
        if wanted > self.permits {
            self.connections.add_permits(wanted - self.permits);
            self.permits = wanted;
        } else {
            let removed = self.connections.forget_permits(self.permits - wanted);
            self.permits -= removed;
        }
    }
}

impl Working {
    fn stop(self) {
        let _ = self.end.send(true);
    }
}

async fn bind_one(listener: &config::Listener) -> Result<Bound, BindError> {
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
