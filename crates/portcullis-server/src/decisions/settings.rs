//! The settings of the decision log, and its initial store.

use std::path::Path;

use portcullis_config::Decisions;
use portcullis_store::{Location, Mode, Store, StoreError};

/// The settings of the decision log.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The store; none if decisions are not kept there.
    pub(crate) location: Option<Location>,
    /// What a configuration asks for.
    pub(super) asked: Decisions,
}

impl Settings {
    /// What a configuration asks for.
    pub(crate) fn new(decisions: &Decisions, data_dir: &Path) -> Self {
        let location = decisions.is_stored.then(|| location(decisions, data_dir));
        Self {
            location,
            asked: decisions.clone(),
        }
    }

    /// Whether decisions are kept anywhere.
    pub(super) fn is_on(&self) -> bool {
        self.location.is_some() || self.asked.json_lines.is_some()
    }
}

/// Where the store is, whether or not decisions are kept there.
pub(crate) fn location(decisions: &Decisions, data_dir: &Path) -> Location {
    let own = || Location::in_directory(data_dir);
    decisions.location.clone().unwrap_or_else(own)
}

/// Opens the store, if there is one to open. A database that doesn't answer is tried again later.
///
/// # Errors
///
/// When it will not get better by itself.
pub(crate) fn open_first(settings: &Settings) -> Result<Option<Store>, StoreError> {
    let Some(location) = &settings.location else {
        return Ok(None);
    };
    match Store::open(location, Mode::ReadWrite) {
        Ok(store) => Ok(Some(store)),
        Err(error) if error.is_temporary() => {
            tracing::warn!("the store does not answer yet: {error}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
