//! A client at one connection, as doors see it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use portcullis_core::Peer;

use crate::http::setup::ListenerSetup;
use crate::http::trust::Standing;
use crate::server::Server;

/// A client at one connection: who it is, and what it may ask for there.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) server: Arc<Server>,
    pub(crate) setup: Arc<ArcSwap<ListenerSetup>>,
    pub(crate) peer: Peer,
    /// What its identity rests on.
    pub(crate) standing: Standing,
}
