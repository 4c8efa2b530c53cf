//! The receiver of the objects of a directory.

use portcullis_graph::{Applied, SourceId, State};
use serde_json::Value;

/// Receives the objects of a directory.
pub trait Sink {
    /// The source that wants objects of this type, and whether they live in namespaces.
    fn source(&self, api_version: &str, kind: &str) -> Option<(SourceId, bool)>;
    /// An object is there, or is different now.
    fn apply(&self, source: SourceId, object: &Value) -> Applied;
    /// An object is gone.
    fn delete(&self, source: SourceId, namespace: &str, name: &str);
    /// A look has ended: what has become due is due, and the picture is complete.
    fn looked(&self);
}

impl Sink for State {
    fn source(&self, api_version: &str, kind: &str) -> Option<(SourceId, bool)> {
        let source = self.source_of(api_version, kind)?;
        let profile = self.profile();
        let (_, kind) = profile.sources.iter().find(|(id, _)| *id == source)?;
        let kind = profile.kinds.get(kind)?;
        Some((source, kind.namespaced))
    }

    fn apply(&self, source: SourceId, object: &Value) -> Applied {
        self.apply_to(source, object)
    }

    fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        Self::delete(self, source, namespace, name);
    }

    fn looked(&self) {
        self.tick();
        if !self.is_caught_up() {
            self.set_caught_up();
        }
    }
}
