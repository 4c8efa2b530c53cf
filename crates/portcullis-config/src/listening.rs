//! Where a server listens, from its configuration alone: for programs that ask a server that runs.
//!
//! Nothing else in the file is checked, so that a mistake there doesn't hide a server that goes on with its last
//! good configuration.

use std::path::Path;

use portcullis_document::{Faults, read};
use serde::Deserialize;

use crate::load::{open, read_spec};
use crate::model::{Listener, ListenerSpec};
use crate::notes::Notes;
use crate::{ConfigSource, resolve};

/// The part of the configuration that is read.
#[derive(Debug, Deserialize)]
struct Listeners {
    #[serde(default)]
    listeners: Vec<ListenerSpec>,
}

/// The listeners of this file. Files that they name, like certificates, needn't be there.
///
/// # Errors
///
/// When the file can't be read, or none of its listeners can be bound as it is written.
pub fn listeners(file: &Path) -> Result<Vec<Listener>, Faults> {
    let document = open(ConfigSource::File(file))?;
    let mut notes = Notes::default();
    let found = if document.root.get("listener").is_some() {
        let (spec, _) = read_spec(&document, &mut notes)?;
        let listener = spec.listener.as_ref();
        listener.map_or_else(Vec::new, |one| {
            resolve::acjs_listener(&document, one, &mut notes)
        })
    } else {
        let (spec, _) = read::generous::<Listeners>(&document.source, &document.root)?;
        resolve::listeners(&document, &spec.listeners, &mut notes)
    };
    match Faults::from_list(notes.faults) {
        Some(faults) if found.is_empty() => Err(faults),
        _ => Ok(found),
    }
}
