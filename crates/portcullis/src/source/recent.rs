//! Which decisions were seen recently: what is listed and what is streamed may overlap.

use std::collections::{HashSet, VecDeque};

use portcullis_record::Summary;

/// How many are remembered.
const MEMORY: usize = 8192;

/// The decisions seen of late.
#[derive(Debug, Default)]
pub(super) struct Recent {
    order: VecDeque<String>,
    known: HashSet<String>,
    /// The first that was seen; what is older was not asked for.
    oldest: Option<String>,
}

impl Recent {
    /// Those that are new, which they are not any more.
    pub(super) fn only_new(&mut self, mut items: Vec<Summary>) -> Vec<Summary> {
        items.retain(|item| self.is_new(&item.id));
        items
    }

    /// The same of a list made again: what is older than all that was seen is not new.
    pub(super) fn only_missed(&mut self, mut items: Vec<Summary>) -> Vec<Summary> {
        let oldest = self.oldest.clone().unwrap_or_default();
        items.retain(|item| item.id >= oldest);
        self.only_new(items)
    }

    fn is_new(&mut self, id: &str) -> bool {
        if !self.known.insert(id.to_owned()) {
            return false;
        }
        if self.oldest.is_none() {
            self.oldest = Some(id.to_owned());
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > MEMORY
            && let Some(forgotten) = self.order.pop_front()
        {
            self.known.remove(&forgotten);
            self.oldest = self.order.front().cloned();
        }
        true
    }
}
