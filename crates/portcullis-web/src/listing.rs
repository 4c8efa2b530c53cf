//! Lists of CI: pages of items, each page with the key to the next.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::backend::{Backend, Problem};
use crate::query::Query;

/// The most items of a page.
const MOST: u64 = 500;

/// The most pages that are read where a page needs a whole list.
const MOST_PAGES: usize = 10;

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing<T> {
    /// The items.
    pub(crate) items: Vec<T>,
    /// What the next page is asked for with.
    pub(crate) next: Option<u64>,
}

impl<T> Listing<T> {
    /// The path of the next page of the same list.
    pub(crate) fn next_path(&self, query: &Query, path: &str) -> Option<String> {
        let next = self.next?.to_string();
        Some(query.with("page", &next).of(path))
    }
}

impl Query {
    /// The same with no more items than the API allows.
    pub(crate) fn capped(&self) -> Self {
        match self.get("limit").parse::<u64>() {
            Ok(limit) if limit > MOST => self.with("limit", &MOST.to_string()),
            _ => self.clone(),
        }
    }
}

impl dyn Backend + '_ {
    /// A whole list, or the first some thousand items of it.
    pub(crate) async fn all<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Problem> {
        let mut query = Query::default().with("limit", &MOST.to_string());
        let mut all = Vec::new();
        for _ in 0..MOST_PAGES {
            let listing: Listing<T> = self.get(&query.of(path)).await?;
            let next = listing.next;
            all.extend(listing.items);
            match next {
                None => break,
                Some(next) => query = query.with("page", &next.to_string()),
            }
        }
        Ok(all)
    }
}
