//! The kinds of objects that are followed, one by one: what each watch is doing.

use std::time::SystemTime;

use portcullis_core::vocabulary;
use portcullis_watch::{KindStatus, Phase};

vocabulary! {
    /// What the watch of a kind is doing.
    pub enum WatchState {
        /// It has not begun.
        Pending = "pending",
        /// All objects are being asked for.
        Listing = "listing",
        /// Changes are received.
        Watching = "watching",
        /// The API server has no such resource; it is asked again and again.
        NotServed = "not_served",
        /// Something is wrong; it is tried again and again.
        Failing = "failing",
    }
}

/// The watch of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedKind {
    /// The kind.
    pub kind: String,
    /// What the watch is doing.
    pub state: WatchState,
    /// Whether all objects are known.
    pub is_synced: bool,
    /// How many objects are kept.
    pub objects: usize,
    /// When objects were last received.
    pub last_event: Option<SystemTime>,
    /// Objects that could not be used, or only in part, since the start.
    pub malformed: u64,
    /// Why it failed last, if it has not worked since.
    pub error: Option<String>,
}

impl WatchedKind {
    /// One of which nothing has come yet.
    pub(crate) fn pending(kind: String) -> Self {
        Self {
            kind,
            state: WatchState::Pending,
            is_synced: false,
            objects: 0,
            last_event: None,
            malformed: 0,
            error: None,
        }
    }

    /// One of a cluster, of which so many objects are kept.
    pub(crate) fn of_cluster(kind: String, status: KindStatus, objects: usize) -> Self {
        Self {
            kind,
            state: match status.phase {
                Phase::Listing => WatchState::Listing,
                Phase::Watching => WatchState::Watching,
                Phase::NotServed => WatchState::NotServed,
                Phase::Failing => WatchState::Failing,
            },
            is_synced: status.listed,
            objects,
            last_event: status.last_event,
            malformed: status.malformed,
            error: status.error,
        }
    }
}
