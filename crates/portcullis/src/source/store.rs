//! Decisions in a store, read without a server.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use portcullis_store::{Location, Mode, Page, Store, StoreError};

use super::recent::Recent;
use super::{Batch, DecisionSource, Followed, Listed, PAGE, SourceError};
use crate::arguments::Filter;
use crate::exit::Exit;
use crate::output;

/// How long to wait before looking for new decisions again.
const PAUSE: Duration = Duration::from_millis(500);

/// A store, open for reading.
#[derive(Debug)]
pub(super) struct StoreSource {
    store: Store,
}

impl StoreSource {
    /// The store at this address; files are found from the working directory.
    pub(super) fn at(url: &str) -> Result<Self, SourceError> {
        let location = Location::parse(url, Path::new("")).map_err(|error| {
            SourceError::new(Exit::Invalid, format!("invalid --store: {error}"))
        })?;
        Self::open(&location)
    }

    /// The store of a data directory.
    pub(super) fn in_directory(dir: &Path) -> Result<Self, SourceError> {
        if !dir.is_dir() {
            let text = format!(
                "no data directory at {}: name another with --data-dir, a store with --store, or a running server with --server URL or --context NAME",
                dir.display()
            );
            return Err(SourceError::new(Exit::Invalid, text));
        }
        Self::open(&Location::in_directory(dir))
    }

    fn open(location: &Location) -> Result<Self, SourceError> {
        output::detail(|| format!("reading decisions from {location}"));
        let store = Store::open(location, Mode::ReadOnly)?;
        Ok(Self { store })
    }
}

impl DecisionSource for StoreSource {
    fn list(
        &mut self,
        filter: &Filter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listed, SourceError> {
        let page = Page {
            after: after.map(str::to_owned),
            limit,
        };
        let listed = self.store.list(&stored(filter), &page)?;
        Ok(Listed {
            items: listed.items,
            next: listed.next,
        })
    }

    fn get(&mut self, id: &str) -> Result<Option<String>, SourceError> {
        Ok(self.store.get(id)?)
    }

    fn follow(
        &mut self,
        filter: &Filter,
        first: usize,
        take: &mut dyn FnMut(Followed) -> ControlFlow<()>,
    ) -> Result<(), SourceError> {
        let mut recent = Recent::default();
        // The mark comes first, so that nothing falls between it and the list.
        let mut mark = self.store.newest()?;
        let mut items = self.list(filter, None, first)?.items;
        items.reverse();
        loop {
            let items_to_tell = recent.only_new(std::mem::take(&mut items));
            if !items_to_tell.is_empty() && take(Followed::Items(items_to_tell)).is_break() {
                return Ok(());
            }
            match self.store.after(mark, &stored(filter), PAGE) {
                Ok((found, next)) => {
                    let is_all = found.len() < PAGE;
                    (items, mark) = (found, next);
                    if is_all {
                        std::thread::sleep(PAUSE);
                    }
                }
                Err(error) if error.is_temporary() => std::thread::sleep(PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn lines(
        &mut self,
        filter: &Filter,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<(), SourceError> {
        let filter = stored(filter);
        let total = self.store.count(&filter)?;
        self.store
            .scan(&filter, &mut |lines| take(Batch { lines, total }))?;
        Ok(())
    }
}

impl From<StoreError> for SourceError {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Missing { .. } | StoreError::Newer { .. } | StoreError::Older { .. } => {
                Exit::Invalid
            }
            _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

/// The filter as the store takes it.
fn stored(filter: &Filter) -> portcullis_store::Filter {
    portcullis_store::Filter {
        door: filter.door,
        verdict: filter.verdict,
        user: filter.user.clone(),
        kind: filter.kind.clone(),
        namespace: filter.namespace.clone(),
        policy: filter.policy.clone(),
        since: filter.since.as_ref().map(|moment| moment.at),
        until: filter.until.as_ref().map(|moment| moment.at),
    }
}
