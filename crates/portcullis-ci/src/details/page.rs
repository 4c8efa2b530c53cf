//! Pages of lists.

use schemars::JsonSchema;
use serde::Serialize;

/// The most items of a page.
const MOST: usize = 1000;
/// The items of a page that doesn't say how many.
const DEFAULT: usize = 50;

/// Which page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// The `next` of the page before; nothing for the first page.
    pub after: Option<u64>,
    /// The most items; a default if absent, and never more than 1000.
    pub limit: Option<usize>,
}

impl PageRequest {
    pub(crate) fn size(&self) -> usize {
        self.limit.unwrap_or(DEFAULT).clamp(1, MOST)
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// What to ask for the next page with; nothing if this is the last.
    pub next: Option<u64>,
}
