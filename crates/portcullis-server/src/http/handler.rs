//! The interface to what is served: the listener hands each connection to a [`Handler`], which answers
//! its requests. Nothing in `http` knows what is served.

use std::future::Future;
use std::sync::Arc;

use arc_swap::ArcSwap;
use hyper::Request;
use hyper::body::Incoming;
use portcullis_core::Peer;

use super::Response;
use super::budget::Share;
use super::setup::ListenerSetup;
use super::trust::{Standing, Trust};
use crate::metrics::Metrics;

/// Serves the connections of listeners.
pub(crate) trait Handler: Clone + Send + Sync + 'static {
    /// Answers the requests of one connection.
    type Client: Client;

    /// What serves a new connection.
    fn client(
        &self,
        setup: &Arc<ArcSwap<ListenerSetup>>,
        peer: Peer,
        standing: Standing,
    ) -> Self::Client;

    /// Where connections and errors are counted.
    fn metrics(&self) -> &Metrics;
}

/// Answers the requests of one connection.
pub(crate) trait Client: Send + Sync + 'static {
    /// Whom the listener trusted when the connection began.
    fn trust(&self) -> Trust;

    /// Answers one request.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Answered> + Send;
}

/// An answer, ready to be sent.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) response: Response,
    /// What it takes of the memory for requests.
    pub(crate) share: Share,
    /// Whether the connection shall end with it.
    pub(crate) is_last: bool,
}
