//! The input of the plug-in: profiles, the state of their objects, and a reader for more.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use portcullis_graph::{State, VertexKind};
use serde_json::Value;

/// A profile that is in force.
#[derive(Clone)]
pub struct ScopedProfile {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// The profile, and what is known of its objects.
    pub state: Arc<State>,
    /// Reads what is not watched; none where the objects come from a directory.
    pub reader: Option<Arc<dyn LiveReader>>,
}

impl fmt::Debug for ScopedProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedProfile")
            .field("name", &self.name)
            .field("reads", &self.reader.is_some())
            .finish_non_exhaustive()
    }
}

/// An object that is being read: nothing if it is not there, or why it could not be read.
pub type Reading = Pin<Box<dyn Future<Output = Result<Option<Value>, String>> + Send>>;

/// Reads objects from an API server.
pub trait LiveReader: Send + Sync {
    /// Reads one object. Namespace and name hold nothing that changes the meaning of a path. It comes to an
    /// end by itself, soon after `deadline` at the latest; words of errors hold no secrets.
    fn read(&self, kind: &VertexKind, namespace: &str, name: &str, deadline: Instant) -> Reading;
}
