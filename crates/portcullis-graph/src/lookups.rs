//! What expressions may ask of other objects.

use std::sync::Arc;

use serde_json::Value;

use crate::vertex::Vertex;

/// What is known of an object.
#[derive(Debug, Clone)]
pub enum LookupResult {
    /// It is there. Of a watched object only the fields that its source keeps are known.
    Object(Arc<Value>),
    /// It is not there.
    Absent,
    /// Not known here: it must be read first.
    Unread,
    /// It could not be read, and why.
    Failed(String),
}

/// Where expressions look objects up.
pub trait Lookups {
    /// The object of this kind, namespace and name.
    fn find(&self, wanted: &Vertex) -> LookupResult;

    /// The same, where an answer from a watch that lags behind won't do.
    fn find_now(&self, wanted: &Vertex) -> LookupResult {
        self.find(wanted)
    }

    /// The vertices of `kind` that an edge leads to from this one, in any graph of the profile: no
    /// duplicates, a bounded number.
    fn neighbours(&self, wanted: &Vertex, kind: &str) -> Vec<Vertex> {
        let _ = (wanted, kind);
        Vec::new()
    }
}

/// Knows nothing: every object is absent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nothing;

impl Lookups for Nothing {
    fn find(&self, _: &Vertex) -> LookupResult {
        LookupResult::Absent
    }
}
