//! Where commands read decisions: a store on this machine or a database, or a running server.

mod recent;
mod server;
mod store;

use std::ops::ControlFlow;
use std::path::PathBuf;

use portcullis_record::Summary;

use crate::arguments::{Filter, Store};
use crate::client::{ClientError, ServerAccess};
use crate::data_dir;
use crate::exit::Exit;

/// The most decisions that are asked for at once.
pub(crate) const PAGE: usize = 1000;

/// Something decisions can be read from.
pub(crate) trait DecisionSource {
    /// Some decisions, the newest first: those after the `next` of an earlier list. There may be
    /// fewer than the limit and yet a `next`.
    fn list(
        &mut self,
        filter: &Filter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listed, SourceError>;

    /// A whole decision as one line of JSON.
    fn get(&mut self, id: &str) -> Result<Option<String>, SourceError>;

    /// The last decisions, the oldest first, and then new ones as they come; until it is stopped.
    fn follow(
        &mut self,
        filter: &Filter,
        first: usize,
        take: &mut dyn FnMut(Followed) -> ControlFlow<()>,
    ) -> Result<(), SourceError>;

    /// Whole decisions, the oldest first, one line each.
    fn lines(
        &mut self,
        filter: &Filter,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<(), SourceError>;
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
pub(crate) struct Listed {
    /// The newest first.
    pub(crate) items: Vec<Summary>,
    /// What to ask for to get more.
    #[serde(default)]
    pub(crate) next: Option<String>,
}

/// What comes of following.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Followed {
    /// Decisions, the oldest first.
    Items(Vec<Summary>),
    /// The connection was lost, and is being made again.
    Interrupted(String),
}

/// Some whole decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// One line of JSON each, without its end.
    pub(crate) lines: Vec<String>,
    /// How many there are in all, as far as is known.
    pub(crate) total: u64,
}

/// Why decisions can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct SourceError {
    /// What the program ends with.
    pub(crate) exit: Exit,
    message: String,
}

impl SourceError {
    /// With what the program ends, and why.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
        }
    }
}

impl From<ClientError> for SourceError {
    fn from(error: ClientError) -> Self {
        Self::new(error.exit(), error.to_string())
    }
}

/// Opens what the command line names, or else the environment, or else the usual data directory.
pub(crate) fn open(store: &Store) -> Result<Box<dyn DecisionSource>, SourceError> {
    if let Some(url) = &store.store {
        return Ok(Box::new(store::StoreSource::at(url)?));
    }
    if let Some(dir) = &store.data_dir {
        return Ok(Box::new(store::StoreSource::in_directory(dir)?));
    }
    let given = ServerAccess::given(
        store.server.as_deref(),
        store.token.as_ref(),
        store.ca.as_ref(),
    )?;
    if let Some(access) = given {
        return Ok(Box::new(server::ServerSource::new(&access)?));
    }
    if store.token.is_some() || store.ca.is_some() {
        return Err(SourceError::new(
            Exit::Usage,
            "--token and --ca are for a server: give --server URL, or PORTCULLIS_SERVER",
        ));
    }
    let dir = variable("PORTCULLIS_DATA_DIR").map(PathBuf::from);
    let dir = dir
        .map_or_else(data_dir::standard, Ok)
        .map_err(|message| SourceError::new(Exit::Usage, message))?;
    Ok(Box::new(store::StoreSource::in_directory(&dir)?))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
