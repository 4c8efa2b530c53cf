//! How the server stands: since when, where it listens, how the last reload went.

use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_core::sync::Mutex;

/// How the server stands.
#[derive(Debug)]
pub(crate) struct Standing {
    /// When it was started.
    pub(crate) started: SystemTime,
    /// Whether it is the demonstration.
    pub(crate) is_demonstration: bool,
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
    /// What it changed, or why it changed nothing.
    pub(crate) outcome: Result<String, String>,
}

impl Standing {
    /// Started now.
    pub(crate) fn new(is_demonstration: bool) -> Self {
        Self {
            started: clock::wall(),
            is_demonstration,
            listeners: Mutex::default(),
            reload: Mutex::default(),
        }
    }

    /// These listeners are at work.
    pub(crate) fn set_listeners(&self, listeners: Vec<ListenerState>) {
        *self.listeners.lock() = listeners;
    }

    /// A listener shows another certificate.
    pub(crate) fn set_expiry(&self, listener: &str, expires_at: i64) {
        let mut listeners = self.listeners.lock();
        let known = listeners.iter_mut().find(|known| known.name == listener);
        if let Some(known) = known {
            known.expires_at = Some(expires_at);
        }
    }

    /// The listeners at work.
    pub(crate) fn listeners(&self) -> Vec<ListenerState> {
        self.listeners.lock().clone()
    }

    /// A reload ended.
    pub(crate) fn reloaded(&self, outcome: Result<String, String>) {
        let at = clock::wall();
        *self.reload.lock() = Some(LastReload { at, outcome });
    }

    /// How the last reload went, in words.
    pub(crate) fn words_of_reload(&self) -> String {
        match self.last_reload().map(|last| last.outcome) {
            Some(Ok(changes)) => format!("configuration reloaded: {changes}"),
            Some(Err(why)) => format!("the last good configuration stays in force: {why}"),
            None => "listening".to_owned(),
        }
    }

    /// How the last reload went; nothing before the first.
    pub(crate) fn last_reload(&self) -> Option<LastReload> {
        self.reload.lock().clone()
    }
}
