//! The observer of what the graph does, for metrics. Never waits, never fails.

use std::fmt::Debug;
use std::time::Duration;

use crate::vertex::KindId;

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Update {
    /// It was created or changed.
    Apply,
    /// It was deleted.
    Delete,
    /// Another object or the clock changed what it contributes.
    Reevaluate,
}

/// Receives events of the graph.
pub trait Observer: Send + Sync + Debug {
    /// An object of this kind changed the graph.
    fn updated(&self, kind: KindId, update: Update, took: Duration);
    /// A path was looked for.
    fn checked(&self, from: KindId, to: KindId, took: Duration);
    /// An object was malformed, as far as `why` says.
    fn malformed(&self, kind: KindId, why: &str);
}
