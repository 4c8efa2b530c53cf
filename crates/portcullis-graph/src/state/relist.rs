//! A new list of all objects of a source.

use serde_json::Value;

use super::{Applied, State};
use crate::sources::SourceId;

/// A new list of all objects of a source: what is not in it goes when it is finished.
#[derive(Debug)]
pub struct Relist<'a> {
    pub(super) state: &'a State,
    pub(super) source: SourceId,
    pub(super) list: u64,
}

impl Relist<'_> {
    /// One object of the list.
    pub fn apply(&mut self, object: &Value) -> Applied {
        self.state.apply_to(self.source, object)
    }

    /// The list is complete: objects that were not in it go.
    pub fn finish(self) {
        let Some(table) = self.state.tables.get(self.source.0) else {
            return;
        };
        let mut behind = None;
        loop {
            let (older, last) = table.older(self.list, behind.as_ref());
            for key in older {
                self.state.remove(&(self.source, key), Some(self.list));
            }
            match last {
                Some(last) => behind = Some(last),
                None => return,
            }
        }
    }
}
