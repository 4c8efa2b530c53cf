//! The receiver of what the watches send.

use std::fmt::Debug;

use portcullis_graph::{Applied, Relist, SourceId, State, VertexKind};
use serde_json::Value;

/// Receives objects; a graph's [`State`], except in tests.
pub(super) trait Feed: Debug + Send + Sync + 'static {
    /// A new list of all objects of a kind, which counts when it is finished.
    type List<'a>;

    /// The kinds to watch.
    fn kinds(&self) -> Vec<(SourceId, VertexKind)>;
    /// Whether kinds may have other resources than it says: the API server is asked before each list.
    fn asks_for_resources(&self) -> bool {
        false
    }
    /// Begins a list.
    fn list(&self, source: SourceId) -> Self::List<'_>;
    /// An object of a list.
    fn add(list: &mut Self::List<'_>, object: &Value) -> Applied;
    /// A list is complete.
    fn finish(list: Self::List<'_>);
    /// An object was created or changed.
    fn apply(&self, source: SourceId, object: &Value) -> Applied;
    /// An object was deleted.
    fn delete(&self, source: SourceId, namespace: &str, name: &str);
    /// Time has passed.
    fn tick(&self);
    /// Every kind was listed.
    fn caught_up(&self);
}

impl Feed for State {
    type List<'a> = Relist<'a>;

    fn kinds(&self) -> Vec<(SourceId, VertexKind)> {
        let profile = self.profile();
        let sources = profile.sources.iter();
        let kind = |id| profile.kinds.get(id).cloned();
        sources
            .filter_map(|(source, id)| Some((source, kind(id)?)))
            .collect()
    }

    fn list(&self, source: SourceId) -> Relist<'_> {
        self.relist(source)
    }

    fn add(list: &mut Relist<'_>, object: &Value) -> Applied {
        list.apply(object)
    }

    fn finish(list: Relist<'_>) {
        list.finish();
    }

    fn apply(&self, source: SourceId, object: &Value) -> Applied {
        self.apply_to(source, object)
    }

    fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        Self::delete(self, source, namespace, name);
    }

    fn tick(&self) {
        Self::tick(self);
    }

    fn caught_up(&self) {
        self.set_caught_up();
    }
}
