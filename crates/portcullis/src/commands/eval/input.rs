//! What is judged: the objects of all files, with the file they are from.

use std::path::Path;
use std::sync::Arc;

use portcullis_server::config::{Fault, Source};
use portcullis_server::offline::{self, Item};

use crate::cli::Eval;

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Inputs {
    /// To be judged, in order.
    pub(super) items: Vec<(String, Item)>,
    /// As they are before an update.
    pub(super) olds: Vec<Item>,
}

/// Reads all manifests. Those that can't be read are items with faults.
///
/// # Errors
///
/// When the objects before an update can't be read: nothing could be judged then.
pub(super) fn read(eval: &Eval) -> Result<Inputs, Box<Fault>> {
    let namespace = eval.namespace.as_deref().unwrap_or("default");
    let mut items = Vec::new();
    for path in &eval.filename {
        items.extend(items_at(path, namespace));
    }
    let mut olds = Vec::new();
    if let Some(path) = &eval.old {
        for (_, item) in items_at(path, namespace) {
            match item.manifest {
                Ok(_) => olds.push(item),
                Err(fault) => return Err(Box::new(fault.with_help("named by --old"))),
            }
        }
    }
    Ok(Inputs { items, olds })
}

/// The objects at a path, each with its file.
fn items_at(path: &Path, namespace: &str) -> Vec<(String, Item)> {
    if path == Path::new("-") {
        let read = offline::read_text("-", std::io::stdin().lock());
        return items_of("-", read, namespace);
    }
    let unreadable = |fault: Box<Fault>| items_of(&shown(path), Err(fault), namespace);
    let files = match offline::find(path) {
        Ok(files) => files,
        Err(fault) => return unreadable(fault),
    };
    files
        .iter()
        .flat_map(|file| items_of(&shown(file), offline::read_file(file), namespace))
        .collect()
}

fn items_of(
    file: &str,
    source: Result<Arc<Source>, Box<Fault>>,
    namespace: &str,
) -> Vec<(String, Item)> {
    let items = match source {
        Ok(source) => offline::read_documents(&source, namespace),
        Err(fault) => vec![Item {
            index: 0,
            line: 1,
            manifest: Err(fault),
        }],
    };
    let named = |item| (file.to_owned(), item);
    items.into_iter().map(named).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
