//! What checks can look up: the watched objects, and what was read for this request.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_graph::{LookupResult, Lookups, State, Vertex};
use serde_json::Value;

/// Longer names don't exist in Kubernetes.
const MAX_NAME: usize = 253;

/// What was read for this request: the object, that there is none, or why it could not be read.
pub(super) type ObjectsRead = HashMap<Vertex, Result<Option<Arc<Value>>, String>>;

/// What is known of the objects of one profile while one request is decided.
pub(super) struct Knowledge<'a> {
    /// The watched objects.
    pub(super) state: &'a State,
    /// What was read.
    pub(super) read: &'a ObjectsRead,
    /// Whether more can be read.
    pub(super) can_read: bool,
}

impl Knowledge<'_> {
    fn already_read(&self, wanted: &Vertex) -> Option<LookupResult> {
        if !can_exist(wanted) {
            return Some(LookupResult::Absent);
        }
        self.read.get(wanted).map(|read| match read {
            Ok(Some(object)) => LookupResult::Object(Arc::clone(object)),
            Ok(None) => LookupResult::Absent,
            Err(why) => LookupResult::Failed(why.clone()),
        })
    }
}

impl Lookups for Knowledge<'_> {
    fn find(&self, wanted: &Vertex) -> LookupResult {
        if let Some(found) = self.already_read(wanted) {
            return found;
        }
        let is_complete = self.state.is_caught_up();
        if !self.can_read && !is_complete {
            return LookupResult::Failed("the relationship graph has not caught up".to_owned());
        }
        match self.state.find(wanted) {
            // What the watch has not seen may be there all the same.
            _ if !is_complete => LookupResult::Unread,
            LookupResult::Absent | LookupResult::Unread if self.can_read => LookupResult::Unread,
            LookupResult::Unread => {
                let kind = &wanted.kind;
                let why =
                    format!("{kind} objects are not watched, and there is no API server to ask");
                LookupResult::Failed(why)
            }
            known => known,
        }
    }

    fn find_now(&self, wanted: &Vertex) -> LookupResult {
        if let Some(found) = self.already_read(wanted) {
            return found;
        }
        if self.can_read {
            return LookupResult::Unread;
        }
        // Without an API server the watched objects are all there is.
        match self.state.find(wanted) {
            LookupResult::Object(object) if self.state.is_caught_up() => {
                LookupResult::Object(object)
            }
            _ => LookupResult::Absent,
        }
    }

    fn neighbours(&self, wanted: &Vertex, kind: &str) -> Vec<Vertex> {
        if self.state.is_caught_up() {
            return self.state.neighbours(wanted, kind);
        }
        Vec::new()
    }
}

/// Whether an object can have this name. What a path would read as something else can't.
pub(super) fn can_exist(wanted: &Vertex) -> bool {
    let is_plain = |text: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:@".contains(c);
        text.len() <= MAX_NAME && text.chars().all(allowed) && text != "." && text != ".."
    };
    !wanted.name.is_empty() && is_plain(&wanted.name) && is_plain(&wanted.namespace)
}
