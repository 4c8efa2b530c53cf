//! How the server stands: since when, where it listens, how the last reload went.

use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_core::sync::Mutex;

/// How the server stands.
#[derive(Debug)]
pub(crate) struct Standing {
    /// When it was started.
    pub(crate) started: SystemTime,
    listeners: Mutex<Vec<ListenerState>>,
    reload: Mutex<Option<LastReload>>,
}

/// A listener at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListenerState {
    pub(crate) name: String,
    /// A URL, or the path of a socket.
    pub(crate) address: String,
    pub(crate) serves: Vec<&'static str>,
    pub(crate) is_tls: bool,
    /// Whether the certificate was made here, for development.
    pub(crate) is_development: bool,
    /// When the certificate ends, in seconds since 1970.
    pub(crate) expires_at: Option<i64>,
}

/// How the last reload went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastReload {
    pub(crate) at: SystemTime,
    /// Why it changed nothing, if it did not.
    pub(crate) error: Option<String>,
}

impl Standing {
    /// Started now.
    pub(crate) fn new() -> Self {
        Self {
            started: clock::wall(),
            listeners: Mutex::default(),
            reload: Mutex::default(),
        }
    }

    /// These listeners are at work.
    pub(crate) fn set_listeners(&self, listeners: Vec<ListenerState>) {
        *self.listeners.lock() = listeners;
    }

    /// The listeners at work.
    pub(crate) fn listeners(&self) -> Vec<ListenerState> {
        self.listeners.lock().clone()
    }

    /// A reload ended.
    pub(crate) fn reloaded(&self, error: Option<String>) {
        let at = clock::wall();
        *self.reload.lock() = Some(LastReload { at, error });
    }

    /// How the last reload went; nothing before the first.
    pub(crate) fn last_reload(&self) -> Option<LastReload> {
        self.reload.lock().clone()
    }
}
